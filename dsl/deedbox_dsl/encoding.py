"""The bytes of a spec file as text: UTF-8, with or without a byte order mark.

Any other encoding is refused by name and place, so that nobody meets it as a
strange character on line 1.
"""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from typing import Final

from .problems import Problem
from .source import Text

_MARKS: Final = (
    (BOM_UTF32_LE, "UTF-32"),
    (BOM_UTF32_BE, "UTF-32"),
    (BOM_UTF16_LE, "UTF-16"),
    (BOM_UTF16_BE, "UTF-16"),
)


def decode(path: str, data: bytes) -> str | Problem:
    """What the file at `path` says, or why that cannot be told."""
    data = data.removeprefix(BOM_UTF8)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _refused(Text(path, ""), f"this file is in {name}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = Text.of(path, data[: error.start].decode("utf-8"))
        byte = data[error.start]
        return _refused(before, f"the byte 0x{byte:02X} here is no UTF-8")


def _refused(before: Text, message: str) -> Problem:
    end = len(before.content)
    return Problem(
        "DEED103",
        before.span(end, end),
        message,
        hints=("Save the file as UTF-8.",),
    )
