"""`deedbox release`: the shapes of these machines, recorded under their versions.

Beside each shape the specs are kept as they are, so that a later version can be
verified against all that this one may have stored.

All of them or none: a version that is recorded with another stored shape is not
recorded anew, because rows of it may be in a store.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from deedbox_dsl import core
from deedbox_dsl.problems import has_errors
from deedbox_dsl.program import Program
from deedbox_dsl.render import to_text
from deedbox_dsl.versions.released import Released, released
from deedbox_dsl.versions.shapes import file_name
from deedbox_dsl.versions.stored import same_stored
from deedbox_dsl.versions.written_shapes import text_of

from .compiled import compiled, summary
from .project import (
    DEFAULT_SPECS,
    SHAPES,
    Project,
    called,
    project,
    write_atomically,
)


def release(paths: Sequence[Path]) -> int:
    specs = project(paths)
    program, problems = compiled(specs)
    if problems:
        print(to_text(problems, program.texts, called=specs.called), file=sys.stderr)
        print(summary(problems), file=sys.stderr)
    if has_errors(problems):
        return 1
    recorded, _ = released(specs.shapes)
    chosen = {
        place: shape
        for place, shape in program.shapes.items()
        if place[0] in specs.chosen
    }
    refused = [shape for shape in chosen.values() if not _may_record(shape, recorded)]
    for shape in refused:
        print(
            f"deedbox: version {shape.version} of {shape.machine} is recorded with"
            f" another shape; write `version {shape.version + 1}`",
            file=sys.stderr,
        )
    if refused:
        return 1
    known = [each for shapes in recorded.values() for each in shapes.values()]
    for (path, _), shape in chosen.items():
        file = _file(specs, path, shape, recorded, [*known, *chosen.values()])
        _record(file, shape, text_of(shape), _sources(specs, program, path))
    return 0


def _sources(specs: Project, program: Program, path: str) -> dict[str, str]:
    """The spec and all that it uses, each under the path that its module says."""
    modules = {each.path: each for each in program.modules}
    return {
        f"{modules[source].name.replace('.', '/')}.deed": specs.texts[source]
        for source in modules[path].sources
        if source in modules
    }


def _may_record(shape: core.Shape, recorded: Released) -> bool:
    _, before = _before(shape, recorded)
    return before is None or same_stored(before, shape)


def _before(
    shape: core.Shape, recorded: Released
) -> tuple[str, core.Shape] | tuple[None, None]:
    """The file that records this version already, and what it says."""
    for path, known in recorded.get((shape.module, shape.machine), {}).items():
        if known.version == shape.version:
            return path, known
    return None, None


def _file(
    specs: Project,
    spec: str,
    shape: core.Shape,
    recorded: Released,
    others: Iterable[core.Shape],
) -> Path:
    path, _ = _before(shape, recorded)
    if path is not None:
        return specs.root / path
    return _folder(specs.root, spec) / file_name(shape, others)


def _record(
    file: Path, shape: core.Shape, text: str, sources: Mapping[str, str]
) -> None:
    """The specs before the shape: a shape whose specs are missing says so, and no more."""
    folder = file.with_suffix("")
    wanted = {folder / path: source for path, source in sources.items()} | {file: text}
    there = {file, *folder.rglob("*.deed")} if file.exists() else set[Path]()
    what = f"{shape.machine} {shape.version}"
    if there == wanted.keys() and all(
        path.read_text("utf-8") == said for path, said in wanted.items()
    ):
        print(f"{what}: recorded already")
        return
    for path in there - wanted.keys():
        path.unlink()
    for path, said in wanted.items():
        write_atomically(path, said)
    print(f"{what}: {'updated' if there else 'recorded'} in {called(file)}")


def _folder(root: Path, spec: str) -> Path:
    """The nearest folder of shapes above the spec, or where one belongs."""
    file = root / spec
    for each in file.parents:
        if (each / SHAPES).is_dir():
            return each / SHAPES
        if each == root:
            break
    specs = root / DEFAULT_SPECS
    return (specs if specs in file.parents else file.parent) / SHAPES
