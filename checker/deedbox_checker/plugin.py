"""pytest collects specs: each property of each machine, and each rule, is an item.

    specs/shop/orders.deed::Order::money_returns

One search serves all items of a machine; it is made when the first of them runs.  The
text of a failure is the counterexample.  pytest leaves the keywords of `from_parent`
unannotated, which is what the three `ignore`s are for.  What needs the compiler is imported late, so
that a project without it is told so by its first spec and by nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

if TYPE_CHECKING:
    from .subjects import Subject
    from .verify import Report, Verdict

NEEDS: Final = ("lark", "jinja2", "black")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("deedbox", "model checking of specs")
    group.addoption(
        "--deed-without",
        action="append",
        default=[],
        metavar="FAULT",
        help="explore without this fault",
    )
    group.addoption(
        "--deed-limit",
        type=int,
        default=1_000_000,
        metavar="STATES",
        help="a machine with more states fails",
    )
    group.addoption(
        "--deed-trace",
        type=Path,
        metavar="FILE",
        help="append each counterexample as a line of JSON",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    if file_path.suffix != ".deed":
        return None
    return SpecFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]


class Broken(Exception):
    """Its text is what is to be read: the counterexample."""


class SpecFile(pytest.File):
    """A spec; a machine is collected when the spec has no problems."""

    def collect(self) -> Iterable[MachineNode]:
        missing = [name for name in NEEDS if find_spec(name) is None]
        if missing:
            words = f"verifying needs {', '.join(missing)}"
            raise self.CollectError(f"{words}: pip install 'deedbox[checker]'")
        from deedbox_dsl.problems import has_errors
        from deedbox_dsl.render import to_text
        from deedbox_generator.cli.compiled import compiled
        from deedbox_generator.cli.project import project

        from .subjects import subjects

        specs = project([self.path])
        program, problems = compiled(specs)
        if has_errors(problems):
            raise self.CollectError(
                to_text(problems, program.texts, called=specs.called)
            )
        for subject in subjects(program):
            if subject.path in specs.chosen:
                node = MachineNode.from_parent(  # pyright: ignore[reportUnknownMemberType]
                    self, name=subject.machine.name
                )
                node.subject = subject
                yield node


class MachineNode(pytest.Collector):
    """A machine: one search, shared by its items."""

    subject: Subject
    found: Report | None = None

    def collect(self) -> Iterator[Item]:
        from .properties import unasked_of

        machine = self.subject.machine
        stated = (each.name for each in machine.properties)
        for name in ("explored", "reached", *unasked_of(machine), *stated):
            yield Item.from_parent(  # pyright: ignore[reportUnknownMemberType]
                self, name=name
            )

    def report(self) -> Report:
        from .environment import FAULTS
        from .verify import verify

        if self.found is None:
            without = cast("list[str]", self.config.getoption("--deed-without"))
            self.found = verify(
                self.subject.machine,
                self.subject.module,
                faults=[name for name in FAULTS if name not in without],
                limit=cast(int, self.config.getoption("--deed-limit")),
            )
        return self.found


class Item(pytest.Item):
    """`explored`: the search ended; `reached`: nothing of the spec is dead; else a verdict."""

    def runtest(self) -> None:
        from deedbox_generator.cli.project import called

        from .report import failure, summary

        node = cast(MachineNode, self.parent)
        report = node.report()
        self.user_properties.append(("explored", summary(report)))
        if self.name == "explored":
            if report.incomplete:
                raise Broken(summary(report))
        elif report.incomplete:
            pytest.skip(f"not explored: {report.incomplete}")
        elif self.name == "reached":
            if report.unreached:
                raise Broken("no run reaches " + ", ".join(report.unreached))
        else:
            verdict = next(each for each in report.verdicts if each.name == self.name)
            if not verdict.holds:
                self.keep(report, verdict)
                raise Broken("\n".join(failure(verdict, called(self.path))))

    def keep(self, report: Report, verdict: Verdict) -> None:
        """Append the counterexample to the file that was asked for."""
        from .report import verdict_json

        file = cast("Path | None", self.config.getoption("--deed-trace"))
        if file is not None:
            found = {"machine": report.machine, **verdict_json(verdict)}
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(found) + "\n")

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        del style
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        node = cast(MachineNode, self.parent)
        line = next(
            (
                stated.span.line - 1
                for stated in node.subject.machine.properties
                if stated.name == self.name
            ),
            None,
        )
        return self.path, line, f"{node.name}::{self.name}"
