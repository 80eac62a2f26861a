"""What the distribution holds, and what it needs when it is installed alone."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import requires
from pathlib import Path
from typing import Final

import msgspec
import pytest

ROOT: Final = Path(__file__).parents[2]
RUNTIME: Final = ROOT / "runtime" / "deedbox"
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: Final = [
    ROOT / path
    for path in msgspec.convert(
        PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], list[str]
    )
]

# Modules of the runtime that serve an extra, and what that extra brings.
ADAPTERS: Final = {Path("demo/live.py"): {"rich"}}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*command, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment that holds the bare wheel."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    pip(folder / "bin", "install", "--quiet", str(wheel))
    return folder / "bin"


def pip(environment: Path, *arguments: str) -> str:
    """Our pip, working on an environment that has none."""
    command = [sys.executable, "-m", "pip", "--python", str(environment / "python")]
    ran = subprocess.run(
        [*command, *arguments], check=True, capture_output=True, text=True
    )
    return ran.stdout


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_packages_and_their_metadata_only(wheel: Path) -> None:
    tops = {name.split("/", 1)[0] for name in names(wheel)}
    metadata = {top for top in tops if top.endswith(".dist-info")}
    assert len(metadata) == 1
    assert tops - metadata == {package.name for package in PACKAGES}


def test_every_installed_name_begins_with_deedbox() -> None:
    assert all(package.name.startswith("deedbox") for package in PACKAGES)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_package_says_that_it_is_typed(package: Path, wheel: Path) -> None:
    assert f"{package.name}/py.typed" in names(wheel)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_all_that_git_has_of_a_package_is_in_the_wheel(
    package: Path, wheel: Path
) -> None:
    """Grammars, tables, templates and the demo's generated code among it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "."],
        cwd=package,
        check=True,
        capture_output=True,
        text=True,
    )
    committed = {f"{package.name}/{name}" for name in listed.stdout.split("\0") if name}
    assert committed
    assert committed <= set(names(wheel))


def imported(module: Path) -> set[str]:
    """The first part of each absolute import."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import():
                found |= {alias.name.split(".")[0] for alias in node.names}
            case ast.ImportFrom(module=str(name), level=0):
                found.add(name.split(".")[0])
            case _:
                pass
    return found


@pytest.mark.parametrize(
    "module",
    sorted(RUNTIME.rglob("*.py")),
    ids=lambda module: str(module.relative_to(RUNTIME)),
)
def test_the_runtime_imports_the_standard_library_and_msgspec(module: Path) -> None:
    allowed = sys.stdlib_module_names | {"msgspec", "deedbox"}
    allowed |= ADAPTERS.get(module.relative_to(RUNTIME), set())
    assert imported(module) - allowed == set()


def test_a_bare_install_needs_msgspec_only() -> None:
    needed = [one for one in requires("deedbox") or [] if "extra ==" not in one]
    assert [one.split(">")[0].split("<")[0] for one in needed] == ["msgspec"]


def test_a_bare_install_pulls_msgspec_only(bare: Path) -> None:
    listed = pip(bare, "list", "--format=freeze")
    installed = {line.split("==")[0] for line in listed.splitlines()}
    assert installed == {"deedbox", "msgspec"}


def test_a_bare_install_imports(bare: Path) -> None:
    """From another folder, so that nothing of the repository is on the path."""
    script = (
        "import sys; before = {name.split('.')[0] for name in sys.modules};"
        "import deedbox;"
        "after = {name.split('.')[0] for name in sys.modules} - before;"
        "print(*sorted(after - set(sys.stdlib_module_names)))"
    )
    ran = subprocess.run(
        [bare / "python", "-c", script],
        cwd=bare,
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.split() == ["deedbox", "msgspec"]


def test_without_the_compiler_its_commands_say_how_to_install_it(bare: Path) -> None:
    ran = subprocess.run(
        [bare / "deedbox", "build"], cwd=bare, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert "pip install 'deedbox[compiler]'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_the_compiler_the_run_time_commands_are_there(bare: Path) -> None:
    ran = subprocess.run(
        [bare / "deedbox", "demo", "--help"], cwd=bare, capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert "--plain" in ran.stdout


def test_the_version_is_that_of_the_project(bare: Path) -> None:
    ran = subprocess.run(
        [bare / "deedbox", "--version"], cwd=bare, capture_output=True, text=True
    )
    assert ran.stdout.split() == ["deedbox", PROJECT["project"]["version"]]
