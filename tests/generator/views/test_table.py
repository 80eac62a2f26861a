"""`deedbox show --table`: everything a machine decides, readable."""

from __future__ import annotations

from collections.abc import Callable

from deedbox_dsl import core
from deedbox_generator.views import table

DOOR = """
/// A door with a bell.
machine Door version 1 {
  key door: text
  given grace: duration

  state Closed
  state Open { since: instant, closes: instant, visitor: text? }
  state Ringing { visitor: text, silent_at: instant } awaits ring
  final Bricked { why: text }

  message Push { visitor: text }
  message Pull
  message Brick { why: text }

  command ring(visitor: text) -> answered | nobody { note: text }
  command log_it(note: text)

  start { do log_it("hung") goto Closed }

  in Closed {
    on Push as m when m.visitor == "owner" { goto Open { since: now, closes: now + grace, visitor: none } }
    on Push as m { do ring(m.visitor) goto Ringing { visitor: m.visitor, silent_at: now + 30s } }
    on Pull { reject "push it" }
    on Brick as m { goto Bricked { why: m.why } }
  }
  in Open {
    on Push as m when m.visitor != "owner" {
      let later = earliest(closes, now + 5s) + grace * 2
      stay { .., closes: later, visitor: m.visitor }
    }
    on Push { reject "you are in" }
    at closes { goto Closed }
    ignore Pull
    on Brick as m { goto Bricked { why: m.why } }
  }
  in Ringing {
    on ring.answered { goto Open { since: now, closes: now + grace, visitor } }
    on ring.nobody as out { do log_it(out.note) goto Closed }
    at silent_at { goto Closed }
    ignore Push, Pull, Brick
  }

  on start again as m when m.grace > grace { replace }
}
"""


def test_each_state_is_a_group_with_what_it_waits_for(
    compiled: Callable[[str], core.Machine],
) -> None:
    assert (
        table(compiled(DOOR))
        == """\
Door: machine, version 1; 3 states, 1 final, 3 messages, 2 commands

state, event         when                    does       then
────────────────────────────────────────────────────────────────────────────────────────────────────

start
                                             do log_it  → Closed

Closed
  Push               msg.visitor == "owner"             → Open, closes: now + grace
                     otherwise               do ring    → Ringing, silent_at: now + 30s
  Pull                                                  rejected: "push it"
  Brick                                                 → Bricked

Open; deadline closes
  at closes                                             → Closed
  Push               msg.visitor != "owner"             stays, closes: earliest(closes, now + 5s) +
                                                          grace * 2, visitor: msg.visitor
                     otherwise                          rejected: "you are in"
  Brick                                                 → Bricked
  Pull                                                  ignored

Ringing; awaits ring; deadline silent_at
  ring.answered                                         → Open, closes: now + grace
  ring.nobody                                do log_it  → Closed
  at silent_at                                          → Closed
  Push, Pull, Brick                                     ignored

Bricked
  any message                                           the end: ignored

start again
                     msg.grace > grace                  replaced
                     the given is the same              kept
                     the given is another               refused
"""
    )


def test_no_line_is_wider_than_asked(gallery: dict[str, core.Machine]) -> None:
    for machine in gallery.values():
        for width in (100, 72):
            lines = table(machine, width).splitlines()
            assert max(map(len, lines)) <= width, machine.name


def test_every_message_is_decided_in_every_state_and_the_table_says_how(
    gallery: dict[str, core.Machine],
) -> None:
    """C33: an event without a rule must not vanish without a trace."""
    for machine in gallery.values():
        groups = table(machine).split("\n\n")
        for state in machine.states:
            if state.final:
                continue
            (group,) = (
                g for g in groups if g.split(";")[0].split("\n")[0] == state.name
            )
            for message in machine.messages:
                assert message.name in group, (machine.name, state.name)


def test_a_large_machine_is_read_state_by_state(
    compiled: Callable[[str], core.Machine],
) -> None:
    """Twelve states and twelve messages, each cell with a guard and an otherwise."""
    names = [f"Stage{chr(65 + n)}" for n in range(12)]
    messages = [f"Event{chr(65 + n)}" for n in range(12)]
    states = "\n".join(f"  state {name} {{ count_so_far: int }}" for name in names)
    declared = "\n".join(f"  message {name} {{ amount: int }}" for name in messages)
    inside = "\n".join(
        f"  in {name} {{\n"
        + "\n".join(
            f"    on {message} as m when m.amount > count_so_far and count_so_far < {100 + at} "
            f"{{ goto {names[(at + place) % 12]} {{ count_so_far: m.amount }} }}\n"
            f'    on {message} {{ reject "not now, it is too early" }}'
            for place, message in enumerate(messages)
        )
        + "\n  }"
        for at, name in enumerate(names)
    )
    text = f"""
machine Wide version 1 {{
  key id: text
{states}
{declared}
  start {{ goto StageA {{ count_so_far: 0 }} }}
{inside}
  allow DEED406 "it goes round"
}}
"""
    lines = table(compiled(text)).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.lstrip().startswith("Event") for line in lines) == 144
    assert len(lines) < 600
