"""The parts of a core machine in words: expressions, triggers, statements, waits.

An expression reads as a spec would write it, with one liberty: a field of the
message or answer at hand is `msg.name`, since the core no longer knows what the
clause called it.  Parentheses stand only where the grammar needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final, TypeAlias, assert_never

from deedbox_dsl import core
from deedbox_dsl.policies import duration_text
from deedbox_dsl.types import Base, Type, base_of

_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))

_STRENGTH: Final[dict[str, int]] = {
    "implies": 0,
    "or": 1,
    "and": 2,
    "==": 4,
    "!=": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
}
Lets: TypeAlias = Mapping[str, core.Expr]
NO_LETS: Final[Lets] = {}

_LOOSEST, _NOT, _COMPARED, _SIGN, _NAME = 0, 3, 4, 7, 8


# ---- expressions -----------------------------------------------------------------------


def say(expr: core.Expr, lets: Lets = NO_LETS) -> str:
    """The expression as a spec writes it; a `let` by what it stands for."""
    return _say(expr, lets)[0]


def _say(expr: core.Expr, lets: Lets) -> tuple[str, int]:
    """The text, and how strongly its outermost part binds."""
    match expr:
        case core.Constant(value, kind):
            return _constant(value, kind), _NAME
        case core.EmptyList():
            return "[]", _NAME
        case core.Now():
            return "now", _NAME
        case core.Read("let", name) if name in lets:
            return _say(lets[name], lets)
        case core.Read(_, name):
            return name, _NAME
        case core.Bound(name):
            return f"msg.{name}", _NAME
        case core.Side(side, name):
            return f"{side}.{name}", _NAME
        case core.Member(target, name):
            return f"{_within(target, _NAME, lets)}.{name}", _NAME
        case core.Deed():
            return "deed", _NAME
        case core.Not(operand):
            return f"not {_within(operand, _NOT, lets)}", _NOT
        case core.Negative(operand):
            return f"-{_within(operand, _SIGN, lets)}", _SIGN
        case core.Binary(operator, left, right):
            return _binary(operator, left, right, lets)
        case core.Conditional(test, yes, no):
            said = (_within(test, 1, lets), _within(yes, 1, lets), say(no, lets))
            return "if {} then {} else {}".format(*said), _LOOSEST
        case core.PhaseIs(subject, states):
            return f"{subject} is {' | '.join(states)}", _COMPARED
        case core.VariantIs(target, variants):
            return (
                f"{_within(target, _NAME, lets)} is {' | '.join(variants)}",
                _COMPARED,
            )
        case core.Known(target):
            return _say(target, lets)
        case core.Call(function, arguments):
            listed = ", ".join(say(argument, lets) for argument in arguments)
            return f"{function}({listed})", _NAME
        case core.Over(function, item, source, body):
            return (
                f"{function}({item} in {say(source, lets)}, {say(body, lets)})",
                _NAME,
            )
        case core.Wait(policy, issue):
            return f"wait({policy}, {say(issue, lets)})", _NAME
        case core.Attempts(policy):
            return f"{policy}.attempts", _NAME
        case core.Ended(command, outcome):
            return f"count({command}.{outcome})", _NAME
        case _:
            assert_never(expr)


def _within(expr: core.Expr, least: int, lets: Lets) -> str:
    text, strength = _say(expr, lets)
    return text if strength >= least else f"({text})"


def _binary(
    operator: str, left: core.Expr, right: core.Expr, lets: Lets
) -> tuple[str, int]:
    """Sums and `and` read from left to right; comparisons and `implies` do not chain."""
    strength = _STRENGTH[operator]
    chains = operator in {"or", "and", "+", "-", "*"}
    one = _within(left, strength if chains else strength + 1, lets)
    other = _within(right, strength + 1, lets)
    return f"{one} {operator} {other}", strength


def _constant(value: int | str | bool | None, kind: Type) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case int():
            return (
                duration_text(value) if base_of(kind) is Base.DURATION else str(value)
            )
        case str():
            return f'"{value}"'


# ---- statements ------------------------------------------------------------------------


def say_trigger(trigger: core.Trigger) -> str:
    match trigger:
        case core.OnMessage(message):
            return message
        case core.OnOutcome(command, outcome):
            return f"{command}.{outcome}"
        case core.AtDeadline(name):
            return f"at {name}"
        case _:
            assert_never(trigger)


def say_issue(issue: core.Issue) -> str:
    match issue:
        case core.Do(command):
            return f"do {command}"
        case core.Repeat(command):
            return f"repeat {command}"
        case core.Tell(machine=machine, message=message):
            return f"tell {machine} {message}"
        case core.Begin(machine=machine):
            return f"begin {machine}"
        case _:
            assert_never(issue)


def say_issues(issues: tuple[core.Issue, ...]) -> str:
    return ", ".join(map(say_issue, issues))


def changes(fields: tuple[core.Set, ...]) -> tuple[core.Set, ...]:
    """The fields that get another value than they have."""
    return tuple(item for item in fields if not copies(item))


def copies(item: core.Set) -> bool:
    """Whether the field keeps the value that it has in the state at hand."""
    match item.value:
        case core.Read("state", name):
            return name == item.field
        case _:
            return False


def say_fields(fields: tuple[core.Set, ...], lets: Lets = NO_LETS) -> str:
    return ", ".join(f"{item.field}: {say(item.value, lets)}" for item in fields)


def lets_of(body: core.Body) -> Lets:
    return {let.name: let.value for let in body.lets}


# ---- time ------------------------------------------------------------------------------


def span_text(milliseconds: int) -> str:
    """A wait as a person says it: `25ms`, `8s`, `5m 20s`, `1d 2h`."""
    parts: list[str] = []
    rest = milliseconds
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    if rest or not parts:
        parts.append(f"{rest}ms")
    return " ".join(parts)


def runs(items: tuple[str, ...]) -> Iterator[str]:
    """Equal neighbours once, with their number."""
    for text, group in groupby(items):
        count = sum(1 for _ in group)
        yield text if count == 1 else f"{text} ({count} times)"
