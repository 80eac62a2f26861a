"""What must hold of the outbox: I1, I3, I6, the key of a deed (R4), the company of suspects (R6).

What is owed goes when it is answered, withdrawn or done, and never otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..operations import COMPANY, DIED, Key, OutboxRow, beside
from .far_side import key_of
from .seen import Deed, Record


class Owed:
    """The laws of owed commands."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def changed(
        self, author: str, key: Key, before: OutboxRow | None, row: OutboxRow
    ) -> None:
        codec = self._record.codecs[key[0]]
        _, _, ticket, name, deed, claim, next_at, tries, started, parked, *_ = row
        if before is not None and before[4] != deed:
            if before[4].rpartition("/")[0] == deed.rpartition("/")[0]:
                self._record.say(f"R4: {key} had the key {before[4]}, and has {deed}")
            before = None  # the row of another life, gone and come in one transaction
        if before is None:
            command = codec.command(row[11], name, row[12])
            if key_of(command) != deed or command.ticket != ticket:  # type: ignore[attr-defined]
                self._record.say(f"{key}: the row says {deed}, its document {row[12]}")
        holder = "nobody" if claim is None else self._record.held_by.get(claim)
        owed = "" if before is not None else "is owed, "
        aside = "" if parked is None else ", parked"
        self._record.notes.append(
            f"{name} {deed}, ticket {ticket}: {owed}held by {holder}{aside}"
        )
        if claim is not None:
            if claim not in self._record.sessions:
                self._record.say(
                    f"I6: {key} is claimed by {claim}, which is no session"
                )
            elif self._record.held_by.get(claim) != author and (
                before is None or before[5] != claim
            ):
                self._record.say(f"I6: {author} claims {key} for the session {claim}")
            self._record.claimed.setdefault((key, deed), set()).add(claim)
            self._is_in_fit_company(claim, row)
        elif next_at is None and parked is None:
            self._record.say(f"{key} is not held, and comes due never")
        if before is None:
            return
        if before[12] != row[12]:
            self._record.say(f"R4: {key} was {before[12]}, and is {row[12]}")
        if before[9] is not None and parked is None:
            self._record.redriven.add((key, deed))
            self._record.calls[key, deed] = 0
        if before[5] != claim and before[5] is not None:
            self._let_go(author, key, before[5])
        if tries < before[7]:
            # Given back unfinished in an orderly stop.
            left = self._record.calls.get((key, deed), 0) - (before[7] - tries)
            self._record.calls[key, deed] = max(left, 0)
        if started < before[8]:
            self._record.say(f"{key} was started, and is not any more")

    def _is_in_fit_company(self, claim: int, row: OutboxRow) -> None:
        """R6: what may have killed a process has less company with each delivery."""
        if _is_suspect(row):
            held = {
                key: each[7]
                for key, each in self._record.outbox.items()
                if each[5] == claim and _is_suspect(each)
            }
            latest = beside(self._record.rules.deliveries, len(held) - 1)
            if any(tries > latest for tries in held.values()):
                self._record.say(f"R6: {claim} holds together the suspects {held}")

    def _let_go(self, author: str, key: Key, epoch: int) -> None:
        """A claim is given back by its own process, or when its session is over."""
        if self._record.held_by.get(epoch) == author:
            return
        if self._record.lives(epoch):
            self._record.say(f"I3: {author} takes {key} from the live session {epoch}")

    def gone(self, key: Key, row: OutboxRow) -> None:
        """A row goes when it is answered, or when its state is left."""
        self._record.notes.append(
            f"{row[3]} {row[4]}, ticket {key[2]}: is owed no more"
        )
        codec = self._record.codecs[key[0]]
        seen = self._record.seen.get(key[:2])
        if codec.commands[row[3]].outcomes:
            if (
                seen is not None
                and seen.state is not None
                and codec.machine.awaited(seen.state) == key[2]
            ):
                self._record.say(f"I1: {key} is gone, and {seen.state} awaits it")
        elif row[3] in codec.targets:
            # Deedbox itself delivers it: to an instance that is there, or was.
            target = self._record.codecs[codec.targets[row[3]]]
            id, _ = target.told(codec.command(row[11], row[3], row[12]))
            if (target.name, id) not in self._record.seen.keys() | self._record.removed:
                self._record.say(
                    f"{key} was told to {target.name} {id}, which never was"
                )
        elif (key, row[4]) not in self._record.returned:
            self._record.say(f"{key} is gone, and its handler has never returned")

    def awaits(self, name: tuple[str, str]) -> None:
        """I1, both ways, and the key of the deed (R4)."""
        codec = self._record.codecs[name[0]]
        seen = self._record.seen.get(name)
        if seen is None or seen.state is None or seen.row[7] is not None:
            rows = [key for key in self._record.outbox if key[:2] == name]
            if seen is None and rows:
                self._record.say(f"I1: {name} is gone, and {rows} are owed")
            return
        awaited = codec.machine.awaited(seen.state)
        own: list[int] = []
        for key, row in self._record.outbox.items():
            if key[:2] != name or not codec.commands[row[3]].outcomes:
                continue
            own.append(key[2])
            number = getattr(seen.state, "deed_number", None)
            deed = f"{name[0]}/{name[1]}/{seen.row[4]}/{number}"
            if number is not None and row[4] != deed:
                self._record.say(f"R4: {key} has the key {row[4]}, its deed is {deed}")
        if own != ([] if awaited is None else [awaited]):
            self._record.say(f"I1: {name} awaits {awaited}, owed are {own}")

    def lost(self, owed: set[Deed]) -> Iterator[str]:
        """What was owed so long ago and was not seen to, with nothing gone wrong since.

        So is what was redriven, and was not called since.  A row that is parked is seen to by a person, with those behind it (R20); a
        started one is never called again.
        """
        aside = {
            (*key[:2], row[3])
            for key, row in self._record.outbox.items()
            if row[9] is not None
        }
        for key, row in self._record.outbox.items():
            deed = key, row[4]
            if row[8] or (*key[:2], row[3]) in aside:
                continue
            if deed in self._record.redriven:
                yield f"R6: {key} was redriven, and never went out ({row[3]})"
            if deed not in owed:
                continue
            yield f"{key} is still owed ({row[3]}, claim {row[5]}, tries {row[7]})"


def _is_suspect(held: OutboxRow) -> bool:
    """Whether the deliveries before this one ended with the death of its process."""
    return held[10] == DIED and held[7] > COMPANY
