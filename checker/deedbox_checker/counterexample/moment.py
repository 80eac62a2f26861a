"""One step of an explored run, with what a line of a test has to know of it.

An explored step says what became of the instance, not which of its many concrete forms
did it: which answer, which page, how old an instant.  That is found again here, by
running the reducer on each until what came of it comes of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from deedbox import Due, Instant, Refused
from deedbox.testing import EPOCH as CLOCK
from deedbox_dsl import core
from msgspec import Struct
from msgspec.structs import replace as with_fields

from ..data.domain import EPOCH
from ..environment.environment import Environment
from ..environment.labels import PLAIN, Kind, Label
from ..expressions.evaluate import Scene, phase
from ..instance.abstraction import explored_message, explored_own
from ..instance.identity import normal
from ..instance.model import Model, at_their_ends
from ..instance.outside import Answer
from ..instance.world import World
from ..time.distances import Concrete, realised
from ..time.looking import Look, stored_instants
from ..time.ranks import live
from ..time.regions import FAR
from .unmapped import Unmapped


@dataclass(frozen=True, slots=True)
class Moment:
    """`names`: the number by which a test knows a deed, by its number in `before`."""

    environment: Environment
    before: World
    after: World
    label: Label
    names: Mapping[int, int]

    @property
    def model(self) -> Model:
        return self.environment.model

    def raw(self) -> World:
        """The world after the step, its deeds numbered as before it."""
        for raw, told in self.environment.raw_steps(self.before):
            explored = raw if told.kind in PLAIN else normal(self.model, raw)
            if told == self.label and explored == self.after:
                return raw
        raise Unmapped(f"there is no real counterpart of: {self.label.text}")

    def answers(self) -> tuple[Answer, ...]:
        """The answers of which the label may speak."""
        command, _, outcome = self.label.subject.partition(".")
        listed = self.model.answers[command]
        return tuple(each for each in listed if each.outcome == outcome)

    def sent(self) -> Struct:
        """The message of a label of the sender, with lengths of which this may come."""
        among = self.environment.sent
        if self.label.kind is Kind.START:
            among = self.environment.first
        label = with_fields(self.label, broken=())
        message = next(message for message, known in among if known == label)
        return self._in_full(message) or message

    def taken(self) -> Struct | None:
        """The page that an answer brings, its records as due as they were explored."""
        page, listing = self._page(), self.model.listing
        if page is None or listing is None:
            return None
        return dated(page, listing.scanning.listed, listing.scanning.due)

    def _page(self) -> Struct | None:
        """The same, where the far side has decided less than that."""
        listing, deed = self.model.listing, self.before.open_deed
        passing = self.before.passing
        if listing is None or deed is None or passing is None:
            return None
        if not isinstance(deed.fate, listing.page):
            return None
        ticket = cast(int, getattr(self.before.state, "ticket", 0))
        empty = with_fields(deed.fate, ticket=ticket)
        for page in listing.answers(deed.command, empty, passing):
            told = self.label.text.endswith(f": {listing.told(page)}")
            if told and self.makes(page):
                return page
        raise Unmapped(f"there is no page of which one could say: {self.label.text}")

    def believed(self) -> Struct:
        """The late answer that made of the instance what it became."""
        for answer in self.answers():
            if self.makes(answer.message):
                return answer.message
        raise Unmapped(f"there is no real counterpart of: {self.label.text}")

    def makes(self, message: Struct) -> bool:
        """Whether this message may do to the state what was done to it."""
        wanted = self.raw().state
        return any(
            (reaction.state or self.before.state) == wanted
            for reaction in self.environment.reactions.of(self.before.state, message)
        )

    def message(self) -> Struct | None:
        """What the reducer is given in this step, if it is given anything."""
        match self.label.kind:
            case Kind.START | Kind.MESSAGE:
                return self.sent()
            case Kind.DUE | Kind.EARLY:
                return Due(Instant(EPOCH))
            case Kind.LATE:
                return self.believed()
            case Kind.TAKE:
                deed = self.before.open_deed
                fate = None if deed is None else deed.fate
                return self._page() or cast("Struct", fate)
            case _:
                return None

    def instants(self) -> tuple[tuple[str, int], ...]:
        """What time it must be at least: so many milliseconds after each of these fields.

        A guard looks at the age of an instant, or a new deadline lies on this side of an
        older one: both say how late it is, within what the order of points leaves open.
        """
        state, message = self.before.state, self.message()
        if state is None or message is None or self.environment.reactions.exact:
            return ()
        message = self._addressed(message)
        look = self.model.looks.get(self._place(state, message), ())
        for said in (True, False):
            fitting = [
                self._late(concrete, look)
                for concrete in self._concrete(message, said=said)
                if self._gives(concrete)
            ]
            if fitting:
                return min(fitting, key=lambda late: sum(age for _, age in late))
        return ()

    def clause(self) -> tuple[core.Clause, Scene] | None:
        """The clause of the spec that decided the step, and what it looked at."""
        if self.before.state is None:
            return None
        try:
            message = self.message()
            if message is None:
                return None
            for concrete in self._answering(message):
                if concrete.state is not None and self._gives(concrete):
                    chosen = self.environment.reactions.specified.chosen(
                        concrete.state, concrete.message
                    )
                    scene = Scene(state=concrete.state, message=concrete.message)
                    return None if chosen is None else (chosen.clause, scene)
        except Unmapped:
            pass
        return None

    def realised(self) -> Iterator[tuple[Struct | None, Struct, Struct]]:
        """The state before, the one after and the message, in every way to the millisecond."""
        message = self.message()
        if message is None:
            return
        model, reactions = self.model, self.environment.reactions
        for each in self._answering(message):
            model.spread.drawn = dict(each.delays)
            result = reactions.step(model.machine, each.state, each.message)
            if not isinstance(result, Refused):
                yield each.state, cast(Struct, result.state), each.message

    def _answering(self, message: Struct) -> Iterator[Concrete]:
        """The step in milliseconds, in every way that it can tell apart."""
        message = self._addressed(message)
        if self.environment.reactions.exact:
            yield Concrete(self.before.state, message)
        else:
            yield from self._concrete(message, said=False)

    def _addressed(self, message: Struct) -> Struct:
        """An answer that is taken, with the ticket that is awaited."""
        ticket = getattr(self.before.state, "ticket", None)
        if self.label.kind is not Kind.TAKE or ticket is None:
            return message
        return with_fields(message, ticket=ticket)

    def _place(self, state: Struct | None, message: Struct) -> tuple[str, str]:
        """Where the model has what the step looks at."""
        trigger = self.model.trigger(message)
        if isinstance(message, Due) and state is not None:
            trigger = f"at {self.environment.reactions.specified.due_field(state)}"
        return phase(state) or "", trigger

    def _concrete(self, message: Struct, *, said: bool) -> Iterator[Concrete]:
        """The step in milliseconds, in every way that it can tell apart."""
        state = self.before.state
        look = self.model.looks.get(self._place(state, message), ())
        return realised(self.model.points, state, look, message, said=said)

    def _in_full(self, message: Struct) -> Struct | None:
        """The message with the longest or the shortest lengths of which this may come."""
        if self.environment.reactions.exact:
            return None
        for candidate in in_full(self.model, message):
            if any(map(self._gives, self._concrete(candidate, said=True))):
                return candidate
        return None

    def _gives(self, concrete: Concrete) -> bool:
        """Whether the state in milliseconds becomes what the step made."""
        model, wanted = self.model, self.raw().state
        model.spread.drawn = dict(concrete.delays)
        try:
            result = self.environment.reactions.step(
                model.machine, concrete.state, concrete.message
            )
        except Exception:  # the reducer's own, which is what the run may be about
            return False
        if isinstance(result, Refused):
            return False
        exact = self.environment.reactions.exact
        return explored_own(model, cast(Struct, result.state), exact=exact) == wanted

    def _late(self, concrete: Concrete, look: Look) -> tuple[tuple[str, int], ...]:
        """How late it must be for the state to be as old as this one."""
        points, state = self.model.points, concrete.state
        assert state is not None
        looked = stored_instants(look)
        found = {
            name: EPOCH - at
            for name in looked
            if name not in points.offsets
            and (at := cast("int | None", getattr(state, name, None))) is not None
            and at < EPOCH
        }
        for name, distance in live(points, state).items():
            if name in looked and 0 < distance < FAR // 2:
                found[name] = points.offsets[name] - distance
        return tuple(found.items())


def in_full(model: Model, message: Struct) -> Iterator[Struct]:
    """What stands for the same to the explorer, its lengths as long as they can be first."""
    every = whole(model).get(type(message), ())
    yield from (one for one in every if explored_message(model, one) == message)


@cache
def whole(model: Model) -> Mapping[type[Struct], tuple[Struct, ...]]:
    ends = at_their_ends(model)
    answers = [each.message for known in ends.answers.values() for each in known]
    found: dict[type[Struct], tuple[Struct, ...]] = {}
    for message in (*ends.starts, *ends.messages, *answers):
        kind = type(message)
        found[kind] = (message, *found.get(kind, ()))
    return found


def dated(page: Struct, listed: str, due: str | None) -> Struct:
    """The page with the due times of its records as far from a test's clock as they were."""
    if due is None:
        return page
    records = cast("tuple[Struct, ...]", getattr(page, listed))
    moved = [
        with_fields(record, **{due: at - EPOCH + CLOCK})
        if (at := cast("int | None", getattr(record, due))) is not None
        else record
        for record in records
    ]
    return with_fields(page, **{listed: tuple(moved)})
