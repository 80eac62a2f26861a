"""A problem with a spec, as a value: collected by every phase, raised by none.

`problems.toml` holds what is always true of a code (severity, title, why, fix, the
smallest spec that triggers it, the smallest that does not); a `Problem` holds what
is true of this one place.  Codes are never reused and never renumbered.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias, cast

from .source import Span

Severity: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place that explains the problem, and the words written under it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` (empty: insert) by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair that a tool may offer: its title and its exact edits."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """`message` names the user's thing in backticks; `hints` are lines of advice or text to paste."""

    code: str
    span: Span
    message: str
    label: str = ""
    others: tuple[Label, ...] = ()
    hints: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """What `problems.toml` says of a code.

    `remark` is the one line of `why` that is printed under each such problem; the
    examples are empty where specs alone cannot show the problem.
    """

    code: str
    severity: Severity
    title: str
    why: str
    fix: str
    do_not: str
    remark: str
    example: str
    counterexample: str


def files_of(example: str) -> dict[str, str]:
    """An example by files; each begins with a line `//// name.deed`, a single one needs none."""
    parts = _FILE.split(example)
    if len(parts) == 1:
        return {"spec.deed": example}
    return dict(zip(parts[1::2], parts[2::2], strict=True))


_FILE: Final = re.compile(r"^//// (\S+)\n", re.MULTILINE)


@cache
def entries() -> Mapping[str, Entry]:
    """Every diagnostic there is, by its code, in order."""
    table = tomllib.loads(
        files("deedbox_dsl").joinpath("problems.toml").read_text("utf-8")
    )
    return {
        code: Entry(
            code,
            cast("Severity", row["severity"]),
            row["title"],
            row["why"].strip(),
            row["fix"].strip(),
            row.get("do_not", "").strip(),
            row.get("remark", "").strip(),
            row.get("example", ""),
            row.get("counterexample", ""),
        )
        for code, row in cast("dict[str, dict[str, str]]", table).items()
    }


def severity(code: str) -> Severity:
    return entries()[code].severity


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Each problem once, by place; of two at one place the lower code first."""
    return tuple(
        sorted(
            dict.fromkeys(problems),
            key=lambda each: (each.span, each.code, each.message),
        )
    )


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(severity(each.code) == "error" for each in problems)
