"""What is laid out without black is what black would have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from deedbox_dsl import compile
from deedbox_generator.emit import emit, formatted
from deedbox_generator.layout import laid_out

ROOT = Path(__file__).parents[2]


def named(length: int) -> str:
    """A machine whose every name is so long, that lines end at every width."""
    tail = "e" * length
    state, field, message = f"Stat{tail}s", f"fiel{tail}", f"Mess{tail}"
    return f"""
module made.named

machine Named version 1 {{
  key id: text, number{tail}: int
  given size: int
  state {state} {{ {field}: int, due: instant }} awaits ask{tail}
  state Rests {{ {field}: int, due: instant?, said: text }}
  final Over {{ {field}: int }}
  message {message} {{ {field}: int, word: text }}
  message Quiet
  command ask{tail}(id: text, {field}: int)
    -> yes{tail} {{ {field}: int }}
     | denied
  command note{tail}(id: text, {field}: int, word: text)
  start {{
    do ask{tail}(id, 1)
    goto {state} {{ {field}: 1, due: now + 1m }}
  }}
  in {state} {{
    on ask{tail}.yes{tail} as out when out.{field} > {field} {{
      do note{tail}(id, {field}, "a word")
      goto Rests {{ due: now + 2m, {field}: {field} + out.{field}, said: "yes" }}
    }}
    on ask{tail}.yes{tail} {{ goto Over {{ .. }} }}
    on ask{tail}.denied {{ goto Rests {{ .., due: none, said: "no, it's \\\\ done" }} }}
    on {message} as m {{
      do note{tail}(id, m.{field}, m.word)
      stay {{ .., {field}: m.{field} }}
    }}
    ignore Quiet
    at due {{
      do ask{tail}(id, {field})
      stay {{ .., due: now + 1m }}
    }}
  }}
  in Rests {{
    on {message} as m when m.word == said {{ goto Over {{ {field}: m.{field} }} }}
    on {message} as m {{ stay {{ .., said: m.word + said, {field}: m.{field} }} }}
    on Quiet {{ reject "it is quiet" }}
    at due {{ goto Over {{ .. }} }}
  }}
}}
"""


@pytest.mark.parametrize("length", range(1, 46))
def test_names_of_every_length_give_what_black_writes(length: int) -> None:
    program = compile({"specs/named.deed": named(length)})
    assert len(program.modules) == 1, program.problems
    for files in emit(program.modules, program.texts).values():
        for text in files.values():
            assert formatted(text) == text


def test_the_gallery_is_what_black_writes() -> None:
    specs = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (ROOT / "specs").glob("*/*.deed")
    }
    shapes = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (ROOT / "specs").rglob("*.json")
    }
    program = compile(specs, shapes)
    output = emit(program.modules, program.texts)
    assert len(output) > 10
    for files in output.values():
        for text in files.values():
            assert formatted(text) == text


@pytest.mark.parametrize(
    "block",
    [
        "def f() -> int:\n    return g('a')\n",
        "def f() -> int:\n    return g(\n        1,\n    )\n",
        "def f() -> int:\n    return (1)\n",
        "class A(Struct):\n    x : int\n",
        'class A(Struct):\n    """ a """\n\n    x: int\n',
    ],
)
def test_what_is_not_simple_is_left_to_black(block: str) -> None:
    seen: list[str] = []

    def black(text: str) -> str:
        seen.append(text)
        return text

    laid_out(block, black)
    assert seen == [block]
