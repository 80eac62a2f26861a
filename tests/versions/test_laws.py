"""Every document of a released version becomes a whole state of every later one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from deedbox.codec import Codec
from deedbox.documents import text
from deedbox_dsl import core
from deedbox_dsl.types import (
    Base,
    ChoiceType,
    Declared,
    ListOf,
    Maybe,
    RecordType,
    Type,
)
from deedbox_dsl.versions.written_shapes import read, text_of
from hypothesis import given, settings
from hypothesis import strategies as st
from lease import lease
from orders import order

from tests.versions.made import compiled, imported, picks

SHAPES = Path(__file__).parents[2] / "specs" / ".shapes"
LARGE = 1 << 62
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)
INSTANTS = st.integers(0, LARGE)


def values(kind: Type) -> st.SearchStrategy[Any]:
    """What a document may hold for a field of this type."""
    match kind:
        case Base.TEXT:
            return TEXTS
        case Base.BOOL:
            return st.booleans()
        case Base.INT:
            return st.integers(-LARGE, LARGE)
        case Base():
            return INSTANTS
        case Declared(base=base, low=low, high=high):
            if low is None and high is None:
                return values(base)
            return st.integers(-LARGE if low is None else low, high)
        case RecordType(fields=fields):
            return st.fixed_dictionaries({name: values(t) for name, t in fields})
        case ChoiceType(variants=variants):
            return st.one_of(
                [
                    st.fixed_dictionaries(
                        {"type": st.just(name), **{n: values(t) for n, t in fields}}
                    )
                    for name, fields in variants
                ]
            )
        case ListOf(item=item):
            return st.lists(values(item), max_size=3)
        case Maybe(item=item):
            return st.none() | values(item)
        case _:
            raise AssertionError(f"a field cannot have the type {kind}")


def documents(shape: core.Shape) -> st.SearchStrategy[dict[str, Any]]:
    """A stored state of this version."""

    def document(state: core.State) -> st.SearchStrategy[dict[str, Any]]:
        fields = {"type": st.just(state.name), "born": INSTANTS}
        numbers = ["issued"]
        numbers += ["ticket"] if state.awaits is not None else []
        numbers += ["deed_number"] if state.open_deed is not None else []
        fields |= dict.fromkeys(numbers, st.integers(1, 1_000_000))
        for each in (*shape.key, *shape.given, *state.fields):
            fields[each.name] = values(each.type)
        return st.fixed_dictionaries(fields)

    return st.one_of([document(state) for state in shape.states])


def recorded(name: str) -> core.Shape:
    shape = read(name, (SHAPES / name).read_text("utf-8"))
    assert isinstance(shape, core.Shape)
    return shape


def becomes_whole(
    codec: Codec, shape: core.Shape, doc: dict[str, Any], at: int
) -> None:
    found = codec.state(shape.version, json.dumps(doc), at)
    assert codec.decode_state(text(found.state)) == found.state
    new = json.loads(text(found.state))
    assert new["born"] == doc["born"]
    awaited = codec.machine.awaited(found.state)
    tickets = {json.loads(text(command))["ticket"] for command in found.owed}
    kept = doc.get("ticket") if found.withdrawn is None else None
    assert awaited is None or awaited == kept or awaited in tickets
    assert new["issued"] == doc["issued"] + len(found.owed)


@given(documents(recorded("order.1.json")), INSTANTS)
def test_every_order_of_version_1_is_one_of_version_2(
    doc: dict[str, Any], at: int
) -> None:
    becomes_whole(Codec(order.machine), recorded("order.1.json"), doc, at)


@given(documents(recorded("lease.1.json")), INSTANTS)
def test_every_lease_of_version_1_is_one_of_version_2(
    doc: dict[str, Any], at: int
) -> None:
    becomes_whole(Codec(lease.machine), recorded("lease.1.json"), doc, at)


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ModuleType]]:
    with imported(tmp_path_factory.mktemp("picks"), "pick", *picks()) as modules:
        yield modules


SHAPE = {
    version: next(iter(compiled(*picks()[:version]).shapes.values()))
    for version in (1, 2)
}


@pytest.mark.parametrize("version", SHAPE)
@settings(deadline=None)
@given(data=st.data())
def test_every_pick_of_an_older_version_is_one_of_version_3(
    pick: list[ModuleType], version: int, data: st.DataObject
) -> None:
    """Through version 2 or not: the chain is one function."""
    shape, at = SHAPE[version], data.draw(INSTANTS)
    doc = data.draw(documents(shape))
    three = Codec(pick[2].machine)
    becomes_whole(three, shape, doc, at)
    if version == 1:
        between = Codec(pick[1].machine).state(1, json.dumps(doc), at).state
        stepped = three.state(2, text(between), at).state
        assert stepped == three.state(1, json.dumps(doc), at).state


@settings(deadline=None)
@given(documents(recorded("order.1.json")))
def test_loading_takes_nothing_of_the_document_it_is_given(doc: dict[str, Any]) -> None:
    """C54: no state shares a mutable value with what it was read from."""
    before = json.dumps(doc)
    codec = Codec(order.machine)
    one, two = (codec.state(1, before, 0).state for _ in range(2))
    assert one == two
    assert json.dumps(doc) == before
    assert hash(one) == hash(two)


@pytest.mark.parametrize("name", ["order.1.json", "lease.1.json"])
def test_the_recorded_shapes_are_in_the_one_layout(name: str) -> None:
    written = (SHAPES / name).read_text("utf-8")
    assert text_of(recorded(name)) == written
