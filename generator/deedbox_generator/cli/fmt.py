"""`deedbox fmt`: specs in the one way they are written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from deedbox_dsl.format import format_text
from deedbox_dsl.problems import Problem
from deedbox_dsl.render import to_text
from deedbox_dsl.source import Text

from .project import project, write_atomically


def fmt(paths: Sequence[Path], *, check: bool) -> int:
    specs = project(paths)
    texts = {path: Text.of(path, specs.texts[path]) for path in specs.chosen}
    problems: list[Problem] = []
    changed: list[str] = []
    for path, text in texts.items():
        written = format_text(text)
        if not isinstance(written, str):
            problems += written
        elif written != specs.texts[path]:
            changed.append(path)
            if not check:
                write_atomically(specs.root / path, written)
    if problems:
        print(to_text(problems, texts, called=specs.called), file=sys.stderr)
    for path in changed:
        print(f"{'would rewrite' if check else 'rewrote'} {specs.called(path)}")
    return 1 if problems or (check and changed) else 0
