"""Every case of the corpus, stage by stage.

A case is a markdown file in a folder named after its construct: a title, then the
sections SPEC (or several, `SPEC path.deed`), PROBLEMS (`CODE line:column`, a path
before it where it is not the first spec), and as it likes RENDERED, FORMATTED, TREE,
LOWERED, VERIFIED (what exploring finds) and RELEASED (a spec recorded before).  With DEEDBOX_ACCEPT=1 a run writes what it found into the sections that are
there, so that a reviewer sees in one diff how every stage moved.
"""

from __future__ import annotations

import os
import pprint
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from deedbox_checker.counterexample.printed import failure
from deedbox_checker.reports.text import as_text
from deedbox_checker.subjects.subjects import subjects
from deedbox_checker.verdicts.verify import verify
from deedbox_dsl import Program, compile
from deedbox_dsl.format import format_machine, format_text
from deedbox_dsl.parse import parse
from deedbox_dsl.problems import entries, has_errors
from deedbox_dsl.render import to_text
from deedbox_dsl.versions.shapes import file_name
from deedbox_dsl.versions.written_shapes import text_of

HERE = Path(__file__).parent
CASES = sorted(HERE.rglob("*.md"))
SECTION = re.compile(
    r"^## ([^\n]+)\n\n(`{3,})(\w*)\n(.*?)^\2\n", re.MULTILINE | re.DOTALL
)


def sections(case: str) -> dict[str, str]:
    return {found.group(1): found.group(4) for found in SECTION.finditer(case)}


def specs(parts: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix("SPEC").strip() or "spec.deed": said
        for name, said in parts.items()
        if name.startswith("SPEC")
    }


def recorded(parts: Mapping[str, str]) -> dict[str, str]:
    """The shapes of what was released, as `deedbox release` writes them."""
    if "RELEASED" not in parts:
        return {}
    program = compile({"spec.deed": parts["RELEASED"]})
    assert not has_errors(program.problems)
    shapes = program.shapes.values()
    return {f".shapes/{file_name(shape)}": text_of(shape) for shape in shapes}


def explored(program: Program) -> Iterator[str]:
    """Codes and runs of what is broken or not finished; what is not told differs by machine."""
    for subject in subjects(program):
        report = verify(subject.machine, subject.module, limit=500)
        broken = [verdict for verdict in report.verdicts if not verdict.holds]
        if report.incomplete:
            yield from as_text(report).splitlines()[:2]
        for verdict in broken:
            yield from failure(verdict, text=subject.text)
        if not broken and not report.incomplete:
            yield f"{report.machine}: holds"


def found(name: str, sources: Mapping[str, str], program: Program) -> str:
    """What a section should say."""
    first = next(iter(sources))
    match name:
        case "PROBLEMS":
            lines: list[str] = []
            for problem in program.problems:
                span = problem.span
                path = "" if span.path == first else f"{span.path}:"
                lines.append(f"{problem.code} {path}{span.line}:{span.column}\n")
            return "".join(lines)
        case "RENDERED":
            return to_text(program.problems, program.texts)
        case "FORMATTED":
            formatted = format_text(program.texts[first])
            assert isinstance(formatted, str), formatted
            return formatted
        case "TREE":
            module, _ = parse(program.texts[first])
            return pprint.pformat(module, width=100) + "\n"
        case "LOWERED":
            machines = program.lowered.values()
            return "\n".join(format_machine(machine) for machine in machines)
        case "VERIFIED":
            return "".join(f"{line}\n" for line in explored(program))
        case _:
            raise AssertionError(f"no section is called {name}")


@pytest.mark.parametrize(
    "path", CASES, ids=lambda path: str(path.relative_to(HERE).with_suffix(""))
)
def test_case(path: Path) -> None:
    case = path.read_text("utf-8")
    parts = sections(case)
    sources = specs(parts)
    assert sources
    assert "PROBLEMS" in parts
    program = compile(sources, recorded(parts))
    now = {
        name: said
        if name.startswith(("SPEC", "RELEASED"))
        else found(name, sources, program)
        for name, said in parts.items()
    }
    if os.environ.get("DEEDBOX_ACCEPT") == "1":
        path.write_text(SECTION.sub(lambda m: section(m, now), case), "utf-8")
        return
    for name, said in parts.items():
        assert now[name] == said, f"{name} differs"


def section(found_there: re.Match[str], now: Mapping[str, str]) -> str:
    name, fence, language, _ = found_there.groups()
    return f"## {name}\n\n{fence}{language}\n{now[name]}{fence}\n"


def test_every_case_that_shows_problems_shows_how_they_read() -> None:
    for path in CASES:
        parts = sections(path.read_text("utf-8"))
        assert not parts["PROBLEMS"] or "RENDERED" in parts, path


OF_FILES = {"DEED901", "DEED902", "DEED903", "DEED904"}
"""What no spec can show: it is about the files of a build (`generator/test_drift.py`)."""


def shown(parts: Mapping[str, str]) -> set[str]:
    """The codes that a case shows: of problems, and of what exploring finds."""
    problems = {line.split()[0] for line in parts["PROBLEMS"].splitlines()}
    return problems | set(re.findall(r"explain (DEED\d+)", parts.get("VERIFIED", "")))


def test_every_code_of_the_table_is_said_by_a_case() -> None:
    said = [shown(sections(path.read_text("utf-8"))) for path in CASES]
    assert set().union(*said) == entries().keys() - OF_FILES


def test_every_code_has_a_case_that_nearly_shows_it() -> None:
    """Those of the text have their own: each slip of the fingers is one of a kind."""
    by_name = {path.stem: sections(path.read_text("utf-8")) for path in CASES}
    for code in entries().keys() - OF_FILES:
        if not code.startswith("DEED1"):
            assert code in shown(by_name[code.lower()])
            assert code not in shown(by_name[f"{code.lower()}_nearly"])


def test_no_message_shows_a_word_of_the_machinery() -> None:
    for path in CASES:
        rendered = sections(path.read_text("utf-8")).get("RENDERED", "")
        assert not re.search(r"(?i)\binvalid\b|\billegal\b|__|\$END|Token\(", rendered)
        assert not re.search(
            r"\b(LBRACE|RBRACE|LPAR|RPAR|FATARROW|DOTDOT|VBAR)\b", rendered
        )
