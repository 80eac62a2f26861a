"""Whatever is done to a spec, there is an answer: a tree or a problem with a place.

A seeded run of random damage to the gallery: tokens deleted, doubled, exchanged and
swapped, files cut off, bytes overwritten, characters nobody can see, deep nesting,
very long lines.  DEEDBOX_SOAK=1 does ten times as much.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from deedbox_dsl import compile
from deedbox_dsl.encoding import decode
from deedbox_dsl.parse import parse
from deedbox_dsl.parse.lexemes import Lexeme, scan
from deedbox_dsl.problems import Problem
from deedbox_dsl.source import Text

SPECS = Path(__file__).parents[3].joinpath("specs")
GALLERY = {
    str(path.relative_to(SPECS)): path.read_text("utf-8")
    for path in sorted(SPECS.glob("*/*.deed"))
}
TIMES = 10 if os.environ.get("DEEDBOX_SOAK") == "1" else 1
ROUNDS = 20

Damage = Callable[[random.Random, str, Sequence[Lexeme]], str]


def delete(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    gone = chance.choice(lexemes)
    return content[: gone.start] + content[gone.end :]


def double(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    twice = chance.choice(lexemes)
    return content[: twice.end] + " " + content[twice.start :]


def exchange(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    old, new = chance.choice(lexemes), chance.choice(lexemes)
    return content[: old.start] + new.text + content[old.end :]


def swap(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    first, second = sorted(chance.sample(lexemes, 2), key=lambda each: each.start)
    return (
        content[: first.start]
        + second.text
        + content[first.end : second.start]
        + first.text
        + content[second.end :]
    )


def misspell(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    word = chance.choice([each for each in lexemes if each.sort == "word"])
    at = chance.randrange(word.start, word.end)
    return content[:at] + chance.choice("aeZ_1") + content[at + 1 :]


def cut(chance: random.Random, content: str, _: Sequence[Lexeme]) -> str:
    return content[: chance.randrange(len(content))]


def insert(chance: random.Random, content: str, _: Sequence[Lexeme]) -> str:
    at = chance.randrange(len(content))
    odd = "\0\ufeff\u200b\u202e\x1b\r\"'{}()[]|/;“”\u0410\ud7ff\U0001f389\f\\`"
    return content[:at] + chance.choice(odd) + content[at:]


def overwrite(chance: random.Random, content: str, _: Sequence[Lexeme]) -> str:
    data = bytearray(content.encode())
    for _times in range(chance.randrange(1, 6)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    decoded = decode("a.deed", bytes(data))
    if isinstance(decoded, Problem):
        assert decoded.span.line >= 1
        return bytes(data).decode("utf-8", errors="replace")
    return decoded


def nest(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    at = chance.choice([each for each in lexemes if each.sort != "doc"]).end
    deep = chance.choice(
        ("(", "[", "{", "not ", "-", "a.", "if a then b else ", "list[")
    )
    return content[:at] + " " + deep * 10_000 + content[at:]


def stretch(chance: random.Random, content: str, lexemes: Sequence[Lexeme]) -> str:
    at = chance.choice(lexemes).end
    long = chance.choice(
        ("a", "9", " ", '"', "/", "a ", "(a) ", "a, ", ";", "ü", "\t}")
    )
    return content[:at] + " " + long * (1_000_000 // len(long)) + content[at:]


CHEAP: tuple[Damage, ...] = (
    *(delete, double, exchange, swap, misspell, cut, insert, overwrite),
)
HEAVY: tuple[Damage, ...] = (nest, stretch)


def answered(content: str, original: str) -> None:
    """A text either cannot be read, with a place, or is read as what it says."""
    text = Text.of("a.deed", content)
    module, problems = parse(text)
    for problem in problems:
        assert problem.code.startswith("DEED")
        assert problem.message
        assert 0 <= problem.span.start <= problem.span.end <= len(text.content)
        assert problem.span == text.span(problem.span.start, problem.span.end)
    if not problems and module == parse(Text.of("a.deed", original))[0]:
        assert telling(content) == telling(original)


def telling(content: str) -> list[str]:
    """The lexemes that mean something whatever stands beside them."""
    lexemes = scan(Text.of("", content)).lexemes
    return [
        each.text.rstrip().replace("_", "")
        for each in lexemes
        if each.text not in ("(", ")", ",", "|", "{", "}")
    ]


@pytest.mark.parametrize("damage", CHEAP, ids=lambda damage: damage.__name__)
def test_damaged_text_is_answered(damage: Damage) -> None:
    chance = random.Random(damage.__name__)
    for original in GALLERY.values():
        lexemes = scan(Text.of("", original)).lexemes
        for _ in range(ROUNDS * TIMES // 2):
            answered(damage(chance, original, lexemes), original)


@pytest.mark.parametrize("damage", HEAVY, ids=lambda damage: damage.__name__)
def test_monstrous_text_is_answered(damage: Damage) -> None:
    chance = random.Random(damage.__name__)
    for _ in range(ROUNDS * TIMES):
        original = chance.choice(list(GALLERY.values()))
        lexemes = scan(Text.of("", original)).lexemes
        content = damage(chance, original, lexemes)
        assert parse(Text.of("a.deed", content))[1] or damage is stretch


@pytest.mark.parametrize("damage", CHEAP, ids=lambda damage: damage.__name__)
def test_a_damaged_gallery_compiles_or_says_why_not(damage: Damage) -> None:
    chance = random.Random(f"{damage.__name__} compiled")
    for _ in range(ROUNDS * TIMES):
        path = chance.choice(list(GALLERY))
        original = GALLERY[path]
        lexemes = scan(Text.of("", original)).lexemes
        damaged = damage(chance, original, lexemes)
        sources = {**imported(original), path: damaged}
        program = compile(sources)
        built = {module.path for module in program.modules}
        wrong = {problem.span.path for problem in program.problems}
        assert set(sources) <= built | wrong or program.problems


def imported(content: str) -> dict[str, str]:
    """The gallery's specs that `content` uses."""
    uses = {line.split()[1] for line in content.splitlines() if line.startswith("use ")}
    return {
        path: said
        for path, said in GALLERY.items()
        if any(f"module {module}\n" in said for module in uses)
    }
