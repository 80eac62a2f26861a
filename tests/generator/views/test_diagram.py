"""`deedbox show --diagram`: Mermaid, and DOT for graphviz."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from deedbox_dsl import core
from deedbox_generator.views import dot, mermaid

ODD = """
machine Odd version 1 {
  key id: text
  state Note { tries: int, due: instant }
  state Asking { tries: int } awaits ask
  final Default
  message Said { words: text }
  command ask(words: text) -> yes | nay
  start { goto Note { tries: 0, due: now + 1s } }
  in Note {
    on Said as m when m.words == "a: b; #1 <50%>" { stay { .., tries: tries + 1 } }
    on Said when tries > 5 { goto Default }
    on Said { stay { .. } }
    at due { do ask("again") goto Asking { tries } }
  }
  in Asking {
    on ask.yes { goto Default }
    on ask.nay when tries < 5 { goto Note { tries: tries + 1, due: now + 1s } }
    on ask.nay { goto Default }
    on Said { reject "wait" }
  }
}
"""


def test_edges_have_guards_and_states_have_their_deadlines(
    compiled: Callable[[str], core.Machine],
) -> None:
    assert (
        mermaid(compiled(ODD))
        == """\
stateDiagram-v2
    state "Note" as Note_
    state "Default" as Default_
    [*] --> Note_: start
    Note_ --> Note_: Said [msg.words == #quot;a#58; b#59; #35;1 #lt;50#37;#gt;#quot;]
    Note_ --> Default_: Said [tries #gt; 5]
    Note_ --> Asking: at due / do ask
    Asking --> Default_: ask.yes<br/>ask.nay
    Asking --> Note_: ask.nay [tries #lt; 5]
    note right of Note_
        at due
    end note
    note right of Asking
        awaits ask
    end note
    Default_ --> [*]
"""
    )


def test_mermaid_text_has_no_character_that_ends_a_label(
    gallery: dict[str, core.Machine],
) -> None:
    """A label runs to the next `:`, `;` or line end; entity codes are taken out before."""
    for machine in gallery.values():
        for line in mermaid(machine).splitlines():
            if "-->" in line and ": " in line:
                label = re.sub(r"#\w+;", "", line.split(": ", 1)[1])
                assert not re.search(r"[:;#%]|<(?!br/>)", label), line


def test_every_clause_that_leaves_a_state_is_an_edge(
    gallery: dict[str, core.Machine],
) -> None:
    for machine in gallery.values():
        lines = mermaid(machine).splitlines()
        for clause in machine.clauses:
            match clause:
                case core.Clause(
                    state, core.OnMessage(name), body=core.Body(exit=core.Goto(target))
                ):
                    edge = f"    {state} --> {target}: "
                    assert any(x.startswith(edge) and name in x for x in lines)
                case _:
                    pass


def test_dot_quotes_what_a_spec_may_write(
    compiled: Callable[[str], core.Machine],
) -> None:
    lines = dot(compiled(ODD)).splitlines()
    assert lines[0] == 'digraph "Odd" {'
    assert '  "Note" [label="Note\\nat due"];' in lines
    assert '  "Default" [label="Default", peripheries=2];' in lines
    assert (
        '  "Note" -> "Note" [label="Said [msg.words == \\"a: b; #1 <50%>\\"]"];'
        in lines
    )


def test_graphviz_draws_every_machine_of_the_gallery(
    gallery: dict[str, core.Machine],
) -> None:
    for machine in gallery.values():
        drawn = subprocess.run(
            ["dot", "-Tsvg"],
            input=dot(machine),
            capture_output=True,
            text=True,
            check=True,
        )
        assert "<svg" in drawn.stdout
