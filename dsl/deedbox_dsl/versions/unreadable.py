"""What a later version cannot read of an older one, in words, and what to write about it.

A state that no migration mentions is copied when its name and its shape are equal;
the rest of what was stored needs a word.  The words say which thing changed and how,
never that something is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import core
from ..source import Span
from ..types import Type, show
from .stored import by_name, reads, same, same_fields


@dataclass(frozen=True, slots=True)
class Unreadable:
    """`why` as a part of a sentence; `write`: the line of a migration that answers it, if one can."""

    why: tuple[str, ...]
    write: str | None


def changes(
    owner: str, old: Iterable[core.Field], new: Iterable[core.Field]
) -> Iterator[tuple[str, Span]]:
    """How the documents of `old` differ from those of `new`, and where that is said."""
    before, after = by_name(old), by_name(new)
    for name, each in after.items():
        if name not in before:
            yield f"{owner} has `{name}` now", each.span
        elif not same(before[name].type, each.type):
            was = became(before[name].type, each.type)
            yield f"`{name}` of {owner} {was}", each.span
    for name, each in before.items():
        if name not in after:
            yield f"{owner} has no `{name}` any more", each.span


def not_copied(
    old: Iterable[core.Field], new: Iterable[core.Field]
) -> list[core.Field]:
    """The fields of `new` that no field of `old` can be read as."""
    before = by_name(old)
    return [
        each
        for each in new
        if each.name not in before or not reads(before[each.name].type, each.type)
    ]


def became(old: Type, new: Type) -> str:
    if show(old) == show(new):
        return f"is still called {show(new)}, which is made otherwise now"
    return f"was {show(old)} and is {show(new)}"


def changed_state(old: core.State, new: core.State) -> Iterator[tuple[str, Span]]:
    owner = f"`{old.name}`"
    yield from changes(owner, old.fields, new.fields)
    if old.awaits != new.awaits:
        was, now = _named(old.awaits), _named(new.awaits)
        yield f"{owner} awaited {was} and awaits {now}", new.span
    elif old.open_deed != new.open_deed:
        was, now = _deed(old.open_deed), _deed(new.open_deed)
        yield f"{owner} kept {was} and keeps {now}", new.span
    if old.final != new.final:
        yield f"{owner} was {_end(old.final)} and is {_end(new.final)}", new.span


def _named(command: str | None) -> str:
    return "nothing" if command is None else f"`{command}`"


def _deed(command: str | None) -> str:
    return "no deed" if command is None else f"the deed of `{command}`"


def _end(final: bool) -> str:
    return "an end" if final else "no end"


def unreadable_states(
    older: core.Shape, target: core.Shape, mentioned: Iterable[str]
) -> Iterator[Unreadable]:
    """The states of the older version that nothing accounts for."""
    if not same_fields(older.key, target.key) or [e.name for e in older.key] != [
        e.name for e in target.key
    ]:
        changed = "the key changed, and an instance keeps the key it has"
        yield Unreadable((changed,), None)
    given = [text for text, _ in changes("the given", older.given, target.given)]
    new_given = not_copied(older.given, target.given)
    states = {each.name: each for each in target.states}
    silent = set(mentioned)
    for state in older.states:
        if state.name in silent:
            continue
        later = states.get(state.name)
        if later is None:
            yield Unreadable(
                (f"there is no `{state.name}` any more",),
                f"drop state {state.name} becomes …",
            )
            continue
        why = [*given, *(text for text, _ in changed_state(state, later))]
        if why:
            yield Unreadable(tuple(why), _state_line(state, later, new_given))


def _state_line(old: core.State, new: core.State, given: list[core.Field]) -> str:
    fresh = [*not_copied(old.fields, new.fields), *given]
    missing = [f"{each.name}: …" for each in fresh]
    asked = f" do {new.awaits}(…)" if new.awaits and new.awaits != old.awaits else ""
    return f"state {old.name} {{ {', '.join(['..', *missing])} }}{asked}"


def unreadable_commands(
    older: core.Shape,
    target: core.Shape,
    kept: frozenset[str],
    mentioned: frozenset[str],
) -> Iterator[Unreadable]:
    """The commands that may be owed from the older version and cannot be handed out.

    `kept`: the awaited ones that some state keeps; those without outcomes are owed
    until they are done, whatever the state.
    """
    commands = {each.name: each for each in target.commands}
    for command in older.commands:
        name = command.name
        if command.outcomes and name not in kept:
            continue
        later = commands.get(name)
        if later is None:
            why = f"`{name}` may still be owed and is not declared any more"
            yield Unreadable((why,), None)
        elif bool(later.outcomes) != bool(command.outcomes):
            why = f"`{name}` may still be owed, and {_answered(later)}"
            yield Unreadable((why,), None)
        elif name not in mentioned:
            yield from _unread_command(command, later)


def _answered(command: core.Command) -> str:
    return "has outcomes now" if command.outcomes else "has no outcomes any more"


def _unread_command(old: core.Command, new: core.Command) -> Iterator[Unreadable]:
    missing = [each.name for each in not_copied(old.params, new.params)]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        sets = ", ".join(["..", *(f"{name}: …" for name in missing)])
        yield Unreadable(
            (f"`{old.name}` may still be owed without {names}",),
            f"command {old.name} {{ {sets} }}",
        )
        return
    ends = {each.name for each in new.outcomes}
    for outcome in old.outcomes:
        if outcome.name not in ends:
            why = (
                f"`{old.name}` may still be owed, and its far side may have ended it "
                f"with `{outcome.name}`, which is no outcome any more"
            )
            yield Unreadable((why,), f"command {old.name} {{ .. }}")
