"""Every diagnostic on one page of Markdown, from the table that the compiler reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from deedbox_dsl.problems import Entry

_GROUPS: Final = {
    "1": "Reading",
    "2": "Names",
    "3": "Types",
    "4": "What a machine does",
    "5": "Time",
    "6": "Kinds",
    "7": "Properties",
    "8": "Versions",
    "9": "Generated files",
}
"""By the first digit of a code's number."""

_INTRODUCTION: Final = """\
# Diagnostics

Each has a code, which is never reused and never renumbered.
An error stops the build; a warning does not, and `allow CODE "why"` inside the machine silences it.
`deedbox explain CODE` prints one of them, `deedbox explain --all` this page.
"""


def diagnostics(entries: Iterable[Entry]) -> str:
    """The page; `entries` in the order of their codes."""
    listed = tuple(entries)
    parts = [_INTRODUCTION, _contents(listed)]
    group = ""
    for entry in listed:
        if (found := _group(entry)) != group:
            group = found
            parts.append(f"## {group}\n")
        parts.append("\n".join(_section(entry)))
    return "\n".join(parts)


def _group(entry: Entry) -> str:
    return _GROUPS[entry.code.removeprefix("DEED")[0]]


def _contents(entries: tuple[Entry, ...]) -> str:
    rows = [
        f"| [{entry.code}](#{entry.code.lower()}) | {entry.severity} | {_cell(entry.title)} |"
        for entry in entries
    ]
    return "\n".join(["| code | | |", "| --- | --- | --- |", *rows, ""])


def _section(entry: Entry) -> Iterator[str]:
    yield f"### {entry.code}\n"
    yield f"{entry.severity.capitalize()}: {entry.title}.\n"
    yield f"{entry.why.strip()}\n"
    yield f"{entry.fix.strip()}\n"
    if entry.do_not:
        yield f"Do not: {entry.do_not.strip()}\n"
    for words, spec in (
        ("A spec that has it:", entry.example),
        ("A spec that does not:", entry.counterexample),
    ):
        if spec:
            yield f"{words}\n\n```\n{spec.strip()}\n```\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
