"""A counterexample as a pytest module that stands by itself.

The test carries out the run of the explorer on the real interpreter, in memory and on
SQLite, and fails as long as the machine follows it to its end.  The messages are plain
values, so that it is well typed whatever the types of their fields are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import wrap

import black
from deedbox.replay import Does, Fires, Waits
from deedbox.step import step

from ..environment.promises import PROTOCOL
from ..expressions.evaluate import phase
from ..scans.listing import Listing
from ..subjects.subjects import Subject
from ..traces.trace import Run
from ..verdicts.verdict import Verdict
from .claim import Case, Claim
from .claims import claim
from .spoken import TYPES
from .steps import Script, script
from .unmapped import Unmapped
from .wording import Wording

DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A run as a test carries it out, and what the test says of it."""

    script: Script
    claim: Claim
    wording: Wording

    @property
    def steps(self) -> tuple[Does, ...]:
        """All steps of the test, a loop twice."""
        return (*self.script.steps, *self.script.loop * 2)


def kept(subject: Subject, verdict: Verdict) -> Kept:
    """`Unmapped` when the run has no real counterpart."""
    trace = verdict.trace
    if trace is None:
        raise Unmapped(
            f"{verdict.name} is not broken by a run, but by there being none"
        )
    if trace.run is None:
        raise Unmapped(f"{verdict.name} is broken in milliseconds that are not kept")
    environment = trace.run.environment
    wrong = environment.interpreter.promises != PROTOCOL
    if wrong or environment.reactions.step is not step:
        raise Unmapped("the interpreter that was explored is not the one that runs")
    done = script(trace.run, len(trace.lines))
    if trace.stays:
        rest = Does(Waits(DAY), phase(done.begins.state) or "")
        done = replace(done, loop=(rest,))
    module = subject.module.__name__.rpartition(".")[2]
    model = trace.run.environment.model
    said = claim(Case(verdict, trace.run, model, module, done.begins))
    if said.spins:
        done = replace(done, steps=spinning(done.steps, trace.run))
    return Kept(done, said, wording(subject, model.listing, module))


def wording(subject: Subject, listing: Listing | None, module: str) -> Wording:
    """How the steps are told: those of a scan with its own pages."""
    if listing is None or subject.built in (0, listing.scanning.page):
        return Wording(module)
    if listing.scanning.due is None:
        raise Unmapped(
            f"pages of {listing.scanning.page} records were explored, and the machine"
            f" takes {subject.built}, each of which is due"
        )
    return Wording(module, listing, subject.built - listing.scanning.page)


def spinning(steps: tuple[Does, ...], run: Run) -> tuple[Does, ...]:
    """The run up to the deadline that begins to spin: the interpreter fires all at once."""
    before = list(steps)
    while before and isinstance(before[-1].action, Fires):
        before.pop()
    return (*before, Does(Fires(), phase(run.worlds[-1].state) or ""))


def kept_test(subject: Subject, verdict: Verdict) -> str:
    """The text of the module; `Unmapped` when the run has no real counterpart."""
    found, trace = kept(subject, verdict), verdict.trace
    assert trace is not None
    package, _, module = subject.module.__name__.partition(".")[2].rpartition(".")
    used = {type(step.action).__name__ for step in found.steps}
    if any("Seen[" in each for each in found.claim.functions):
        used.add("Seen")
    lines = "\n".join(runs(found))
    used |= {name for name in ("Asks", "message") if f"{name}(" in lines}
    names = ", ".join(sorted(used | {"Does", "Where", "replay"}))
    imported = f"{TYPES}, {module}" if found.claim.types else module
    text = "\n".join(
        [
            *heading(subject, verdict, found),
            "from __future__ import annotations",
            "",
            "from pathlib import Path",
            "",
            "import pytest",
            f"from deedbox.replay import {names}",
            "",
            f"from {package} import {imported}" if package else f"import {module}",
            "",
            lines,
            "",
            *("\n" + each + "\n" for each in found.claim.functions),
            "",
            '@pytest.mark.parametrize("where", ["memory", "sqlite"])',
            f"def test_{verdict.name}(where: Where, tmp_path: Path) -> None:",
            f"    run = replay({module}.machine, {whole(found)}, where, tmp_path)",
            *asserts(found, verdict),
            "",
        ]
    )
    return black.format_str(text, mode=black.Mode())


def heading(subject: Subject, verdict: Verdict, found: Kept) -> Iterator[str]:
    trace = verdict.trace
    assert trace is not None
    many = f"{trace.faults} fault{'' if trace.faults == 1 else 's'}"
    yield f'"""{subject.path}: {verdict.says}, broken by a run of {len(trace.lines)} steps and {many}.'
    yield ""
    words = (
        f"Written by `deedbox trace {trace.id(verdict.name)} --pytest`.  It fails as long"
        " as the machine follows this run to its end"
    )
    words += ", and then goes round for ever." if found.script.loop else "."
    yield from wrap(words, 88)
    yield '"""'
    yield ""


def whole(found: Kept) -> str:
    return "RUN + 2 * LOOP" if found.script.loop else "RUN"


def asserts(found: Kept, verdict: Verdict) -> Iterator[str]:
    says = verdict.says
    if found.claim.holds == "False":
        yield f"    assert run.parted, {says!r}"
    else:
        yield f"    assert run.parted or {found.claim.holds}, {says!r}"


def runs(found: Kept) -> Iterator[str]:
    wording, done = found.wording, found.script
    yield from wording.filling()
    yield from wording.run("RUN", done.steps)
    if done.loop:
        yield from wording.run("LOOP", done.loop)
