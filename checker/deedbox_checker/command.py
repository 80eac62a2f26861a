"""`deedbox verify`: the only part of the checker that reads files and prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import msgspec

from .counterexample import command as counterexample
from .environment import FAULTS
from .export import command as export
from .report import as_json, as_text
from .verify import LIMIT, Report, verify, with_costs

NEEDS: Final = ("lark", "jinja2", "black")


class Commands(Protocol):
    """What argparse calls subparsers."""

    def add_parser(self, name: str, /, *, help: str) -> argparse.ArgumentParser: ...


for _name in NEEDS:
    if find_spec(_name) is None:
        raise ModuleNotFoundError(f"the checker needs {_name}", name=_name)


def register(commands: Commands) -> None:
    """The entry point of the group `deedbox.commands`."""
    parser = commands.add_parser(
        "verify", help="explore every schedule of every machine under faults"
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--machine", metavar="NAME", help="only this machine")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=tuple(FAULTS),
        help="leave a fault out",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT,
        metavar="STATES",
        help="give up on a machine with more states than this; it then fails",
    )
    parser.add_argument(
        "--costs",
        action="store_true",
        help="say of each fault how many states there are only because of it",
    )
    parser.set_defaults(run=run)
    export.register(commands)
    counterexample.register(commands)


def run(arguments: argparse.Namespace) -> int:
    """0: everything holds; 1: something does not, or was not explored; 2: usage."""
    from deedbox_generator.cli.project import Unreadable

    paths: list[Path] = arguments.paths
    without: list[str] = arguments.without
    try:
        found = list(
            reports(
                paths,
                arguments.machine,
                tuple(name for name in FAULTS if name not in without),
                arguments.limit,
                costs=arguments.costs,
                spoken=arguments.format == "text",
            )
        )
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    if not found:
        print(
            f"deedbox: there is no machine {arguments.machine or ''}", file=sys.stderr
        )
        return 2
    if arguments.format == "json":
        listed = [as_json(report, path) for path, report in found]
        print(msgspec.json.format(msgspec.json.encode(listed)).decode())
    return int(not all(report.holds for _, report in found))


def reports(
    paths: Sequence[Path],
    machine: str | None,
    faults: tuple[str, ...],
    limit: int,
    *,
    costs: bool,
    spoken: bool,
) -> Iterator[tuple[str, Report]]:
    """A report for each machine that is asked for, printed as soon as it is there."""
    from deedbox_dsl.problems import has_errors
    from deedbox_dsl.render import to_text
    from deedbox_generator.cli.compiled import compiled
    from deedbox_generator.cli.project import Unreadable, project

    from .subjects import subjects

    specs = project(paths)
    program, problems = compiled(specs)
    if has_errors(problems):
        raise Unreadable(f"the specs have problems\n{to_text(problems, program.texts)}")
    for subject in subjects(program):
        if subject.path in specs.chosen and machine in (None, subject.machine.name):
            bar = Bar(subject.machine.name)
            report = verify(
                subject.machine,
                subject.module,
                faults=faults,
                limit=limit,
                progress=bar.show,
            )
            if costs:
                report = with_costs(report, subject.machine, subject.module, limit)
            bar.clear()
            if spoken:
                print(as_text(report, subject.path), end="\n\n", flush=True)
            yield subject.path, report


class Bar:
    """One line on a terminal that says how far the search is; silent elsewhere."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown = sys.stderr.isatty()

    def show(self, states: int) -> None:
        if self.shown:
            print(f"\r{self.name}: {states:,} states …", end="", file=sys.stderr)

    def clear(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
