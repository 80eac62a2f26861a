"""A released version of which only the shape is known: what its states may hold.

Nothing is known of its steps, so nothing goes on from here: every class of the data of
every recorded state is read by the upcasters as it would be stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product

from deedbox_dsl import core

from ..data.domain import EPOCH, Domain, Plain
from .takeover import Reads


def unread(shape: core.Shape, data: Domain, reads: Reads) -> str:
    """The first state that becomes nothing, and why; empty when there is none."""
    for state in shape.states:
        for document in documents(shape, state, data):
            try:
                reads.state(shape.version, json.dumps(document), EPOCH)
            except Exception as error:
                return f"a stored {state.name} of version {shape.version}: {error!r}"
    return ""


def documents(
    shape: core.Shape, state: core.State, data: Domain
) -> Iterator[dict[str, Plain]]:
    """What a store may hold for a state, its numbers as they are after a few steps."""
    fields = (*shape.key, *shape.given, *state.fields)
    hidden: dict[str, Plain] = {"type": state.name, "born": EPOCH, "issued": 2}
    if state.awaits is not None:
        hidden["ticket"] = 2
    if state.open_deed is not None:
        hidden["deed_number"] = 1
    for chosen in product(*(data.values(each.type) for each in fields)):
        values = zip((each.name for each in fields), chosen, strict=True)
        yield {**hidden, **dict(values)}
