"""A machine made ready to be explored, or why it is not."""

from __future__ import annotations

from types import ModuleType

from deedbox_dsl import core

from ..expressions.endless import Endless
from ..instance.limits import long_page, unexplored
from ..instance.model import Model, model


def prepared(
    spec: core.Machine, module: ModuleType, beside: core.Machine | None = None
) -> Model | str:
    """The model, or why there is none."""
    too_long = long_page(spec)
    if too_long:
        return too_long
    try:
        made = model(spec, module, beside)
    except Endless as found:
        return f"`{found.name}`: {found.why}"
    return unexplored(spec) or made
