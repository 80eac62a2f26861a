"""Run the parts of `make test`, one after another, with the time of each.

A part is a name and a command; the first that fails ends the run.  What each part
prints goes through, so that a person reads the tool's own words.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BIN: Final = Path(sys.executable).parent

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    command: Command


def builds() -> Iterator[Command]:
    """How each committed package was built: its manifest says from which specs."""
    for place in ("runtime", "tests"):
        for manifest in sorted((ROOT / place).rglob(".deedbox-manifest.json")):
            specs = json.loads(manifest.read_text("utf-8"))["specs"]
            out = manifest.parent.relative_to(ROOT).as_posix()
            yield ("deedbox", "build", *specs, "--out", out)


BUILDS: Final = tuple(builds())

STATIC: Final = (
    Part("lint", ("ruff", "check")),
    Part("format", ("ruff", "format", "--check")),
    Part("layers", ("lint-imports",)),
    Part("types, mypy", ("mypy",)),
    Part("types, basedpyright", ("basedpyright",)),
    *(Part(f"generated code in {build[-1]}", (*build, "--check")) for build in BUILDS),
)

# Tests that start processes of their own run apart, so that their time is seen.
APART: Final[dict[str, Command]] = {
    "tests/packaging": (),
    "tests/chaos": ("-n", "2"),
    "tests/demo": ("-n", "2"),
    "tests/strangers": ("-n", "2"),
    # Alone, so that what they print is seen: runs until a mutant was found, coverage.
    "tests/simulation/test_mutants.py": (),
    "tests/simulation/test_refinement.py": (),
}
UNREACHED: Final = ("--fail-under=100", "--show-missing", "--skip-covered")
# These reach no line of the language that the others do not reach, and take long.
LONG: Final = (
    "tests/dsl/meaning/test_saga_laws.py",
    "tests/dsl/text/test_depth.py",
    "tests/dsl/text/test_format_laws.py",
    "tests/dsl/text/test_mutations.py",
)


def measured() -> Iterator[str]:
    """The tests that together reach every line of the language."""
    yield "tests/corpus"
    for name in ("checks", "diff", "written_shapes"):
        yield f"tests/versions/test_{name}.py"
    for file in sorted((ROOT / "tests" / "dsl").rglob("test_*.py")):
        path = file.relative_to(ROOT).as_posix()
        if path not in LONG:
            yield path


MEASURED: Final = tuple(measured())
OTHERS: Final = tuple(f"--ignore={path}" for path in (*APART, *MEASURED))
TESTS: Final = (
    Part("Spin, rumur and Graphviz", (str(ROOT / "scripts" / "strangers"),)),
    Part(
        "tests of the language",
        ("coverage", "run", "--source=deedbox_dsl", "-m", "pytest", *MEASURED),
    ),
    Part("lines that none of them reached", ("coverage", "report", *UNREACHED)),
    Part("tests", ("pytest", "-n", "2", *OTHERS, "tests")),
    *(Part(path, ("pytest", *options, path)) for path, options in APART.items()),
)

CONFIG: Final = "--rcfile=scripts/coverage.toml"
# Spin and rumur run no line of ours, and a mutant is another program.
UNMEASURED: Final = ("tests/strangers", "tests/simulation/test_mutants.py")
COVERAGE: Final = (
    Part("nothing from before", ("coverage", "erase", CONFIG)),
    Part(
        "tests, measured",
        (
            *("coverage", "run", CONFIG, "-m", "pytest", "-n", "2"),
            *(f"--ignore={path}" for path in UNMEASURED),
            "tests",
        ),
    ),
    Part("together", ("coverage", "combine", "--quiet", CONFIG)),
    Part(
        "lines and branches that none of them reached",
        ("coverage", "report", CONFIG, "--show-missing", "--skip-covered"),
    ),
)

SOAK: Final = (
    Part("simulated runs", ("python", "tests/simulation/soak.py", "100000", "2")),
)


def run(parts: tuple[Part, ...]) -> int:
    took: list[tuple[str, float]] = []
    status = 0
    for part in parts:
        print(f"== {part.name}: {' '.join(part.command)}", flush=True)
        began = time.monotonic()
        tool, *arguments = part.command
        status = subprocess.run([BIN / tool, *arguments], cwd=ROOT).returncode
        took.append((part.name, time.monotonic() - began))
        if status != 0:
            break
    print("== time of each part")
    for name, seconds in took:
        print(f"{seconds:7.1f} s  {name}")
    print(f"{sum(seconds for _, seconds in took):7.1f} s  in all")
    if status != 0:
        print(f"== failed: {took[-1][0]} (exit {status})", flush=True)
    return status


def main(arguments: list[str]) -> int:
    match arguments:
        case ["all"]:
            return run(STATIC + TESTS)
        case ["static"]:
            return run(STATIC)
        case ["coverage"]:
            return run(COVERAGE)
        case ["build"]:
            return run(tuple(Part(build[-1], build) for build in BUILDS))
        case ["soak", times] if times.isdecimal():
            kill = Part("kill tests", ("pytest", "-n", "2", "tests/chaos"))
            return run((*SOAK, *(kill,) * int(times)))
        case _:
            print(
                "usage: parts.py all | static | build | coverage | soak TIMES",
                file=sys.stderr,
            )
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
