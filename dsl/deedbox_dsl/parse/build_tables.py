"""Writes `tables.json`: run `python -m deedbox_dsl.parse.build_tables` after a change of the grammar.

A test compares the file with the grammar, so the two cannot drift apart.  It is
deterministic: lark numbers states and tokens by the order of its sets, which differs
from process to process, so everything is numbered anew from the grammar itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from .tables import STARTS, build

if TYPE_CHECKING:
    from lark import Lark

SHIFT: Final = 0
"""How a saved table marks a shift; what is not one is a reduction."""


class Serialize(Protocol):
    """What is used of `Lark.memo_serialize`."""

    def __call__(self, types: list[type], /) -> tuple[object, object]: ...


def saved(parser: Lark) -> str:
    """The tables of `parser` as the text of `tables.json`, the same in every process."""
    from lark import __version__
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    serialize = cast("Serialize", parser.memo_serialize)
    data, memo = serialize([TerminalDef, Rule])
    tables = _renumbered(json.loads(json.dumps({"data": data, "memo": memo})))
    return json.dumps({"lark": __version__, **tables}, separators=(",", ":")) + "\n"


def _renumbered(tables: dict[str, Any]) -> dict[str, Any]:
    """Equal tables with numbers that come from the grammar and not from a hash seed.

    Shared parts are numbered by what they say, tokens by their names, states as a walk
    from the start symbols meets them.
    """
    memo: dict[str, object] = tables["memo"]
    by_content = sorted(memo, key=lambda old: json.dumps(memo[old], sort_keys=True))
    shared = {int(old): new for new, old in enumerate(by_content)}
    data = cast("dict[str, Any]", _referring(tables["data"], shared))
    table = data["parser"]["parser"]
    names: dict[str, str] = table["tokens"]
    sorted_names = sorted(names.values())
    tokens = {old: sorted_names.index(name) for old, name in names.items()}
    rows: dict[int, dict[int, tuple[int, Any]]] = {
        int(state): {
            new: row[old] for new, old in sorted((tokens[old], old) for old in row)
        }
        for state, row in table["states"].items()
    }
    walk = [table["start_states"][start] for start in STARTS]
    for state in walk:
        shifts = (to for action, to in rows[state].values() if action == SHIFT)
        walk.extend(to for to in dict.fromkeys(shifts) if to not in walk)
    states = {old: new for new, old in enumerate(walk)}
    table["tokens"] = dict(enumerate(sorted_names))
    table["states"] = {
        states[old]: {
            token: [action, states[to] if action == SHIFT else to]
            for token, (action, to) in rows[old].items()
        }
        for old in walk
    }
    for ends in ("start_states", "end_states"):
        table[ends] = {start: states[table[ends][start]] for start in STARTS}
    data["rules"].sort(key=_reference)
    data["parser"]["parser_conf"]["rules"].sort(key=_reference)
    data["parser"]["lexer_conf"]["terminals"].sort(key=_reference)
    data["parser"]["lexer_conf"]["ignore"].sort()
    return {"data": data, "memo": {shared[int(old)]: memo[old] for old in by_content}}


def _referring(part: object, shared: dict[int, int]) -> object:
    """A copy of `part` whose references `{"@": n}` are renumbered."""
    match part:
        case {"@": int(old)}:
            return {"@": shared[old]}
        case dict():
            branches = cast("dict[str, object]", part)
            return {key: _referring(each, shared) for key, each in branches.items()}
        case list():
            items = cast("list[object]", part)
            return [_referring(each, shared) for each in items]
        case _:
            return part


def _reference(part: dict[str, int]) -> int:
    return part["@"]


if __name__ == "__main__":
    Path(__file__).with_name("tables.json").write_text(saved(build()), "utf-8")
