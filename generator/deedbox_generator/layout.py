"""The simple half of black's work, so that black has less to do.

Most of what is generated are structs, and functions of short lines and of calls that
are too long for one.  Such a block is laid out here exactly as black would do it;
one with anything else in it is black's, whole.  What may be told apart stands in
`_block`; when in doubt it gives None.  A test holds the result against black.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

WIDTH: Final = 88
_BLOCK: Final = re.compile(r"^(?:class|def) .*\n(?:(?:[ )].*)?\n)*", re.MULTILINE)
_TABLE: Final = re.compile(
    r"^(?P<head>\w+: .* = [({])\n(?P<rows>(?:    .*,\n)+)(?P<close>[)}])\n",
    re.MULTILINE,
)
_STAND_IN: Final = re.compile(
    r"^(?:def _stands_for_(\d+)\(\):\n    pass|_stands_for_(\d+) = 0)\n", re.MULTILINE
)
_DOCSTRING: Final = re.compile(r' +"""[^"\\ ](?:[^"\\]*[^"\\ ])?"""')
_CALL: Final = re.compile(
    r"(?P<head> *(?:(?:def )?\w+|(?:return|\w+ =) \w+|return \w+, ))"
    r"\((?P<body>.*)\)(?P<tail>( -> \w+:)?)"
)
_REFERRED: Final = re.compile(r"(?P<head> *(?:return|\w+ =) \w+\()(?P<comment>  # .*)")
_LOOSE: Final = re.compile(r"(?:return|=|in|if|else) \(| :|  (?!#)")
_FIELD: Final = re.compile(r"    \w+: .*")


def laid_out(text: str, black: Callable[[str], str]) -> str:
    """What `black` makes of the text, of which it is shown only a part."""
    laid: list[str] = []
    ended = -1

    def block(found: re.Match[str]) -> str:
        nonlocal ended
        lines = _block(found[0].rstrip("\n").split("\n"))
        if lines is None:
            return found[0]
        follows, ended = found.start() == ended, found.end()
        said = "\n".join(lines) + "\n"
        if follows:
            laid[-1] += f"\n\n{said}"
            return ""
        laid.append(said)
        return f"def _stands_for_{len(laid) - 1}():\n    pass\n\n\n"

    def table(found: re.Match[str]) -> str:
        rows = found["rows"].rstrip("\n").split("\n")
        if not all(len(row) <= WIDTH and _is_whole(row[:-1]) for row in rows):
            return found[0]
        laid.append(found[0])
        return f"_stands_for_{len(laid) - 1} = 0\n"

    shown = black(_TABLE.sub(table, _BLOCK.sub(block, text)))
    return _STAND_IN.sub(lambda one: laid[int(one[1] or one[2])], shown)


def _block(lines: list[str]) -> list[str] | None:
    """The lines of one class or function as black writes them, if that is simple."""
    if lines[0].startswith("class "):
        return _struct(lines)
    found: list[str] = []
    waiting = iter(lines)
    for line in waiting:
        referred = _REFERRED.fullmatch(line)
        if referred is not None:
            more = _broken(f"{referred['head']}{next(waiting).strip()}", broken=True)
            more = more and [more[0] + referred["comment"], *more[1:]]
        elif (
            _DOCSTRING.fullmatch(line) and len(line) <= WIDTH
        ) or line.strip().startswith("#"):
            more = [line]
        else:
            more = _broken(line, broken=False)
        if more is None or any(len(each) > WIDTH for each in more):
            return None
        found += more
    return found


def _struct(lines: list[str]) -> list[str] | None:
    """A head, a docstring of one line perhaps, and fields: nothing else."""
    head, *rest = (line for line in lines if line)
    doc = rest[:1] if rest and _DOCSTRING.fullmatch(rest[0]) else []
    fields = rest[len(doc) :]
    simple = all(_FIELD.fullmatch(line) and _is_whole(line) for line in fields)
    if not simple or max(map(len, lines)) > WIDTH or not (doc or fields):
        return None
    return [head, *doc, *([""] if doc and fields else []), *fields]


def _broken(line: str, *, broken: bool) -> list[str] | None:
    """A line that black leaves alone, or a call broken over several."""
    if not _is_plain(line):
        return None
    if len(line) <= WIDTH and not broken:
        return [line] if _is_whole(line) else None
    call = _CALL.fullmatch(line)
    if call is None:
        return None
    head, body, tail = call["head"], call["body"], call["tail"]
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    parts = _parts(body)
    if parts is None or not parts:
        return None
    close = f"{indent[4:]}){tail}"
    is_tuple = head.endswith(" ")
    if not is_tuple and len(indent) + len(body) <= WIDTH and not body.endswith(","):
        return [f"{head}(", f"{indent}{body}", close]
    inside: list[str] = []
    for part in parts:
        if len(indent) + len(part) + 1 <= WIDTH:
            inside.append(f"{indent}{part},")
            continue
        inner = _broken(f"{indent}{part}", broken=True)
        if inner is None:
            return None
        inside += [*inner[:-1], inner[-1] + ","]
    return [f"{head}(", *inside, close]


def _is_plain(line: str) -> bool:
    """No string that black would write in another way, no comma that it obeys."""
    return not (
        "'" in line or "\\" in line or ", )" in line or line.endswith(("(", ","))
    )


def _is_whole(line: str) -> bool:
    """Every bracket that it opens it closes, and a comma before one is of a one-tuple.

    Nor are there parentheses or spaces that black might take away.
    """
    if not _is_plain(line):
        return False
    code = re.sub(r'"[^"]*"', '""', line.strip())
    if _LOOSE.search(code):
        return False
    return all(code.count(a) == code.count(b) for a, b in ("()", "[]", "{}")) and (
        ",)" not in code or re.search(r"\((?:\w+|\w+\([^()]*\)),\)$", code) is not None
    )


def _parts(body: str) -> list[str] | None:
    """The arguments of a call; None when a bracket or a string does not end."""
    parts = [part.strip() for part in _split(body)]
    if parts and not parts[-1]:
        parts.pop()
    return parts if all(parts) and all(map(_is_whole, parts)) else None


def _split(body: str) -> Iterator[str]:
    depth, begin, quoted = 0, 0, False
    for at, char in enumerate(body):
        if char == '"':
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        elif not quoted and char == "," and depth == 0:
            yield body[begin:at]
            begin = at + 1
    yield body[begin:]
