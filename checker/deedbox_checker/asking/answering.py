"""One answer for each machine and question, whoever asks: the command, or pytest's workers.

An answer that is known is not found again, and several processes that ask the same at
one time search once: one of them does, and the others wait for its report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..counterexample.itf import as_data
from ..counterexample.printed import failure
from ..reports.data import as_json
from ..reports.text import as_text, summary
from ..subjects.subjects import Subject
from ..verdicts.verdict import Verdict
from ..verdicts.verify import Report, verify, with_costs
from .remembered import Known, Remembered, Told

if TYPE_CHECKING:
    from deedbox_generator.cli.project import Project


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a machine; `kept`: what is known already will do."""

    faults: tuple[str, ...]
    limit: int
    instances: int = 1
    costs: bool = False
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """Where the specs of a machine are, and what an answer about it depends on.

    `called`: what its spec is called to the one who asks.
    """

    root: Path
    texts: Mapping[str, str]
    called: str


def place_of(specs: Project, subject: Subject) -> Place:
    said = {**specs.texts, **specs.shapes, **specs.kept}
    return Place(specs.root, said, specs.called(subject.path))


def answered(
    subject: Subject,
    place: Place,
    question: Question,
    progress: Callable[[int], None] = lambda _: None,
) -> Known:
    """What is known of the machine, or what a search finds."""
    if not question.kept:
        return told(searched(subject, question, progress), subject, place)
    name, words = subject.machine.name, f"{question} {place.called}"
    remembered = Remembered(place.root, {**place.texts, "": words})
    with remembered.alone(subject.path, name):
        known = remembered.find(subject.path, name)
        if known is None:
            known = told(searched(subject, question, progress), subject, place)
            remembered.keep(subject.path, name, known)
        return known


def searched(
    subject: Subject, question: Question, progress: Callable[[int], None]
) -> Report:
    report = verify(
        subject.machine,
        subject.module,
        older=subject.older,
        faults=question.faults,
        limit=question.limit,
        instances=question.instances,
        progress=progress,
    )
    if question.costs:
        return with_costs(
            report, subject.machine, subject.module, subject.older, question.limit
        )
    return report


def told(report: Report, subject: Subject, place: Place) -> Known:
    return Known(
        report.holds,
        as_text(report, place.called, subject.text),
        as_json(report, subject.path),
        summary(report),
        [one(verdict, subject, place) for verdict in report.verdicts],
    )


def one(verdict: Verdict, subject: Subject, place: Place) -> Told:
    if verdict.holds:
        return Told(verdict.name, True)
    text = "\n".join(failure(verdict, place.called, subject.text))
    trace = verdict.trace
    if trace is None:
        return Told(verdict.name, False, text)
    data = None
    if trace.run is not None:
        data = as_data(subject.path, verdict.says, trace, trace.run)
    return Told(verdict.name, False, text, trace.id(verdict.name), data)
