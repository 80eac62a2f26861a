"""A counterexample as a Mermaid sequence diagram, from the lines of its trace.

What repeats is a box that says how often.  What changes there is that of the first time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..traces.trace import Trace
from ..verdicts.verdict import Verdict
from .folding import Piece, folded, how_far
from .retold import Told, retold

WHO: Final = {
    "sender": "Sender",
    "worker": "Worker",
    "time": "Time",
    "far side": "FarSide",
}
SIGNS: Final = {"#": "#35;", ";": "#59;", "<": "#60;", ">": "#62;"}
"""What Mermaid reads as its own, even within a text."""


def diagram(machine: str, verdict: Verdict, trace: Trace) -> str:
    told = retold(trace, verdict.stated)
    many = len(trace.lines)
    return "\n".join(
        [
            "sequenceDiagram",
            f"  %% {comment(verdict.says)}",
            "  autonumber",
            "  participant Sender",
            "  participant Time",
            f"  participant Machine as {clean(machine)}",
            "  participant Worker",
            "  participant FarSide as Far side",
            *boxes(folded(told[:many])),
            *for_ever(trace, folded(told[many:])),
            "",
        ]
    )


def for_ever(trace: Trace, loop: Sequence[Piece]) -> Iterator[str]:
    """What goes on for ever, and why nothing else happens."""
    if loop:
        yield "  loop for ever"
        yield from ("  " + arrow for arrow in boxes(loop))
        yield "  end"
    if trace.stays:
        yield "  Note over Machine: nothing is bound to happen any more"
    elif trace.excused:
        told = "<br/>".join(clean(f"{name}: {why}") for name, why in trace.excused)
        yield f"  Note over Sender,FarSide: {told}"


def boxes(pieces: Sequence[Piece]) -> Iterator[str]:
    """The steps; what is folded is a box around its first time."""
    shown: list[Told] = []
    for piece in pieces:
        if isinstance(piece, Told):
            shown.append(piece)
            continue
        period = len(piece.rounds[0])
        yield from arrows(shown[:-period])
        yield f"  loop {len(piece.rounds) + 1} times"
        yield from ("  " + arrow for arrow in arrows(shown[-period:]))
        far = "<br/>".join(clean(each) for each in how_far(piece))
        if far:
            yield f"    Note over Machine: {far}"
        yield "  end"
        shown = []
    yield from arrows(shown)


def arrows(steps: Sequence[Told]) -> Iterator[str]:
    for line in (each.line for each in steps):
        ends = line.step.startswith("hand out ")
        source, target = (WHO[line.who], "FarSide" if ends else "Machine")
        yield f"  {source}->>{target}: {clean(line.step)}"
        if line.changes:
            told = "<br/>".join(clean(str(change)) for change in line.changes)
            yield f"  Note over Machine: {told}"


def clean(text: str) -> str:
    """Without what Mermaid reads as its own; the word `end` would end a block."""
    plain = "".join(SIGNS.get(sign, sign) for sign in " ".join(text.split()))
    return re.sub(r"\bend\b", "(end)", plain, flags=re.IGNORECASE)


def comment(text: str) -> str:
    """Braces in a comment begin a directive."""
    return " ".join(text.translate({ord("{"): "(", ord("}"): ")"}).split())
