"""Words that mean something to Python or SQL, in every place that a name can take (C56, C58).

Each is refused where it stands, or becomes a module that imports and takes a step.
"""

from __future__ import annotations

import keyword
import sqlite3
from collections.abc import Callable
from types import ModuleType

import pytest
from deedbox_dsl import compile
from deedbox_dsl.problems import has_errors

SPEC = """module made.here
type Ident = text
policy ladder {{ first 1s factor 2 max 8s attempts 5 jitter none }}
machine {machine} version 1 {{
  key {key}: Ident
  given {given}: int
  state {state} {{ {field}: int, due: instant }} awaits {command}
  final Over
  message {message} {{ {part}: int }}
  command {command}(key_field: Ident, {param}: int) -> {outcome} {{ {result}: int }} | other
  start {{ do {command}({key}, 1) goto {state} {{ {field}: 1, due: now + 1s }} }}
  in {state} {{
    on {command}.{outcome} as {bind} {{
      let {local} = {bind}.{result} + {field}
      do {command}({key}, {local})
      stay {{ .., {field}: {local} }}
    }}
    on {command}.other {{ goto Over }}
    on {message} {{ goto Over }}
    at due {{ goto Over }}
  }}
}}
"""
PLAIN = {
    "machine": "Plain",
    "key": "ident",
    "given": "size",
    "state": "Asking",
    "field": "count",
    "command": "ask",
    "message": "Go",
    "part": "part",
    "param": "number",
    "outcome": "yes",
    "result": "result",
    "bind": "out",
    "local": "total",
}
PASCAL = ("machine", "state", "message")
WORDS = ["match", "case", "_", "self", "mro", "print", "n", "after"]
SQL = [
    "order",
    "group",
    "select",
    "table",
    "index",
    "user",
    "rowid",
    "id",
    "rev",
    "phase",
]


def spec(**names: str) -> str:
    return SPEC.format(**PLAIN | names)


def refused(text: str) -> bool:
    return has_errors(compile({"specs/made.deed": text}).problems)


@pytest.mark.parametrize("place", PLAIN)
def test_no_keyword_of_python_reaches_the_output(place: str) -> None:
    for word in keyword.kwlist:
        name = word.capitalize() if place in PASCAL else word
        assert not name.isidentifier() or refused(spec(**{place: word}))


def step(module: ModuleType) -> None:
    key, given = module.machine.key[0], module.Start.__struct_fields__[1]
    state, _ = module.start(module.Start(**{key: "k", given: 1, "at": 5}))
    answer = module.machine.commands[0].outcomes[0](7, at=6, ticket=1)
    after, commands = module.reduce(state, answer)
    assert (after.issued, len(commands)) == (2, 1)


@pytest.mark.parametrize("place", [each for each in PLAIN if each not in PASCAL])
def test_a_word_of_python_is_refused_or_it_works(
    place: str, made: Callable[[str, str], ModuleType]
) -> None:
    kept = [word for word in WORDS if not refused(spec(**{place: word}))]
    for word in kept:
        step(made(spec(**{place: word}), "plain"))


@pytest.mark.parametrize("word", SQL)
def test_a_word_of_sql_is_quoted_wherever_it_stands(
    word: str, made: Callable[[str, str], ModuleType]
) -> None:
    text = spec(machine=word.capitalize(), key=word, field=f"{word}_field")
    if refused(text):
        return
    module = made(text, word)
    step(module)
    connection = sqlite3.connect(":memory:")
    for statement in module.machine.sqlite.create:
        connection.execute(statement)
    assert connection.execute(f'select * from "{word}"').fetchall() == []  # noqa: S608 - a word of this file
    connection.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"state": "Ask"}, "the command class"),
        ({"message": "AskYes"}, "the outcome class"),
        ({"state": "State"}, "the union of states"),
        ({"message": "Command"}, "the union of commands"),
        ({"machine": "Types"}, "the module of the types"),
    ],
)
def test_two_names_that_would_become_one_are_refused(
    one: dict[str, str], other: str
) -> None:
    assert refused(spec(**one)), other
