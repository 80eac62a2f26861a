"""`migrate from n`: what each stored state and owed command of a released version becomes.

Every released version is brought to the next one that was released, the newest to
the version that the spec has now; so a document goes through the versions one at a
time, and each block is typed once, between two known shapes.  In a state's entry
the bare names are the older key, given and fields, `now` is the time of the
instance's last step, and `deed` its open deed; in a command's, its parameters.

The rule that keeps it right: a state that waits has an owed command.  The older
issue stays owed where both states await a command of one name; otherwise the entry
asks anew (kinds do it by themselves), or it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from .. import core, syntax
from ..check.blocks import Outline, ask
from ..check.facts import NOTHING
from ..check.inits import init
from ..check.place import Place
from ..names import Scope
from ..naming import taken, unknown
from ..problems import Problem
from ..source import Span
from ..types import mentions_error
from .owed import asked_by_kind, asks, keeps, owed
from .rebase import rebase
from .shapes import fields_of, shape_of
from .stored import by_name, same_stored
from .unreadable import Unreadable, not_copied, unreadable_commands, unreadable_states

Item: TypeAlias = syntax.MigrateState | syntax.MigrateDrop


@dataclass(frozen=True, slots=True)
class _Step:
    """From one version to the next: what a `migrate` block is typed between.

    `older` and `target` have their types replaced by later ones; `released` is the pair
    as it was, by which a state is equal or is not.  `machine` is the machine of this
    spec when the step ends in it.
    """

    older: core.Shape
    target: core.Shape
    released: tuple[core.Shape, core.Shape]
    machine: core.Machine | None
    block: syntax.Migrate | None
    scope: Scope
    problems: list[Problem]

    @property
    def states(self) -> Mapping[str, core.State]:
        return {each.name: each for each in self.target.states}

    @property
    def commands(self) -> Mapping[str, core.Command]:
        return {each.name: each for each in self.target.commands}


def migrate(
    machine: core.Machine,
    written: syntax.Machine,
    scope: Scope,
    released: Iterable[core.Shape],
) -> tuple[tuple[core.Migration, ...], list[Problem]]:
    """The migrations from every released version, oldest first, and what they lack."""
    now = shape_of(machine, scope.module)
    if any(mentions_error(each.type) for each in fields_of(now)):
        return (), []
    recorded = {each.version: each for each in released}
    problems = list(_version(machine, now, recorded))
    blocks = dict(_blocks(machine, written, recorded, problems))
    found: list[core.Migration] = []
    target, later = now, now
    for version in sorted(recorded, reverse=True):
        if version >= machine.version:
            continue
        block = blocks.get(version)
        older = rebase(recorded[version], target, _becomes(block))
        pair = recorded[version], later
        ends = machine if later is now else None
        step = _Step(older, target, pair, ends, block, scope, problems)
        found.append(_migration(step, machine.span))
        target, later = older, recorded[version]
    return tuple(reversed(found)), problems


# ---- versions ------------------------------------------------------------------------


def _version(
    machine: core.Machine, now: core.Shape, recorded: Mapping[int, core.Shape]
) -> Iterator[Problem]:
    newest = max(recorded, default=0)
    if newest > machine.version:
        text = (
            f"version {newest} of `{machine.name}` is released, and this says version "
            f"{machine.version}"
        )
        hint = f"Write `version {newest + 1}`: what version {newest} stored is refused by an older one."
        yield Problem("DEED803", machine.span, text, hints=(hint,))
    elif newest == machine.version and not same_stored(recorded[newest], now):
        text = (
            f"what `{machine.name}` stores has changed since version {newest} was "
            f"released, and this still says version {newest}"
        )
        hint = f"Write `version {newest + 1}`."
        yield Problem("DEED803", machine.span, text, hints=(hint,))


def _blocks(
    machine: core.Machine,
    written: syntax.Machine,
    recorded: Mapping[int, core.Shape],
    problems: list[Problem],
) -> Iterator[tuple[int, syntax.Migrate]]:
    """The blocks by version; each speaks of one older version whose shape is known."""
    seen: dict[int, Span] = {}
    for item in written.items:
        if not isinstance(item, syntax.Migrate):
            continue
        version, span = item.version, item.span
        if version in seen:
            text = f"there is a migration from version {version} already"
            problems.append(taken("migrate", span, seen[version], text))
            continue
        seen[version] = span
        if version >= machine.version:
            text = (
                f"this is version {machine.version} of `{machine.name}`, and a migration "
                "comes from an older one"
            )
            problems.append(Problem("DEED802", span, text))
        elif version not in recorded:
            text = (
                f"nothing says what version {version} of `{machine.name}` stored, so "
                "nothing of it can be migrated"
            )
            hint = (
                f"Run `deedbox release` on the spec as it was in version {version}; "
                "it records the shape under `.shapes`."
            )
            problems.append(Problem("DEED801", span, text, hints=(hint,)))
        else:
            yield version, item


def _becomes(block: syntax.Migrate | None) -> dict[str, str]:
    return {
        item.state.text: (item.becomes or item.state).text
        for item in (block.items if block is not None else ())
        if isinstance(item, syntax.MigrateState | syntax.MigrateDrop)
    }


# ---- one step --------------------------------------------------------------------------


def _migration(step: _Step, span: Span) -> core.Migration:
    here = step.block.span if step.block is not None else span
    problems_before = len(step.problems)
    entries = _entries(step)
    states = [
        found
        for each in step.older.states
        if (found := _state(each, entries.get(each.name), step, here)) is not None
    ]
    kept = frozenset(
        old.awaits
        for old in step.older.states
        for each in states
        if each.old == old.name and each.keeps and old.awaits is not None
    )
    mentioned = _mentioned_commands(step)
    commands = tuple(_commands(step, mentioned, here))
    if len(step.problems) == problems_before:
        unreadable = [
            *unreadable_states(*step.released, entries),
            *unreadable_commands(*step.released, kept, frozenset(mentioned)),
        ]
        if unreadable:
            step.problems.append(_cannot_read(step, unreadable, here))
    return core.Migration(step.older, step.target, tuple(states), commands, here)


def _cannot_read(step: _Step, unreadable: list[Unreadable], span: Span) -> Problem:
    version = step.older.version
    first, *rest = dict.fromkeys(why for each in unreadable for why in each.why)
    text = (
        f"version {step.target.version} of `{step.target.machine}` cannot read what "
        f"version {version} stored: {first}"
    )
    lines = [each.write for each in unreadable if each.write is not None]
    pasted = "".join(f"\n    {line}" for line in lines)
    hints = [f"Also: {why}." for why in rest]
    if lines and step.block is None:
        hints.append(f"Add:\n  migrate from {version} {{{pasted}\n  }}")
    elif lines:
        hints.append(f"Add to this block:{pasted}")
    return Problem("DEED801", span, text, hints=tuple(hints))


def _entries(step: _Step) -> dict[str, Item]:
    """What is written of each older state, once."""
    known = {each.name for each in step.older.states}
    found: dict[str, Item] = {}
    for item in step.block.items if step.block is not None else ():
        if isinstance(item, syntax.MigrateCommand):
            continue
        name = item.state
        if name.text not in known:
            text = f"version {step.older.version} has no state `{name.text}`"
            step.problems.append(unknown("DEED201", name, text, known))
        elif name.text in found:
            text = f"`{name.text}` is migrated twice"
            before = found[name.text].state.span
            step.problems.append(taken(name.text, name.span, before, text))
        else:
            found[name.text] = item
    return found


def _mentioned_commands(step: _Step) -> dict[str, syntax.MigrateCommand]:
    older = {each.name for each in step.older.commands}
    found: dict[str, syntax.MigrateCommand] = {}
    for item in step.block.items if step.block is not None else ():
        if not isinstance(item, syntax.MigrateCommand):
            continue
        name = item.command
        lacking = [
            shape.version
            for shape, known in ((step.older, older), (step.target, step.commands))
            if name.text not in known
        ]
        if lacking:
            text = f"version {lacking[0]} has no command `{name.text}`"
            both = older & step.commands.keys()
            step.problems.append(unknown("DEED201", name, text, both))
        elif name.text in found:
            before = found[name.text].command.span
            text = f"`{name.text}` is migrated twice"
            step.problems.append(taken(name.text, name.span, before, text))
        else:
            found[name.text] = item
    return found


# ---- states ----------------------------------------------------------------------------


def _state(
    old: core.State, item: Item | None, step: _Step, span: Span
) -> core.MigrateState | None:
    """The entry of one older state; None when it has none and cannot be copied."""
    name = old.name
    if item is not None:
        span = item.state.span
        name = (item.becomes or item.state).text
    new = step.states.get(name)
    if new is None:
        if item is not None:
            at = item.becomes or item.state
            text = f"version {step.target.version} has no state `{name}`"
            step.problems.append(unknown("DEED201", at, text, step.states))
        return None
    place = _state_place(old, step)
    outline = _outline(step)
    given = _given(step, span)
    wanted = (*not_copied(step.older.given, step.target.given), *new.fields)
    written = _all(old.fields, span)
    if item is not None:
        written = item.init or syntax.Init((), span)
        span = item.span
    elif not_copied(old.fields, wanted):
        return None
    sets = init(written, wanted, f"`{name}`", place, NOTHING, by_name(old.fields), span)
    values = {each.field: each for each in sets}
    fields = tuple(values[each.name] for each in new.fields if each.name in values)
    issues = tuple(
        found
        for each in (item.issues if item is not None else ())
        if (found := ask(each, outline, place, NOTHING)) is not None
    )
    _report(place, span, step)
    if item is not None and not issues and not keeps(old, new):
        issues = asked_by_kind(new, fields, step.machine)
    if item is not None:
        version = step.older.version
        step.problems.extend(owed(old, new, issues, step.commands, version, span))
    return core.MigrateState(
        old=old.name,
        new=name,
        given=tuple(values.get(each.field, each) for each in given),
        fields=fields,
        issues=issues,
        keeps=keeps(old, new) and not asks(issues, new),
        written=item is not None,
        span=span,
    )


def _all(fields: tuple[core.Field, ...], span: Span) -> syntax.Init:
    """`{ .. }`, or `{}` where there is nothing to carry over."""
    return syntax.Init((syntax.CarryOver(span),) if fields else (), span)


def _report(place: Place, span: Span, step: _Step) -> None:
    """What was found in an entry; a field that it leaves out makes the state not whole."""
    for problem in place.problems:
        whole = problem.code != "DEED304" or problem.span != span
        step.problems.append(problem if whole else replace(problem, code="DEED802"))


def _state_place(old: core.State, step: _Step) -> Place:
    names: dict[str, core.Expr] = {}
    for each in step.older.key:
        names[each.name] = core.Read("key", each.name, each.type, each.span)
    for each in step.older.given:
        names[each.name] = core.Read("given", each.name, each.type, each.span)
    for each in old.fields:
        names[each.name] = core.Read("state", each.name, each.type, each.span)
    return Place(step.scope, [], names, deed=old.open_deed is not None)


def _outline(step: _Step) -> Outline:
    return Outline(
        step.scope,
        step.problems,
        step.older.key,
        step.older.given,
        step.states,
        {each.name: each for each in step.target.messages},
        step.commands,
    )


def _given(step: _Step, span: Span) -> tuple[core.Set, ...]:
    """The given as it was; a new one is set by the entry of each state."""
    return tuple(
        core.Set(each.name, core.Read("given", each.name, each.type, span))
        for each in step.target.given
    )


# ---- commands ----------------------------------------------------------------------------


def _commands(
    step: _Step, mentioned: Mapping[str, syntax.MigrateCommand], span: Span
) -> Iterator[core.MigrateCommand]:
    """An entry for each older command that this version can still hand out."""
    for old in step.older.commands:
        new = step.commands.get(old.name)
        if new is None or bool(new.outcomes) != bool(old.outcomes):
            continue
        item = mentioned.get(old.name)
        if item is None and not_copied(old.params, new.params):
            continue
        here = span if item is None else item.span
        written = item.init if item is not None else None
        written = written or _all(old.params, here)
        names: dict[str, core.Expr] = {
            each.name: core.Read("let", each.name, each.type, each.span)
            for each in old.params
        }
        place = Place(step.scope, [], names, now=False)
        copied = by_name(old.params)
        owner = f"the command `{old.name}`"
        sets = init(written, new.params, owner, place, NOTHING, copied, here)
        _report(place, here, step)
        yield core.MigrateCommand(
            old.name, tuple(_of_parameter(each) for each in sets), here
        )


def _of_parameter(given: core.Set) -> core.Set:
    """What `..` copies is a parameter here, not a field of a state."""
    value = given.value
    if isinstance(value, core.Read) and value.scope == "state":
        return replace(given, value=replace(value, scope="let"))
    return given
