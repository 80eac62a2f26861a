"""Each kind lowers to the machine that the reference prints, clause by clause."""

from __future__ import annotations

import pytest
from deedbox_dsl import syntax
from deedbox_dsl.format import format_machine
from deedbox_dsl.parse import parse
from deedbox_dsl.source import Text

from tests.dsl.meaning.specs import gallery, printed, settled

PRINTED = [
    ("computer/sync.deed", "SyncRetry", "sync_retry"),
    ("nerudo/repository.deed", "Indexer", "indexer"),
    ("nerudo/repository.deed", "Showcase", "showcase"),
    ("shop/orders.deed", "Order", "order"),
]
GALLERY = gallery()


@pytest.mark.parametrize(("path", "name", "expected"), PRINTED)
def test_a_kind_lowers_to_the_printed_machine(
    path: str, name: str, expected: str
) -> None:
    lowered = settled(GALLERY.lowered[path, name])
    wanted = settled(printed(expected))
    for got, want in zip(lowered.items, wanted.items, strict=True):
        assert got == want
    assert lowered == wanted


@pytest.mark.parametrize("place", sorted(GALLERY.lowered))
def test_the_printed_form_of_a_lowered_machine_is_the_same_tree(
    place: tuple[str, str],
) -> None:
    lowered = GALLERY.lowered[place]
    module, problems = parse(Text.of("a.deed", format_machine(lowered)))
    assert problems == ()
    assert module.declarations == (lowered,)
    assert isinstance(lowered, syntax.Machine)
