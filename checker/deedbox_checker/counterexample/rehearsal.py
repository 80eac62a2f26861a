"""A kept run carried out once before it is written: a test that cannot fail is not kept."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deedbox.replay import Ran, replay

from ..subjects import Subject
from .kept_test import Kept


def rehearsed(subject: Subject, found: Kept) -> Ran[Any]:
    """What the interpreter makes of the run, in memory."""
    with quiet():
        return replay(subject.module.machine, found.steps, "memory", Path())


@contextmanager
def quiet() -> Generator[None]:
    """Handlers raise and rows are parked here because the run says so."""
    log = logging.getLogger("deedbox")
    former, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = former
