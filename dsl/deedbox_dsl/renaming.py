"""The edits that give a name its usual spelling wherever it is written (DEED207).

Every word of the file that reads like the old name is exchanged, which keeps the
meaning when nothing was called like the new one.  The edits are offered only when
that is certain: the old name is no word of the language, names one sort of thing,
is written in no other file, and the file can be read as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from . import syntax
from .parse.lexemes import Lexeme, scan
from .problems import Edit, Fix, Problem
from .reserved import LANGUAGE
from .source import Text
from .walk import nodes

_PASCAL: Final = (
    *(syntax.State, syntax.Message, syntax.Alias, syntax.Record, syntax.Choice),
    *(syntax.Variant, syntax.Machine, syntax.Retry, syntax.Scan, syntax.Saga),
)
_SNAKE: Final = (
    *(syntax.Field, syntax.Outcome, syntax.Command, syntax.Policy, syntax.Step),
    *(syntax.Let, syntax.Property),
)


def with_renames(
    problems: Iterable[Problem],
    modules: Mapping[str, syntax.Module],
    texts: Mapping[str, Text],
) -> list[Problem]:
    """The problems, those of spelling with edits for every use, or with none."""
    return [
        replace(each, fixes=_everywhere(each.fixes[0], modules, texts))
        if each.code == "DEED207" and each.fixes
        else each
        for each in problems
    ]


def _everywhere(
    fix: Fix, modules: Mapping[str, syntax.Module], texts: Mapping[str, Text]
) -> tuple[Fix, ...]:
    (edit,) = fix.edits
    path, text = edit.span.path, texts[edit.span.path]
    old, new = text.content[edit.span.start : edit.span.end], edit.text
    words = {each: _words(texts[each]) for each in modules}
    elsewhere = any(
        word.text == old
        for other, found in words.items()
        for word in found
        if other != path
    )
    taken = any(word.text == new for word in words[path])
    reserved = old in LANGUAGE or new in LANGUAGE
    if elsewhere or taken or reserved or _is_ambiguous(old, modules[path]):
        return ()
    places = [word for word in words[path] if word.text == old]
    edits = tuple(Edit(text.span(at.start, at.end), new) for at in places)
    return (Fix(fix.title, edits),)


def _words(text: Text) -> list[Lexeme]:
    return [each for each in scan(text).lexemes if each.sort == "word"]


def _is_ambiguous(name: str, module: syntax.Module) -> bool:
    """Whether things that are spelled differently are called so."""
    sorts: set[bool] = set()
    for node in nodes(module.declarations):
        if isinstance(node, _PASCAL) and node.name.text == name:
            sorts.add(True)
        if isinstance(node, _SNAKE) and node.name.text == name:
            sorts.add(False)
        if isinstance(node, syntax.Attempt) and node.command.text == name:
            sorts.add(False)
    return len(sorts) > 1
