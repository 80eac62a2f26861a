"""Which plain texts and numbers of a machine can meet, and a type for those that do.

Data is told apart by the names of types, and most fields of most specs are called
`text` or `int`: one comparison of two of them would tell all of them apart.  So every
place that holds one is put into one class with those whose values it takes or is
compared with (union-find over blocks, guards, properties and migrations), and each
class becomes a type for the explorer.  What stands inside of records, and what is
computed, is one class, which keeps the name that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from deedbox_dsl import core
from deedbox_dsl.types import Base, Declared, ListOf, Maybe, Type

from ..expressions.bodies import COMPARISONS
from ..expressions.trees import rebuilt

Place: TypeAlias = tuple[str, ...]
"""A field: of the instance, of a message or outcome, of a command, of what is told."""

MADE: Final[Place] = ("made",)
"""What is computed, or stands inside of records."""


@dataclass(frozen=True, slots=True)
class Scope:
    """`at_hand`: the message or outcome; `named`: the places of lets and of items."""

    at_hand: Place = ()
    named: Mapping[tuple[str, str], Place | None] = field(
        default_factory=dict[tuple[str, str], "Place | None"]
    )

    def also(self, scope: str, name: str, place: Place | None) -> Scope:
        return replace(self, named={**self.named, (scope, name): place})


def apart(spec: core.Machine, whole: core.Machine) -> tuple[core.Machine, core.Machine]:
    """Both with a type for each class; `whole` has all that can meet."""
    classes = Classes()
    classes.machine(whole)
    return classes.machine(spec), classes.machine(whole)


@dataclass(frozen=True, slots=True)
class Classes:
    """Each reading of a machine joins what meets in it, and types it by what has met.

    So what is read first is read for the joins, and again for the types.
    """

    above: dict[Place, Place] = field(default_factory=dict[Place, Place])
    numbers: dict[Place, int] = field(default_factory=dict[Place, int])

    def of(self, place: Place) -> Place:
        while place in self.above:
            place = self.above[place]
        return place

    def meet(self, one: Place | None, other: Place | None) -> None:
        if one is None or other is None:
            return
        one, other = self.of(one), self.of(other)
        if one != other:
            low, high = (other, one) if other == MADE else (one, other)
            self.above[high] = low

    def typed(self, place: Place | None, type_: Type) -> Type:
        match type_:
            case Base.TEXT | Base.INT if place is not None and self.of(place) != MADE:
                number = self.numbers.setdefault(self.of(place), len(self.numbers))
                return Declared(type_.value, f"class {number}", type_)
            case Maybe(item):
                return Maybe(self.typed(place, item))
            case ListOf(item):
                return ListOf(self.typed(place, item))
            case _:
                return type_

    # ---- expressions -----------------------------------------------------------

    def value(self, expr: core.Expr, scope: Scope) -> tuple[core.Expr, Place | None]:
        """The expression with its types, and the place that its value comes from."""
        match expr:
            case core.Read("let" | "item" as kind, name):
                place = scope.named.get((kind, name))
            case core.Read(name=name) | core.Side(name=name):
                place = own(name)
            case core.Bound(name):
                place = (*scope.at_hand, name)
            case core.Known(target):
                inner, place = self.value(target, scope)
                expr = replace(expr, target=inner)
            case core.Conditional(test, yes, no):
                test, _ = self.value(test, scope)
                yes, place = self.value(yes, scope)
                no, other = self.value(no, scope)
                self.meet(place, other)
                place = place or other
                expr = replace(expr, test=test, yes=yes, no=no)
            case core.Binary(operator, left, right) if operator in COMPARISONS:
                left, place = self.value(left, scope)
                right, other = self.value(right, scope)
                self.meet(place, other)
                place = place or other
                left, right = self.literal(left, place), self.literal(right, place)
                return replace(expr, left=left, right=right), None
            case core.Over(function, item, source, body):
                source, place = self.value(source, scope)
                body, _ = self.value(body, scope.also("item", item, place))
                expr = replace(expr, source=source, body=body)
                if function != "filter":
                    return expr, None
            case core.Call("take" | "drop" | "head" | "last", (source, *rest)):
                source, place = self.value(source, scope)
                others = (self.value(each, scope)[0] for each in rest)
                expr = replace(expr, arguments=(source, *others))
            case core.Constant() | core.EmptyList() | core.Deed():
                return expr, None
            case _:
                made = rebuilt(expr, lambda inner: self.value(inner, scope)[0])
                return made, MADE
        return replace(expr, type=self.typed(place, expr.type)), place

    def literal(self, expr: core.Expr, place: Place | None) -> core.Expr:
        """A constant has the type of what it is compared with."""
        if isinstance(expr, core.Constant):
            return replace(expr, type=self.typed(place, expr.type))
        return expr

    def values(
        self, exprs: Iterable[core.Expr], scope: Scope, into: Iterable[Place]
    ) -> tuple[core.Expr, ...]:
        """The expressions, whose values go to the places `into`."""
        done: list[core.Expr] = []
        for expr, target in zip(exprs, into, strict=True):
            made, place = self.value(expr, scope)
            self.meet(target, place)
            done.append(made)
        return tuple(done)

    def sets(
        self, sets: Sequence[core.Set], scope: Scope, of: Place = ("own",)
    ) -> tuple[core.Set, ...]:
        into = [(*of, each.field) for each in sets]
        made = self.values((each.value for each in sets), scope, into)
        return tuple(replace(s, value=v) for s, v in zip(sets, made, strict=True))

    # ---- blocks ----------------------------------------------------------------

    def body(self, body: core.Body, scope: Scope) -> core.Body:
        lets: list[core.Let] = []
        for let in body.lets:
            made, place = self.value(let.value, scope)
            lets.append(replace(let, value=made))
            scope = scope.also("let", let.name, place)
        issues = tuple(self.issue(each, scope) for each in body.issues)
        exit = body.exit
        if not isinstance(exit, core.Reject):
            exit = replace(exit, fields=self.sets(exit.fields, scope))
        return core.Body(tuple(lets), issues, exit)

    def issue(self, issue: core.Issue, scope: Scope) -> core.Issue:
        match issue:
            case core.Do() | core.Repeat():
                into = params(issue.command, issue.arguments)
                asked = self.values(issue.arguments, scope, into)
                return replace(issue, arguments=asked)
            case core.Tell(module, machine, key, message):
                place = ("told", module, machine, message)
            case core.Begin(module, machine, key):
                place = ("told", module, machine, "")
        to = self.values(key, scope, [(*place, f"key {n}") for n in range(len(key))])
        return replace(issue, key=to, fields=self.sets(issue.fields, scope, place))

    def pred(self, pred: core.Pred) -> core.Pred:
        return replace(pred, expr=self.value(pred.expr, Scope())[0])

    # ---- declarations ----------------------------------------------------------

    def fields(
        self, fields: Sequence[core.Field], places: Iterable[Place]
    ) -> tuple[core.Field, ...]:
        return tuple(
            replace(each, type=self.typed(place, each.type))
            for each, place in zip(fields, places, strict=True)
        )

    def under(
        self, place: Place, fields: Sequence[core.Field]
    ) -> tuple[core.Field, ...]:
        return self.fields(fields, [(*place, each.name) for each in fields])

    def state(self, state: core.State) -> core.State:
        return replace(state, fields=self.under(("own",), state.fields))

    def message(self, message: core.Message) -> core.Message:
        return replace(message, fields=self.under((message.name,), message.fields))

    def command(self, command: core.Command) -> core.Command:
        return replace(
            command,
            params=self.fields(command.params, params(command.name, command.params)),
            outcomes=tuple(
                replace(each, fields=self.under((command.name, each.name), each.fields))
                for each in command.outcomes
            ),
        )

    def told(self, told: core.Told) -> core.Told:
        place = ("told", told.module, told.machine, told.message or "")
        for at, each in enumerate(told.key):
            self.meet((*place, f"key {at}"), (*place, each.name))
        return replace(told, fields=self.under(place, told.fields))

    def shape(self, shape: core.Shape) -> core.Shape:
        return replace(
            shape,
            key=self.under(("own",), shape.key),
            given=self.under(("own",), shape.given),
            states=tuple(map(self.state, shape.states)),
            messages=tuple(map(self.message, shape.messages)),
            commands=tuple(map(self.command, shape.commands)),
        )

    def migration(self, migration: core.Migration) -> core.Migration:
        states = [
            replace(
                each,
                given=self.sets(each.given, Scope()),
                fields=self.sets(each.fields, Scope()),
                issues=tuple(self.issue(one, Scope()) for one in each.issues),
            )
            for each in migration.states
        ]
        commands = tuple(self.owed(each, migration) for each in migration.commands)
        return replace(
            migration,
            older=self.shape(migration.older),
            target=self.shape(migration.target),
            states=tuple(states),
            commands=commands,
        )

    def owed(
        self, entry: core.MigrateCommand, migration: core.Migration
    ) -> core.MigrateCommand:
        def declared(shape: core.Shape) -> Mapping[str, Place]:
            listed = (c.params for c in shape.commands if c.name == entry.command)
            known = next(listed, ())
            places = params(entry.command, known)
            return {p.name: at for p, at in zip(known, places, strict=True)}

        scope = Scope(
            named={("let", name): at for name, at in declared(migration.older).items()}
        )
        now = declared(migration.target)
        into = [now.get(each.field, MADE) for each in entry.fields]
        made = self.values((each.value for each in entry.fields), scope, into)
        pairs = zip(entry.fields, made, strict=True)
        return replace(entry, fields=tuple(replace(s, value=v) for s, v in pairs))

    def again(self, again: core.Again) -> core.Again:
        guard, exit = again.guard, again.exit
        if guard is not None:
            guard, _ = self.value(guard, Scope(("own",)))
        if isinstance(exit, core.Replace):
            exit = core.Replace(self.sets(exit.overrides, Scope(("own",))))
        return replace(again, guard=guard, exit=exit)

    def clause(self, clause: core.Clause) -> core.Clause:
        scope = Scope(at_hand(clause.trigger))
        guard, body = clause.guard, clause.body
        if guard is not None:
            guard, _ = self.value(guard, scope)
        if body is not None:
            body = self.body(body, scope)
        return replace(clause, guard=guard, body=body)

    def stated(self, stated: core.Property) -> core.Property:
        target = None if stated.target is None else self.pred(stated.target)
        return replace(stated, pred=self.pred(stated.pred), target=target)

    def machine(self, machine: core.Machine) -> core.Machine:
        return replace(
            machine,
            key=self.under(("own",), machine.key),
            given=self.under(("own",), machine.given),
            states=tuple(map(self.state, machine.states)),
            messages=tuple(map(self.message, machine.messages)),
            commands=tuple(map(self.command, machine.commands)),
            told=tuple(map(self.told, machine.told)),
            start=self.body(machine.start, Scope(("own",))),
            again=tuple(map(self.again, machine.again)),
            clauses=tuple(map(self.clause, machine.clauses)),
            properties=tuple(map(self.stated, machine.properties)),
            migrations=tuple(map(self.migration, machine.migrations)),
        )


def own(name: str) -> Place:
    """A field of the instance: of its key, its given, or any of its states."""
    return ("own", name)


def params(command: str, listed: Sequence[object]) -> list[Place]:
    return [("asked", command, str(at)) for at in range(len(listed))]


def at_hand(trigger: core.Trigger) -> Place:
    match trigger:
        case core.OnMessage(message):
            return (message,)
        case core.OnOutcome(command, outcome):
            return (command, outcome)
        case core.AtDeadline():
            return ()
