"""Where specs are, and what they are called.

A spec's name is its posix path relative to the project: the nearest folder above
it with a `pyproject.toml`, else the folder that was given.  So what is written depends
on neither the working folder nor the machine.  A person is told the path from where
they stand (`called`), which they can click and open.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deedbox_dsl.encoding import decode
from deedbox_dsl.problems import Problem

SUFFIX: Final = ".deed"
DEFAULT_SPECS: Final = "specs"
DEFAULT_OUT: Final = "generated"
SHAPES: Final = ".shapes"
"""The folder of recorded shapes: beside a spec, or beside a folder that it lies in."""

_MODULE = re.compile(r"^\s*module\s+([\w.]+)", re.MULTILINE)
_USE = re.compile(r"^\s*use\s+([\w.]+)", re.MULTILINE)


class Unreadable(Exception):
    """A path that was given cannot be used."""


@dataclass(frozen=True, slots=True)
class Project:
    """`chosen`: the specs that the caller asked for; `texts`: those and what they may `use`.

    `shapes`: the recorded shapes that lie beside or above those; `kept`: the specs as they
    were when a shape was recorded, in a folder beside it.
    """

    root: Path
    texts: dict[str, str]
    chosen: tuple[str, ...]
    shapes: dict[str, str]
    kept: dict[str, str]

    def called(self, name: str) -> str:
        """A file of the project as the user calls it."""
        return called(self.root / name)

    def in_repository(self, name: str) -> str:
        """A file of the project as GitHub calls it: by its path in the checkout."""
        return called(self.root / name, Path(os.environ.get("GITHUB_WORKSPACE", ".")))


def called(file: Path, place: Path = Path()) -> str:
    """A file as it is called from a folder; one that is far from it, in full."""
    here = place.resolve()
    shared = {here, *here.parents} & {file, *file.parents}
    if shared == {Path(here.anchor)}:
        return file.as_posix()
    return Path(os.path.relpath(file, here)).as_posix()


def project(paths: Sequence[Path]) -> Project:
    """The specs at `paths`, or those of the project around the working folder."""
    for path in paths:
        if not path.exists():
            raise Unreadable(f"there is no {path}")
        if path.is_file() and path.suffix != SUFFIX:
            raise Unreadable(f"{path} is no spec: specs end in {SUFFIX}")
    root = root_of(paths)
    wanted = [path.resolve() for path in paths] or [root / DEFAULT_SPECS]
    chosen = sorted({spec for path in wanted for spec in _specs(path)})
    if not chosen:
        raise Unreadable(f"there is no spec in {', '.join(map(str, wanted))}")
    texts = {_name(spec, root): _text(spec) for spec in chosen}
    names = tuple(texts)
    if any(_USE.search(text) for text in texts.values()):
        around = [path if path.is_dir() else path.parent for path in wanted]
        for spec in sorted(
            {spec for path in (*around, root / DEFAULT_SPECS) for spec in _specs(path)}
        ):
            _add_if_readable(texts, spec, root)
    needed = _needed(texts, names)
    return Project(root, needed, names, *_released(root, needed))


def _add_if_readable(texts: dict[str, str], spec: Path, root: Path) -> None:
    """A spec that nobody asked for; one that cannot be read is not in anybody's way."""
    name = _name(spec, root)
    if name not in texts:
        with suppress(Unreadable):
            texts[name] = _text(spec)


def root_of(paths: Sequence[Path]) -> Path:
    given = paths[0].resolve() if paths else Path.cwd()
    folder = given if given.is_dir() else given.parent
    for each in (folder, *folder.parents):
        if (each / "pyproject.toml").is_file():
            return each
    return folder


def _needed(texts: dict[str, str], chosen: tuple[str, ...]) -> dict[str, str]:
    """The chosen specs and every file whose module one of them may name in a `use`.

    A look at the lines that say so; what they mean is the compiler's to find out.
    """
    modules: dict[str, list[str]] = {}
    for path, text in texts.items():
        declared = _MODULE.search(text)
        modules.setdefault(declared[1] if declared else Path(path).stem, []).append(
            path
        )
    needed = set[str]()
    waiting = list(chosen)
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            for name in _USE.findall(texts[path]):
                waiting += modules.get(name, ())
    return {path: text for path, text in texts.items() if path in needed}


def _released(
    root: Path, specs: Iterable[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The recorded shapes, and the specs that are kept in a folder beside each."""
    folders = {
        folder
        for spec in specs
        for folder in (root / spec).parents
        if folder == root or root in folder.parents
    }
    # A spec outside the project has no folder in common with it but its own.
    folders |= {(root / spec).parent for spec in specs}
    files = sorted(
        {file for folder in folders for file in (folder / SHAPES).glob("*.json")}
    )
    kept = sorted(
        {
            spec
            for file in files
            for spec in file.with_suffix("").rglob(f"*{SUFFIX}")
            if spec.is_file()
        }
    )
    return (
        {_name(file, root): _text(file) for file in files},
        {_name(spec, root): _text(spec) for spec in kept},
    )


def write_atomically(path: Path, text: str) -> None:
    """All of the file or nothing, whatever stops the process."""
    try:
        _replace(path, text)
    except OSError as error:
        raise Unreadable(
            f"{called(path)} cannot be written: {error.strerror}"
        ) from error


def put(text: str, out: Path | None) -> None:
    """What a command has made: printed, or written where the user says."""
    if out is None:
        print(text, end="")
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{out} cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _specs(path: Path) -> Iterable[Path]:
    if path.is_file():
        return (path,)
    return (
        each
        for each in path.rglob(f"*{SUFFIX}")
        if each.is_file()
        and not any(
            part.startswith(".") for part in each.relative_to(path).parent.parts
        )
    )


def _name(spec: Path, root: Path) -> str:
    try:
        return spec.relative_to(root).as_posix()
    except ValueError:
        return Path(os.path.relpath(spec, root)).as_posix()


def _text(spec: Path) -> str:
    try:
        text = decode(spec.as_posix(), spec.read_bytes())
    except OSError as error:
        raise Unreadable(f"{called(spec)} cannot be read: {error.strerror}") from error
    if isinstance(text, Problem):
        raise Unreadable(f"{called(spec)}:{text.span.line}: {text.message}")
    return text
