"""The parser made from `grammar.lark`: loaded from saved tables, or built anew.

Building the LALR tables takes most of a second, loading them a few hundredths,
so they are kept beside the grammar as `tables.json`.  The file is data: JSON, read
into lark's own typed loader; lark's pickle format is not used, so loading runs
nothing.  Tables saved by another version of lark are not trusted: the parser is
then built from the grammar.  `build_tables.py` writes the file.

This is the only module that imports lark at run time, and it does so when the
first text is parsed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import (
    TYPE_CHECKING,
    Final,
    Literal,
    Protocol,
    TypeAlias,
    cast,
    get_args,
)

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Start: TypeAlias = Literal[
    "start", "decl", "machine_item", "retry_item", "scan_item", "saga_item", "clause"
]
STARTS: Final[tuple[Start, ...]] = get_args(Start)

Node: TypeAlias = "Tree[Token]"


class Parse(Protocol):
    """What is used of `Lark.parse`, whose own signature is partly unknown."""

    def __call__(self, text: str, start: Start) -> Node: ...


class Load(Protocol):
    """What is used of `Lark.load`: it takes the tables themselves as well as a file."""

    def __call__(self, tables: dict[str, object], /) -> Lark: ...


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a text stops being a `start`: the offset (None at its end), and what could go on.

    `after` is the terminal that the word before was taken for.
    """

    position: int | None
    expected: frozenset[str]
    after: str


def tree_of(text: str, start: Start) -> Node | Stop:
    """The parse tree of `text` as a `start`, or where it stops being one."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return cast("Parse", parser().parse)(text, start=start)
    except UnexpectedToken as stop:
        token = cast("Token", stop.token)
        position = None if token.type == "$END" else token.start_pos
        history = cast("list[Token | None] | None", stop.token_history)
        before = history[-1] if history else None
        after = "" if before is None else before.type
        return Stop(position, frozenset(stop.accepts), after)
    except UnexpectedCharacters as stop:
        return Stop(cast("int", stop.pos_in_stream), frozenset(stop.allowed), "")


def build(*, strict: bool = False) -> Lark:
    """The parser from the grammar; `strict` also refuses terminals that overlap."""
    from lark import Lark

    return Lark(
        _resource("grammar.lark"),
        parser="lalr",
        lexer="contextual",
        start=list(STARTS),
        strict=strict,
        maybe_placeholders=False,
        propagate_positions=True,
    )


@cache
def parser() -> Lark:
    from lark import Lark, __version__

    document = json.loads(_resource("tables.json"))
    if document["lark"] != __version__:
        return build()
    table = document["data"]["parser"]["parser"]
    table["tokens"] = _numbered(table["tokens"])
    rows: dict[str, dict[str, object]] = table["states"]
    table["states"] = {int(state): _numbered(row) for state, row in rows.items()}
    load = cast("Load", Lark.load)
    return load({"data": document["data"], "memo": _numbered(document["memo"])})


def _numbered(row: dict[str, object]) -> dict[int, object]:
    """JSON has only text for keys; lark's tables are keyed by number."""
    return {int(key): value for key, value in row.items()}


def _resource(name: str) -> str:
    return files("deedbox_dsl.parse").joinpath(name).read_text("utf-8")
