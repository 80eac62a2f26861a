"""Generated texts as modules of our own: the code that `build` writes, without a file.

Each load has a root package of its own, so that the explorer may exchange a name in
it, and two loads of one spec share nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import count
from pathlib import PurePosixPath
from types import ModuleType
from typing import Final

_roots: Final = count(1)


class Texts(MetaPathFinder, InspectLoader):
    """Finds and loads modules below `root` in a mapping from path to text."""

    def __init__(self, root: str, files: Mapping[str, str]) -> None:
        self.root = root
        self.files = files

    def path(self, name: str) -> str | None:
        """The file of a module's name, None when there is none."""
        inner = name.removeprefix(self.root).removeprefix(".").replace(".", "/")
        for path in (f"{inner}.py", f"{inner}/__init__.py"):
            if path in self.files:
                return path
        return None

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
        /,
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self.root and not fullname.startswith(f"{self.root}."):
            return None
        if fullname != self.root and self.path(fullname) is None:
            return None
        return spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def is_package(self, fullname: str) -> bool:
        path = self.path(fullname)
        return fullname == self.root or (path or "").endswith("__init__.py")

    def get_source(self, fullname: str) -> str:
        path = self.path(fullname)
        return "" if path is None else self.files[path]


def load(files: Mapping[str, str]) -> dict[str, ModuleType]:
    """All modules of these files, by path."""
    root = f"deedbox_explored_{next(_roots)}"
    finder = Texts(root, files)
    sys.meta_path.insert(0, finder)
    try:
        return {
            path: import_module(
                f"{root}.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
            )
            for path in files
        }
    finally:
        sys.meta_path.remove(finder)


def of_machine(modules: Mapping[str, ModuleType], path: str, name: str) -> ModuleType:
    folder = PurePosixPath(path).stem
    for file, module in modules.items():
        if PurePosixPath(file).parent.name == folder:
            machine: object = getattr(module, "machine", None)
            if getattr(machine, "name", None) == name:
                return module
    raise LookupError(f"{path} generates no module for {name}")
