"""The file of a released shape: written as JSON, and read with an answer to anything.

The text is a function of the shape alone: order of the spec, two spaces, one line end.
Nothing here opens a file; `read` gives the reason instead of a shape when the text is
not one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias, assert_never, cast

from .. import core
from ..source import Span
from ..types import Base, ChoiceType, Declared, ListOf, Maybe, RecordType, Type
from .shapes import types_of

FORMAT: Final = 1


_RANGE = re.compile(r"(int|duration) in (-?\d*)\.\.(-?\d*)")


_LIST = re.compile(r"list\[(.*)\]")


Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"


def text_of(shape: core.Shape) -> str:
    """The file of a shape."""
    own = shape.module
    document: dict[str, Json] = {
        "format": FORMAT,
        "module": own,
        "machine": shape.machine,
        "version": shape.version,
        "types": {_called(each, own): _made(each, own) for each in types_of(shape)},
        "key": _fields(shape.key, own),
        "given": _fields(shape.given, own),
        "states": {each.name: _state(each, own) for each in shape.states},
        "messages": {each.name: _fields(each.fields, own) for each in shape.messages},
        "commands": {each.name: _command(each, own) for each in shape.commands},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _called(kind: Type, own: str) -> str:
    match kind:
        case Base():
            return kind.value
        case Declared() | RecordType() | ChoiceType():
            return kind.name if kind.module == own else f"{kind.module}.{kind.name}"
        case ListOf(item=item):
            return f"list[{_called(item, own)}]"
        case Maybe(item=item):
            return f"{_called(item, own)}?"
        case _:
            raise AssertionError(f"a field cannot have the type {kind}")


def _made(kind: Declared | RecordType | ChoiceType, own: str) -> Json:
    match kind:
        case Declared(base=base, low=None, high=None):
            return base.value
        case Declared(base=base, low=low, high=high):
            ends = ["" if end is None else str(end) for end in (low, high)]
            return f"{base.value} in {'..'.join(ends)}"
        case RecordType(fields=fields):
            return {"record": {name: _called(inner, own) for name, inner in fields}}
        case ChoiceType(variants=variants):
            return {
                "choice": {
                    name: {field: _called(inner, own) for field, inner in fields}
                    for name, fields in variants
                }
            }
        case _:
            assert_never(kind)


def _fields(fields: tuple[core.Field, ...], own: str) -> dict[str, Json]:
    return {each.name: _called(each.type, own) for each in fields}


def _state(state: core.State, own: str) -> Json:
    """Only what is so is written: most states are not final and keep no deed."""
    document: dict[str, Json] = {"fields": _fields(state.fields, own)}
    if state.awaits is not None:
        document["awaits"] = state.awaits
    if state.open_deed is not None:
        document["deed"] = state.open_deed
    if state.final:
        document["final"] = True
    return document


def _command(command: core.Command, own: str) -> Json:
    document: dict[str, Json] = {
        "params": _fields(command.params, own),
        "outcomes": {each.name: _fields(each.fields, own) for each in command.outcomes},
    }
    if command.unrepeatable:
        document["unrepeatable"] = True
    return document


# ---- reading ----------------------------------------------------------------------


class _NotAShape(Exception):
    """The text is not the file of a shape."""


def read(path: str, text: str) -> core.Shape | str:
    """The shape that a file holds, or why it holds none."""
    try:
        return _Reader(path, _object(json.loads(text), "the file")).shape()
    except _NotAShape as problem:
        return str(problem)
    except (ValueError, RecursionError) as problem:
        return f"it is not JSON: {problem}"


def _object(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _NotAShape(f"{what} is not a JSON object")
    return cast("dict[str, object]", value)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _NotAShape(f"{what} is not a text")
    return value


def _number(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _NotAShape(f"{what} is not a whole number")
    return value


class _Reader:
    """One file: its document, and its types as far as they are known."""

    def __init__(self, path: str, document: Mapping[str, object]) -> None:
        self.document = document
        self.span = Span(path, 0, 0, 1, 1)
        self.made = self._part("types")
        self.types: dict[str, Type] = {}
        self.open: set[str] = set()

    def shape(self) -> core.Shape:
        written = _number(self.document.get("format"), "`format`")
        if written != FORMAT:
            raise _NotAShape(f"its format is {written}, and {FORMAT} is known here")
        version = _number(self.document.get("version"), "`version`")
        if version < 1:
            raise _NotAShape("`version` counts from 1")
        return core.Shape(
            self._name("module"),
            self._name("machine"),
            version,
            self._fields(self.document.get("key"), "`key`"),
            self._fields(self.document.get("given"), "`given`"),
            tuple(self._state(*each) for each in self._part("states").items()),
            tuple(
                core.Message(name, self._fields(fields, f"`{name}`"), None, self.span)
                for name, fields in self._part("messages").items()
            ),
            tuple(self._command(*each) for each in self._part("commands").items()),
        )

    def _part(self, name: str) -> Mapping[str, object]:
        return _object(self.document.get(name), f"`{name}`")

    def _name(self, name: str) -> str:
        return _text(self.document.get(name), f"`{name}`")

    def _fields(self, value: object, what: str) -> tuple[core.Field, ...]:
        return tuple(
            core.Field(name, self._type(_text(kind, f"`{name}`")), None, self.span)
            for name, kind in _object(value, what).items()
        )

    def _state(self, name: str, value: object) -> core.State:
        state = _object(value, f"the state `{name}`")
        names = [
            None if state.get(key) is None else _text(state[key], f"`{name}.{key}`")
            for key in ("awaits", "deed")
        ]
        return core.State(
            name=name,
            fields=self._fields(state.get("fields"), f"`{name}.fields`"),
            final=state.get("final") is True,
            awaits=names[0],
            open_deed=names[1],
            deadlines=(),
            doc=None,
            span=self.span,
        )

    def _command(self, name: str, value: object) -> core.Command:
        command = _object(value, f"the command `{name}`")
        outcomes = _object(command.get("outcomes"), f"`{name}.outcomes`")
        return core.Command(
            name=name,
            params=self._fields(command.get("params"), f"`{name}.params`"),
            outcomes=tuple(
                core.Outcome(one, self._fields(fields, f"`{name}.{one}`"), self.span)
                for one, fields in outcomes.items()
            ),
            unrepeatable=command.get("unrepeatable") is True,
            deadline=False,
            doc=None,
            span=self.span,
        )

    def _type(self, written: str) -> Type:
        if written.endswith("?"):
            return Maybe(self._type(written[:-1]))
        if (found := _LIST.fullmatch(written)) is not None:
            return ListOf(self._type(found[1]))
        for base in Base:
            if base.value == written:
                return base
        if written not in self.types:
            if written not in self.made or written in self.open:
                raise _NotAShape(f"`types` does not say what `{written}` is")
            self.open.add(written)
            self.types[written] = self._declared(written)
        return self.types[written]

    def _declared(self, called: str) -> Type:
        made = self.made[called]
        module, _, name = called.rpartition(".")
        module = module or self._name("module")
        if isinstance(made, str):
            found = _RANGE.fullmatch(made)
            base = Base(found[1]) if found else self._type(made)
            if not isinstance(base, Base):
                raise _NotAShape(f"`{called}` is not made of a base type")
            ends = (found[2], found[3]) if found else ("", "")
            low, high = (int(end) if end not in ("", "-") else None for end in ends)
            return Declared(name, module, base, low, high)
        parts = _object(made, f"the type `{called}`")
        if "record" in parts:
            return RecordType(name, module, self._members(parts["record"], called))
        variants = _object(parts.get("choice"), f"the type `{called}`")
        return ChoiceType(
            name,
            module,
            tuple(
                (variant, self._members(fields, f"{called}.{variant}"))
                for variant, fields in variants.items()
            ),
        )

    def _members(self, value: object, what: str) -> tuple[tuple[str, Type], ...]:
        fields = self._fields(value, f"`{what}`")
        return tuple((each.name, each.type) for each in fields)
