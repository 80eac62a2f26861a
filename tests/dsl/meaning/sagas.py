"""Sagas of every form, as texts: any number of steps, any combination of rules."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

POLICIES = """module patience
policy few { first 2s factor 2 max 30s attempts 4 jitter 20% }
policy once { first 1s factor 1 max 1s attempts 1 jitter none }
policy brief { first 1s factor 3 max 20s attempts unlimited jitter full within 5m }
policy ever { first 5s factor 2 max 10m attempts unlimited jitter full }
"""

USE = "use patience { few, once, brief, ever }\n"
RETRIES = [
    "abort",
    "retry few then abort",
    "retry once then abort",
    "retry brief then abort",
    "retry few then retry brief then abort",
    "retry ever forever",
    "retry ever forever escalate after 1h do page(order, error)",
    "retry few then next",
    "retry few then retry ever forever",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """What one step looks like; `reads` picks which earlier captures its `do` takes."""

    captures: bool
    refusal: str
    limited: bool
    silence: str | None
    undo: bool
    undo_silence: bool
    reads: bool
    counts: bool


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    undo = draw(st.booleans())
    after_silence = ["retry ever forever", "retry few then retry ever forever"]
    if undo:
        after_silence += ["abort with undo", "retry few then abort with undo"]
    silence = draw(st.none() | st.sampled_from(after_silence))
    retried = silence is not None and "retry" in silence
    return Shape(
        captures=draw(st.booleans()),
        refusal=draw(st.sampled_from(RETRIES)),
        limited=draw(st.booleans()),
        silence=silence,
        undo=undo,
        undo_silence=draw(st.booleans()),
        reads=draw(st.booleans()),
        counts=draw(st.booleans()) and not retried,
    )


@st.composite
def sagas(draw: st.DrawFn) -> str:
    """The text of a saga whose parts fit; it uses the module of `POLICIES`."""
    steps = draw(st.lists(shapes(), min_size=1, max_size=4))
    cancel = draw(st.booleans())
    lines = [
        "  key order: text",
        "  given amount: int",
        "  command page(order: text, error: text)",
    ]
    known: list[str] = []
    for number, shape in enumerate(steps):
        lines += _step(number, shape, known)
        if shape.captures and "next" not in shape.refusal:
            known.append(f"ref{number}")
    lines += [
        f"  done -> Finished {{ {', '.join(known)} }}"
        if known
        else "  done -> Finished"
    ]
    lines += ["  undone -> Undone { cause }"]
    if not cancel:
        lines.append('  no cancel "it is quick"')
    body = "\n".join(lines)
    return f"{USE}saga Order version 1 {{\n{body}\n}}\n"


def _step(number: int, shape: Shape, known: list[str]) -> list[str]:
    read = "".join(f", {name}: text" for name in known if shape.reads)
    count = ", attempt: int" if shape.counts else ""
    brought = f" {{ ref{number}: text }}" if shape.captures else ""
    rules = [f"paid{brought} => next", f"refused {{ error: text }} => {shape.refusal}"]
    if shape.limited:
        rules.append("limited { pause: duration } => retry few after pause then abort")
    if shape.silence is not None:
        rules.append(f"silence after 30s => {shape.silence}")
    lines = [
        f"  step step{number} {{",
        f"    do ask{number}(order: text, amount: int{read}{count})",
        f"      -> {' | '.join(rules)}",
    ]
    if not shape.undo:
        return [*lines, '    no undo "nothing to give back"', "  }"]
    own = (
        f", ref{number}: text?"
        if shape.captures and "next" not in shape.refusal
        else ""
    )
    back = [
        "given_back => next",
        "failed { error: text } => retry ever forever escalate after 1h do page(order, error)",
    ]
    if shape.undo_silence:
        back.append(
            "silence after 1m => retry ever forever escalate after 2h do page(order, order)"
        )
    return [
        *lines,
        f"    undo take_back{number}(order: text{own}, deed: text)",
        f"      -> {' | '.join(back)}",
        "  }",
    ]
