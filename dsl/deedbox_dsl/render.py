"""Problems as people and tools read them: text with carets, JSON, GitHub annotations.

Pure functions from problems and texts to strings.  The caret line repeats the tabs
of its source line and gives a wide character two columns, so it stands under the
right place in any editor and terminal.  Control characters of a spec are shown
as pictures and never reach the terminal.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, TypeAlias

from .problems import Fix, Problem, entries
from .source import Span, Text

Style: TypeAlias = Literal["error", "warning", "frame", "note"]
Paint: TypeAlias = Callable[[Style, str], str]
Called: TypeAlias = Callable[[str], str]
"""How the reader calls the file of a path; the paths of problems are names in a project."""

WIDEST: Final = 160


def unpainted(_style: Style, text: str) -> str:
    return text


# ---- text ---------------------------------------------------------------------------


def to_text(
    problems: Iterable[Problem],
    texts: Mapping[str, Text],
    paint: Paint = unpainted,
    called: Called = str,
) -> str:
    """Every problem with the lines it speaks of, one blank line between."""
    return "\n".join(one(problem, texts, paint, called) for problem in problems)


def one(
    problem: Problem,
    texts: Mapping[str, Text],
    paint: Paint = unpainted,
    called: Called = str,
) -> str:
    """One problem: what is wrong, where, what explains it, what to do."""
    entry = entries()[problem.code]
    spans = [problem.span, *(label.span for label in problem.others)]
    shown = [span for span in spans if span.path in texts]
    margin = " " * (max((len(str(span.line)) for span in shown), default=1) + 1)
    bar = paint("frame", f"{margin}│")
    lines = [
        f"{paint(entry.severity, f'{entry.severity} {problem.code}')}: {problem.message}"
    ]
    lines.append(paint("frame", f"{margin}┌─ {_place(problem.span, called)}"))
    if problem.span.path in texts:
        text = texts[problem.span.path]
        lines.append(bar)
        lines.extend(_snippet(text, problem.span, margin, paint))
        lines.append(
            f"{bar} {_underline(text, problem.span, '^', problem.label, entry.severity, paint)}"
        )
    for label in problem.others:
        text_of_label = texts.get(label.span.path)
        together = (label.span.path, label.span.line) == (
            problem.span.path,
            problem.span.line,
        )
        if not together:
            lines.append(bar)
            lines.append(paint("frame", f"{margin}├─ {_place(label.span, called)}"))
        if text_of_label is not None:
            if not together:
                lines.extend(_snippet(text_of_label, label.span, margin, paint))
            lines.append(
                f"{bar} {_underline(text_of_label, label.span, '-', label.text, 'note', paint)}"
            )
    lines.append(bar)
    notes = [entry.remark] if entry.remark else []
    for note in [*notes, *problem.hints, f"more: deedbox explain {problem.code}"]:
        first, *rest = note.split("\n")
        lines.append(f"{margin}{paint('frame', '=')} {first}")
        lines.extend(f"{margin}  {line}".rstrip() for line in rest)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _place(span: Span, called: Called) -> str:
    return f"{_visible(called(span.path))}:{span.line}:{span.column}"


def _snippet(text: Text, span: Span, margin: str, paint: Paint) -> list[str]:
    left, right = _window(text, span)
    line = text.line_text(span.line)
    before = "…" if left > 0 else ""
    after = "…" if right < len(line) else ""
    number = str(span.line).rjust(len(margin) - 1)
    frame = paint("frame", f"{number} │")
    return [f"{frame} {before}{_visible(line[left:right])}{after}"]


def _underline(
    text: Text, span: Span, mark: str, label: str, style: Style, paint: Paint
) -> str:
    left, right = _window(text, span)
    line = text.line_text(span.line)
    at = span.column - 1
    under = line[at : min(right, at + max(0, span.end - span.start))]
    lead = "".join(
        "\t" if char == "\t" else " " * _width(char) for char in line[left:at]
    )
    marks = mark * max(1, sum(_width(char) for char in under))
    words = f"{marks} {label}".rstrip()
    return f"{' ' if left > 0 else ''}{lead}{paint(style, words)}"


def _window(text: Text, span: Span) -> tuple[int, int]:
    """Which part of a line is shown: all, or as much as fits around the place."""
    length = len(text.line_text(span.line))
    if length <= WIDEST:
        return 0, length
    left = max(0, span.column - 1 - WIDEST // 2)
    return left, min(length, left + WIDEST)


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _visible(text: str) -> str:
    """Text without anything that a terminal would obey."""
    return "".join(map(_picture, text))


def _picture(char: str) -> str:
    if char == "\t" or char.isprintable():
        return char
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return "\ufffd" if unicodedata.category(char) != "Zs" else " "


# ---- for tools --------------------------------------------------------------------------


def to_json(problems: Iterable[Problem], texts: Mapping[str, Text]) -> str:
    """Every problem with exact places and edits; offsets count code points from 0."""
    documents = [
        {
            "code": problem.code,
            "severity": entries()[problem.code].severity,
            "title": entries()[problem.code].title,
            "message": problem.message,
            "label": problem.label,
            "span": _span(problem.span, texts),
            "others": [
                {"span": _span(label.span, texts), "text": label.text}
                for label in problem.others
            ],
            "hints": list(problem.hints),
            "fixes": [_fix(fix, texts) for fix in problem.fixes],
        }
        for problem in problems
    ]
    return json.dumps(documents, indent=2, ensure_ascii=False) + "\n"


def _fix(fix: Fix, texts: Mapping[str, Text]) -> dict[str, object]:
    edits = [{"span": _span(edit.span, texts), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "edits": edits}


def _span(span: Span, texts: Mapping[str, Text]) -> dict[str, object]:
    line, column = _end(span, texts)
    return {
        "path": span.path,
        "start": span.start,
        "end": span.end,
        "line": span.line,
        "column": span.column,
        "end_line": line,
        "end_column": column,
    }


def _end(span: Span, texts: Mapping[str, Text]) -> tuple[int, int]:
    text = texts.get(span.path)
    if text is None:
        return span.line, span.column + span.end - span.start
    end = text.span(span.end, span.end)
    return end.line, end.column


def to_github(
    problems: Iterable[Problem], texts: Mapping[str, Text], called: Called = str
) -> str:
    """Workflow commands that put each problem beside its line in a pull request."""
    lines: list[str] = []
    for problem in problems:
        entry = entries()[problem.code]
        end_line, end_column = _end(problem.span, texts)
        parameters = {
            "file": called(problem.span.path),
            "line": str(problem.span.line),
            "col": str(problem.span.column),
            "endLine": str(end_line),
            "endColumn": str(end_column),
            "title": f"{problem.code} {entry.title}",
        }
        said = ",".join(
            f"{key}={_escaped(value, ',:')}" for key, value in parameters.items()
        )
        body = "\n".join((problem.message, *problem.hints))
        lines.append(f"::{entry.severity} {said}::{_escaped(body)}\n")
    return "".join(lines)


def _escaped(text: str, also: str = "") -> str:
    """GitHub's own escapes: its commands end with the line."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    for char in also:
        escaped = escaped.replace(char, f"%{ord(char):02X}")
    return escaped
