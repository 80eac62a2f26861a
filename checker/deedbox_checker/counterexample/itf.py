"""A counterexample in the Informal Trace Format of Apalache, which other tools read.

Every variable has a value in every state, so what does not exist there is `-`; its
name is an identifier, as the format wants it.  A run that goes on for ever ends where it
begins again, at the state that `loop` names.
"""

from __future__ import annotations

import json
import re

from ..traces.pictures import picture
from ..traces.trace import Run, Trace


def itf(path: str, says: str, trace: Trace, run: Run) -> str:
    return json.dumps(as_data(path, says, trace, run), indent=2) + "\n"


def as_data(path: str, says: str, trace: Trace, run: Run) -> dict[str, object]:
    pictures = [
        {
            identifier(name): value
            for name, value in picture(
                run.environment.of(world).model,
                world,
                {deed.number: deed.number for deed in world.deeds},
            ).items()
        }
        for world in run.worlds
    ]
    names = ["step", *dict.fromkeys(name for each in pictures for name in each)]
    texts = ["-", *(label.text for label in run.labels)]
    whole: dict[str, object] = {
        "#meta": {"format": "ITF", "source": path, "description": says},
        "vars": names,
        "states": [
            {
                "#meta": {"index": index},
                **{name: each.get(name, "-") for name in names},
                "step": text,
            }
            for index, (each, text) in enumerate(zip(pictures, texts, strict=True))
        ],
    }
    if trace.loop:
        whole["loop"] = len(trace.lines)
    elif trace.stays:
        whole["loop"] = len(pictures) - 1
    return whole


def identifier(name: str) -> str:
    """`count(charge.paid)` as `count_charge_paid`."""
    return re.sub(r"\W+", "_", name).strip("_")
