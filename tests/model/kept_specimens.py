"""Machines with one mistake each, whose runs are kept as tests: every property, every step.

A mistake is in the spec, or in the code as a piece that is put behind it; the same spec
without it is what the kept test must pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from deedbox_checker.scans.pages import paged
from deedbox_checker.subjects.load import load, of_machine
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.verdicts.verdict import Verdict
from deedbox_checker.verdicts.verify import verify
from deedbox_dsl import core
from deedbox_dsl.problems import has_errors
from deedbox_dsl.program import Program, compile
from deedbox_generator.emit import emit

from .specimens import compiled_as

ORDER, LEASE = "shop/orders.deed", "fleet/lease.deed"
SHOWCASE, STANDING = "nerudo/repository.deed", "accounts/transfer.deed"

BELL = """\
module bell

/// A bell that may be rung once: nobody knows whether it was heard.
machine Bell version 1 {
  key bell: text
  state Ringing { silent_at: instant } awaits ring
  final Rung
  unrepeatable command ring(bell: text) -> rung
  start { do ring(bell) goto Ringing { silent_at: now + 1m } }
  in Ringing {
    on ring.rung { goto Rung }
    at silent_at { goto Rung }
  }
  leads rings: phase is Ringing to phase is Rung
}
"""

KETTLE = """\
module kettle

/// A kettle is looked at every minute, and is forgotten after a while.
machine Kettle version 1 {
  key kettle: text
  state Heating { since: instant, due: instant, looks: int }
  final Boiled
  final Forgotten
  message Lift
  start { goto Heating { since: now, due: now + 1m, looks: 0 } }
  in Heating {
    GUARDS
    at due { stay { .., due: now + 1m } }
    on Lift { goto Boiled }
  }
  never forgotten: phase is Forgotten
  allow DEED406 "it may stand there"
  allow DEED502 "looks are for people"
}
"""

LOOKED_AT = KETTLE.replace("GUARDS", "on Lift when looks > 0 { goto Forgotten }")


@dataclass(frozen=True, slots=True)
class Specimen:
    """`patch`: what is put behind the module.  `steps`: some that its run must have.

    `assumed`: only an assumption keeps the run from being one, the machine is the same.
    """

    name: str
    spec: str
    machine: str
    property: str
    steps: frozenset[str]
    rewrite: tuple[str, str] | tuple[()] = ()
    patch: str = ""
    code: tuple[str, str] | tuple[()] = ()
    texts: tuple[str, str] | tuple[()] = ()
    faults: tuple[str, ...] = ()
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A specimen as the checker found it: its files, and what they should have been."""

    subject: Subject
    verdict: Verdict
    broken: Mapping[str, str]
    mended: Mapping[str, str]


Page: TypeAlias = Callable[[core.Machine], core.Machine]


def steps(names: str) -> frozenset[str]:
    return frozenset(names.split())


def reducer(body: str) -> str:
    """A patch that puts another reducer around the module's own."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"""

import dataclasses
import msgspec

def _reduce(state, message):
    phase, kind = type(state).__name__, type(message).__name__
{lines}
    return reduce(state, message)

machine = dataclasses.replace(machine, reduce=_reduce)
"""


def exchanged(**lambdas: str) -> str:
    """A patch that exchanges functions of the descriptor."""
    given = ", ".join(f"{name}={text}" for name, text in lambdas.items())
    return f"""

import dataclasses
import msgspec

_own = machine
machine = dataclasses.replace(machine, {given})
"""


NEW_KEYS = reducer("""
result = reduce(state, message)
if phase == "PaymentSilent" and not isinstance(result, Refused):
    new, owed = result
    if type(new).__name__ == "PaymentRunning":
        key = owed[0].idempotency_key.rsplit("/", 1)[0] + f"/{new.ticket}"
        owed = (msgspec.structs.replace(owed[0], idempotency_key=key),)
        return msgspec.structs.replace(new, deed_number=new.ticket), owed
""")
CREDULOUS = reducer("""
if kind == "ReserveReserved" and phase == "StockRunning":
    message = msgspec.structs.replace(message, ticket=state.ticket)
""")
IMPATIENT = reducer("""
if kind == "Due" and phase == "Held":
    message = Due(max(message.at, state.expires))
""")
SHORTENING = reducer("""
result = reduce(state, message)
if kind == "Renew" and not isinstance(result, Refused):
    new, owed = result
    until = min(state.expires, message.at + message.ttl)
    return msgspec.structs.replace(new, expires=until), owed
""")
RESTLESS = reducer("""
if phase == "Retired" and kind == "Acquire":
    return msgspec.structs.replace(state, reason=""), ()
""")
FICKLE = reducer("""
global _calls
_calls = globals().get("_calls", 0) + 1
result = reduce(state, message)
if kind == "Renew" and not isinstance(result, Refused):
    new, owed = result
    return msgspec.structs.replace(new, expires=new.expires + _calls % 2), owed
""")
SPINNING = reducer("""
if kind == "Due" and phase == "Heating":
    return msgspec.structs.replace(state, looks=1 - state.looks), ()
""")
UNSTORABLE = reducer("""
result = reduce(state, message)
if kind == "Acquire" and not isinstance(result, Refused):
    new, owed = result
    return msgspec.structs.replace(new, renewals=False), owed
""")
OTHER_ARGUMENTS = reducer("""
result = reduce(state, message)
if phase == "PaymentSilent" and not isinstance(result, Refused):
    new, owed = result
    if type(new).__name__ == "PaymentRunning":
        return new, (msgspec.structs.replace(owed[0], amount=owed[0].amount + 1),)
""")
OTHER_KEYS = reducer("""
result = reduce(state, message)
if kind == "Due" and phase == "Held" and not isinstance(result, Refused):
    new, owed = result
    return new, (msgspec.structs.replace(owed[0], idempotency_key="another/1"),)
""")

TWO_ISSUES = reducer("""
result = reduce(state, message)
if kind == "Due" and phase == "Held" and not isinstance(result, Refused):
    new, owed = result
    return new, (*owed, msgspec.structs.replace(owed[0], ticket=owed[0].ticket + 1))
""")


def raising(when: str) -> str:
    return reducer(f"if {when}:\n    raise ValueError('not thought of')")


SPECIMENS = (
    Specimen("new_keys", ORDER, "Order", "one_charge", steps("Fires"), patch=NEW_KEYS),
    Specimen(
        "silence",
        ORDER,
        "Order",
        "keeps_money",
        steps("Fires Decides"),
        ("=> retry ladder then abort with undo", "=> retry ladder then abort"),
    ),
    Specimen(
        "undo_fails",
        ORDER,
        "Order",
        "money_returns",
        steps("Decides Fires"),
        ("assume refund.refunded in the end", ""),
        assumed=True,
    ),
    Specimen(
        "too_many",
        ORDER,
        "Order",
        "issues_are_bounded",
        steps("Fires"),
        code=("state.attempt >= LADDER_ATTEMPTS", "state.attempt > LADDER_ATTEMPTS"),
    ),
    Specimen(
        "arguments",
        ORDER,
        "Order",
        "same_arguments",
        steps("Fires"),
        patch=OTHER_ARGUMENTS,
    ),
    Specimen(
        "late",
        ORDER,
        "Order",
        "late_answers_change_nothing",
        steps("Late"),
        patch=CREDULOUS,
        faults=("late_answer",),
    ),
    Specimen(
        "early",
        LEASE,
        "Lease",
        "no_early_wake",
        steps("Early"),
        patch=IMPATIENT,
        faults=("early_wake",),
    ),
    Specimen("shorter", LEASE, "Lease", "only_later", steps("Tell"), patch=SHORTENING),
    Specimen(
        "too_late",
        LEASE,
        "Lease",
        "drains",
        steps("Passes"),
        ("deadline: now + 30s", "deadline: now + 31s"),
    ),
    Specimen("restless", LEASE, "Lease", "finals_stay", steps("Tell"), patch=RESTLESS),
    Specimen("fickle", LEASE, "Lease", "deterministic", steps("Tell"), patch=FICKLE),
    Specimen(
        "unstorable",
        LEASE,
        "Lease",
        "survives_storage",
        steps("Tell"),
        patch=UNSTORABLE,
    ),
    Specimen("keys", LEASE, "Lease", "keys_are_own", steps("Tell"), patch=OTHER_KEYS),
    Specimen(
        "two_issues",
        LEASE,
        "Lease",
        "one_issue_is_owed",
        steps("Tell"),
        patch=TWO_ISSUES,
    ),
    Specimen(
        "raises_on_message",
        LEASE,
        "Lease",
        "no_exception",
        steps("Tell"),
        patch=raising("kind == 'Acquire' and phase == 'Free'"),
    ),
    Specimen(
        "raises_on_deadline",
        LEASE,
        "Lease",
        "no_exception",
        steps("Tell"),
        patch=raising("kind == 'Due' and phase == 'Held'"),
    ),
    Specimen(
        "raises_on_answer",
        LEASE,
        "Lease",
        "no_exception",
        steps("Answers"),
        patch=raising("kind == 'EvictStuck'"),
    ),
    Specimen(
        "raises_on_start",
        LEASE,
        "Lease",
        "no_exception",
        steps("Begin"),
        patch=exchanged(start="lambda message: 1 / 0"),
    ),
    Specimen(
        "another_way",
        LEASE,
        "Lease",
        "as_specified",
        steps("Tell"),
        patch=reducer(
            "if kind == 'Retire' and phase == 'Free':\n"
            "    return reduce(state, Acquire(holder='h', ttl=1, at=message.at))"
        ),
    ),
    Specimen(
        "oversleeps",
        LEASE,
        "Lease",
        "wakes_at_the_soonest_deadline",
        steps("Tell"),
        patch=exchanged(
            wake="lambda state: None if hasattr(state, 'expires') else _own.wake(state)"
        ),
    ),
    Specimen(
        "deaf",
        LEASE,
        "Lease",
        "awaits_as_declared",
        steps("Tell"),
        patch=exchanged(awaited="lambda state: None"),
    ),
    Specimen(
        "forgets_the_ticket",
        LEASE,
        "Lease",
        "rows_are_awaited",
        steps("Tell"),
        patch=exchanged(awaited="lambda state: None"),
    ),
    Specimen(
        "wakes_at_its_end",
        LEASE,
        "Lease",
        "ends_are_clean",
        steps("Tell"),
        patch=exchanged(
            wake="lambda state: state.born if type(state).__name__ == 'Retired'"
            " else _own.wake(state)"
        ),
    ),
    Specimen(
        "lost_with_the_process",
        "bell.deed",
        "Bell",
        "waits_are_justified",
        steps("Crash"),
        patch=exchanged(wake="lambda state: None"),
        texts=(BELL, BELL),
        faults=("crash",),
    ),
    Specimen(
        "silent_for_ever",
        "bell.deed",
        "Bell",
        "rings",
        steps("Raises Waits"),
        patch=exchanged(wake="lambda state: None"),
        texts=(BELL, BELL),
        faults=("raise",),
    ),
    Specimen(
        "forgotten",
        "kettle.deed",
        "Kettle",
        "forgotten",
        steps("Comes"),
        texts=(
            KETTLE.replace(
                "GUARDS", "on Lift when now >= since + 5m { goto Forgotten }"
            ),
            KETTLE.replace("GUARDS", ""),
        ),
    ),
    Specimen(
        "forgotten_at_some_age",
        "kettle.deed",
        "Kettle",
        "forgotten",
        steps("Comes"),
        texts=(
            KETTLE.replace(
                "GUARDS",
                "at due when now >= since + 5m { goto Forgotten }\n"
                "    on Lift when now >= since + 9m { goto Forgotten }",
            ),
            KETTLE.replace("GUARDS", ""),
        ),
    ),
    Specimen(
        "spins",
        "kettle.deed",
        "Kettle",
        "no_spin",
        steps("Fires"),
        texts=(LOOKED_AT, LOOKED_AT),
        patch=SPINNING,
    ),
    Specimen(
        "tells_others",
        STANDING,
        "StandingOrder",
        "as_specified",
        steps("Fires"),
        patch=reducer(
            "if kind == 'Stop' and phase == 'Planned' and state.number > 1:\n"
            "    return reduce(msgspec.structs.replace(state, times=1), Due(state.next))"
        ),
    ),
    Specimen(
        "skips_a_record",
        SHOWCASE,
        "Showcase",
        "no_record_is_missed",
        steps("Answers HandedOut"),
        code=("upto=mine[-1].id", "upto=msg.jobs[-1].id"),
    ),
    Specimen(
        "takes_a_record_twice",
        SHOWCASE,
        "Showcase",
        "no_record_is_taken_twice",
        steps("Answers HandedOut"),
        code=("upto=mine[-1].id", "upto=state.after"),
    ),
    Specimen(
        "takes_full_for_more",
        SHOWCASE,
        "Showcase",
        "another_page_only_if_seen",
        steps("Answers HandedOut"),
        code=("len(msg.jobs) > 2", "len(msg.jobs) >= 2"),
    ),
    Specimen(
        "never_rests",
        SHOWCASE,
        "Showcase",
        "finishes",
        steps("Answers HandedOut Fires"),
        ("page 2  assume list_jobs.page in the end", "page 2"),
        assumed=True,
    ),
)


def found(each: Specimen, folder: str) -> Found:
    """The specimen, its package below `folder`, and the verdict on its property."""
    program = (
        own(each.texts[0]) if each.texts else compiled_as(each.spec, *each.rewrite)
    )
    good = own(each.texts[1]) if each.texts else compiled_as(each.spec)
    path = each.spec if each.texts else f"specs/{each.spec}"
    broken, mended = below(folder, program, path), below(folder, good, path)
    (place,) = (
        name for name, text in broken.items() if f'name="{each.machine}"' in text
    )
    if each.code:
        assert each.code[0] in broken[place]
        broken[place] = broken[place].replace(*each.code)
    broken[place] += each.patch
    machine = next(
        paged(machine)
        for module in program.modules
        for machine in module.machines
        if machine.name == each.machine
    )
    module = of_machine(load(broken), path, each.machine)
    report = verify(machine, module, faults=each.faults)
    assert not report.incomplete, report.incomplete
    verdict = next(v for v in report.verdicts if v.name == each.property)
    return Found(Subject(path, machine, module), verdict, broken, mended)


def own(text: str) -> Program:
    name = f"{text.split()[1]}.deed"
    found = compile({name: text})
    assert not has_errors(found.problems), found.problems
    return found


def below(
    folder: str, program: Program, path: str, page: Page = paged
) -> dict[str, str]:
    wanted = [
        replace(module, machines=tuple(map(page, module.machines)))
        for module in program.modules
        if module.path == path
    ]
    files = emit(wanted, program.texts, nested=True)[path]
    inside = {f"{folder}/{name}": text for name, text in files.items()}
    return {f"{folder}/__init__.py": "", **inside}


def as_built(each: Specimen, folder: str) -> tuple[dict[str, str], dict[str, str]]:
    """The files of a scan with its own pages: with the mistake in its code, and without."""
    path = f"specs/{each.spec}"
    mended = below(folder, compiled_as(each.spec), path, lambda machine: machine)
    old, new = each.code or ("", "")
    return {name: text.replace(old, new) for name, text in mended.items()}, mended
