"""A scan as a machine: fetch a page, work through what is due, pause, and rest.

`Fetching` reads one record more than a page; what is consumed is `take(list, n)`,
and there is another page only when the next record was really seen.  `Working`
holds the rest of the page in storage and takes its items one at a time, so that
the cursor moves once a page.  `FetchWaiting`, `WorkWaiting` and their silent
twins are the loops of the two commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ... import syntax
from ...names import Scope
from ...problems import Problem, has_errors
from .. import asking, rules, trees
from ..asking import Part
from ..assembly import assembled, command, insides, of_sorts
from ..trees import Maker
from .fields import (
    fetching_fields,
    pausing_fields,
    resting_fields,
    waiting_fields,
    working_fields,
)
from .items import worked
from .pages import ask_for_page, fetch_bound, fetched
from .plan import Plan, plan
from .rests import woken, woken_at_rest


def lower_scan(
    scan: syntax.Scan, scope: Scope
) -> tuple[syntax.Machine | None, tuple[Problem, ...]]:
    """The machine that the scan means, when nothing is wrong with it."""
    found, problems = plan(scan, scope)
    if found is None or has_errors(problems):
        return None, tuple(problems)
    parts = list(_parts(found))
    declared: list[syntax.MachineItem] = [
        *(item for item in scan.items if isinstance(item, syntax.Message)),
        *(state for state, _ in parts),
        command(found.fetch.attempt),
        command(found.item.attempt),
        *of_sorts(found.common, syntax.Command),
    ]
    start = ask_for_page(found, trees.nothing, scan.name.span)
    machine = assembled(scan, found.common, declared, start, insides(parts))
    return machine, tuple(problems)


def _parts(found: Plan) -> Iterator[Part]:
    fetching, working = fetching_fields(found), working_fields(found)
    fetch, item = found.fetch, found.item
    yield (
        replace(_awaiting("Fetching", fetching, fetch), doc=fetch.attempt.doc),
        [
            *(c for rule in fetch.attempt.rules for c in fetched(rule, found)),
            *woken(found),
        ],
    )
    yield from _loop("Fetch", "Fetching", fetch, fetching, fetch_bound(found), found)
    yield (
        replace(_awaiting("Working", working, item), doc=item.attempt.doc),
        [
            *(c for rule in item.attempt.rules for c in worked(rule, found)),
            *woken(found),
        ],
    )
    at_hand = {found.each.item.text: trees.itself(found.each.item.text)}
    yield from _loop("Work", "Working", item, working, at_hand, found)
    span = found.scan.name.span
    cursor = trees.itself(found.cursor.name.text)
    pause = ask_for_page(found, cursor, span, woken=trees.var("woken", span))
    yield (
        asking.state("Pausing", pausing_fields(found, span), None, span),
        [asking.at_due(pause, span), *woken(found)],
    )
    rest = ask_for_page(found, cursor, span)
    yield (
        asking.state("Resting", resting_fields(found, span), None, span),
        [asking.at_due(rest, span), *woken_at_rest(found)],
    )


def _awaiting(
    title: str, fields: Sequence[syntax.Field], asked: rules.Loop
) -> syntax.State:
    return asking.state(title, fields, asked.attempt.command, asked.span)


def _loop(
    prefix: str,
    awaiting: str,
    asked: rules.Loop,
    fields: Sequence[syntax.Field],
    meanings: Mapping[str, Maker],
    found: Plan,
) -> Iterator[Part]:
    """The waiting states of one command, which ask again."""
    waiting = waiting_fields(asked, fields)
    for title, silent in asked.waits(f"{prefix}Waiting", f"{prefix}Silent"):
        again = asking.again(
            asked, awaiting, fields, waiting, meanings, {}, silent=silent
        )
        yield asking.state(title, waiting, None, asked.span), [again, *woken(found)]
