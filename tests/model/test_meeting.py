"""Texts and numbers that never meet are told apart as if each had a type of its own."""

from __future__ import annotations

from types import ModuleType
from typing import Final

import pytest
from deedbox_checker.data.meeting import apart
from deedbox_checker.environment.prepared import prepared
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_checker.verdicts.verify import Report, verify
from deedbox_dsl import compile, core
from deedbox_dsl.problems import has_errors
from deedbox_dsl.types import TEXT, ListOf, Maybe, Type

DECLARED: Final = """
type UserId = text
type Email = text
type Street = text
type Token = text
type Words = text
"""

SIGN_UP: Final = """
module small.sign_up
{types}
/// A person signs up: the link that was mailed brings its token back.
machine SignUp version 1 {{
  key user: {UserId}
  given email: {Email}, street: {Street}, token: {Token}

  state Mailed {{ tries: int, silent_at: instant, last: {Words}, also: list[{Street}] }} awaits mail
  state Open {{ wanted: {Token}, seen: {Token}? }}
  final Confirmed {{ by: {Token} }}
  final Bounced {{ words: {Words} }}

  message Confirm {{ token: {Token}, words: {Words}, street: {Street} }}

  command mail(email: {Email}, token: {Token})
    -> sent {{ again: {Token} }}
     | bounced {{ words: {Words} }}

  start {{
    do mail(email, token)
    goto Mailed {{ tries: 1, silent_at: now + 1m, last: "", also: [] }}
  }}
  in Mailed {{
    on mail.sent as out {{
      let wanted = if tries > 1 then out.again else token
      goto Open {{ wanted, seen: none }}
    }}
    on mail.bounced as out {{ goto Bounced {{ words: out.words }} }}
    on Confirm {{ reject "no mail yet" }}
    at silent_at when tries < 2 {{
      repeat mail(email, token)
      stay {{ .., tries: tries + 1, silent_at: now + 1m }}
    }}
    at silent_at {{ goto Bounced {{ words: last }} }}
  }}
  in Open {{
    on Confirm as m when m.token == wanted and seen != none and seen != m.token {{
      goto Confirmed {{ by: m.token }}
    }}
    on Confirm as m when m.token == wanted {{ goto Confirmed {{ by: m.token }} }}
    on Confirm as m {{ stay {{ .., seen: m.token }} }}
  }}
  on start again as newer when newer.token != token {{ replace }}
  across kept: old is Open and new is Confirmed implies new.by == old.wanted
  never free: in Confirmed when by != token
}}
"""


def specimen(*, declared: bool) -> Subject:
    names = ("UserId", "Email", "Street", "Token", "Words")
    called = {name: name if declared else "text" for name in names}
    text = SIGN_UP.format(types=DECLARED if declared else "", **called)
    return of(text)


def of(text: str) -> Subject:
    program = compile({"texts.deed": text})
    assert not has_errors(program.problems), program.problems
    (found,) = subjects(program)
    return found


def verified(found: Subject) -> Report:
    return verify(found.machine, found.module)


def test_plain_texts_are_explored_as_those_of_declared_types() -> None:
    plain, declared = (verified(specimen(declared=each)) for each in (False, True))
    assert (plain.states, plain.steps, plain.depth) == (
        declared.states,
        declared.steps,
        declared.depth,
    )
    assert [(v.name, v.holds) for v in plain.verdicts] == [
        (v.name, v.holds) for v in declared.verdicts
    ]
    broken = [v.name for v in plain.verdicts if not v.holds]
    assert broken == ["free"]


HELD: Final = """
module small.held

machine Held version 1 {{
  key own: text
  given many: list[text]
  state On {{ kept: text, most: int }}
  state Sure
  final Off
  message Say {{ word: text, some: list[text] }}
  start {{ goto On {{ kept: "a", most: {most} }} }}
  in On {{
    on Say as m when {guard} {{ goto Sure }}
    on Say {{ stay }}
  }}
  in Sure {{ on Say as m when m.word == "off" {{ goto Off }} on Say {{ stay }} }}
  sometimes sure: phase is Sure
  {says}
}}
"""


def held(guard: str, most: str = "0", says: str = "") -> Report:
    return verified(of(HELD.format(guard=guard, most=most, says=says)))


@pytest.mark.parametrize(
    "guard",
    [
        "m.word == kept",
        "m.word == own",
        'm.word == (if len(many) > 0 then "b" else kept)',
        "any(word in m.some, word == kept)",
        "len(m.some) > 1 and last(m.some) == kept",
        "count(word in m.some, word == kept) > 1",
        "len(many) != 1 and len(m.some) == 0",
    ],
)
def test_what_comes_from_outside_is_tried_with_what_is_stored(guard: str) -> None:
    found = held(guard)
    assert found.holds, found
    assert found.items == (2 if "some" in guard or "many" in guard else None)


THREE: Final = """
module small.three

machine Three version 1 {
  key own: text
  state On { kept: text? }
  final Off
  message Say { one: text, other: text }
  start { goto On { kept: none } }
  in On {
    on Say as m when kept != none and m.one != m.other and m.one != kept and m.other != kept {
      goto Off
    }
    on Say as m { stay { kept: m.one } }
  }
}
"""


WEBHOOK: Final = """
module small.webhook

machine Webhook version 1 {
  key own: text
  message Paid { about: text }
  command charge(own: text)
    -> taken
  state Charging { about: text, silent_at: instant } awaits charge
  state Charged { about: text }
  final Known
  start { do charge(own) goto Charging { about: "", silent_at: now + 1m } }
  in Charging {
    on charge.taken { goto Charged { about: deed } }
    at silent_at { repeat charge(own) stay { .., silent_at: now + 1m } }
    ignore Paid
  }
  in Charged {
    on Paid as m when m.about == about { goto Known }
    on Paid { stay }
  }
}
"""


def test_a_key_that_is_held_against_a_text_from_outside_is_not_explored() -> None:
    found = verified(of(WEBHOOK))
    assert found.incomplete.startswith("`deed`: an idempotency key is compared")


def test_all_that_one_step_holds_may_be_different() -> None:
    assert verified(of(THREE)).unreached == ()


def test_a_literal_that_was_stored_is_met_by_what_comes() -> None:
    """A `never` that only the stored literal breaks is found broken."""
    found = held("m.word == kept or m.word == own", says="never met: phase is Sure")
    broken = [verdict.name for verdict in found.verdicts if not verdict.holds]
    assert broken == ["met"]


@pytest.mark.parametrize(
    ("guard", "most", "named"),
    [
        ('m.word == "a" + kept', "0", "kept"),
        ("m.word == text(len(many))", "0", "many"),
        ("len(m.some) > 2", "0", "some"),
        ("len(m.some) == len(many)", "0", "some"),
        ("len(m.some) * 2 > 1", "0", "some"),
        ("2 <= count(word in m.some, word == kept)", "0", "some"),
        ("most > 1 and len(m.some) > 0", "len(many)", "many"),
    ],
)
def test_what_has_more_cases_than_are_tried_is_not_explored(
    guard: str, most: str, named: str
) -> None:
    found = held(guard, most)
    assert not found.holds
    assert found.incomplete.startswith(f"`{named}`: ")
    assert found.states == 0


MEETING: Final = """
module small.meeting

use small.other {{ Other }}

record Pair {{ one: text }}

machine Meeting version 1 {{
  key own: text
  given left: text, right: text, maybe: text?, many: list[text], pair: Pair
  state On {{ kept: text, due: instant }}
  state Asked {{ kept: text, due: instant }} awaits ask
  final Off {{ ended: text }}
  message Say {{ word: text, other: text }}
  command ask(what: text)
    -> told {{ answer: text }}
  start {{ goto On {{ kept: left, due: now + 1h }} }}
  in On {{
    {clause}
    on Say {{ stay }}
    at due {{ do ask(left) goto Asked {{ kept: left, due: now + 1h }} }}
  }}
  in Asked {{
    on ask.told as out {{ {answered} }}
    at due {{ goto Off {{ ended: own }} }}
    ignore Say
  }}
  on start again as newer when newer.right != "" {{ {again} }}
  {says}
}}
"""
OTHER: Final = """
module small.other

machine Other version 1 {
  key name: text
  given words: text
  state On
  final Off
  message Hear { words: text }
  start { goto On }
  in On { on Hear { goto Off } }
}
"""
TELLS: Final = (
    "on Say as m when m.word == left { tell Other(own) Hear { words: m.word } stay }"
)
BEGINS: Final = (
    "on Say as m when m.word == left { begin Other(right) { words: own } stay }"
)
STAYS: Final = "on Say as m when m.word != left { stay }"


def item(type_: Type) -> Type:
    """What an optional or a list holds."""
    return type_.item if isinstance(type_, Maybe | ListOf) else type_


def classes(
    clause: str = STAYS,
    answered: str = "goto Off { ended: own }",
    again: str = "keep",
    says: str = "",
) -> dict[str, Type]:
    """By the name of a field, the type that the explorer gives it."""
    text = MEETING.format(clause=clause, answered=answered, again=again, says=says)
    program = compile({"meeting.deed": text, "other.deed": OTHER})
    assert not has_errors(program.problems), program.problems
    machine = next(
        m for s in program.modules for m in s.machines if m.name == "Meeting"
    )
    _, made = apart(machine, machine)
    fields = [*made.key, *made.given]
    fields += (each for state in made.states for each in state.fields)
    fields += (each for message in made.messages for each in message.fields)
    for command in made.commands:
        fields += command.params
        fields += (each for outcome in command.outcomes for each in outcome.fields)
    for told in made.told:
        fields += told.fields
    return {each.name: item(each.type) for each in fields}


@pytest.mark.parametrize(
    ("one", "other", "pieces"),
    [
        ("left", "kept", {}),
        ("left", "what", {}),
        ("own", "ended", {}),
        ("word", "left", {}),
        ("word", "other", {"clause": "on Say as m when m.word == m.other { stay }"}),
        (
            "word",
            "right",
            {
                "clause": "on Say as m when m.word != right { stay }",
                "answered": "let a = right let b = a goto On { kept: b, due }",
            },
        ),
        (
            "right",
            "kept",
            {"answered": "let a = right let b = a goto On { kept: b, due }"},
        ),
        ("answer", "ended", {"answered": "goto Off { ended: out.answer }"}),
        (
            "answer",
            "right",
            {
                "answered": "goto Off "
                "{ ended: if out.answer == left then right else out.answer }"
            },
        ),
        (
            "maybe",
            "word",
            {"clause": "on Say as m when maybe != none and maybe == m.word { stay }"},
        ),
        (
            "many",
            "word",
            {"clause": "on Say as m when any(x in many, x == m.word) { stay }"},
        ),
        (
            "many",
            "kept",
            {"clause": "on Say when len(many) > 0 { stay { .., kept: head(many) } }"},
        ),
        ("words", "word", {"clause": TELLS}),
        ("name", "right", {"clause": BEGINS}),
        ("right", "kept", {"again": "replace { kept: newer.right }"}),
        ("left", "right", {"says": "never same: in On when left == right"}),
        ("left", "right", {"says": "across same: old.left == new.right"}),
    ],
)
def test_what_takes_or_is_compared_with_a_text_has_its_class(
    one: str, other: str, pieces: dict[str, str]
) -> None:
    found = classes(**pieces)
    assert found[one] == found[other]


def test_what_never_meets_has_classes_of_its_own() -> None:
    found = classes()
    apart = ("own", "right", "maybe", "many", "other", "answer", "left")
    assert len({found[name] for name in apart}) == len(apart)


def test_what_is_made_and_what_stands_in_records_is_one_class() -> None:
    found = classes(
        clause='on Say as m when m.word == pair.one { stay { .., kept: m.other + "!" } }'
    )
    assert found["word"] == found["kept"] == TEXT
    assert found["other"] != TEXT


# ---- many of them ------------------------------------------------------------------


def many_texts(fields: int, guard: str) -> str:
    given = ", ".join(f"t{n}: text" for n in range(fields))
    return f"""
module small.many
machine Many version 1 {{
  key id: text
  given {given}
  state On
  final Off
  message Say {{ word: text }}
  start {{ goto On }}
  in On {{
    on Say as m when {guard} {{ goto Off }}
    on Say {{ reject "no" }}
  }}
}}
"""


def test_what_is_only_carried_costs_nothing_beside_what_is_compared() -> None:
    found = verified(of(many_texts(30, "m.word == t29")))
    assert found.holds
    assert found.states < 10


def test_numbers_that_are_only_carried_cost_nothing_either() -> None:
    carried = ", ".join(f"n{n}: int" for n in range(30))
    text = many_texts(1, "m.word == t0").replace("word: text", "word: text, size: int")
    text = text.replace("given ", f"given {carried}, ")
    found = verified(of(text.replace("m.word == t0", "m.size > 100 and m.size < n0")))
    assert "`size`: a number from outside" in found.incomplete
    found = verified(of(text.replace("m.word == t0", "m.size > 100 or n3 < 7")))
    assert found.holds
    assert found.states < 10


def test_more_than_eight_texts_can_be_told_apart() -> None:
    guard = " or ".join(f"m.word == t{n}" for n in range(3))
    made = prepared(*as_given(many_texts(3, guard)))
    assert not isinstance(made, str)
    kept = ", ".join(f"s{n}: text" for n in range(30))
    goes = ", ".join(f"s{n}: m.word" for n in range(30))
    text = many_texts(1, "m.word == t0").replace(
        "state On", f"state On\n  state Is {{ {kept} }}"
    )
    text = text.replace("{ goto Off }", f"{{ goto Is {{ {goes} }} }}")
    text = text.replace(
        '{ reject "no" }', '{ reject "no" }\n  }\n  in Is {\n on Say { goto Off }'
    )
    made = prepared(*as_given(text))
    assert not isinstance(made, str)
    words = {repr(each) for each in made.messages}
    assert len(words) > 26


def test_too_many_combinations_are_refused_by_name() -> None:
    guard = " or ".join(f"m.word == t{n}" for n in range(9))
    made = prepared(*as_given(many_texts(9, guard)))
    assert isinstance(made, str)
    assert "`Start`" in made
    assert "more than 10,000" in made


def as_given(text: str) -> tuple[core.Machine, ModuleType]:
    found = of(text)
    return found.machine, found.module
