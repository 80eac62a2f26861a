"""Protocols that are wrong in one way each, made by tampering with their operations.

Each stands for a mistake that an interpreter of machines makes easily.  Nothing of the
real code is changed: what an operation does, or what a machine says, is exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from deedbox.batch import Held, Tell
from deedbox.documents import text
from deedbox.machine import Refused
from deedbox.operations import (
    FOREVER,
    AnyOperation,
    Claim,
    Commit,
    Fence,
    Gone,
    InstanceRow,
    Journal,
    Key,
    Load,
    OutboxRow,
    Owe,
    Postpone,
    Quarantine,
    Reap,
    Redrive,
    Remember,
    Save,
    Take,
    Withdraw,
)
from deedbox.simulation.process import Process
from deedbox.step import AnyMachine
from deedbox.stores.memory import MemoryStore
from deedbox.values import Receipt
from msgspec import Struct
from msgspec.structs import replace as with_fields

Perform = Callable[[AnyOperation], object]
Tampering = Callable[[Process, AnyOperation, Perform], object]


@dataclass(frozen=True, slots=True)
class Mutant:
    """`tampering` exchanges operations, `machine` the machine itself."""

    name: str
    tampering: Callable[[], Tampering]
    machine: Callable[[AnyMachine], AnyMachine] = lambda machine: machine


def store_of(process: Process) -> MemoryStore:
    return cast(MemoryStore, process.store)


def honest(_: Process, operation: AnyOperation, perform: Perform) -> object:
    return perform(operation)


def dispatch_before_commit() -> Tampering:
    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        answer = perform(operation)
        if isinstance(operation, Owe):
            held = [_held(process, row) for row in operation.rows if row[5] is not None]
            if process.writer is not None:
                process.writer.desk.held.update({one.key: one for one in held})
            process.worker.crossing.deliver(held, [])
            process.worker.crossing.flush()
        return answer

    return tampering


def _held(process: Process, row: OutboxRow) -> Held:
    codec = process.box.machines.codecs[row[0]]
    command = codec.command(row[11], row[3], row[12])
    return Held(row[:3], codec, codec.commands[row[3]], command, row[7])


def forget(kind: type[AnyOperation]) -> Callable[[], Tampering]:
    def tampering(_: Process, operation: AnyOperation, perform: Perform) -> object:
        return None if isinstance(operation, kind) else perform(operation)

    return lambda: tampering


def forget_the_fence() -> Tampering:
    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        answer = perform(operation)
        if isinstance(operation, Fence) and answer is None:
            return store_of(process).clock.wall()
        return answer

    return tampering


def take_without_claim() -> Tampering:
    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if not isinstance(operation, Take):
            return perform(operation)
        outbox = store_of(process).outbox
        there = {key for key in operation.keys if key in outbox.rows}
        for key in there:
            outbox.drop(key)
        return there

    return tampering


def count_only_exceptions() -> Tampering:
    def recount(process: Process, key: Key, by: int) -> OutboxRow | None:
        outbox = store_of(process).outbox
        row = outbox.rows.get(key)
        if row is None:
            return None
        counted = (*row[:7], row[7] + by, *row[8:])
        outbox.put(key, counted)
        return counted

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        answer = perform(operation)
        match operation:
            case Claim():
                rows = [row[:3] for row in cast("list[OutboxRow]", answer)]
                return [recount(process, key, -1) for key in rows]
            case Postpone(rows=rows):
                for key, *_ in rows:
                    recount(process, key, 1)
            case _:
                pass
        return answer

    return tampering


def acknowledge_before_persisting() -> Tampering:
    listening: set[Process] = set()

    def listen(process: Process) -> None:
        writer = process.box.writer()
        submit = writer.submit

        def hasty(item: object) -> None:
            submit(cast(Any, item))
            if isinstance(item, Tell):
                row = store_of(process).instances[item.codec.name].rows.get(item.id)
                item.reply(Receipt(1 if row is None else row[1] + 1, "", "applied"))
                process.worker.crossing.flush()

        setattr(writer, "submit", hasty)  # noqa: B010  a method is exchanged

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if process not in listening:
            listening.add(process)
            listen(process)
        return perform(operation)

    return tampering


def key_from_the_attempt(machine: AnyMachine) -> AnyMachine:
    def keyed(command: Struct) -> Struct:
        told = cast(Any, command)
        key = told.idempotency_key.rpartition("/")[0]
        return with_fields(command, idempotency_key=f"{key}/{told.ticket}")

    def start(message: Any) -> Any:
        state, commands = machine.start(message)
        return state, tuple(map(keyed, commands))

    def reduce(state: Any, message: Any) -> Any:
        result = machine.reduce(state, message)
        if isinstance(result, Refused):
            return result
        return result[0], tuple(map(keyed, result[1]))

    return replace(machine, start=start, reduce=reduce)


def stale_write() -> Tampering:
    """What was loaded once is taken for what is stored, and is written whatever is."""
    known: dict[tuple[Process, str, str], Any] = {}

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        match operation:
            case Load(machine=machine, ids=ids):
                fresh = cast("list[Any]", perform(operation))
                for row in fresh:
                    known.setdefault((process, machine, row[0]), row)
                return [
                    known[process, machine, id]
                    for id in ids
                    if (process, machine, id) in known
                ]
            case Save(machine=machine, inserts=inserts, updates=updates):
                table = store_of(process).instances[machine]
                for row in (*inserts, *(row for row, _ in updates)):
                    table.put(row[0], row)
                    known[process, machine, row[0]] = row
                return None
            case Journal(rows=rows):
                for row in rows:
                    store_of(process).journal.put((row[0], row[1], row[2], row[4]), row)
                return None
            case _:
                return perform(operation)

    return tampering


def release_live_claims() -> Tampering:
    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if isinstance(operation, Reap):
            for epoch, session in store_of(process).sessions.rows.items():
                if epoch != operation.epoch:
                    session.lease_until = 0
        return perform(operation)

    return tampering


def claim_out_of_order() -> Tampering:
    """Waiting rows are claimed whatever stands before them."""

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if not isinstance(operation, Claim):
            return perform(operation)
        store, got = store_of(process), list[OutboxRow]()
        for machine, command, _, limit in operation.wants:
            due = [
                row
                for row in store.outbox.rows.values()
                if (row[0], row[3]) == (machine, command)
                and row[5] is None
                and row[9] is None
                and not row[8]
                and (row[6] or 0) <= operation.now
            ]
            for row in sorted(due, key=lambda row: row[:3], reverse=True)[:limit]:
                claimed = (*row[:5], operation.epoch, None, row[7] + 1, *row[8:])
                store.outbox.put(row[:3], claimed)
                got.append(claimed)
        return got

    return tampering


def forget_the_wake() -> Tampering:
    def tampering(_: Process, operation: AnyOperation, perform: Perform) -> object:
        if isinstance(operation, Save):
            updates: list[tuple[InstanceRow, int]] = [
                ((*row[:6], None, *row[7:]), rev) for row, rev in operation.updates
            ]
            return perform(Save(operation.machine, operation.inserts, updates))
        return perform(operation)

    return tampering


def forget_what_is_gone() -> Tampering:
    def tampering(_: Process, operation: AnyOperation, perform: Perform) -> object:
        return -1 if isinstance(operation, Gone) else perform(operation)

    return tampering


def hand_suspects_out_together() -> Tampering:
    """All that died goes out at once, however often it has died."""

    def tampering(_: Process, operation: AnyOperation, perform: Perform) -> object:
        answer = perform(operation)
        if isinstance(operation, Quarantine):
            rows = cast("list[OutboxRow]", answer)
            every = with_fields(operation, latest=FOREVER)
            while more := cast("list[OutboxRow]", perform(every)):
                rows.extend(more)
        return answer

    return tampering


def redrive_under_a_new_key() -> Tampering:
    """What is let go is asked for anew, as if it were another deed."""

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if not isinstance(operation, Redrive):
            return perform(operation)
        store = store_of(process)
        parked = [row[:3] for row in store.outbox.rows.values() if row[9] is not None]
        answer = perform(operation)
        for key in parked:
            row = store.outbox.rows[key]
            codec = process.box.machines.codecs[row[0]]
            anew = with_fields(
                codec.command(row[11], row[3], row[12]),
                idempotency_key=f"{row[4]}0",
            )
            store.outbox.put(key, (*row[:4], f"{row[4]}0", *row[5:12], text(anew)))
        return answer

    return tampering


def redrive_what_is_parked_away() -> Tampering:
    """What is parked is dropped, so that it is parked no more."""

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        if isinstance(operation, Redrive):
            outbox = store_of(process).outbox
            for key, row in list(outbox.rows.items()):
                if key[:2] == (operation.machine, operation.id) and row[9] is not None:
                    outbox.drop(key)
        return perform(operation)

    return tampering


def redrive_to_no_time() -> Tampering:
    """What is let go is due in a year."""

    def tampering(_: Process, operation: AnyOperation, perform: Perform) -> object:
        if isinstance(operation, Redrive):
            later = operation.now + 31_536_000_000
            return perform(Redrive(operation.machine, operation.id, later))
        return perform(operation)

    return tampering


def outside_the_transaction() -> Tampering:
    """What a caller sends in a transaction is committed at once, whatever it does then."""

    def tampering(
        process: Process, operation: AnyOperation, perform: Perform
    ) -> object:
        answer = perform(operation)
        store = store_of(process)
        if isinstance(operation, Save | Owe | Journal) and process.world.holder is None:
            store.perform(Commit())
        return answer

    return tampering


MUTANTS: Final = (
    Mutant("dispatch before commit", dispatch_before_commit),
    Mutant("forget Withdraw", forget(Withdraw)),
    Mutant("forget the fence", forget_the_fence),
    Mutant("take by ticket without claim", take_without_claim),
    Mutant("count only exceptions as deliveries", count_only_exceptions),
    Mutant("acknowledge before persisting", acknowledge_before_persisting),
    Mutant("key from the attempt", lambda: honest, key_from_the_attempt),
    Mutant("stale write without rev", stale_write),
    Mutant("release claims of a live session", release_live_claims),
    Mutant("claim out of order", claim_out_of_order),
    Mutant("forget the inbox", forget(Remember)),
    Mutant("forget the journal", forget(Journal)),
    Mutant("forget the wake", forget_the_wake),
    Mutant("redrive under a new key", redrive_under_a_new_key),
    Mutant("drop what is redriven", redrive_what_is_parked_away),
    Mutant("redrive to no time", redrive_to_no_time),
    Mutant("commit within the caller's transaction", outside_the_transaction),
    Mutant("hand suspects out together", hand_suspects_out_together),
    Mutant("forget what is gone", forget_what_is_gone),
)
