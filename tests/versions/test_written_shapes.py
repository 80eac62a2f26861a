"""The file of a shape: whatever lies there, it is a shape or a reason why it is none."""

from __future__ import annotations

import json

import pytest
from deedbox_dsl.versions.written_shapes import read, text_of

from .made import compiled

SPEC = """type Cents = int in 0..100

machine Account version 1 {
  key id: text
  given amount: Cents
  state Open
  final Closed
  message Close
  unrepeatable command notify(id: text, amount: Cents)
  start { do notify(id, amount) goto Open }
  in Open { on Close { goto Closed } }
}
"""
(SHAPE,) = compiled(SPEC).shapes.values()
TEXT = text_of(SHAPE)


def test_a_shape_is_read_as_it_was_written() -> None:
    assert read("a.json", TEXT) == SHAPE


CHANGED: dict[str, tuple[list[str], object, str]] = {
    "another format": (["format"], 2, "its format is 2, and 1 is known here"),
    "no format": (["format"], "1", "`format` is not a whole number"),
    "no version": (["version"], True, "`version` is not a whole number"),
    "version 0": (["version"], 0, "`version` counts from 1"),
    "no name": (["machine"], 3, "`machine` is not a text"),
    "no states": (["states"], [], "`states` is not a JSON object"),
    "an unknown type": (
        ["states", "Open", "fields"],
        {"a": "Pence"},
        "`types` does not say what `Pence` is",
    ),
    "a range of a range": (
        ["types", "Cents"],
        "list[int]",
        "`Cents` is not made of a base type",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_no_shape_is_called_so(name: str) -> None:
    path, value, why = CHANGED[name]
    document = json.loads(TEXT)
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    assert read("a.json", json.dumps(document)) == why


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]"])
def test_what_is_no_document_is_called_so(text: str) -> None:
    assert isinstance(read("a.json", text), str)


def test_a_type_that_contains_itself_is_none() -> None:
    document = json.loads(TEXT)
    document["types"]["Cents"] = {"record": {"inner": "Cents"}}
    found = read("a.json", json.dumps(document))
    assert found == "`types` does not say what `Cents` is"
