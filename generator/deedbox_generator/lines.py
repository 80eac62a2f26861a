"""Lines of Python under guards, each with the place in the spec that it comes from."""

from __future__ import annotations

from pathlib import PurePosixPath

from deedbox_dsl import core
from deedbox_dsl.source import Span

from .expressions import Place, render
from .quoting import comment

WIDTH = 88
"""How wide a line may be before its reference moves away from its end."""


def reference(span: Span) -> str:
    """`  # orders.deed:17`, for behind a line."""
    return f"  # {comment(PurePosixPath(span.path).name)}:{span.line}"


def guarded(
    guard: core.Expr | None,
    body: list[str],
    ref: str,
    place: Place,
    depth: int,
) -> list[str]:
    """`body`, under its guard; the reference on the first line that has room for it."""
    if guard is None:
        return [_referred(body[0], ref, depth), *body[1:]]
    head = f"if {render(guard, place)}:"
    lines = [f"    {line}" for line in body]
    if depth + len(head) + len(ref) <= WIDTH:
        return [head + ref, *lines]
    return [*filter(None, [ref.strip()]), head, *lines]


def _referred(line: str, ref: str, depth: int) -> str:
    """`line` and its reference, behind its first bracket when it will be broken there."""
    if depth + len(line) + len(ref) <= WIDTH or "(" not in line or not ref:
        return line + ref
    head, bracket, rest = line.partition("(")
    return f"{head}{bracket}{ref}\n    {rest}"
