"""What a machine does as a whole: every event decided, every command awaited, no dead ends."""

from __future__ import annotations

import pytest

from tests.dsl.meaning.specs import found, machine, program

HEAD = """machine Door version 1 {
  key id: text
  message Open { who: text }
  message Close
  command ring(id: text)
  command lock(id: text) -> locked | jammed { why: text }
"""


def door(body: str) -> str:
    return HEAD + body + "\n}\n"


WHOLE = """
  state Shut
  state Ajar { due: instant }
  state Locking { silent_at: instant } awaits lock
  final Gone
  start { goto Shut }
  in Shut { on Open { do ring(id) goto Ajar { due: now + 5s } } ignore Close }
  in Ajar {
    on Close { do lock(id) goto Locking { silent_at: now + 9s } }
    ignore Open
    at due { goto Gone }
  }
  in Locking {
    on lock.locked { goto Shut }
    on lock.jammed { goto Gone }
    at silent_at { goto Gone }
    ignore Open, Close
  }
"""


def test_a_whole_machine_has_no_problem() -> None:
    made = machine(door(WHOLE))
    states = {state.name: state for state in made.states}
    assert states["Locking"].open_deed == "lock"
    assert states["Locking"].deadlines == ("silent_at",)
    assert {c.name: c.deadline for c in made.commands} == {"ring": False, "lock": True}


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("ignore Open\n    at due", "at due", "DEED401", "`Ajar` does not say what happens on `Open`"),
        ("    on lock.jammed { goto Gone }\n", "", "DEED451", "`lock` can end with `jammed`"),
        ("on Close { do lock", "on Close when now > due { do lock", "DEED402", "the last clause of `Ajar` for `Close` has a guard"),
        ("at due { goto Gone }", "at due when now > due { goto Gone }", "DEED402", "`at due`"),
        ("at due { goto Gone }", "", "DEED502", "`due` is kept in `Ajar`"),
        ("at due { goto Gone }", "at due { goto Gone }\n    at due { goto Shut }", "DEED403", "never run"),
        ("on Close { do lock", "on Close when 1 > 2 { goto Gone }\n    on Close { do lock", "DEED404", "always false"),
        ("at due { goto Gone }", "at due { stay }", "DEED503", "without a pause"),
        ("at due { goto Gone }", "at due { stay { due: now } }", "DEED503", "without a pause"),
        ("at due { goto Gone }", "at duo { goto Gone }\n at due { goto Gone }", "DEED303", "no field `duo`"),
        ("at due { goto Gone }", "at due { }", "DEED407", "where to go"),
        ("do lock(id) goto Locking", "goto Locking", "DEED452", "nothing asks for it"),
        ("on lock.locked { goto Shut }", "on lock.locked { stay }", "DEED452", "nothing asks for it"),
        ("on lock.locked { goto Shut }", "ignore lock.locked", "DEED452", "wait for ever"),
        ("do ring(id) goto Ajar", "do lock(id) goto Ajar", "DEED452", "does not await it"),
        ("do lock(id) goto Locking", "do lock(id) do lock(id) goto Locking", "DEED452", "one answer at most"),
        ("do lock(id) goto Locking", "repeat lock(id) goto Locking", "DEED452", "unanswered"),
        ("at silent_at { goto Gone }", 'at silent_at { do ring(id) reject "no" }', "DEED452", "rejects"),
        ("do ring(id) goto Ajar", "goto Ajar", "DEED455", "`ring` is declared and never asked for"),
        ("in Shut {", "in Gone { on Close { goto Shut } }\n  in Shut {", "DEED409", "`Gone` is final"),
        ("  final Gone", "  state Lost\n  final Gone\n  in Lost { ignore Open, Close }", "DEED405", "nothing leads to `Lost`"),
        ("on Open { do ring", "on lock.locked { goto Gone }\n on Open { do ring", "DEED403", "does not await"),
    ],
)  # fmt: skip
def test_one_change_makes_one_problem(old: str, new: str, code: str, said: str) -> None:
    assert old in WHOLE
    problems = found(door(WHOLE.replace(old, new, 1)))
    assert code in [problem[0] for problem in problems]
    assert any(said in problem[2] for problem in problems if problem[0] == code)
    assert {problem[0] for problem in problems} <= {code, "DEED405", "DEED406"}


def test_a_missing_clause_is_shown_ready_to_paste() -> None:
    result = program(door(WHOLE.replace("ignore Open\n    at due", "at due")))
    (problem,) = result.problems
    assert problem.hints == (
        "Add one of:   on Open as m { … }\n              ignore Open",
    )
    assert problem.label == "1 of 2 messages are handled here"
    assert result.modules == ()


def test_states_from_which_nothing_leads_to_an_end_are_one_problem() -> None:
    problems = found(
        door(WHOLE.replace("goto Gone", "goto Shut").replace("  final Gone\n", ""))
    )
    assert [problem[0] for problem in problems] == ["DEED406"]
    assert "`Shut`, `Ajar`, `Locking`" in problems[0][2]


def test_an_allow_silences_its_warning_in_its_machine() -> None:
    endless = WHOLE.replace("goto Gone", "goto Shut").replace("  final Gone\n", "")
    assert found(door(endless + '  allow DEED406 "a door is never done"')) == []


@pytest.mark.parametrize(
    ("allow", "said"),
    [
        ('allow DEED406 "never needed"', "can go"),
        ('allow DEED401 "too long"', "is an error"),
        ('allow DEED999 "no idea"', "no warning"),
    ],
)
def test_an_allow_for_nothing_is_itself_a_warning(allow: str, said: str) -> None:
    (only,) = found(door(WHOLE + f"  {allow}"))
    assert only[0] == "DEED209"
    assert said in only[2]


def test_a_guard_that_earlier_guards_cover_can_never_run() -> None:
    text = door(WHOLE).replace(
        "on Close { do lock",
        "on Close when now < due { goto Gone }\n    on Close when not (now >= due) { goto Gone }"
        "\n    on Close { do lock",
    )
    # Instants are not compared with each other, so nothing is claimed.
    assert found(text) == []
    counted = """machine Count version 1 {
  key id: text
  state Some { n: int }
  final End
  message Up
  start { goto Some { n: 0 } }
  in Some {
    on Up when n < 5 { stay { n: n + 1 } }
    on Up when n < 3 { goto End }
    on Up { goto End }
  }
}"""
    assert [problem[:2] for problem in found(counted)] == [("DEED403", 9)]


SILENT = """machine Ask version 1 {
  key id: text
  given size: int
  command ask(id: text, size: int) -> told
  state Asking { attempt: int, silent_at: instant } awaits ask
  state Quiet { attempt: int, due: instant }
  final End { deed_key: text }
  start { do ask(id, size) goto Asking { attempt: 1, silent_at: now + 9s } }
  in Asking {
    on ask.told { goto End { deed_key: deed } }
    at silent_at { goto Quiet { attempt, due: now + 5s } }
  }
  in Quiet {
    at due when attempt >= 3 { goto End { deed_key: deed } }
    at due { repeat ask(id, size) goto Asking { attempt: attempt + 1, silent_at: now + 9s } }
  }
}"""


def test_a_silent_deed_stays_open_and_may_be_asked_for_again() -> None:
    """B1: the same deed, under the same key."""
    made = machine(SILENT)
    assert {state.name: state.open_deed for state in made.states} == {
        "Asking": "ask",
        "Quiet": "ask",
        "End": None,
    }


def test_a_repeat_asks_with_the_same_arguments() -> None:
    problems = found(SILENT.replace("repeat ask(id, size)", "repeat ask(id, 5)"))
    assert [problem[0] for problem in problems] == ["DEED308"]


def test_a_deed_that_was_answered_on_one_way_is_not_open() -> None:
    text = SILENT.replace(
        "on ask.told { goto End { deed_key: deed } }",
        "on ask.told { goto Quiet { attempt, due: now + 1s } }",
    )
    assert [problem[:2] for problem in found(text)] == [("DEED201", 14)]


def test_an_unrepeatable_command_needs_a_deadline_and_is_never_repeated() -> None:
    """S7."""
    once = SILENT.replace("  command ask", "  unrepeatable command ask")
    assert [problem[0] for problem in found(once)] == ["DEED101"]
    endless = HEAD.replace("  command lock", "  unrepeatable command lock")
    text = (
        endless
        + WHOLE.replace("{ silent_at: instant }", "")
        .replace(" { silent_at: now + 9s }", "")
        .replace("    at silent_at { goto Gone }\n", "")
        + "}"
    )
    assert [problem[0] for problem in found(text)] == ["DEED451"]
