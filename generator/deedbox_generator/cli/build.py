"""`deedbox build`: packages from specs, all of them or none.

A build that has nothing to do finds that out from digests alone, before it imports
the parser, the templates or black: `remember` keeps what the last build read, and
which files it left, in a folder that version control ignores.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ..drift import MANIFEST, Manifest, changes, digest, dump, load, stale
from .project import (
    DEFAULT_OUT,
    Project,
    Unreadable,
    called,
    project,
    write_atomically,
)

CACHE: Final = ".deedbox-cache"
LONGEST_DIFF: Final = 120


@dataclass(frozen=True, slots=True)
class Folder:
    """The output folder; `shown` stands before its files' paths in messages."""

    path: Path
    shown: str
    nested: bool

    def read(self, path: str) -> str | None:
        file = self.path / path
        try:
            return file.read_bytes().decode("utf-8").replace("\r\n", "\n")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable(f"{file} is in the way: {error}") from error


def build(paths: Sequence[Path], out: Path | None, *, check: bool) -> int:
    specs = project(paths)
    folder = _folder(specs, out)
    manifest = load(folder.read(MANIFEST))
    inputs = _inputs(specs, folder)
    if _remembers(folder, inputs, manifest):
        print("nothing to do")
        return 0
    return _build(specs, folder, manifest, inputs, check=check)


def _build(
    specs: Project, folder: Folder, manifest: Manifest, inputs: str, *, check: bool
) -> int:
    from deedbox_dsl.problems import has_errors, in_order
    from deedbox_dsl.render import to_text

    from ..emit import emit, formatted
    from ..stems import unfit
    from .compiled import compiled, summary

    program, found = compiled(specs)
    chosen = set(specs.chosen)
    modules = [each for each in program.modules if each.path in chosen]
    unfit_ = unfit(modules, nested=folder.nested)
    problems = in_order([*found, *unfit_])
    if problems:
        print(to_text(problems, program.texts, called=specs.called), file=sys.stderr)
        print(summary(problems), file=sys.stderr)
    if has_errors(problems):
        return 1
    none: dict[str, dict[str, str]] = {path: {} for path in specs.chosen}
    output = none | emit(modules, program.texts, nested=folder.nested)
    made = changes(
        output,
        manifest,
        folder.read,
        lambda spec: (specs.root / spec).is_file(),
        folder.shown,
    )
    if check:
        found_stale = stale(made, folder.read, formatted, folder.shown)
        for each in found_stale:
            print(to_text([each.problem], {}))
            print(_shortened(each.diff))
        return 1 if has_errors(each.problem for each in found_stale) else 0
    if made.problems:
        print(to_text(made.problems, {}), file=sys.stderr)
        return 1
    for path, text in made.write.items():
        write_atomically(folder.path / path, text)
    for path in made.remove:
        (folder.path / path).unlink()
        _drop_if_empty((folder.path / path).parent)
    if made.manifest != manifest:
        write_atomically(folder.path / MANIFEST, dump(made.manifest))
    if not problems:
        with suppress(Unreadable):  # the next build then reads the specs again
            _remember(folder, inputs, made.manifest)
    _report(folder, len(made.write), len(made.remove))
    return 0


def _report(folder: Folder, written: int, removed: int) -> None:
    gone = f", removed {removed}" if removed else ""
    files = "file" if written == 1 else "files"
    print(f"wrote {written} {files}{gone} in {folder.shown or './'}")


def _shortened(diff: str) -> str:
    lines = diff.split("\n")
    if len(lines) <= LONGEST_DIFF:
        return diff
    return "\n".join(
        [*lines[:LONGEST_DIFF], f"… {len(lines) - LONGEST_DIFF} lines more"]
    )


def _folder(specs: Project, out: Path | None) -> Folder:
    path = (specs.root / DEFAULT_OUT) if out is None else out.resolve()
    if path.exists() and not path.is_dir():
        raise Unreadable(f"{path} is a file; packages go into a folder")
    shown = f"{called(path)}/"
    nested = (path / "__init__.py").is_file()
    return Folder(path, shown.removeprefix("./"), nested)


def _drop_if_empty(folder: Path) -> None:
    """A package whose last file went leaves no empty folder, but for Python's own cache."""
    left = [each for each in folder.iterdir() if each.name != "__pycache__"]
    if not left:
        for each in (folder / "__pycache__").glob("*.pyc"):
            each.unlink()
        for each in (folder / "__pycache__", folder):
            if each.is_dir():
                each.rmdir()


# ---- nothing to do ------------------------------------------------------------


def _inputs(specs: Project, folder: Folder) -> str:
    """A digest of everything that a build depends on, the compiler's own files included."""
    state = sha256(f"{version('black')} {folder.nested} {specs.chosen}".encode())
    for path, text in (*specs.texts.items(), *specs.shapes.items()):
        state.update(f"\n{path} {digest(text)}".encode())
    for file in _compiler_files():
        state.update(b"\n" + sha256(file.read_bytes()).digest())
    return state.hexdigest()


def _compiler_files() -> list[Path]:
    files: list[Path] = []
    for package in ("deedbox_dsl", "deedbox_generator"):
        found = find_spec(package)
        for place in (found and found.submodule_search_locations) or ():
            files += sorted(
                each
                for each in Path(place).rglob("*")
                if each.suffix in {".py", ".j2", ".lark", ".json", ".toml"}
            )
    return files


def _remembers(folder: Folder, inputs: str, manifest: Manifest) -> bool:
    """The last build read the same, and every file is still as that build left it."""
    try:
        last = json.loads((folder.path / CACHE / "last").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return last == _last(inputs, manifest) and all(
        (held := folder.read(path)) is not None and digest(held) == wanted
        for path, wanted in manifest.digests.items()
    )


def _remember(folder: Folder, inputs: str, manifest: Manifest) -> None:
    cache = folder.path / CACHE
    if not (cache / ".gitignore").is_file():
        write_atomically(cache / ".gitignore", "*\n")
    last = json.dumps(_last(inputs, manifest)) + "\n"
    write_atomically(cache / "last", last)


def _last(inputs: str, manifest: Manifest) -> list[str]:
    """What a build read, and what it made: version control may bring back older files."""
    return [inputs, digest(dump(manifest))]
