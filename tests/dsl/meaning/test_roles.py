"""What the parts of a lowered machine stand for, and no guess where it does not say."""

from __future__ import annotations

from dataclasses import replace

from deedbox_dsl import core, roles

from .specs import gallery, program

MACHINES = {
    machine.name: machine for module in gallery().modules for machine in module.machines
}


def test_a_saga_says_which_command_undoes_which() -> None:
    found = roles.saga(MACHINES["Order"])
    assert found == roles.Saga(
        (
            roles.Step("charge", ("paid",), "refund", ("refunded",)),
            roles.Step("reserve", ("reserved",), "release", ("released",)),
            roles.Step("settle", ("settled",), None, ()),
        ),
        "Settled",
        "Refunded",
    )


def test_a_scan_says_what_it_reads_in_pages() -> None:
    found = roles.scan(MACHINES["Showcase"])
    assert isinstance(found, roles.Scan)
    assert (found.fetch, found.listed, found.due) == ("list_jobs", "jobs", "due")
    assert (found.cursor, found.limit, found.page) == ("after", "limit", 32)


def test_a_plain_machine_is_neither() -> None:
    assert roles.saga(MACHINES["Lease"]) is None
    assert roles.scan(MACHINES["Lease"]) is None


SCAN = """record Job {{ id: {of}, due: instant }}

scan Walk version 1 {{
  key id: text
  page 2
  cursor after: {of}?
  fetch list_jobs(id: text{given}) -> page {{ jobs: list[Job] }} => next
  each job in page.jobs by job.id {{ do present(id: text) -> presented => next }}
  continue after 25ms
  idle 60s
  allow DEED406 "it walks for ever"
}}
"""


def lowered(text: str) -> core.Machine:
    found = program(text)
    assert found.modules, found.problems
    return found.modules[0].machines[0]


def test_a_scan_that_is_not_read_so_says_why() -> None:
    whole = ", after: text?, limit: int"
    assert isinstance(
        roles.scan(lowered(SCAN.format(of="text", given=whole))), roles.Scan
    )
    by_number = SCAN.format(of="int", given=", after: int?, limit: int")
    assert roles.scan(lowered(by_number)) == (
        "its cursor is not a text field of its records"
    )
    blind = SCAN.format(of="text", given=", after: text?")
    assert roles.scan(lowered(blind)) == "`list_jobs` is not given `after` and `limit`"


def test_a_machine_that_stands_otherwise_is_not_guessed_at() -> None:
    order, showcase = MACHINES["Order"], MACHINES["Showcase"]
    silent = tuple(replace(each, awaits=None) for each in order.states)
    assert roles.saga(replace(order, states=silent)) is None
    alike = tuple(
        replace(each, awaits="charge") if each.name == "StockRunning" else each
        for each in order.states
    )
    assert roles.saga(replace(order, states=alike)) is None
    resting = tuple(each for each in showcase.clauses if each.state == "Resting")
    assert roles.scan(replace(showcase, clauses=resting)) == (
        "no answer to its fetch begins a page"
    )
