"""Text of the spec as text of Python: always data, never code.

Everything a spec's author wrote in words goes through one of these functions, so
no quote, backslash or line end of it can close a string or a comment.
"""

from __future__ import annotations

import inspect
import re

_PLAIN_DOC = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\xa0\\]*")


def literal(text: str) -> str:
    """A Python literal whose value is exactly `text`; anything unprintable is escaped."""
    written = repr(text)
    return written if '"' in text else f'"{written[1:-1]}"'


def docstring(text: str) -> str:
    """A literal for a docstring: readable where the text is harmless, else escaped.

    The text loses what `inspect.cleandoc` would take from it anyway, when it has an
    indentation of its own and again behind the quotes, and the blanks that end a line.
    """
    lines = inspect.cleandoc(inspect.cleandoc(text)).split("\n")
    clean = "\n".join(each.rstrip() for each in lines)
    readable = (
        _PLAIN_DOC.fullmatch(clean) is not None
        and all(char == "\n" or char.isprintable() for char in clean)
        and '"""' not in clean
        and not clean.startswith('"')
        and not clean.endswith('"')
    )
    if not readable:
        return literal(clean)
    if "\n" in clean:
        return f'"""{clean}\n"""'
    return f'"""{clean}"""'


def doc_of(text: str | None) -> str | None:
    """The docstring of something documented; blank documentation is none."""
    return docstring(text) if text and text.strip() else None


def comment(text: str) -> str:
    """The text for behind a `#`: one line, whatever it was."""
    return text if text.isprintable() else literal(text)
