"""Whole numbers: which of them a machine tells apart, and how far its counters go.

A number from outside is looked at where it is compared, and where what is made of it is.
Held against constants alone it has the values next to them, in any other company all
of its range.  A number of the machine's own that is compared with constants is a
counter, and stops one above the largest.
"""

from __future__ import annotations

from collections.abc import Iterator

from deedbox_dsl import core
from deedbox_dsl.types import Type

from ..expressions.bodies import comparisons, expressions, sets
from ..expressions.endless import Endless, name_of
from ..expressions.trees import children, walk
from ..expressions.types import bare, bounds, is_int, is_length

MOST = 16
"""A range of more numbers is not tried one by one."""


def numbers_from_outside(machine: core.Machine) -> tuple[set[Type], set[Type]]:
    """The types of the numbers from outside that are looked at; and those in full."""
    put: dict[str, list[core.Expr]] = {}
    for each in sets(machine):
        put.setdefault(each.field, []).append(each.value)
    known: dict[tuple[core.Expr, bool], None] = {}
    for compared in comparisons(machine):
        sides = (compared.left, compared.right)
        if is_int(compared.left.type):
            alone = any(isinstance(side, core.Constant) for side in sides)
            for side in sides:
                for leaf in leaves(side):
                    known[leaf, not alone or leaf != known_as(side)] = None
    looked: set[Type] = set()
    full: set[Type] = set()
    listed = list(known)
    for leaf, fully in listed:
        if is_from_outside(leaf):
            looked.add(bare(leaf.type))
            if fully:
                full.add(dense(leaf))
        elif isinstance(leaf, core.Read | core.Side):
            for value in put.get(leaf.name, ()):
                for inner in leaves(value):
                    more = inner, fully or inner != known_as(value)
                    if more not in known:
                        known[more] = None
                        listed.append(more)
    return looked, full


def dense(leaf: core.Expr) -> Type:
    """The type of a number that is tried with every value."""
    kind = bare(leaf.type)
    low, high = bounds(kind)
    if low is None or high is None or high - low >= MOST:
        raise Endless(
            name_of(leaf),
            "a number from outside is compared with others than constants: declare a"
            f" type of at most {MOST} values for it, as in `type Few = int in 1..{MOST}`",
        )
    return kind


def known_as(expr: core.Expr) -> core.Expr:
    return known_as(expr.target) if isinstance(expr, core.Known) else expr


def is_from_outside(leaf: core.Expr) -> bool:
    match leaf:
        case core.Bound() | core.Member():
            return True
        case core.Read(scope=scope):
            return scope in ("key", "given", "item")
        case _:
            return False


def leaves(expr: core.Expr) -> Iterator[core.Expr]:
    """The numbers of which a number is made, wherever they are held."""
    match expr:
        case core.Read() | core.Bound() | core.Member() | core.Side():
            if is_int(expr.type):
                yield expr
        case core.Call(function="len"):
            return
        case core.Over(body=body):
            yield from leaves(body)
        case core.Conditional(yes=yes, no=no):
            yield from leaves(yes)
            yield from leaves(no)
        case _:
            for part in children(expr):
                yield from leaves(part)


def outside_fields(machine: core.Machine) -> set[str]:
    """The names of state fields that are set to what a message or an outcome brought."""
    return {
        each.field
        for each in sets(machine)
        if any(isinstance(part, core.Bound | core.Member) for part in walk(each.value))
    }


def counter_caps(machine: core.Machine) -> dict[str, int | None]:
    """The largest value of each int field that something looks at; None: not a counter.

    One that stops above a constant stands for all that are larger: more may be added to
    it, and nothing taken away.
    """
    needs: dict[str, int | None] = {}
    below = goes_below(machine)

    def need(expr: core.Expr, most: int | None) -> bool:
        grown = False
        for part in walk(expr):
            if isinstance(part, core.Read | core.Side) and is_int(part.type):
                before = needs.get(part.name, -1)
                if before is None or (most is not None and most <= before):
                    continue
                needs[part.name] = most
                grown = True
        return grown

    def constant(expr: core.Expr) -> int | None:
        match expr:
            case core.Constant(value=int(found)):
                return found + 1
            case _:
                return None

    for compared in comparisons(machine):
        if is_int(compared.left.type):
            for side, other in (
                (compared.left, compared.right),
                (compared.right, compared.left),
            ):
                need(side, None if shrinks(side, below) else constant(other))
    for expr in expressions(machine):
        if isinstance(expr, core.Call) and expr.function != "len":
            for argument in expr.arguments:
                if is_int(argument.type):
                    need(argument, None)
        if isinstance(expr, core.Binary) and is_length(expr.type):
            for factor in (expr.left, expr.right):
                if is_int(factor.type):
                    need(factor, None)
    copied = [
        (each.field, each.value) for each in sets(machine) if is_int(each.value.type)
    ]
    while any(
        need(value, None if shrinks(value, below) else needs[name])
        for name, value in copied
        if name in needs and (shrinks(value, below) or not reads_only(value, name))
    ):
        pass
    return needs


def goes_below(machine: core.Machine) -> bool:
    """Whether a number of the machine may be less than zero."""
    held = [
        *machine.key,
        *machine.given,
        *(f for s in machine.states for f in s.fields),
    ]
    return any(
        is_int(f.type) and (bounds(bare(f.type))[0] or 0) < 0 for f in held
    ) or any(takes_away(part) for part in expressions(machine))


def takes_away(expr: core.Expr) -> bool:
    match expr:
        case core.Negative() | core.Binary(operator="-"):
            return is_int(expr.type)
        case core.Constant(value=int(number)):
            return number < 0
        case _:
            return False


def shrinks(expr: core.Expr, below: bool) -> bool:
    """Whether it may be less than a number of which it is made."""
    return any(
        takes_away(part)
        or (
            below
            and isinstance(part, core.Binary)
            and part.operator in ("+", "*")
            and is_int(part.type)
            and not any(isinstance(s, core.Constant) for s in (part.left, part.right))
        )
        for part in walk(expr)
    )


def reads_only(expr: core.Expr, name: str) -> bool:
    return all(part.name == name for part in walk(expr) if isinstance(part, core.Read))
