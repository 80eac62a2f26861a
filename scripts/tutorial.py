"""Follow docs/tutorial.md: write its files, run its commands, put in what they print.

`--check` changes nothing and ends with 1 when the page shows something else.  A file
is a fence after "This is `name`."; a comment `<!-- a is b with `x` for `y` -->` makes
one file of another; a command is a line that begins with `$ ` in a console fence.
How long a search took differs from run to run and is not compared.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "tutorial.md"
STEP: Final = re.compile(
    r"^This is [^`\n]*`(?P<file>[^`\n]+)`\.\n\n```\w+\n(?P<text>.*?)^```$"
    r"|^<!-- (?P<made>\S+) is (?P<of>\S+) with `(?P<new>.+)` for `(?P<old>.+)` -->$"
    r"|^```console\n(?P<console>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND: Final = re.compile(r"^\$ (.*)\n", re.MULTILINE)
EFFORT: Final = re.compile(r"; \S+ states, \S+ steps, \d+ deep, \S+ s$", re.MULTILINE)
PROGRAMS: Final = {
    "deedbox": (sys.executable, "-m", "deedbox"),
    "python": (sys.executable,),
}


def followed(page: str, folder: Path) -> str:
    """The page with what its commands print today."""

    def step(found: re.Match[str]) -> str:
        if found["file"]:
            (folder / found["file"]).write_text(found["text"])
        elif found["made"]:
            text = (folder / found["of"]).read_text()
            if found["old"] not in text:
                raise SystemExit(f"{found['of']} has no `{found['old']}`")
            (folder / found["made"]).write_text(
                text.replace(found["old"], found["new"])
            )
        else:
            commands = COMMAND.findall(found["console"])
            shown = "".join(f"$ {each}\n{run(each, folder)}" for each in commands)
            return f"```console\n{shown.rstrip()}\n```"
        return found[0]

    return STEP.sub(step, page)


def run(command: str, folder: Path) -> str:
    program, *words = command.split()
    done = subprocess.run(
        [*PROGRAMS[program], *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def main(check: bool) -> int:
    page = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        today = followed(page, Path(folder))
    one, other = EFFORT.sub("", page), EFFORT.sub("", today)
    if one == other:
        return 0
    if not check:
        PAGE.write_text(today)
        return 0
    lines = unified_diff(
        one.splitlines(), other.splitlines(), "the page", "today", lineterm=""
    )
    print("\n".join(lines))
    return 1


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
