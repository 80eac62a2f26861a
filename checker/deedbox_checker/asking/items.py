"""The items that a spec becomes: loaded with the first spec, and not before.

One search serves all items of a machine, in all processes of one run (`answering`); it is
made when the first of them runs.  The text of a failure is the counterexample.  pytest
leaves the keywords of `from_parent` unannotated, which is what the `ignore`s are for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import pytest
from deedbox_generator.cli.project import Unreadable

from ..counterexample.rehearsal import carried_out
from ..environment.labels import FAULTS
from ..properties.unasked import unasked_of
from ..subjects.chosen import read
from ..subjects.subjects import Subject
from ..upgrades.takeover import UPGRADES
from ..verdicts.verify import switched_on
from .answering import Place, Question, answered, place_of, searched
from .options import chosen, limit
from .remembered import Known, Told

DEEP = 2


class Broken(Exception):
    """Its text is what is to be read: the counterexample."""


class SpecFile(pytest.File):
    """A spec; a machine is collected when the spec has no problems."""

    def collect(self) -> Iterable[MachineNode]:
        try:
            specs, found = read([self.path])
        except Unreadable as problem:
            raise self.CollectError(str(problem)) from None
        for subject in found:
            node = MachineNode.from_parent(  # pyright: ignore[reportUnknownMemberType]
                self, name=subject.machine.name
            )
            node.subject = subject
            node.place = place_of(specs, subject)
            yield node


class MachineNode(pytest.Collector):
    """A machine: one search, shared by its items."""

    subject: Subject
    place: Place
    found: Known | None = None

    def collect(self) -> Iterator[Item]:
        machine, setting = self.subject.machine, told_setting(self.config)
        several = max(question(self.config).instances, machine.bounds.instances) > 1
        stated = (each.name for each in machine.properties)
        names = ["explored", "reached", *unasked_of(machine)]
        on = switched_on(machine, self.subject.older)
        upgrade = {"upgrade"} <= {*on} & {*question(self.config).faults}
        names += [*[UPGRADES] * upgrade, *stated]
        for name in names + ["instances_are_independent"] * several:
            item = Item.from_parent(  # pyright: ignore[reportUnknownMemberType]
                self, name=f"{name}[{setting}]"
            )
            item.checks = name
            yield item

    def known(self) -> Known:
        if self.found is None:
            self.found = answered(self.subject, self.place, question(self.config))
        return self.found


def question(config: pytest.Config) -> Question:
    """What the options ask of every machine."""
    only, without = chosen(config, "fault"), chosen(config, "without")
    faults = [name for name in FAULTS if not only or name in only]
    deep = bool(config.getoption("--deed-deep") or config.getini("deed_deep"))
    return Question(
        tuple(name for name in faults if name not in without),
        limit(config),
        DEEP if deep else 1,
        kept=not config.getoption("--deed-no-cache"),
    )


def told_setting(config: pytest.Config) -> str:
    """The setting as a part of an item's name."""
    asked = question(config)
    left = [name for name in FAULTS if name not in asked.faults]
    if not left:
        faults = "all"
    elif chosen(config, "fault"):
        faults = "+".join(asked.faults) or "none"
    else:
        faults = "-".join(["all", *left])
    deep = f",instances={asked.instances}" if asked.instances > 1 else ""
    return f"faults={faults}{deep}"


class Item(pytest.Item):
    """`explored`: the search ended; `reached`: nothing of the spec is dead; else a verdict."""

    checks: str = ""
    deed_summary: str | None = None
    deed_trace: dict[str, object] | None = None

    @property
    def machine(self) -> MachineNode:
        return cast(MachineNode, self.parent)

    def runtest(self) -> None:
        known = self.machine.known()
        data = known.data
        self.deed_summary = sizes(known)
        self.add_report_section("call", "deedbox", self.deed_summary)
        if self.checks == "explored":
            if data["incomplete"]:
                raise Broken(known.summary)
        elif data["incomplete"]:
            pytest.skip(f"not explored: {data['incomplete']}")
        elif self.checks == "reached":
            if data["unreached"]:
                raise Broken("no run reaches " + ", ".join(data["unreached"]))
        else:
            self.judge(next(one for one in known.told if one.name == self.checks))

    def judge(self, told: Told) -> None:
        replayed = cast("str | None", self.config.getoption("--deed-replay"))
        if replayed is not None and not (told.id and told.id.startswith(replayed)):
            pytest.skip(f"it has no run called {replayed}")
        if told.holds:
            return
        self.deed_trace = told.itf
        text = told.text
        if told.id:
            text += f'\n  replay: pytest "{self.nodeid}" --deed-replay {told.id}'
            text += f"\n  as a test: deedbox trace {told.id} --pytest"
        if replayed is not None:
            text += "\n\n" + "\n".join(self.replayed())
        raise Broken(text)

    def replayed(self) -> Iterator[str]:
        """The run on the interpreter: found again, since no file keeps its steps."""
        subject = self.machine.subject
        report = searched(subject, question(self.config), lambda _: None)
        verdict = next(each for each in report.verdicts if each.name == self.checks)
        return carried_out(subject, verdict)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        del style
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        line = next(
            (
                stated.span.line - 1
                for stated in self.machine.subject.machine.properties
                if stated.name == self.checks
            ),
            None,
        )
        return self.path, line, f"{self.machine.name}::{self.name}"


def sizes(known: Known) -> str:
    """How much was explored, as the first line of the report has it."""
    _, _, sizes = known.summary.partition("; ")
    return sizes or known.summary
