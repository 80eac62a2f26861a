"""Documents: JSON text with a fixed order of fields, of states, messages and commands.

What is written: one of more than 1 MiB, or with a value that no store keeps, is refused
here and nowhere later.  What is read: a stored document is taken only as it would be
written again, but for its layout, so that nothing in it is lost (R11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import msgspec
from msgspec import Struct
from msgspec.json import Decoder, Encoder

from .errors import DocumentTooLarge, SendError, WrongType

LARGEST: Final = 1 << 20
_encode = Encoder(order="deterministic").encode
_ZEROS: Final = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_LONG: Final = b"0" * 19
_LONG_IN_THIRDS: Final = b"0" * 6
"""What 19 digits in a row leave when only every third byte is looked at."""


def _leaves(value: object) -> Iterator[object]:
    """All texts and numbers of a JSON value, names of fields included."""
    match value:
        case dict():
            for name, inner in cast("dict[str, object]", value).items():
                yield name
                yield from _leaves(inner)
        case list():
            for inner in cast("list[object]", value):
                yield from _leaves(inner)
        case _:
            yield value


def _check(document: bytes) -> None:
    """What JSON can say and a store cannot keep: U+0000, and more than 64 bits."""
    for leaf in _leaves(msgspec.json.decode(document)):
        if isinstance(leaf, str) and "\0" in leaf:
            raise WrongType("a text holds the character U+0000")
        if isinstance(leaf, int) and not -(1 << 63) <= leaf < 1 << 63:
            raise WrongType(f"{leaf} is not a 64-bit integer")


def text(value: object) -> str:
    """The document of a state, message or command."""
    try:
        document = _encode(value)
    except (UnicodeError, OverflowError, TypeError, ValueError) as problem:
        raise WrongType(f"{type(value).__name__}: {problem}") from problem
    if len(document) > LARGEST:
        raise DocumentTooLarge(f"this {type(value).__name__} has {len(document)} bytes")
    said = document.decode()
    # A regular expression for the same two questions costs ten times as much.
    if (
        document[::3].translate(_ZEROS).find(_LONG_IN_THIRDS) >= 0
        and document.translate(_ZEROS).find(_LONG) >= 0
    ) or ("\\" in said and "\\u0000" in said):
        _check(document)
    return said


def plain(message: Struct) -> str:
    """The document of a message that was validated before it was stamped."""
    return _encode(message).decode()


def digest(kind: type[Struct], document: str) -> str:
    """What tells one content from another under the same `message_id`."""
    content = f"{kind.__name__}\n{document}".encode()
    return hashlib.sha256(content).hexdigest()[:32]


def readable(kind: Any, *, whole: bool = True) -> Callable[[str], Any]:
    """The decoder of stored documents of a type; it raises `msgspec.MsgspecError`.

    Where it is more than the type can say (a field of another build, a number of more
    than 64 bits), writing it again would lose that, so it does not fit.  Not `whole`:
    fields that the type no longer has may go, as a later version of the spec says.
    """
    decode = Decoder[Any](kind).decode

    def decoded(document: str) -> Any:
        try:
            value = decode(document)
            known = text(value)
        except UnicodeError as problem:
            raise msgspec.ValidationError("a text in it is no UTF-8") from problem
        except (SendError, RecursionError) as problem:
            raise msgspec.ValidationError(str(problem)) from problem
        if whole and known != document:
            _refuse_unknown(
                msgspec.json.decode(document), msgspec.json.decode(known), "$"
            )
        return value

    return decoded


def _refuse_unknown(stored: object, known: object, place: str) -> None:
    """Raise at the first field of a document that was not read."""
    match stored, known:
        case dict(), dict():
            fields = cast("dict[str, object]", known)
            for name, inner in cast("dict[str, object]", stored).items():
                if name not in fields:
                    raise msgspec.ValidationError(
                        f"Object contains unknown field `{name}` - at `{place}`"
                    )
                _refuse_unknown(inner, fields[name], f"{place}.{name}")
        case list(), list():
            pairs = zip(
                cast("list[object]", stored), cast("list[object]", known), strict=True
            )
            for number, (inner, read) in enumerate(pairs):
                _refuse_unknown(inner, read, f"{place}[{number}]")
        case _:
            pass
