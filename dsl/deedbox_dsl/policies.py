"""A policy as numbers: the table of waits, worked out once and exactly.

The wait after issue `n` is `first * factor ** (n - 1)`, never above `max`.  It is
a fraction until it is cut to whole milliseconds, so no float rounds and no power
overflows: the table ends with the first wait that reaches `max`.
It knows nothing of machines; who may use which ladder is decided where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Literal

from . import core, syntax
from .problems import Problem

WORDS = ("first", "factor", "max", "attempts", "jitter")
LONGEST_TABLE = 1_000
LONGEST_WAIT = 36_500 * 86_400_000


def ladder(
    policy: syntax.Policy, module: str
) -> tuple[core.Ladder | None, list[Problem]]:
    """The table of `policy`, or None when its words do not make one."""
    problems: list[Problem] = []
    items: dict[str, syntax.PolicyItem] = {}
    for item in policy.items:
        if item.word in items:
            problems.append(_problem(item, f"`{item.word}` is written twice"))
        else:
            items[item.word] = item
    missing = [word for word in WORDS if word not in items]
    if missing:
        problems.append(
            Problem(
                "DEED504",
                policy.name.span,
                f"the policy `{policy.name.text}` does not say its {_words(missing)}",
                hints=(
                    "A policy writes `first factor max attempts jitter`, all of them.",
                ),
            )
        )
    if problems:
        return None, problems
    return _numbers(policy, module, items)


def _numbers(
    policy: syntax.Policy, module: str, items: dict[str, syntax.PolicyItem]
) -> tuple[core.Ladder | None, list[Problem]]:
    first, most = int(items["first"].value), int(items["max"].value)
    factor = Fraction(str(items["factor"].value).replace("_", ""))
    attempts = _count(items["attempts"])
    within = int(items["within"].value) if "within" in items else None
    jitter = _jitter(items["jitter"])
    problems: list[Problem] = []
    for wrong, word, text in (
        (first < 1, "first", "the first wait must be at least 1ms"),
        (most > LONGEST_WAIT, "max", "a wait cannot be longer than 36500d"),
        (first > most, "first", "the first wait is longer than `max`"),
        (factor < 1, "factor", "`factor` is below 1, so the waits would shrink"),
        (
            attempts is not None and attempts < 1,
            "attempts",
            "`attempts` counts every issue, the first included: at least 1",
        ),
        (
            isinstance(jitter, int) and not 1 <= jitter <= 100,
            "jitter",
            "`jitter` is from 1% to 100%, or `full`, or `none`",
        ),
        (
            within is not None and within < first,
            "within",
            "the budget `within` ends before the first wait does",
        ),
    ):
        if wrong:
            problems.append(_problem(items[word], text))
    if problems:
        return None, problems
    steps = _waits(first, factor, most)
    count = LONGEST_TABLE + 1 if attempts is None else attempts - 1
    delays = list(islice(steps, min(count, LONGEST_TABLE + 1)))
    if max(len(delays), count if attempts is not None else 0) > LONGEST_TABLE:
        word = "factor" if attempts is None else "attempts"
        text = f"the table of waits would be longer than {LONGEST_TABLE:_}"
        return None, [_problem(items[word], text)]
    if attempts is not None and len(delays) < count:
        delays += [delays[-1]] * (count - len(delays))
    return (
        core.Ladder(
            name=policy.name.text,
            module=module,
            delays=tuple(delays),
            attempts=attempts,
            within=within,
            jitter=jitter,
            words=", ".join(f"{item.word} {_written(item)}" for item in policy.items),
            doc=policy.doc,
            span=policy.span,
        ),
        [],
    )


def _waits(first: int, factor: Fraction, most: int) -> Iterator[int]:
    """Every different wait in order, the largest last."""
    wait = Fraction(first)
    while wait < most and factor > 1:
        yield int(wait)
        wait *= factor
    yield most if factor > 1 else first


def is_limited(steps: core.Ladder) -> bool:
    """Whether it ends by itself: by a number of attempts, or by a budget of time."""
    return steps.attempts is not None or steps.within is not None


def duration_text(milliseconds: int) -> str:
    """The shortest exact way to write a duration: `90s`, `2m`, `1d`."""
    for unit, size in (
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
    ):
        if milliseconds and milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"


def waits_text(steps: core.Ladder) -> str:
    """The first waits as they would be, for a message."""
    shown = ", ".join(duration_text(delay) for delay in steps.delays[:4])
    return f"{shown}, …" if len(steps.delays) > 4 or steps.attempts is None else shown


def _count(item: syntax.PolicyItem) -> int | None:
    return None if item.value == "unlimited" else int(item.value)


def _jitter(item: syntax.PolicyItem) -> int | Literal["full"] | None:
    match item.value:
        case int(percent):
            return percent
        case "full":
            return "full"
        case _:
            return None


def _written(item: syntax.PolicyItem) -> str:
    return item.written or str(item.value)


def _words(words: list[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    return (
        quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    )


def _problem(item: syntax.PolicyItem, message: str) -> Problem:
    return Problem("DEED504", item.span, message)
