"""`deedbox diff OLD NEW`: what one version of a spec breaks for users of another."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deedbox_dsl import compile, core
from deedbox_dsl.problems import Problem, has_errors, severity
from deedbox_dsl.program import MIGRATING
from deedbox_dsl.render import to_text
from deedbox_dsl.source import Span, Text
from deedbox_dsl.versions.diff import Change, breaks_store, diff
from deedbox_dsl.versions.released import released
from deedbox_dsl.versions.written_shapes import read, text_of

from .project import Unreadable, project

LEVELS = {
    "STORE": "stored states and owed commands",
    "WIRE": "what senders send and handlers answer",
    "SOURCE": "names and types of the generated code",
}


@dataclass(frozen=True, slots=True)
class Side:
    """The machines of one side, by name, and how each comes from a shape of the other."""

    shapes: Mapping[str, core.Shape]
    migrations: Mapping[str, core.Migration]
    called: Mapping[str, str]
    """How the user calls its files."""


@dataclass(frozen=True, slots=True)
class Compared:
    machine: str
    old: int
    new: int | None
    changes: tuple[Change, ...]

    @property
    def breaks(self) -> bool:
        return self.new is None or breaks_store(self.changes)


class Unsound(Exception):
    """A side that does not compile; its problems have been printed."""


def differences(old: Path, new: Path, format: str) -> int:
    try:
        before = _side(old, {})
        after = _side(new, before.shapes)
    except Unsound:
        return 1
    found = [_compared(shape, after) for shape in before.shapes.values()]
    if format == "json":
        print(json.dumps({"machines": [_data(each) for each in found]}, indent=2))
    else:
        names = {**before.called, **after.called}
        print("\n\n".join(_text(each, names) for each in found))
    return 1 if any(each.breaks for each in found) else 0


def _compared(old: core.Shape, after: Side) -> Compared:
    new = after.shapes.get(old.machine)
    if new is None:
        return Compared(old.machine, old.version, None, ())
    migration = after.migrations.get(old.machine)
    found = diff(old, new, migration)
    return Compared(old.machine, old.version, new.version, found)


# ---- the two sides ---------------------------------------------------------------------


def _side(path: Path, older: Mapping[str, core.Shape]) -> Side:
    """`older`: the shapes of the other side, which this one may migrate from."""
    if path.suffix != ".json":
        return _spec(path, older)
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}") from error
    shape = read(path.as_posix(), Text.of(path.as_posix(), text).content)
    if isinstance(shape, str):
        raise Unreadable(f"{path} is no recorded shape: {shape}")
    return Side({shape.machine: shape}, {}, {})


def _spec(path: Path, older: Mapping[str, core.Shape]) -> Side:
    if path.is_dir():
        raise Unreadable(f"{path} is a folder; `diff` takes two specs or shapes")
    specs = project([path])
    (chosen,) = specs.chosen
    program = compile(specs.texts, specs.shapes)
    shapes = {
        name: shape
        for (where, name), shape in program.shapes.items()
        if where == chosen
    }
    known = {
        where: text
        for own in released(specs.shapes)[0].values()
        for where, shape in own.items()
        if not _same_version(shape, older)
        for text in [specs.shapes[where]]
    }
    for name, shape in older.items():
        if name in shapes and shape.version < shapes[name].version:
            moved = dataclasses.replace(shape, module=shapes[name].module)
            known[f"{name} {shape.version}"] = text_of(moved)
    program = compile(specs.texts, known)
    own = [each for each in program.problems if each.span.path == chosen]
    if not shapes or has_errors(_apart_from_migrations(own)):
        print(to_text(own, program.texts, called=specs.called), file=sys.stderr)
        raise Unsound
    migrations = {
        machine.name: each
        for module in program.modules
        if module.path == chosen
        for machine in module.machines
        for each in machine.migrations
        if machine.name in older and each.older.version == older[machine.name].version
    }
    return Side(
        shapes, migrations, {name: specs.called(name) for name in known | specs.texts}
    )


def _same_version(shape: core.Shape, older: Mapping[str, core.Shape]) -> bool:
    other = older.get(shape.machine)
    return other is not None and other.version == shape.version


def _apart_from_migrations(problems: Iterable[Problem]) -> list[Problem]:
    return [
        each
        for each in problems
        if severity(each.code) == "error" and each.code not in MIGRATING
    ]


# ---- words -----------------------------------------------------------------------------


def _text(compared: Compared, called: Mapping[str, str]) -> str:
    if compared.new is None:
        return f"{compared.machine} {compared.old}: there is no such machine any more"
    lines = [f"{compared.machine}: version {compared.old} to {compared.new}"]
    for level, what in LEVELS.items():
        found = [each for each in compared.changes if each.level == level]
        lines.append(f"  {level:<6} {what}: {_summary(found)}")
        for each in found:
            word = "migrated" if each.migrated else "breaks"
            lines.append(f"    {word:<8} {each.what}  ({_place(each.place, called)})")
    if compared.breaks:
        lines.append(
            f"  Rows of version {compared.old} cannot be read: write `migrate from"
            f" {compared.old}` in a version above it."
        )
    return "\n".join(lines)


def _summary(found: list[Change]) -> str:
    if not found:
        return "compatible"
    left = sum(not each.migrated for each in found)
    if left == 0:
        return "all migrated"
    return "1 thing breaks" if left == 1 else f"{left} things break"


def _place(place: Span, called: Mapping[str, str]) -> str:
    """A recorded shape has no lines to speak of."""
    path = called.get(place.path, place.path)
    return f"{path}:{place.line}" if place.end else path


def _data(compared: Compared) -> dict[str, object]:
    return {
        "machine": compared.machine,
        "old": compared.old,
        "new": compared.new,
        "breaks_store": compared.breaks,
        "changes": [
            {
                "level": each.level,
                "what": each.what,
                "migrated": each.migrated,
                "path": each.place.path,
                "line": each.place.line,
                "column": each.place.column,
            }
            for each in compared.changes
        ],
    }
