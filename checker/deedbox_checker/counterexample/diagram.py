"""A counterexample as a Mermaid sequence diagram, from the lines of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..trace import Line, Trace

WHO = {"sender": "Sender", "worker": "Worker", "time": "Time", "far side": "FarSide"}


def diagram(machine: str, says: str, trace: Trace) -> str:
    return "\n".join(
        [
            "sequenceDiagram",
            f"  %% {clean(says)}",
            "  participant Sender",
            "  participant Time",
            f"  participant Machine as {clean(machine)}",
            "  participant Worker",
            "  participant FarSide as Far side",
            *arrows(trace.lines),
            *(
                ["  loop for ever", *("  " + a for a in arrows(trace.loop)), "  end"]
                if trace.loop
                else []
            ),
            *(
                ["  Note over Machine: nothing is bound to happen any more"]
                if trace.stays
                else []
            ),
            "",
        ]
    )


def arrows(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        ends = line.step.startswith("hand out ")
        source, target = (WHO[line.who], "FarSide" if ends else "Machine")
        yield f"  {source}->>{target}: {clean(line.step)}"
        if line.changes:
            told = "<br/>".join(clean(str(change)) for change in line.changes)
            yield f"  Note over Machine: {told}"


def clean(text: str) -> str:
    """Without what Mermaid reads as its own."""
    signs = {"#": "#35;", ";": "#59;", "<": "#60;", ">": "#62;"}
    return "".join(signs.get(sign, sign) for sign in " ".join(text.split()))
