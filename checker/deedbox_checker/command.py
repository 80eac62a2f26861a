"""`deedbox verify`, and the entry point of all commands of the checker."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from .asking.answering import Question
from .counterexample import command as counterexample
from .environment.labels import FAULTS
from .export import command as export
from .reports.text import as_table
from .search.searching import LIMIT
from .subjects.arguments import Commands, add_paths, add_without, positive

if TYPE_CHECKING:
    from .asking.remembered import Known

NEEDS: Final = ("lark", "jinja2", "black", "rich")


for _name in NEEDS:
    if find_spec(_name) is None:
        raise ModuleNotFoundError(f"the checker needs {_name}", name=_name)


def register(commands: Commands) -> None:
    """The entry point of the group `deedbox.commands`."""
    parser = commands.add_parser(
        "verify", help="explore every schedule of every machine under faults"
    )
    add_paths(parser)
    parser.add_argument("--machine", metavar="NAME", help="only this machine")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_without(parser, "leave a fault out")
    parser.add_argument(
        "--limit",
        type=positive,
        default=LIMIT,
        metavar="STATES",
        help="give up on a machine with more states than this; it then fails",
    )
    parser.add_argument(
        "--instances",
        type=positive,
        default=1,
        metavar="N",
        help="so many beside each other, if the spec does not ask for more",
    )
    parser.add_argument(
        "--costs",
        action="store_true",
        help="say of each fault how many states there are only because of it",
    )
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="explore again what has not changed, and keep nothing",
    )
    parser.set_defaults(run=run)
    export.register(commands)
    counterexample.register(commands)


def run(arguments: argparse.Namespace) -> int:
    """0: all there is holds; 1: something does not, or was not explored; 2: usage."""
    from deedbox_generator.cli.project import Unreadable

    without: list[str] = arguments.without
    paths: list[Path] = arguments.paths
    name: str | None = arguments.machine
    question = Question(
        tuple(name for name in FAULTS if name not in without),
        arguments.limit,
        arguments.instances,
        arguments.costs,
        not arguments.no_cache,
    )
    spoken = arguments.format == "text"
    found: list[Known] = []
    try:
        for known in reports(paths, name, question):
            found.append(known)
            if spoken:
                print(known.text, end="\n\n", flush=True)
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    if not found and name is not None:
        print(f"deedbox: there is no machine {name}", file=sys.stderr)
        return 2
    if not found and arguments.format == "text":
        print("nothing to verify: these specs declare no machine")
    if spoken and len(found) > 1:
        print(as_table([known.data for known in found]), end="")
    if not spoken:
        listed = [known.data for known in found]
        print(msgspec.json.format(msgspec.json.encode(listed)).decode())
    return int(not all(known.holds for known in found))


def reports(
    paths: Sequence[Path], machine: str | None, question: Question
) -> Iterator[Known]:
    """A report for each machine that is asked for, as soon as it is there."""
    from .asking.answering import answered, place_of
    from .subjects.chosen import read

    specs, found = read(paths)
    for subject in found:
        name = subject.machine.name
        if machine in (None, name):
            with Bar(name) as bar:
                known = answered(subject, place_of(specs, subject), question, bar.show)
            yield known


class Bar:
    """How many states there are so far, on a terminal; silent elsewhere."""

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} states"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(name, total=None)

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, states: int) -> None:
        self._bar.update(self._task, completed=states)
