"""A counterexample as a Mermaid sequence diagram, from the lines of its trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..traces.trace import Line, Trace

WHO: Final = {
    "sender": "Sender",
    "worker": "Worker",
    "time": "Time",
    "far side": "FarSide",
}
SIGNS: Final = {"#": "#35;", ";": "#59;", "<": "#60;", ">": "#62;"}
"""What Mermaid reads as its own, even within a text."""


def diagram(machine: str, says: str, trace: Trace) -> str:
    return "\n".join(
        [
            "sequenceDiagram",
            f"  %% {comment(says)}",
            "  autonumber",
            "  participant Sender",
            "  participant Time",
            f"  participant Machine as {clean(machine)}",
            "  participant Worker",
            "  participant FarSide as Far side",
            *arrows(trace.lines),
            *loop(trace),
            "",
        ]
    )


def loop(trace: Trace) -> Iterator[str]:
    """What goes on for ever, and why nothing else happens."""
    if trace.loop:
        yield "  loop for ever"
        yield from ("  " + arrow for arrow in arrows(trace.loop))
        yield "  end"
    if trace.stays:
        yield "  Note over Machine: nothing is bound to happen any more"
    elif trace.excused:
        told = "<br/>".join(clean(f"{name}: {why}") for name, why in trace.excused)
        yield f"  Note over Sender,FarSide: {told}"


def arrows(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
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
