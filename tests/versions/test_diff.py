"""What one version breaks for those who depend on another, change by change."""

from __future__ import annotations

from deedbox_dsl import core
from deedbox_dsl.versions.diff import breaks_store, diff

from .made import compiled


def shape(text: str) -> core.Shape:
    program = compiled(text)
    assert program.shapes, program.problems
    (found,) = program.shapes.values()
    return found


def changed(old: str, new: str) -> list[tuple[str, str]]:
    found = diff(shape(old), shape(new), None)
    return [(each.level, each.what) for each in found]


BEFORE = """machine Account version 1 {
  key id: text
  given amount: int
  state Open { due: instant, note: text } awaits verify
  state Held
  final Closed
  message Close { by: text }
  message Hold
  command verify(id: text, amount: int) -> fine { sum: int } | wrong
  command notify(id: text, note: text)
  command audit(id: text) -> audited
  start { do verify(id, amount) goto Open { due: now + 1s, note: "" } }
  in Open {
    on verify.fine { do notify(id, note) goto Held }
    on verify.wrong { goto Closed }
    on Close { goto Closed }
    on Hold { goto Held }
    at due { goto Closed }
  }
  in Held { on Close { goto Closed } ignore Hold }
  allow DEED455 "nobody audits yet"
}
"""


def test_a_version_breaks_nothing_of_itself() -> None:
    assert changed(BEFORE, BEFORE.replace("version 1", "version 2")) == []


def test_what_is_stored() -> None:
    after = (
        BEFORE.replace("given amount: int", "given amount: text")
        .replace("verify(id: text, amount: int)", "verify(id: text, amount: text)")
        .replace("note: text } awaits", "note: text, extra: int } awaits")
        .replace('note: "" }', 'note: "", extra: 1 }')
        .replace("state Held", "state Kept")
        .replace("in Held", "in Kept")
        .replace("goto Held", "goto Kept")
        .replace("audit(", "review(")
        .replace(
            "notify(id: text, note: text)", "notify(id: text, note: text, twice: bool)"
        )
        .replace("do notify(id, note)", "do notify(id, note, true)")
    )
    found = [what for level, what in changed(BEFORE, after) if level == "STORE"]
    assert found == [
        "`amount` of the given was int and is text",
        "`Open` has `extra` now",
        "there is no state `Held` any more",
        "`verify` may still be owed without `amount`",
        "`notify` may still be owed without `twice`",
        "`audit` may still be owed and is not declared any more",
    ]


def test_what_is_sent_and_answered() -> None:
    after = (
        BEFORE.replace(
            "message Close { by: text }", "message Close { by: int, why: text }"
        )
        .replace("  message Hold\n", "")
        .replace("    on Hold { goto Held }\n", "")
        .replace(" ignore Hold", "")
        .replace("fine { sum: int } | wrong", "fine { sum: text, on_day: instant }")
        .replace("    on verify.wrong { goto Closed }\n", "")
        .replace("notify(id: text, note: text)", "notify(id: text)")
        .replace("do notify(id, note)", "do notify(id)")
        .replace("verify(id: text, amount: int)", "verify(id: text, amount: text)")
        .replace("do verify(id, amount)", "do verify(id, text(amount))")
        .replace("audit(id", "review(id")
    )
    found = [what for level, what in changed(BEFORE, after) if level == "WIRE"]
    assert found == [
        "`by` of `Close` was text and is int",
        "`Close` wants `why` now",
        "there is no message `Hold` any more",
        "`amount`, which handlers of `verify` are given, was int and is text",
        "`sum` of `verify.fine` was int and is text",
        "`verify.fine` wants `on_day` now",
        "handlers cannot answer `verify.wrong` any more",
        "handlers of `notify` are not given `note` any more",
        "`review` needs a handler",
    ]


RECORDS = """type Cents = int in 0..100
record Lamp { watts: int }
choice Place {
    Desk { number: int }
  | Floor
}
machine Room version 1 {
  key id: text
  given lamp: Lamp, price: Cents, place: Place
  state Dark
  final Gone
  message Leave { lamp: Lamp }
  start { goto Dark }
  in Dark { on Leave { goto Gone } }
}
"""


def test_what_python_code_names() -> None:
    after = (
        RECORDS.replace("watts", "volts")
        .replace("type Cents = int in 0..100", "type Pence = int in 0..100")
        .replace("price: Cents", "price: Pence, tax: Pence")
        .replace("number: int", "number: text")
        .replace("message Leave { lamp: Lamp }", "message Go { lamp: Lamp }")
        .replace("on Leave", "on Go")
    )
    found = [what for level, what in changed(RECORDS, after) if level == "SOURCE"]
    assert found == [
        "`price` of `Start` was Cents and is Pence",
        "`Start` cannot be made without `tax`",
        "`price` of `Dark` was Cents and is Pence",
        "`price` of `Gone` was Cents and is Pence",
        "there is no class `Leave` any more",
        "`Lamp` is made otherwise now",
        "`Cents` is not a type of this machine any more",
        "`Place` is made otherwise now",
    ]
    fewer = changed(after, after.replace(", tax: Pence", ""))
    assert ("SOURCE", "`Start` has no `tax` any more") in fewer


def test_a_migration_answers_for_the_store() -> None:
    after = (
        BEFORE.replace("version 1", "version 2")
        .replace("state Held", "state Held { since: instant }")
        .replace("goto Held", "goto Held { since: now }")
        .replace("  allow", '  allow DEED502 "for people"\n  allow')
    )
    assert breaks_store(diff(shape(BEFORE), shape(after), None))
    line = "  migrate from 1 { state Held { since: now } }\n"
    program = compiled(
        BEFORE, after.replace("  allow DEED502", f"{line}  allow DEED502")
    )
    (migration,) = program.modules[0].machines[0].migrations
    assert not breaks_store(diff(shape(BEFORE), shape(after), migration))


def test_another_key_is_another_instance() -> None:
    after = BEFORE.replace("key id: text", "key id: text, shelf: int")
    assert ("STORE", "the key has `shelf` now") in changed(BEFORE, after)
