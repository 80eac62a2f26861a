"""`deedbox build` as a user runs it: all files or none, and never one that is not ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEASE = (ROOT / "specs" / "fleet" / "lease.deed").read_text("utf-8")
ORDERS = (ROOT / "specs" / "shop" / "orders.deed").read_text("utf-8")
POLICIES = (ROOT / "specs" / "shop" / "policies.deed").read_text("utf-8")
SHAPES = ROOT / "specs" / ".shapes"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "lease.deed").write_text(LEASE)
    shutil.copytree(SHAPES, tmp_path / "specs" / ".shapes")
    return tmp_path


def deedbox(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deedbox", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def built(project: Path) -> dict[str, str]:
    """What lies in the output folder, without the build's own memory."""
    out = project / "generated"
    return {
        file.relative_to(out).as_posix(): file.read_text("utf-8")
        for file in sorted(out.rglob("*"))
        if file.is_file() and ".deedbox-cache" not in file.parts
    }


def test_a_build_writes_the_package_and_the_manifest(project: Path) -> None:
    ran = deedbox(project, "build")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert set(built(project)) == {
        ".deedbox-manifest.json",
        "lease/__init__.py",
        "lease/lease.py",
        "lease/lease_sqlite.py",
        "lease/lease_v1.py",
        "lease/types.py",
    }


BAD = {
    "a syntax error": (
        LEASE.replace("state Free", "state Free {"),
        "DEED1",
        None,
    ),
    "an unknown name": (
        LEASE.replace("expires: now + m.ttl", "expires: now + m.tll"),
        "DEED",
        "`tll`",
    ),
    "a missing outcome": (
        LEASE.replace(
            "    on evict.stuck as out { goto Retired { reason: out.error } }\n", ""
        ),
        "DEED451",
        "stuck",
    ),
    "an undo that needs data not yet known": (
        ORDERS.replace(
            "undo refund(order: OrderId, ref: PaymentRef?, deed: text)",
            "undo refund(order: OrderId, ref: PaymentRef?, hold: HoldId, deed: text)",
        ),
        "DEED602",
        "hold",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_spec_gives_one_problem_with_its_place_and_writes_nothing(
    project: Path, what: str
) -> None:
    text, code, word = BAD[what]
    (project / "specs" / "lease.deed").write_text(text)
    (project / "specs" / "policies.deed").write_text(POLICIES)
    ran = deedbox(project, "build")
    assert ran.returncode == 1
    heads = [line for line in ran.stderr.split("\n") if line.startswith("error ")]
    assert len(heads) == 1, ran.stderr
    assert heads[0].startswith(f"error {code}")
    assert "specs/lease.deed:" in ran.stderr
    assert "  = " in ran.stderr
    assert word is None or word in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (project / "generated").exists()


def test_a_bad_spec_leaves_what_an_earlier_build_wrote(project: Path) -> None:
    deedbox(project, "build")
    before = built(project)
    (project / "specs" / "lease.deed").write_text(LEASE.replace("goto Free", "goto F"))
    assert deedbox(project, "build").returncode == 1
    assert built(project) == before


def test_a_build_with_nothing_to_do_imports_no_compiler(project: Path) -> None:
    deedbox(project, "build")
    program = (
        "import sys\nfrom deedbox.__main__ import main\n"
        "status = main(['build'])\n"
        "print(sorted({'lark', 'jinja2', 'black'} & set(sys.modules)), status)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "nothing to do\n[] 0\n"


def test_older_files_that_version_control_brought_back_are_built_anew(
    project: Path,
) -> None:
    """Files and manifest agree with each other, and not with the spec."""
    deedbox(project, "build")
    before = project / "before"
    shutil.copytree(project / "generated", before, ignore=_cache)
    (project / "specs" / "lease.deed").write_text("// as before\n" + LEASE)
    deedbox(project, "build")
    wanted = built(project)
    shutil.copytree(before, project / "generated", dirs_exist_ok=True)
    assert built(project) != wanted
    assert deedbox(project, "build").stdout.startswith("wrote ")
    assert built(project) == wanted


def _cache(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == ".deedbox-cache"]


def test_a_renamed_machine_leaves_no_orphan(project: Path) -> None:
    deedbox(project, "build")
    (project / "specs" / "lease.deed").write_text(
        LEASE.replace("machine Lease", "machine Tenure")
    )
    shape = project / "specs" / ".shapes" / "lease.1.json"
    shape.write_text(shape.read_text().replace('"Lease"', '"Tenure"'))
    assert deedbox(project, "build").returncode == 0
    assert {path for path in built(project) if path.startswith("lease/")} == {
        "lease/__init__.py",
        "lease/tenure.py",
        "lease/tenure_sqlite.py",
        "lease/tenure_v1.py",
        "lease/types.py",
    }


def test_a_removed_spec_takes_its_package_with_it(project: Path) -> None:
    (project / "specs" / "policies.deed").write_text(POLICIES)
    deedbox(project, "build")
    (project / "specs" / "lease.deed").unlink()
    assert deedbox(project, "build").returncode == 0
    assert set(built(project)) == {".deedbox-manifest.json"}


def test_a_file_that_nobody_asked_for_and_nobody_can_read_is_in_no_ones_way(
    project: Path,
) -> None:
    (project / "specs" / "noise.deed").write_bytes(b"\xff\xfe noise")
    (project / "specs" / "types.deed").write_text("module my.types\n\ntype Id = text\n")
    (project / "specs" / "user.deed").write_text(
        "use my.types { Id }\n\nrecord Tag { id: Id }\n"
    )
    for spec in ("lease.deed", "user.deed"):
        ran = deedbox(project, "check", f"specs/{spec}")
        assert (ran.returncode, ran.stderr) == (0, "")
    ran = deedbox(project, "check", "specs")
    assert (ran.returncode, "noise.deed" in ran.stderr) == (2, True)


def test_building_one_spec_leaves_the_others_alone(project: Path) -> None:
    (project / "specs" / "other.deed").write_text("type Id = text\n")
    deedbox(project, "build")
    before = built(project)
    (project / "specs" / "lease.deed").write_text(LEASE + "// more\n")
    assert deedbox(project, "build", "specs/lease.deed").returncode == 0
    after = built(project)
    assert after.keys() == before.keys()
    assert after["other/types.py"] == before["other/types.py"]


def test_a_file_edited_by_hand_is_not_overwritten(project: Path) -> None:
    deedbox(project, "build")
    file = project / "generated" / "lease" / "lease.py"
    file.write_text(file.read_text() + "# mine\n")
    ran = deedbox(project, "build")
    assert ran.returncode == 1
    assert "error DEED903: `generated/lease/lease.py`" in ran.stderr
    assert file.read_text().endswith("# mine\n")


def test_a_file_of_somebody_else_is_not_overwritten(project: Path) -> None:
    file = project / "generated" / "lease" / "types.py"
    file.parent.mkdir(parents=True)
    file.write_text("print('mine')\n")
    ran = deedbox(project, "build")
    assert ran.returncode == 1
    assert "error DEED904: `generated/lease/types.py`" in ran.stderr
    assert [path.name for path in file.parent.iterdir()] == ["types.py"]


def test_check_names_what_is_stale_shows_the_change_and_writes_nothing(
    project: Path,
) -> None:
    deedbox(project, "build")
    before = built(project)
    (project / "specs" / "lease.deed").write_text(LEASE.replace("30s", "40s"))
    ran = deedbox(project, "build", "--check")
    assert ran.returncode == 1
    assert "error DEED901: `generated/lease/lease.py`" in ran.stdout
    assert "+                deadline=Instant(msg.at + 40_000)," in ran.stdout
    assert built(project) == before


def test_check_is_content_when_only_the_formatting_differs(project: Path) -> None:
    deedbox(project, "build")
    out = project / "generated"
    file = out / "lease" / "types.py"
    file.write_text(file.read_text().replace('"ResourceId", str', '"ResourceId",  str'))
    manifest = json.loads((out / ".deedbox-manifest.json").read_text())
    from hashlib import sha256

    digest = sha256(file.read_bytes()).hexdigest()
    manifest["specs"]["specs/lease.deed"]["lease/types.py"] = digest
    (out / ".deedbox-manifest.json").write_text(json.dumps(manifest))
    shutil.rmtree(out / ".deedbox-cache")
    ran = deedbox(project, "build", "--check")
    assert ran.returncode == 0
    assert "warning DEED902: " in ran.stdout


def test_a_checkout_with_other_line_ends_is_not_an_edit(project: Path) -> None:
    deedbox(project, "build")
    file = project / "generated" / "lease" / "lease.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert deedbox(project, "build", "--check").returncode == 0


def test_the_folder_that_one_builds_from_changes_nothing(project: Path) -> None:
    deedbox(project, "build")
    before = built(project)
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    out = str(project / "generated")
    ran = deedbox(elsewhere, "build", str(project / "specs"), "--out", out)
    assert ran.returncode == 0
    assert built(project) == before


def test_two_specs_that_would_be_one_package_are_refused(project: Path) -> None:
    (project / "specs" / "more").mkdir()
    (project / "specs" / "more" / "lease.deed").write_text(
        "module more\ntype Id = text\n"
    )
    ran = deedbox(project, "build")
    assert ran.returncode == 1
    assert "error DEED208: " in ran.stderr
    assert "specs/more/lease.deed" in ran.stderr


@pytest.mark.parametrize("stem", ["class", "json", "msgspec", "two-words", "ünï"])
def test_a_file_name_that_no_package_can_have_is_refused(
    project: Path, stem: str
) -> None:
    """C56: reserved, or it would hide a module that Python needs."""
    (project / "specs" / "lease.deed").rename(project / "specs" / f"{stem}.deed")
    ran = deedbox(project, "build")
    assert ran.returncode == 1
    assert f"error DEED203: `{stem}.deed`" in ran.stderr
    assert not (project / "generated").exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("build", "nowhere.deed"), "nowhere.deed"),
        (("build", "pyproject.toml"), "specs end in .deed"),
        (("show", "specs"), "one spec"),
        (("explain", "DEED000"), "DEED000"),
        (("build", "--out", "pyproject.toml"), "is a file"),
    ],
)
def test_a_mistake_in_the_call_is_status_two(
    project: Path, arguments: tuple[str, ...], word: str
) -> None:
    ran = deedbox(project, *arguments)
    assert ran.returncode == 2
    assert word in ran.stderr
    assert "Traceback" not in ran.stderr
