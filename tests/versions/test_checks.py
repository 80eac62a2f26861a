"""What a spec must say of its released versions, and what it is told when it does not."""

from __future__ import annotations

import pytest
from deedbox_dsl import compile

from tests.versions.made import codes, compiled, picks, shapes_of

LAMP = """
module lamp
type LampId = text
machine Lamp version 1 {
  key lamp: LampId
  state Off { uses: int }
  state On { until: instant, watts: int }
  message Switch { watts: int }
  start { goto Off { uses: 0 } }
  in Off { on Switch as m { goto On { until: now + 60s, watts: m.watts } } }
  in On {
    at until { goto Off { uses: 1 } }
    ignore Switch
  }
  allow DEED406 "a lamp is never thrown away"
}
"""
SECOND = LAMP.replace("version 1", "version 2")


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def migrating(text: str, block: str) -> str:
    return changed(text, ("  allow ", f"  migrate from 1 {{ {block} }}\n  allow "))


def said(*texts: str) -> str:
    (problem,) = compiled(*texts).problems
    return "\n".join((problem.code, problem.message, *problem.hints))


def test_a_version_of_equal_shape_needs_no_migration() -> None:
    assert codes(LAMP, SECOND) == []


def test_the_order_of_fields_and_the_names_of_types_are_not_stored() -> None:
    other = changed(
        SECOND,
        ("LampId", "BulbId"),
        ("until: instant, watts: int", "watts: int, until: instant"),
    )
    assert codes(LAMP, other) == []


COLOUR = (
    (
        "state On { until: instant, watts: int }",
        "state On { until: instant, watts: int, colour: text }",
    ),
    ("watts: m.watts }", 'watts: m.watts, colour: "white" }'),
)


def test_a_new_field_without_a_migration_is_an_error_with_the_line_to_write() -> None:
    told = said(LAMP, changed(SECOND, *COLOUR))
    assert "DEED801" in told
    assert "version 2 of `Lamp` cannot read what version 1 stored" in told
    assert "`On` has `colour` now" in told
    assert "state On { .., colour: … }" in told


def test_a_new_field_with_a_migration_is_no_problem() -> None:
    text = migrating(changed(SECOND, *COLOUR), 'state On { .., colour: "white" }')
    assert codes(LAMP, text) == []


def test_a_stored_shape_that_changed_under_its_version_is_a_warning() -> None:
    told = said(LAMP, changed(LAMP, *COLOUR))
    assert "DEED803" in told
    assert "Write `version 2`." in told


def test_a_message_that_changed_under_its_version_is_none() -> None:
    text = changed(
        LAMP,
        ("message Switch { watts: int }", "message Switch { watts: int, by: text }"),
    )
    assert codes(LAMP, text) == []


def test_a_version_below_a_released_one_is_a_warning() -> None:
    assert codes(LAMP, SECOND, LAMP) == ["DEED803"]


GONE = (
    ("  state On { until: instant, watts: int }\n", ""),
    (
        "{ goto On { until: now + 60s, watts: m.watts } }",
        "{ stay { uses: uses + m.watts } }",
    ),
    ("  in On {\n    at until { goto Off { uses: 1 } }\n    ignore Switch\n  }\n", ""),
)


def test_a_state_that_is_gone_needs_a_word() -> None:
    told = said(LAMP, changed(SECOND, *GONE))
    assert "there is no `On` any more" in told
    assert "drop state On becomes …" in told


def test_a_dropped_state_becomes_another() -> None:
    text = changed(SECOND, *GONE)
    assert (
        codes(LAMP, migrating(text, "drop state On becomes Off { uses: watts }")) == []
    )


INCOMPLETE = {
    "a field is missing": ("state On { until }", "DEED802"),
    "a field has the wrong type": ("state On { .., colour: 3 }", "DEED301"),
    "a state is unknown": ("state Onn { .. }", "DEED201"),
    "a new state is unknown": ("state On becomes Onn { .. }", "DEED201"),
    "a state twice": (
        'state On { .., colour: "a" }  state On { .., colour: "b" }',
        "DEED202",
    ),
    "a field of the new version": ("state On { .., colour: colour }", "DEED201"),
    "a field of another state": ("state On { .., colour: text(uses) }", "DEED201"),
    "a command that is none": (
        'state On { .., colour: "a" }  command glow { .. }',
        "DEED201",
    ),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_an_entry_that_is_not_whole_is_named(case: str) -> None:
    block, code = INCOMPLETE[case]
    assert codes(LAMP, migrating(changed(SECOND, *COLOUR), block))[0] == code


def test_a_migration_from_a_version_that_nobody_recorded_names_the_command() -> None:
    told = said(migrating(SECOND, "state On { .. }"))
    assert "DEED801" in told
    assert "deedbox release" in told


def test_a_migration_comes_from_an_older_version() -> None:
    assert codes(migrating(LAMP, "state On { .. }")) == ["DEED802"]


def test_there_is_one_migration_from_a_version() -> None:
    text = migrating(migrating(SECOND, "state On { .. }"), "state Off { .. }")
    assert codes(LAMP, text) == ["DEED202"]


def test_the_key_cannot_change() -> None:
    text = changed(SECOND, ("key lamp: LampId", "key lamp: int"))
    assert "the key changed" in said(LAMP, text)


def test_every_state_says_what_a_new_given_is() -> None:
    text = changed(SECOND, ("  state Off", "  given volts: int\n  state Off"))
    told = said(LAMP, text)
    assert "the given has `volts` now" in told
    assert "state Off { .., volts: … }" in told
    block = "state Off { .., volts: 230 }  state On { .., volts: watts * 2 }"
    assert codes(LAMP, migrating(text, block)) == []


def test_a_wider_type_takes_what_a_narrower_one_stored() -> None:
    """The entry says that the shape changed; `..` still copies."""
    text = changed(
        SECOND, ("until: instant, watts: int }", "until: instant, watts: int? }")
    )
    assert codes(LAMP, text) == ["DEED801"]
    assert codes(LAMP, migrating(text, "state On { .. }")) == []


# ---- commands ----------------------------------------------------------------------------

ONE, TWO, THREE = picks()


def test_the_three_versions_have_no_problem() -> None:
    assert codes(ONE) == codes(ONE, TWO) == codes(ONE, TWO, THREE) == []


def test_a_state_that_waits_for_a_command_nobody_owes_is_an_error() -> None:
    text = changed(
        TWO, (" do wrap(pick, item.sku, deed)\n    command", "\n    command")
    )
    told = said(ONE, text)
    assert "DEED802" in told
    assert "`Packing` awaits `wrap`, which nobody owes" in told
    assert "do wrap(…)" in told


def test_an_owed_command_that_gains_a_parameter_needs_a_line() -> None:
    text = changed(TWO, ("    command fetch { .., urgent: size > 100 }\n", ""))
    told = said(ONE, text)
    assert "`fetch` may still be owed without `urgent`" in told
    assert "command fetch { .., urgent: … }" in told


def test_a_command_without_outcomes_stays_declared_while_it_may_be_owed() -> None:
    text = changed(
        TWO,
        ("  command announce(pick: PickId, what: text)\n", ""),
        ('      do announce(pick, "started")\n', ""),
    )
    assert "`announce` may still be owed" in said(ONE, text)


def test_an_outcome_that_is_gone_needs_a_line_where_the_command_may_be_owed() -> None:
    text = changed(
        TWO,
        ("     | missing\n", ""),
        (
            '    on fetch.missing { goto Waiting { .., due: now + 60s, why: "missing" } }\n',
            "",
        ),
        (
            "    command fetch { .., urgent: size > 100 }\n",
            "    command fetch { .., urgent: false }\n",
        ),
    )
    assert codes(ONE, text) == []
    told = said(
        ONE,
        changed(
            text,
            (
                "command fetch(pick: PickId, size: int, urgent: bool)",
                "command fetch(pick: PickId, size: int)",
            ),
            ("    command fetch { .., urgent: false }\n", ""),
            ("fetch(pick, size, false)", "fetch(pick, size)"),
            ("fetch(pick, size, true)", "fetch(pick, size)"),
        ),
    )
    assert "ended it with `missing`" in told
    assert "command fetch { .. }" in told


WRONG = {
    "another command than it awaits": "do fetch(pick, size, true)",
    "a second answer": "do wrap(pick, item.sku, deed) do wrap(pick, item.sku, deed)",
    "a repeat of a deed that is not open": "repeat wrap(pick, item.sku, deed)",
}


@pytest.mark.parametrize("case", WRONG)
def test_a_migration_asks_for_what_its_state_awaits(case: str) -> None:
    text = changed(
        TWO, ("{ .. } do wrap(pick, item.sku, deed)", "{ .. } " + WRONG[case])
    )
    assert set(codes(ONE, text)) == {"DEED802"}


# ---- kinds -------------------------------------------------------------------------------

ERRAND = """
module errand
policy soon { first 1s factor 2 max 8s attempts 4 jitter none }
retry Errand version 1 {
  key id: text
  policy soon
  do run(id: text, attempt: int)
    -> ran => done Ran
     | failed { error: text } => again
  spent => done Lost
}
"""


def test_a_kind_asks_anew_from_the_names_it_binds() -> None:
    """S19: its own states await, and nothing is written behind the braces."""
    other = changed(
        ERRAND,
        ("version 1", "version 2"),
        ("do run(", "do go("),
        (
            "  spent",
            "  migrate from 1 { state Running { .. } }\n  spent",
        ),
    )
    program = compiled(ERRAND, other)
    assert program.problems == ()
    (machine,) = program.modules[0].machines
    (entry,) = [each for each in machine.migrations[0].states if each.written]
    assert [type(issue).__name__ for issue in entry.issues] == ["Do"]
    assert not entry.keeps


# ---- files -------------------------------------------------------------------------------


def test_a_file_that_is_no_shape_is_said_by_its_name() -> None:
    for text in ("", "{", "[]", '{"format": 2}', '{"format": 1, "version": 0}'):
        (problem,) = compile({"a.deed": LAMP}, {"lamp.1.json": text}).problems
        assert (problem.code, problem.span.path) == ("DEED801", "lamp.1.json")


def test_two_files_of_one_version_are_one_too_many() -> None:
    shapes = shapes_of(compiled(LAMP))
    (text,) = shapes.values()
    program = compile({"a.deed": LAMP}, {"a.json": text, "b.json": text})
    assert [problem.span.path for problem in program.problems] == ["b.json"]


def test_the_shape_of_another_machine_is_none_of_ours() -> None:
    shapes = shapes_of(compiled(ONE))
    assert compile({"a.deed": changed(SECOND, *COLOUR)}, shapes).problems == ()


def test_a_machine_is_not_called_like_the_module_of_an_older_version() -> None:
    second = changed(LAMP, ("machine Lamp version 1", "machine LampV1 version 1"))
    second = second.replace("module lamp\ntype LampId = text\n", "")
    assert codes(LAMP, SECOND + second) == ["DEED208"]
    assert codes(LAMP, SECOND + second.replace("LampV1", "LampOne")) == []
