"""A kept run carried out once before it is written: a test that cannot fail is not kept."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deedbox.replay import Ran, replay

from ..subjects.subjects import Subject
from ..verdicts.verdict import Verdict
from .kept_test import Kept, kept
from .unmapped import Unmapped


def rehearsed(subject: Subject, found: Kept) -> Ran[Any]:
    """What the interpreter makes of the run, in memory."""
    with quiet():
        return replay(subject.module.machine, found.steps, "memory", Path())


def carried_out(subject: Subject, verdict: Verdict) -> Iterator[str]:
    """The run on the interpreter, told step by step."""
    try:
        found = kept(subject, verdict)
    except Unmapped as problem:
        yield f"  not replayed: {problem}"
        return
    ran = rehearsed(subject, found)
    yield "  on the interpreter, in memory:"
    for number, (step, seen) in enumerate(zip(found.steps, ran.seen, strict=False), 1):
        told = f"{type(step.action).__name__:<9}  {type(seen.state).__name__}"
        yield f"  {number:>2}  {told}"
    if ran.parted:
        yield f"  there it goes another way: {ran.parted}"
    elif ran.raised:
        yield f"  there it raises: {ran.raised.splitlines()[-1]}"
    else:
        yield "  so it goes this way to its end"


@contextmanager
def quiet() -> Generator[None]:
    """Handlers raise and rows are parked here because the run says so."""
    log = logging.getLogger("deedbox")
    former, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = former
