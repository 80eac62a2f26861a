"""The steps of a run as the lines of a test.

A page of a scan may have been explored smaller than the machine's own.  Records that are
not due are put before it then, so that it is as full as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never, cast

import msgspec
from deedbox.replay import (
    Action,
    Answers,
    Arrives,
    Asks,
    Begin,
    Comes,
    Crash,
    Decides,
    Does,
    Early,
    Fires,
    HandedOut,
    Late,
    Passes,
    Raises,
    Stored,
    Tell,
    Waits,
)
from deedbox.testing import EPOCH
from msgspec import Struct

from ..data.domain import UNIT
from ..scans.listing import Listing

STAMPS: Final = ("at", "ticket")
"""Fields that the interpreter sets itself."""
NOT_DUE: Final = "NOT_DUE"


@dataclass(frozen=True, slots=True)
class Wording:
    """`module`: the name of the generated one.  `more`: how many records a page lacks."""

    module: str
    listing: Listing | None = None
    more: int = 0

    def run(self, name: str, steps: Sequence[Does]) -> Iterator[str]:
        yield f"{name} = ("
        for each in steps:
            yield f"    Does({self.action(each.action)}, {each.phase!r}),"
        yield ")"

    def filling(self) -> Iterator[str]:
        """The records that are not due."""
        listing = self.listing
        if listing is None or not self.more or listing.scanning.due is None:
            return
        record = {**listing.record, listing.scanning.due: EPOCH + UNIT}
        fields = [
            f"{name!r}: {value!r}"
            for name, value in record.items()
            if name != listing.scanning.by
        ]
        named = f'{listing.scanning.by!r}: f"not due {{n}}"'
        yield f"{NOT_DUE} = tuple("
        yield f"    {{{', '.join([named, *fields])}}} for n in range({self.more})"
        yield ")"

    def action(self, done: Action) -> str:
        name = type(done).__name__
        match done:
            case Begin(message) | Tell(message) | Late(message):
                return f"{name}({self.document(message)})"
            case Decides(answer, counts):
                return f"{name}({self.document(answer)}{happens(counts)})"
            case Arrives(answer, deed, counts):
                which = f", {deed}" if deed else ""
                return f"{name}({self.document(answer)}{which}{happens(counts)})"
            case Answers(answer):
                return f"{name}({'' if answer is None else self.document(answer)})"
            case HandedOut(asks):
                return f"{name}({self.asked(asks) if asks else ''})"
            case Comes(field, after):
                return f"{name}({field!r}{f', {after:_}' if after else ''})"
            case Passes(milliseconds) | Waits(milliseconds):
                return f"{name}({milliseconds:_})"
            case Stored():
                return self.stored(done)
            case Raises() | Fires() | Crash() | Early():
                return f"{name}()"
            case _:
                assert_never(done)

    def stored(self, row: Stored) -> str:
        """Only what is said of it, each by its name."""
        said = [
            f"{name}={plain(value)}"
            for name in row.__struct_fields__
            if (value := cast("object", getattr(row, name)))
        ]
        return f"Stored({', '.join(said)})"

    def asked(self, asks: Mapping[str, object]) -> str:
        """What a fetch asks for: of a longer page the machine asks for more."""
        listing, told = self.listing, dict(asks)
        if listing is not None and listing.scanning.cursor in told:
            limit = listing.scanning.limit
            told[limit] = cast(int, told[limit]) + self.more
        return repr(told)

    def document(self, sent: Struct) -> str:
        """A message as the call that makes it of plain values."""
        kind, config = f"{self.module}.{type(sent).__name__}", sent.__struct_config__
        plain: dict[str, object] = msgspec.to_builtins(sent)
        fields = [
            f"{name}={self.value(sent, name, value)}"
            for name, value in plain.items()
            if name not in (*STAMPS, config.tag_field)
        ]
        return f"message({', '.join([kind, *fields])})" if fields else f"{kind}()"

    def value(self, sent: Struct, name: str, value: object) -> str:
        listing = self.listing
        if (
            listing is None
            or not self.more
            or not isinstance(sent, listing.page)
            or name != listing.scanning.listed
            or not value
        ):
            return repr(value)
        records = ", ".join(map(repr, cast("Sequence[object]", value)))
        return f"(*{NOT_DUE}, {records})"


def plain(value: object) -> str:
    match value:
        case Asks(command, document):
            return f"Asks({command!r}, {document!r})"
        case tuple():
            each = (plain(one) for one in cast("tuple[object, ...]", value))
            return f"({', '.join(each)},)"
        case int() if value > 9_999:
            return f"{value:_}"
        case _:
            return repr(value)


def happens(counts: bool) -> str:
    return "" if counts else ", counts=False"
