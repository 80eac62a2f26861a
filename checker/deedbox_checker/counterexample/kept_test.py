"""A counterexample as a pytest module that stands by itself.

The test carries out the run of the explorer on the real interpreter, in memory and on
SQLite, and fails as long as the machine follows it to its end.  The messages are JSON
in it, so that it is well typed whatever the types of their fields are called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import assert_never

import black
import msgspec
from deedbox.replay import (
    Action,
    Answers,
    Begin,
    Crash,
    Decides,
    Does,
    Fires,
    HandedOut,
    Raises,
    Tell,
)
from msgspec import Struct

from ..evaluate import phase
from ..subjects import Subject
from ..verify import Verdict
from .script import Unmapped, compared, script

STAMPS = ("at", "ticket")
"""Fields that the interpreter sets itself."""


def kept_test(subject: Subject, verdict: Verdict) -> str:
    """The text of the module; `Unmapped` when the run has no real counterpart."""
    trace = verdict.trace
    steps = script(verdict)
    if trace is None or trace.run is None:
        raise Unmapped(f"{verdict.name} has no run")
    package, _, module = subject.module.__name__.partition(".")[2].rpartition(".")
    last = trace.run.worlds[-1]
    fields = {own: getattr(last.state, own) for own in compared(verdict)}
    counted = trace.run.environment.model.counted
    counts = {
        f"{command}.{outcome}": many
        for (command, outcome), many in zip(counted, last.counts, strict=True)
    }
    ends = f"{phase(last.state)!r}, {text(counts)}, {text(fields)}"
    faults = f"{trace.faults} fault{'' if trace.faults == 1 else 's'}"
    used = sorted({type(step.action).__name__ for step in steps})
    module_text = "\n".join(
        [
            f'"""{subject.path}: {verdict.says}, broken by a run of {len(trace.lines)} steps and {faults}.',
            "",
            f"Written by `deedbox trace {trace.id(verdict.name)} --pytest`.  It fails as long as the machine",
            "follows this run to its end.",
            '"""',
            "",
            "from __future__ import annotations",
            "",
            "from pathlib import Path",
            "",
            "import pytest",
            f"from deedbox.replay import {', '.join(sorted([*used, 'Does', 'Where', 'read', 'replay']))}",
            "",
            f"from {package} import {module}" if package else f"import {module}",
            "",
            "RUN = (",
            *(f"    {written(step, module)}," for step in steps),
            ")",
            "",
            "",
            '@pytest.mark.parametrize("where", ["memory", "sqlite"])',
            f"def test_{verdict.name}(where: Where, tmp_path: Path) -> None:",
            f"    end = replay({module}.machine, RUN, where, tmp_path)",
            f"    assert not end.reached({ends}), {verdict.says!r}",
            "",
        ]
    )
    return black.format_str(module_text, mode=black.Mode())


def text(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in values.items()) + "}"


def written(step: Does, module: str) -> str:
    return f"Does({action(step.action, module)}, {step.phase!r})"


def action(done: Action, module: str) -> str:
    match done:
        case Begin(message):
            return f"Begin({document(message, module)})"
        case Tell(message):
            return f"Tell({document(message, module)})"
        case Decides(deed, command, outcome, answer, counts):
            said = document(answer, module)
            happens = "" if counts else ", counts=False"
            return f"Decides({deed}, {command!r}, {outcome!r}, {said}{happens})"
        case HandedOut() | Answers() | Raises() | Fires() | Crash():
            return f"{type(done).__name__}()"
        case _:
            assert_never(done)


def document(message: Struct, module: str) -> str:
    """A message as the call that reads it from JSON."""
    plain: dict[str, object] = msgspec.to_builtins(message)
    kept = {name: value for name, value in plain.items() if name not in STAMPS}
    return f"read({module}.{type(message).__name__}, {json.dumps(kept)!r})"
