"""Machines of two versions and more, made ready to be explored with an upgrade in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deedbox.codec import Codec
from deedbox.step import AnyMachine
from deedbox.upcast import Upcast
from deedbox_checker.subjects.kept import Kept
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_checker.verdicts.verify import Report, verify
from deedbox_dsl import compile
from deedbox_dsl.problems import has_errors
from msgspec import Struct
from msgspec.structs import replace as with_fields

from tests.versions.made import shapes_of

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs"


def made(*texts: str, spec: str = "made.deed", kept: Mapping[int, str] = {}) -> Subject:
    """The first machine of the last text; the others are released before it.

    `kept`: what is found beside a shape, where it is another text.
    """
    shapes: dict[str, str] = {}
    beside: dict[str, str] = {}
    program = compile({})
    for number, text in enumerate(texts, 1):
        program = compile({f"specs/{spec}": text}, shapes)
        assert not has_errors(program.problems), program.problems
        for path, shape in shapes_of(program).items():
            shapes[path] = shape
            beside[f"{path.removesuffix('.json')}/{spec}"] = kept.get(number, text)
    return subjects(program, shapes, beside)[0]


def gallery(spec: str, *rewrite: tuple[str, str]) -> Subject:
    """A machine of the gallery, its text changed, with its older versions."""
    folder = SPECS / ".shapes"
    shapes = {path.name: path.read_text("utf-8") for path in folder.glob("*.json")}
    kept = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.deed")
    }
    texts = {
        f"specs/{path}": (SPECS / path).read_text("utf-8")
        for path in (spec, "shop/policies.deed")
    }
    for old, new in rewrite:
        assert texts[f"specs/{spec}"].count(old) == 1, old
        texts[f"specs/{spec}"] = texts[f"specs/{spec}"].replace(old, new)
    program = compile(texts, shapes)
    assert not has_errors(program.problems), program.problems
    return next(
        subject
        for subject in subjects(program, shapes, kept)
        if subject.path == f"specs/{spec}"
    )


def explored(subject: Subject, **options: Any) -> Report:
    return verify(subject.machine, subject.module, older=subject.older, **options)


def broken(report: Report) -> dict[str, tuple[int, int] | None]:
    """What does not hold, and the faults and steps of its run."""
    return {
        verdict.name: None
        if verdict.trace is None
        else (verdict.trace.faults, len(verdict.trace.lines))
        for verdict in report.verdicts
        if not verdict.holds
    }


def told(report: Report, name: str) -> list[str]:
    """The steps of the run that breaks a property, by their words."""
    trace = next(each.trace for each in report.verdicts if each.name == name)
    assert trace is not None
    return [line.step for line in trace.lines]


def with_older(subject: Subject, **changes: Any) -> Subject:
    """The subject with functions of its oldest version's way exchanged."""
    first, *rest = subject.module.machine.older
    older = (replace(first, **changes), *rest)
    subject.module.machine = replace(subject.module.machine, older=older)  # type: ignore[attr-defined]  # ours
    return subject


def without_versions(subject: Subject) -> tuple[Kept, ...]:
    """Its older versions as if only their shapes were there."""
    return tuple(
        Kept(each.version, each.shape, lost="its specs are not kept")
        for each in subject.older
    )


# ---- machines with one mistake between their versions --------------------------------

ORDER = "shop/orders.deed"
LEASE = "fleet/lease.deed"
RESERVING = "state Reserving becomes StockRunning { .., attempt: 1, cancelled: none }"
BACKOFF = 'state PaymentBackoff { .., cause: "declined before version 2" }'
PAUSED = "drop state Paused becomes Free"


def losing_the_key() -> Subject:
    """Whoever undoes the charge later is given an empty key."""
    lost = RESERVING.replace("attempt: 1,", 'attempt: 1, payment_deed: "",')
    return gallery(ORDER, (RESERVING, lost))


def counting_anew() -> Subject:
    return gallery(ORDER, (BACKOFF, BACKOFF.replace("..,", "attempt: 1, due,")))


def draining_no_more() -> Subject:
    """A state that waited becomes one that does not: what it waited for is withdrawn."""
    drops = f"{PAUSED}\n    drop state Draining becomes Free"
    return gallery(LEASE, (PAUSED, drops))


def raising(subject: Subject, name: str, way: str) -> Subject:
    """Its upcaster of states, or of commands, raises on one of them."""
    upcaster = getattr(subject.module.machine.older[0], way)

    def fragile(document: Any, *more: Any) -> Any:
        if type(document).__name__ == name:
            raise ValueError("not thought of")
        return upcaster(document, *more)

    return with_older(subject, **{way: fragile})


def raising_on_reserving() -> Subject:
    return raising(gallery(ORDER), "Reserving", "state")


class Keeping:
    """An interpreter that reads as a `Codec` does, and never withdraws."""

    def __init__(self, machine: AnyMachine) -> None:
        self._codec = Codec(machine)

    def state(self, version: int, document: str, at: int) -> Upcast:
        return with_fields(self._codec.state(version, document, at), withdrawn=None)

    def command(self, version: int, name: str, document: str) -> Struct:
        return self._codec.command(version, name, document)
