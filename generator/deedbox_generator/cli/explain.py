"""`deedbox explain`: the page of a diagnostic, or of all."""

from __future__ import annotations

import sys

from deedbox_dsl.problems import Entry, entries

from ..views import diagnostics


def explain(code: str) -> int:
    wanted = code.upper() if not code.isdigit() else f"DEED{code}"
    entry = entries().get(wanted)
    if entry is None:
        print(
            f"deedbox: there is no {code}; codes are DEED and three digits, such as DEED401",
            file=sys.stderr,
        )
        return 2
    print(_page(entry))
    return 0


def explain_all() -> int:
    """All of them, as a page of Markdown."""
    print(diagnostics(entries().values()), end="")
    return 0


def _page(entry: Entry) -> str:
    parts = [f"{entry.severity} {entry.code}: {entry.title}", entry.why, entry.fix]
    if entry.do_not:
        parts.append(f"Do not: {entry.do_not}")
    for title, example in (
        ("A spec that has it:", entry.example),
        ("A spec that does not:", entry.counterexample),
    ):
        if example:
            parts.append(f"{title}\n\n{_indented(example)}")
    return "\n\n".join(filter(None, parts))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").split("\n"))
