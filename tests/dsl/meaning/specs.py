"""Specs for the tests of meaning: compiling texts, and comparing lowered trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

from deedbox_dsl import Program, compile, core, syntax
from deedbox_dsl.parse import parse
from deedbox_dsl.source import Text

HERE = Path(__file__).parent
SPECS = HERE.parents[2] / "specs"
T = TypeVar("T")


def program(*texts: str) -> Program:
    """The program of these texts, called `a.deed`, `b.deed`, …"""
    names = "abcdefgh"
    return compile({f"{names[i]}.deed": text for i, text in enumerate(texts)})


def gallery() -> Program:
    files = sorted(SPECS.glob("*/*.deed"))
    return compile(
        {str(file.relative_to(SPECS)): file.read_text("utf-8") for file in files},
        {file.name: file.read_text("utf-8") for file in SPECS.glob(".shapes/*.json")},
    )


def codes(*texts: str) -> list[str]:
    return [problem.code for problem in program(*texts).problems]


def found(*texts: str) -> list[tuple[str, int, str]]:
    """Code, line and message of every problem."""
    return [(p.code, p.span.line, p.message) for p in program(*texts).problems]


def machine(text: str) -> core.Machine:
    """The one machine of a text without problems."""
    result = program(text)
    assert result.problems == (), result.problems
    (module,) = result.modules
    (only,) = module.machines
    return only


def printed(name: str) -> syntax.Machine:
    """A lowered machine as the semantics print it."""
    text = Text.of(name, (HERE / "lowered" / f"{name}.txt").read_text("utf-8"))
    module, problems = parse(text)
    assert problems == ()
    (only,) = module.declarations
    assert isinstance(only, syntax.Machine)
    return only


def settled(node: T) -> T:
    """The tree without comments, and with the fields of each init list in one order.

    `{ a: 1, b }` and `{ b, a: 1 }` mean the same; the printed machines put a long
    value last.
    """
    if isinstance(node, tuple):
        items = cast("Sequence[object]", node)
        return cast("T", tuple(settled(item) for item in items))
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    changes: dict[str, object] = {
        field.name: None if field.name == "doc" else settled(getattr(node, field.name))
        for field in dataclasses.fields(node)
        if field.compare
    }
    if isinstance(node, syntax.Init):
        changes["items"] = tuple(sorted((settled(i) for i in node.items), key=_place))
    return cast("T", dataclasses.replace(node, **changes))


def _place(item: syntax.InitItem) -> str:
    return "" if isinstance(item, syntax.CarryOver) else item.name.text
