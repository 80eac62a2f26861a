"""The name that was probably meant, for "did you mean".

First by what the thing is called elsewhere (`string`, `null`, `timeout`), then by
the distance of the spellings: Damerau-Levenshtein in its restricted form (optimal
string alignment), since a swap of two neighbours is one slip of the fingers, not
two.  Of two equally near, the one that begins alike is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("string", "str", "varchar", "char"),
    "int": ("integer", "long", "number", "int32", "int64", "float", "decimal"),
    "bool": ("boolean",),
    "instant": ("datetime", "timestamp", "date", "time"),
    "duration": ("timedelta", "interval", "timespan"),
    "list": ("array", "vector", "sequence"),
    "none": ("null", "nil", "nothing", "undefined"),
    "true": ("yes",),
    "false": ("no",),
    "len": ("length", "size"),
    "min": ("minimum",),
    "head": ("first",),
    "any": ("some", "exists"),
    "all": ("every", "forall"),
    "record": ("struct", "class", "dataclass", "interface", "object"),
    "choice": ("enum", "union", "variant"),
    "machine": ("fsm", "statechart", "automaton"),
    "saga": ("workflow", "transaction", "process"),
    "scan": ("cursor", "poll"),
    "use": ("import", "include", "require", "using"),
    "message": ("event", "signal", "input"),
    "command": ("effect", "activity", "action"),
    "final": ("end", "terminal", "accepting"),
    "start": ("initial", "init", "begin", "initially"),
    "goto": ("transition", "become", "return", "next"),
    "stay": ("remain", "keep"),
    "do": ("call", "send", "emit", "invoke", "perform"),
    "tell": ("send", "notify"),
    "begin": ("spawn", "create"),
    "reject": ("refuse", "raise", "throw", "error"),
    "let": ("var", "const", "val"),
    "when": ("if", "where", "given", "unless"),
    "on": ("when", "upon"),
    "at": ("after", "timer", "timeout"),
    "undo": ("compensate", "rollback", "revert", "otherwise"),
    "silence": ("timeout", "timed_out", "deadline"),
    "abort": ("fail", "cancel"),
    "spent": ("exhausted", "finally"),
    "each": ("for", "foreach"),
    "first": ("initial", "base", "start", "delay"),
    "factor": ("multiplier", "backoff"),
    "max": ("cap", "maximum", "ceiling"),
    "attempts": ("tries", "retries", "limit"),
    "unlimited": ("forever", "infinite", "infinity"),
    "given": ("param", "params", "input", "with"),
    "key": ("id", "identity", "primary"),
    "invariant": ("always", "assert", "ensure", "require", "globally"),
    "sometimes": ("reachable", "possible"),
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be, or None."""
    names = sorted(set(known) - {name})
    low = name.lower()
    for candidate in names:
        if low in _ELSEWHERE.get(candidate, ()):
            return candidate
    limit = max(1, len(name) // 3)
    best: tuple[int, int, str] | None = None
    for candidate in names:
        if abs(len(candidate) - len(name)) > limit:
            continue
        found = distance(low, candidate.lower())
        if found > limit or found >= len(candidate):
            continue
        ranked = (found, -_alike(low, candidate.lower()), candidate)
        best = ranked if best is None else min(best, ranked)
    return None if best is None else best[2]


def distance(left: str, right: str) -> int:
    """How many slips (insert, delete, replace, swap) turn `left` into `right`."""
    above: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        above, before, row = row, above, [i]
        for j, other in enumerate(right, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _alike(left: str, right: str) -> int:
    """How many letters two words share at their beginning."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(left))
