"""The canonical text of a key: one text for one key, and no text for two."""

from __future__ import annotations

from deedbox import key_text
from hypothesis import given
from hypothesis import strategies as st

keys = st.lists(
    st.one_of(st.text(), st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=2
)


def test_one_text_is_itself_and_anything_else_a_compact_array() -> None:
    assert key_text("o-1") == "o-1"
    assert key_text(7) == "[7]"
    assert key_text("a", 7, True) == '["a",7,true]'


@given(keys, keys)
def test_two_keys_of_several_fields_never_share_a_text(
    one: list[str | int | bool], other: list[str | int | bool]
) -> None:
    same = key_text(*one) == key_text(*other)
    assert same == (repr(one) == repr(other))
