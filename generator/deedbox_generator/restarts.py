"""What a second start of an instance does: kept, replaced, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from deedbox_dsl import core

from .expressions import Place, typed
from .lines import guarded, reference
from .quoting import literal
from .reducers import Context


def start_again(context: Context, begins: Mapping[tuple[str, ...], str]) -> list[str]:
    """The lines of what a second start does; none when it is always kept."""
    machine = context.machine
    lines: list[str] = []
    for each in machine.again:
        body = _again(machine, each, context.place, begins)
        lines += guarded(each.guard, body, reference(each.span), context.place, 4)
        if each.guard is None:
            return [] if lines == [f"return KEPT{reference(each.span)}"] else lines
    if not machine.given:
        return [*lines, "return KEPT"] if lines else []
    names = [each.name for each in machine.given]
    same = " and ".join(f"msg.{name} == state.{name}" for name in names)
    other = " or ".join(names)
    return [
        *lines,
        f"if {same}:",
        "    return KEPT",
        f'return Refused("rejected", {literal(f"already started with other {other}")})',
    ]


def overridden(
    machine: core.Machine, exit_: core.Replace
) -> tuple[list[core.Set], list[core.Set]]:
    """The overrides of a replacement that are of the given, and those of the state."""
    given = {each.name for each in machine.given}
    of_given = [each for each in exit_.overrides if each.field in given]
    of_state = [each for each in exit_.overrides if each.field not in given]
    return of_given, of_state


def _again(
    machine: core.Machine,
    again: core.Again,
    place: Place,
    begins: Mapping[tuple[str, ...], str],
) -> list[str]:
    match again.exit:
        case core.Keep():
            return ["return KEPT"]
        case core.Replace():
            of_given, of_state = overridden(machine, again.exit)
            begin = begins[tuple(each.field for each in of_state)]
            types = {each.name: each.type for each in machine.given}
            types |= {e.name: e.type for s in machine.states for e in s.fields}
            set_ = [
                f"{each.field}={typed(each.value, types[each.field], place)}"
                for each in of_state
            ]
            if not of_given:
                told = ", ".join(["msg", "state.born", "state.issued", *set_])
                return [f"return {begin}({told})"]
            values = {
                each.name: f"msg.{each.name}" for each in (*machine.key, *machine.given)
            } | {
                each.field: typed(each.value, types[each.field], place)
                for each in of_given
            }
            written = ", ".join(f"{name}={value}" for name, value in values.items())
            told = ", ".join(["anew", "state.born", "state.issued", *set_])
            return [f"anew = Start({written}, at=msg.at)", f"return {begin}({told})"]
        case _:
            assert_never(again.exit)
