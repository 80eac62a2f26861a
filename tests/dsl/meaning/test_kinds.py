"""What a kind refuses, and what its rules become."""

from __future__ import annotations

import pytest
from deedbox_dsl import syntax

from tests.dsl.meaning.specs import found, program

POLICIES = """policy few { first 2s factor 2 max 30s attempts 4 jitter none }
policy ever { first 5s factor 2 max 10m attempts unlimited jitter full }
policy brief { first 1s factor 2 max 9s attempts unlimited jitter none within 1m }
"""
SAGA = (
    POLICIES
    + """saga Order version 1 {
  key order: text
  command page(order: text, error: text)
  step payment {
    do charge(order: text)
      -> paid { ref: text } => next
       | declined { reason: text } => retry few then abort
       | late => retry brief then abort
       | silence after 30s => retry few then abort with undo
    undo refund(order: text, ref: text?, deed: text)
      -> refunded => next
       | failed { error: text } => retry ever forever escalate after 1h do page(order, error)
  }
  step stock {
    do reserve(order: text, ref: text)
      -> reserved { hold: text } => next
       | sold_out => abort
    no undo "nobody else wants it"
  }
  done -> Settled { ref, hold }
  undone -> Refunded { cause }
  never lost: phase is Refunded and did(payment) and not undid(payment)
}
"""
)


def test_the_saga_of_these_tests_has_no_problem() -> None:
    assert found(SAGA) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("retry few then abort\n       | late", "retry ever then abort\n       | late", "DEED504", "unlimited"),
        ("retry few then abort\n       | late", "retry few forever\n       | late", "DEED504", "limited"),
        ("retry few then abort\n       | late", "retry fwe then abort\n       | late", "DEED201", "no policy `fwe`"),
        ("=> retry few then abort\n       | late", "=> done Lost\n       | late", "DEED101", "`done` may not stand"),
        ("=> retry few then abort\n       | late", "=> retry few after pause then abort\n       | late", "DEED303", "`pause` to wait by"),
        ("| failed { error: text } => retry ever forever", "| failed { error: text } => retry few then next\n | other { error: text } => retry ever forever", "DEED603", "may give up"),
        (" escalate after 1h do page(order, error)", "", "DEED505", "nobody is told"),
        ("ref: text?, deed: text", "ref: text, deed: text", "DEED602", "not known when `payment` aborts"),
        ("ref: text?, deed: text", "ref: text?", "DEED602", "which deed"),
        ("ref: text?, deed: text", "ref: text?, hold: text?, deed: text", "DEED602", "`hold` is not known by then"),
        ("do charge(order: text)", "do charge(order: text, hold: text)", "DEED201", "`hold` is not known by then"),
        ("do charge(order: text)", "do charge(order: text, who: text)", "DEED201", "nothing called `who`"),
        ("do charge(order: text)", "do charge(order: text, attempt: int)", "DEED308", "word for word"),
        ("do charge(order: text)", "unrepeatable do charge(order: text)", "DEED101", "unrepeatable"),
        ("do reserve(", "unrepeatable do reserve(", "DEED451", "unrepeatable"),
        ("retry few then abort with undo", "retry few then abort", "DEED604", "may have taken effect"),
        ("sold_out => abort", "sold_out => abort with undo", "DEED601", "no undo to abort with"),
        ("reserved { hold: text }", "reserved { hold: text, ref: text }", "DEED202", "`ref` is already taken"),
        ("reserved { hold: text }", "reserved { hold: text, cause: text }", "DEED203", "`cause`"),
        ("key order: text", "key order: text, due: instant", "DEED203", "`due`"),
        ("Refunded { cause }", "Refunded { cause, ref }", "DEED602", "`ref` may not be known"),
        ("Settled { ref, hold }", "Settled { ref, hode }", "DEED201", "`hode`"),
        ("  undone -> Refunded { cause }\n", "", "DEED304", "no `undone`"),
        ("undid(payment)", "undid(stock)", "DEED601", "no undo"),
        ("did(payment) and", "did(paymnt) and", "DEED201", "no step `paymnt`"),
        ("done -> Settled", "done -> PaymentBackoff", "DEED208", "`PaymentBackoff` is already taken"),
        ("step stock {", "step payment {", "DEED202", "already taken"),
        ("| silence after 30s =>", "| silence after 9s => abort with undo | silence after 30s =>", "DEED202", "has a rule already"),
    ],
)  # fmt: skip
def test_what_a_saga_refuses(old: str, new: str, code: str, said: str) -> None:
    assert old in SAGA
    problems = found(SAGA.replace(old, new, 1))
    matching = [message for found_code, _, message in problems if found_code == code]
    assert any(said in message for message in matching), problems
    assert {found_code for found_code, _, _ in problems} <= {code, "DEED455", "DEED506"}


def lowered(text: str) -> dict[str, syntax.State]:
    result = program(text)
    assert not result.problems, result.problems
    (machine,) = result.lowered.values()
    return {
        item.name.text: item for item in machine.items if isinstance(item, syntax.State)
    }


def fields(state: syntax.State) -> list[str]:
    return [field.name.text for field in state.fields]


def test_a_budget_keeps_when_the_run_of_attempts_began() -> None:
    """S3: `within` counts from the first issue."""
    states = lowered(SAGA)
    assert fields(states["PaymentRunning"]) == [
        "attempt",
        "since",
        "silent_at",
        "cancelled",
    ]
    assert fields(states["PaymentBackoff"]) == ["attempt", "since", "due", "cause"]


def test_a_capture_is_carried_where_it_is_still_read() -> None:
    """S15: nothing undoes `stock`, so only `done` and the refund need what came before."""
    states = lowered(SAGA)
    assert fields(states["StockRunning"]) == ["ref", "payment_deed", "cancelled"]
    assert fields(states["PaymentUndoing"])[-2:] == ["ref", "payment_deed"]
    assert "StockUndoing" not in states


def test_a_saga_that_takes_no_cancel_says_why() -> None:
    text = SAGA.replace("  never lost", '  no cancel "it is quick"\n  never lost')
    states = lowered(text)
    assert not any("cancelled" in fields(state) for state in states.values())
    machine = program(text).lowered["a.deed", "Order"]
    last = [item for item in machine.items if isinstance(item, syntax.Inside)][-1]
    (clause,) = last.clauses
    assert isinstance(clause, syntax.On)
    assert clause.block.exit == syntax.Reject("it is quick", clause.block.span)
    assert len(last.states) == 6


RETRY = (
    POLICIES
    + """retry Sync version 1 {
  key id: text
  message Wanted
  policy few
  do pull(id: text)
    -> pulled { count: int } => done Complete { count }
     | moved => continue after 25ms
     | idle => rest
     | failed { error: text } => again
     | busy { pause: duration } => retry brief after pause then done Exhausted { attempts: attempt, error: "busy" }
     | gone => retry ever forever
     | silence after 9s => retry few then rest
  spent => done Exhausted { attempts: attempt, error }
  wake on Wanted after 1s
}
"""
)


def test_a_retry_with_everything_has_no_problem() -> None:
    states = lowered(RETRY)
    assert list(states) == [
        "Running",
        "Waiting",
        "Silent",
        "Pausing",
        "Resting",
        "Complete",
        "Exhausted",
    ]
    assert fields(states["Running"]) == ["attempt", "since", "silent_at", "woken"]
    assert fields(states["Silent"]) == ["attempt", "since", "due", "error"]


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("  policy few\n", "", "DEED304", "`again` needs a policy"),
        ("  policy few\n", "  policy ever\n", "DEED504", "never spent"),
        ("  spent => done Exhausted { attempts: attempt, error }\n", "", "DEED304", "when it is spent"),
        ("  wake on Wanted after 1s\n", "", "DEED401", "`Wanted`"),
        ("message Wanted\n", "message Wanted\n  message Other\n", "DEED401", "`Other`"),
        ("wake on Wanted", "wake on Wnated", "DEED201", "no message `Wnated`"),
        ("idle => rest", "idle => abort", "DEED101", "`abort` may not stand"),
        ("attempts: attempt, error }\n  wake", "attempts: attempt, pause }\n  wake", "DEED201", "`pause`"),
        ("attempts: attempt, error }\n  wake", "attempts: attempt }\n  wake", "DEED202", "other fields"),
        ("do pull(id: text)", "do pull(id: text, attempt: int)", "DEED308", "word for word"),
    ],
)  # fmt: skip
def test_what_a_retry_refuses(old: str, new: str, code: str, said: str) -> None:
    assert old in RETRY
    problems = found(RETRY.replace(old, new, 1))
    matching = [message for found_code, _, message in problems if found_code == code]
    assert any(said in message for message in matching), problems


SCAN = (
    POLICIES
    + """record Job { id: text, due: instant, tries: int }
scan Show version 1 {
  key repo: text
  message Submitted
  command page_someone(repo: text, error: text)
  page 32
  cursor after: text?
  fetch list_jobs(repo: text, after: text?, limit: int)
    -> page { jobs: list[Job] } => next
     | empty => rest
     | failed { error: text } => retry ever forever escalate after 1h do page_someone(repo, error)
     | silence after 5s => retry brief then rest
  each job in page.jobs by job.id due job.due {
    do present(repo: text, id: text = job.id)
      -> presented => next
       | failed { error: text } => retry few then next
       | silence after 5s => retry few then next
  }
  continue after 25ms
  idle 60s
  wake on Submitted after 25ms
  allow DEED406 "it goes on"
}
"""
)


def test_a_scan_with_everything_has_no_problem() -> None:
    states = lowered(SCAN)
    assert list(states) == [
        "Fetching",
        "FetchWaiting",
        "FetchSilent",
        "Working",
        "WorkWaiting",
        "WorkSilent",
        "Pausing",
        "Resting",
    ]
    assert fields(states["Fetching"]) == [
        "after",
        "attempt",
        "since",
        "told",
        "silent_at",
        "woken",
    ]


def test_a_scan_without_due_times_or_wakes_has_no_problem() -> None:
    text = SCAN.replace(" due job.due", "").replace("  message Submitted\n", "")
    text = text.replace("  wake on Submitted after 25ms\n", "")
    assert fields(lowered(text)["Resting"]) == ["after", "due"]


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("  page 32\n", "", "DEED605", "no `page`"),
        ("  page 32\n", "  page 0\n", "DEED605", "at least 1"),
        ("  idle 60s\n", "", "DEED605", "no `idle`"),
        ("cursor after: text?", "cursor after: text", "DEED605", "optional"),
        ("in page.jobs", "in pages.jobs", "DEED201", "no outcome `pages`"),
        ("in page.jobs", "in page.job", "DEED303", "no field `job`"),
        ("in page.jobs", "in failed.error", "DEED605", "does not lead to `next`"),
        ("by job.id", "by job.tries", "DEED301", "expected text"),
        ("= job.id", "= job.idd", "DEED303", "`idd`"),
        ("failed { error: text } => retry few then next", "failed { error: text } => abort", "DEED101", "`abort` may not stand"),
        ("  page 32\n", "  page 32\n  page 33\n", "DEED202", "written twice"),
    ],
)  # fmt: skip
def test_what_a_scan_refuses(old: str, new: str, code: str, said: str) -> None:
    assert old in SCAN
    problems = found(SCAN.replace(old, new, 1))
    matching = [message for found_code, _, message in problems if found_code == code]
    assert any(said in message for message in matching), problems
