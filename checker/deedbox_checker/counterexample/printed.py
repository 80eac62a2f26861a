"""A broken property as text: what it says, the run that breaks it, how that ends it.

The text is the same wherever it is read: it fits in 80 columns, and has no colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import Final

from deedbox_dsl.source import Text

from ..traces.trace import Trace
from ..verdicts.verdict import Verdict
from .columns import wrapped
from .ending import ending
from .folding import Again, Piece, folded, how_far, turns
from .layout import INDENT, Layout
from .retold import Told, retold
from .way_out import ways_out

BROKEN: Final = "DEED703"


def failure(
    verdict: Verdict,
    path: str = "",
    text: Text | None = None,
    *,
    all_steps: bool = False,
) -> Iterator[str]:
    """The broken property, and the shortest run that breaks it.

    `text`: of the spec, which is quoted where it is there.
    """
    stated = verdict.stated
    place = f"{path}: " if path else ""
    if stated is not None:
        place = f"{path or stated.span.path}:{stated.span.line}: "
    yield f"{place}{verdict.says}  {verdict.broken}"
    if stated is not None and text is not None:
        quoted = text.content[stated.span.start : stated.span.end]
        indented = f"{' ' * (stated.span.column - 1)}{quoted}"
        yield from (f"    {line}" for line in dedent(indented).splitlines())
    trace = verdict.trace
    if trace is not None:
        told = retold(trace, stated)
        pieces = tuple(told) if all_steps else pieces_of(trace, told)
        yield from run(trace, told, pieces)
        yield ""
        yield from ending(verdict, trace, told, text)
        yield from ways_out(verdict, trace)
        yield f"  deedbox trace {trace.id(verdict.name)}"
        if any(isinstance(piece, Again) for piece in pieces):
            yield f"  every step: deedbox trace {trace.id(verdict.name)} --all-steps"
    yield f"  more: deedbox explain {BROKEN}"


def pieces_of(trace: Trace, told: Sequence[Told]) -> tuple[Piece, ...]:
    """Folded, the way into a loop and the loop each for itself."""
    many = len(trace.lines)
    return (*folded(told[:many]), *folded(told[many:]))


# ---- the steps ---------------------------------------------------------------------


def run(trace: Trace, told: Sequence[Told], pieces: Sequence[Piece]) -> Iterator[str]:
    many = len(trace.lines)
    yield f"  {needs(trace)}"
    yield ""
    layout = Layout.of(told)
    yield layout.heading()
    for piece in pieces:
        first = piece if isinstance(piece, Told) else piece.rounds[0][0]
        if first.number == many + 1:
            yield "      for ever again:"
        if isinstance(piece, Again):
            yield from wrapped(again(piece), INDENT, INDENT + 2)
        else:
            yield from layout.rows(piece)


def needs(trace: Trace) -> str:
    many = len(trace.lines)
    steps = f"{many} step{'' if many == 1 else 's'}"
    faults = "needs no fault"
    if trace.faults:
        faults = f"needs {trace.faults} fault{'' if trace.faults == 1 else 's'}"
    if trace.lasting:
        return f"{faults}; {steps}, then for ever"
    return f"{faults}, {steps}; nothing shorter exists"


def again(piece: Again) -> str:
    """How often it happens again, what, and how far that leads."""
    times, first, last = len(piece.rounds), piece.rounds[0][0], piece.rounds[-1][-1]
    period = len(piece.rounds[0])
    shown = f"step {first.number - 1}"
    if period > 1:
        shown = f"steps {first.number - period} to {first.number - 1}"
    says = [
        f"... {times} time{'' if times == 1 else 's'} more the same as {shown}, up to"
        f" step {last.number}: {', '.join(turns(piece))}"
    ]
    return "; ".join([*says, *how_far(piece)])
