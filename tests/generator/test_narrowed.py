"""What a guard has shown is taken as shown, and names that clauses share stay apart."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from deedbox import Instant

DOOR = """module made.here

choice Color { Red | Mixed { part: int } }
machine Door version 1 {
  key id: text
  state On { by: text?, color: Color?, many: list[int] }
  state Off { name: text, by: text?, part: int, many: list[int] }
  message Flip { by: text?, color: Color? }
  message Flop { many: list[int], by: text }
  start { goto On { by: none, color: none, many: [] } }
  in On {
    on Flip as m when m.by != none { goto Off { name: m.by, by: m.by, part: 1, many: [] } }
    on Flip as m when m.color != none and m.color is Mixed {
      let x = m.color
      goto On { .., color: x }
    }
    on Flip { stay }
    on Flop as m when len(m.many) > 1 {
      let x = m.many
      goto Off { name: m.by, by: none, part: 0, many: x }
    }
    on Flop as m {
      let x = m.by + "!"
      goto Off { name: x, by: x, part: 2, many: [] }
    }
  }
  in Off { on Flip { stay } on Flop { stay } }
  allow DEED406 "it stays"
}
"""
Make = Callable[[str, str], ModuleType]


def test_what_is_there_by_the_guard_is_no_maybe_any_more(made: Make) -> None:
    door = made(DOOR, "door")
    state, _ = door.start(door.Start(id="a", at=Instant(1)))
    after, _ = door.reduce(state, door.Flip(by="me", color=None, at=Instant(2)))
    assert (after.name, after.by, after.part, after.many) == ("me", "me", 1, ())


def test_a_choice_that_is_there_is_told_by_its_variant(made: Make) -> None:
    door = made(DOOR, "door")
    state, _ = door.start(door.Start(id="a", at=Instant(1)))
    types = import_module(f"{door.__package__}.types")
    for color, kept in ((types.ColorRed(), None), (types.ColorMixed(2), "Mixed")):
        after, _ = door.reduce(state, door.Flip(by=None, color=color, at=Instant(2)))
        found = None if after.color is None else after.color.__struct_config__.tag
        assert found == kept


def test_a_name_may_have_another_type_in_another_clause(made: Make) -> None:
    door = made(DOOR, "door")
    state, _ = door.start(door.Start(id="a", at=Instant(1)))
    two, _ = door.reduce(state, door.Flop(many=(1, 2), by="me", at=Instant(2)))
    one, _ = door.reduce(state, door.Flop(many=(1,), by="me", at=Instant(2)))
    assert (two.name, two.by, two.many) == ("me", None, (1, 2))
    assert (one.name, one.by, one.many) == ("me!", "me!", ())


PUMP = """module made.here
machine Pump version 1 {
  key id: text
  given note: text, much: int
  state Idle
  state Pumping awaits pump
  message Little
  message Much
  command pump(id: text, strokes: int) -> pumped
  start { goto Idle }
  in Idle {
    on Little { do pump(id, 1) goto Pumping }
    on Much { do pump(id, 9) goto Pumping }
  }
  in Pumping {
    on pump.pumped { goto Idle }
    ignore Little, Much
  }
  on start again as m { replace { note: note + m.note } }
}
"""


def test_clauses_that_go_one_way_ask_each_for_its_own(made: Make) -> None:
    pump = made(PUMP, "pump")
    state, _ = pump.start(pump.Start(id="a", note="x", much=3, at=Instant(1)))
    asked = [
        pump.reduce(state, message(at=Instant(2)))[1][0].strokes
        for message in (pump.Little, pump.Much)
    ]
    assert asked == [1, 9]


def test_a_replacement_has_what_the_spec_says_and_else_what_the_message_says(
    made: Make,
) -> None:
    pump = made(PUMP, "pump")
    state, _ = pump.start(pump.Start(id="a", note="x", much=3, at=Instant(1)))
    again = pump.Start(id="a", note="y", much=4, at=Instant(2))
    after, _ = pump.reduce(state, again)
    assert (after.note, after.much, after.born) == ("xy", 4, 1)


def test_a_stay_that_exchanges_two_fields_is_a_change(made: Make) -> None:
    pair = made(
        """module made.here
machine Pair version 1 {
  key id: text
  state Held { left: int, right: int }
  message Swap
  start { goto Held { left: 1, right: 2 } }
  in Held { on Swap { stay { left: right, right: left } } }
}
""",
        "pair",
    )
    state, _ = pair.start(pair.Start(id="a", at=Instant(1)))
    after, _ = pair.reduce(state, pair.Swap(at=Instant(2)))
    assert (after.left, after.right) == (2, 1)
