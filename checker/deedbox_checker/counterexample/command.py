"""`deedbox trace`: a run that breaks a property, printed, drawn, or kept as a test.

The run is found again, by the same search: it has the id that the report gave it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..environment.labels import FAULTS
from ..subjects.arguments import Commands, add_without
from ..subjects.subjects import Subject
from ..verdicts.verdict import Verdict
from ..verdicts.verify import verify
from .diagram import diagram
from .itf import itf
from .kept_test import kept, kept_test
from .printed import failure
from .rehearsal import rehearsed
from .unmapped import Unmapped

SHORTEST = 4


def register(commands: Commands) -> None:
    parser = commands.add_parser(
        "trace", help="show a run that breaks a property, or keep it as a test"
    )
    parser.add_argument("id", metavar="ID", help="as `deedbox verify` names it")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--machine", metavar="NAME", help="only this machine")
    add_without(parser, "search without a fault, as the run was found")
    parser.add_argument(
        "--all-steps", action="store_true", help="print what repeats every time"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="instead of printing")
    which = parser.add_mutually_exclusive_group()
    for name, says in (
        ("pytest", "a test that replays it on the real interpreter"),
        ("mermaid", "a sequence diagram"),
        ("itf", "JSON in the format of Apalache"),
    ):
        which.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, help=says
        )
    parser.set_defaults(run=run, format="text")


def run(arguments: argparse.Namespace) -> int:
    """0: found; 1: it cannot be written so; 2: there is none, or usage."""
    from deedbox_generator.cli.project import Unreadable, called, put, root_of

    from ..subjects.chosen import chosen

    id: str = arguments.id
    paths: list[Path] = arguments.paths
    machine: str | None = arguments.machine
    out: Path | None = arguments.out
    try:
        subjects = chosen(paths, machine)
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    without: list[str] = arguments.without
    found = search(id, subjects, without)
    if found is None:
        print(f"deedbox: no run that breaks anything is called {id}", file=sys.stderr)
        return 2
    try:
        subject, verdict = found
        spec = called(root_of(paths) / subject.path)
        all_steps: bool = arguments.all_steps
        text = written(arguments.format, subject, verdict, spec, all_steps=all_steps)
        put(text, out)
    except Unmapped as problem:
        print(f"deedbox: not replayed: {problem}", file=sys.stderr)
        return 1
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    return 0


def search(
    id: str, subjects: tuple[Subject, ...], without: Sequence[str] = ()
) -> tuple[Subject, Verdict] | None:
    """The broken property whose run has this id, or begins with it."""
    if len(id) < SHORTEST:
        return None
    for subject in subjects:
        report = verify(
            subject.machine,
            subject.module,
            faults=[name for name in FAULTS if name not in without],
            older=subject.older,
        )
        for verdict in report.verdicts:
            trace = verdict.trace
            if trace is not None and trace.id(verdict.name).startswith(id):
                return subject, verdict
    return None


def written(
    format: str,
    subject: Subject,
    verdict: Verdict,
    spec: str,
    *,
    all_steps: bool = False,
) -> str:
    trace = verdict.trace
    if trace is None:
        raise Unmapped(
            f"{verdict.name} is not broken by a run, but by there being none"
        )
    match format:
        case "pytest":
            found = kept(subject, verdict)
            ran = rehearsed(subject, found)
            if ran.parted:
                raise Unmapped(f"the interpreter goes another way {ran.parted}")
            if found.claim.watched and verdict.name not in ran.broke:
                raise Unmapped("the interpreter sees nothing of it")
            return kept_test(subject, verdict)
        case "mermaid":
            return diagram(subject.machine.name, verdict, trace)
        case "itf":
            if trace.run is None:
                raise Unmapped("a run in exact milliseconds has no explored states")
            return itf(subject.path, verdict.says, trace, trace.run)
        case _:
            told = failure(verdict, spec, subject.text, all_steps=all_steps)
            return "\n".join(told) + "\n"
