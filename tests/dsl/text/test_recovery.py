"""Every independent mistake of a file is one problem, at its own place."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from deedbox_dsl import compile
from deedbox_dsl import syntax as s
from deedbox_dsl.parse import MOST_PROBLEMS, parse
from deedbox_dsl.source import Text

SOAK = os.environ.get("DEEDBOX_SOAK") == "1"
LEASE = Path(__file__).parents[3].joinpath("specs/fleet/lease.deed").read_text("utf-8")


def read(content: str) -> tuple[s.Module, list[tuple[str, int, int]]]:
    module, problems = parse(Text.of("a.deed", content))
    return module, [(p.code, p.span.line, p.span.column) for p in problems]


def place(content: str, part: str) -> tuple[int, int]:
    before = content[: content.index(part)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_four_mistakes_in_a_spec_are_four_problems() -> None:
    slips = {
        "state Free": "stat Free",
        "message Renew { holder: HolderId": "message Renew { holder HolderId",
        "on Acquire { reject": "on Acquire { rejct",
        "in Held when renewals": "in Held wen renewals",
    }
    content = LEASE
    for right, slip in slips.items():
        assert right in content
        content = content.replace(right, slip)
    _, found = read(content)
    wanted = [
        place(content, "stat Free"),
        place(content, "HolderId, ttl: duration }\n  message Release"),
        place(content, "rejct"),
        place(content, "wen renewals"),
    ]
    assert found == [("DEED101", line, column) for line, column in wanted]


def test_what_can_be_read_of_a_damaged_file_is_kept() -> None:
    content = LEASE.replace("on Acquire { reject", "on Acquire { rejct")
    module, _ = read(content)
    whole, _ = read(LEASE)
    (machine,) = (d for d in module.declarations if isinstance(d, s.Machine))
    (intact,) = (d for d in whole.declarations if isinstance(d, s.Machine))
    assert len(machine.items) == len(intact.items)
    assert module.declarations[:-1] == whole.declarations[:-1]


def test_a_doc_comment_belongs_to_the_piece_after_it() -> None:
    content = "type A = \n\n/// What B is.\ntype B = text\n"
    module, found = read(content)
    assert found == [("DEED101", 1, 9)]
    (alias,) = module.declarations
    assert isinstance(alias, s.Alias)
    assert alias.doc == "What B is."


def test_a_broken_head_does_not_hide_what_is_inside() -> None:
    _, found = read("machine M versoin 1 {\n  key id text\n  state A\n}\n")
    assert found == [("DEED101", 1, 11), ("DEED101", 2, 10)]


def test_an_unclosed_brace_does_not_swallow_the_rest() -> None:
    content = LEASE.replace("goto Free }\n\n  in Free {", "goto Free\n\n  in Free {")
    content = content.replace("on Acquire { reject", "on Acquire { rejct")
    _, found = read(content)
    assert found == [
        ("DEED102", *place(content, "{ goto Free\n\n")),
        ("DEED101", *place(content, "rejct")),
    ]


@pytest.mark.parametrize("kind", ["machine", "retry", "scan", "saga"])
def test_each_kind_is_read_item_by_item(kind: str) -> None:
    content = f"{kind} K version 1 {{\n  key id text\n  given n int\n  allow X\n}}\n"
    _, found = read(content)
    assert [(code, line) for code, line, _ in found] == [
        ("DEED101", 2),
        ("DEED101", 3),
        ("DEED101", 4),
    ]


def test_a_file_of_nothing_but_mistakes_ends_after_a_hundred() -> None:
    _, found = read("frob\n" * 1_000)
    assert len(found) == MOST_PROBLEMS


def test_a_problem_that_no_piece_shows_is_still_told() -> None:
    _, found = read("type A = text\nuse b { C }\n")
    assert found == [("DEED101", 2, 1)]


def test_what_a_damaged_declaration_may_have_declared_is_not_missed() -> None:
    damaged = "type Lamp = = text\n\nrecord Room { lamp: Lamp, number: Nmber }\n"
    using = "use a { Lamp, Rom }\n\nrecord House { lamp: Lamp }\n"
    program = compile({"a.deed": damaged, "b.deed": using})
    assert [(p.code, p.span.path, p.message) for p in program.problems] == [
        ("DEED101", "a.deed", "this `=` is one too many"),
        ("DEED201", "a.deed", "there is no type `Nmber`"),
        ("DEED204", "b.deed", "the module `a` does not declare `Rom`"),
    ]


def test_a_machine_with_an_item_that_cannot_be_read_is_not_judged_further() -> None:
    content = LEASE.replace("final Retired", "finl Retired")
    program = compile({"lease.deed": content})
    assert [problem.code for problem in program.problems] == ["DEED101"]


def test_a_module_whose_name_cannot_be_read_may_be_any_that_is_used() -> None:
    program = compile(
        {"a.deed": "module shop,policies\n", "b.deed": "use shop.policies { ladder }\n"}
    )
    assert [(p.code, p.span.path) for p in program.problems] == [("DEED101", "a.deed")]


@pytest.mark.parametrize("margin", ["", "leaning"])
def test_braces_are_blamed_for_nothing_else_however_a_spec_is_laid_out(
    margin: str,
) -> None:
    chance = random.Random(margin)
    lines = [
        " " * (chance.randrange(8) if margin else 0) + line.lstrip()
        for line in LEASE.split("\n")
    ]
    content = "\n".join(lines)
    assert read(content)[1] == []
    words = list(re.finditer(r"\b(?:on|goto|reject|state|in|when|message)\b", content))
    for word in words[:: 1 if SOAK else 5]:
        slip = content[: word.end() - 1] + "q" + content[word.end() - 1 :]
        codes = {code for code, _, _ in read(slip)[1]}
        assert "DEED102" not in codes, slip[word.start() - 40 : word.end() + 40]


def test_a_brace_moved_from_one_block_to_another_is_named_at_both() -> None:
    for closed, opened in ((5, 11), (11, 5)):
        lines = LEASE.split("\n")
        ends = [at for at, line in enumerate(lines) if line == "  }"]
        gone, more = ends[closed % len(ends)], ends[opened % len(ends)]
        lines[more] += "\n  }"
        lines[gone] = ""
        codes = sorted(code for code, _, _ in read("\n".join(lines))[1])
        assert codes == ["DEED101", "DEED102"]


def test_a_very_long_piece_is_not_tried_again_with_changes() -> None:
    for count, is_mended in ((3, True), (3_000, False)):
        params = ", ".join(f"field{n}: int" for n in range(count))
        content = f"machine M version 1 {{ command c(id text, {params}) }}"
        (problem,) = parse(Text.of("a.deed", content))[1]
        assert problem.code == "DEED101"
        assert bool(problem.fixes) is is_mended


def test_a_kind_without_items_has_no_problem_but_its_head() -> None:
    assert read("machine M versoin 1 {}\n")[1] == [("DEED101", 1, 11)]
