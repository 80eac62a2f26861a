"""Plans to files: a pure function from checked modules to paths and their texts.

The same modules and texts give the same bytes, whatever the working folder, the
locale, the line ends of the specs or the hash seed.  Templates lay out; what a
module imports is read off its finished text; black has the last word.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

import black
import jinja2
from black.mode import Mode, TargetVersion
from deedbox_dsl import core
from deedbox_dsl.source import Text

from . import plan
from .layout import laid_out
from .packages import has_output, package
from .quoting import comment, docstring

OUTPUT_FORMAT: Final = 1
"""Grows when the same spec gives other text, so that `build` knows to write it anew."""

MODE: Final = Mode(target_versions={TargetVersion.PY311}, line_length=88, preview=False)

_STANDARD: Final[Mapping[str, str]] = {
    "Awaitable": "collections.abc",
    "Callable": "collections.abc",
    "Mapping": "collections.abc",
    "Annotated": "typing",
    "Any": "typing",
    "Final": "typing",
    "Never": "typing",
    "NewType": "typing",
    "Protocol": "typing",
    "TypeAlias": "typing",
    "assert_never": "typing",
}
_INSTALLED: Final[Mapping[str, str]] = {
    "UNSTAMPED": "deedbox",
    "CommandType": "deedbox",
    "Due": "deedbox",
    "Duration": "deedbox",
    "Instant": "deedbox",
    "Machine": "deedbox",
    "Older": "deedbox",
    "Refused": "deedbox",
    "SagaRoles": "deedbox",
    "ScanRoles": "deedbox",
    "SqliteTable": "deedbox",
    "StepRoles": "deedbox",
    "Told": "deedbox",
    "Transition": "deedbox",
    "key_text": "deedbox",
    "spread": "deedbox",
    "Meta": "msgspec",
    "Struct": "msgspec",
}
_SECTIONS: Final = (
    "constants",
    "states",
    "messages",
    "commands",
    "handlers",
    "reducer",
    "wake",
    "migrate",
    "transitions",
    "descriptor",
)


def emit(
    modules: Iterable[core.Module], texts: Mapping[str, Text], *, nested: bool = False
) -> dict[str, dict[str, str]]:
    """For each spec, its files: posix paths below the output folder, and their texts.

    `nested`: the output folder is itself a package.
    """
    return {
        module.path: _files(package(module, spec_hash(module, texts), nested=nested))
        for module in modules
        if has_output(module)
    }


def spec_hash(module: core.Module, texts: Mapping[str, Text]) -> str:
    """Twelve digits that move when the spec, or a spec it imports, says anything else."""
    digest = sha256(f"{OUTPUT_FORMAT}\n".encode())
    for path in module.sources:
        content = texts[path].content.encode()
        digest.update(f"{path}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def formatted(text: str) -> str:
    """The text as black writes it: its only call."""
    return black.format_str(text, mode=MODE)


def _files(package_: plan.Package) -> dict[str, str]:
    head = _render(
        "header.j2",
        format=OUTPUT_FORMAT,
        source=comment(package_.source),
        spec_hash=package_.spec_hash,
    )
    bodies: dict[str, tuple[str, str]] = {}
    origins = _names(package_, ".types") | {e.name: e.module for e in package_.imports}
    of_module: dict[str, Mapping[str, str]] = {}
    if package_.aliases or package_.records:
        doc = docstring(f"The types of `{package_.module}`.")
        bodies["types"] = doc, _render("types.j2", package=package_)
    for machine in package_.machines:
        body = "\n\n".join(
            _render(f"{each}.j2", machine=machine, spec_hash=package_.spec_hash)
            for each in _SECTIONS
        )
        bodies[machine.module] = machine.doc, body
        of_module[machine.module] = origins | {e.module: "." for e in machine.older}
        for older in machine.older:
            bodies[older.module] = older.doc, _render("older.j2", package=older)
            of_module[older.module] = _origins_of(older, origins)
        doc = docstring(
            f"Where SQLite keeps `{machine.name}`: table, view, statements."
        )
        bodies[f"{machine.module}_sqlite"] = (
            doc,
            _render("sqlite.j2", table=machine.table),
        )
    written = {
        f"{package_.name}/{name}.py": laid_out(
            f"{head}{doc}\n\nfrom __future__ import annotations\n\n"
            f"{_imports(body, name, of_module.get(name, origins))}\n\n{body}",
            formatted,
        )
        for name, (doc, body) in bodies.items()
    }
    modules = [each.module for each in package_.machines]
    modules += ["types"] if "types" in bodies else []
    init = _render(
        "init.j2", doc=docstring(f"What {package_.source} becomes."), modules=modules
    )
    return {f"{package_.name}/__init__.py": formatted(head + init), **written}


def _names(declaring: plan.Package | plan.Older, module: str) -> dict[str, str]:
    """The names of the types that it declares, all in this module."""
    names = [each.name for each in declaring.aliases]
    for each in declaring.records:
        names.append(each.name)
        if isinstance(each, plan.Choice):
            names += [variant.name for variant in each.variants]
    return dict.fromkeys(names, module)


def _origins_of(older: plan.Older, origins: Mapping[str, str]) -> dict[str, str]:
    """Where a released version's module finds its types: here, in a later one, in `types`."""
    own = _names(older, "")
    later = {each.name: each.module for each in older.imports}
    kept = {name: module for name, module in origins.items() if name not in own}
    return kept | later


def _imports(body: str, name: str, origins: Mapping[str, str]) -> str:
    """One line for each module that `body` needs names of, in the usual three groups."""
    tree = ast.parse(body)
    used = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    own = {} if name == "types" else dict(origins)
    if name == "types":
        own = {key: module for key, module in origins.items() if module != ".types"}
    if "machine" in {
        each.target.id
        for each in tree.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }:
        own["table"] = f".{name}_sqlite"
    groups = (_STANDARD, _INSTALLED, own)
    return "\n\n".join(filter(None, (_group(used, group) for group in groups)))


def _group(used: set[str], origins: Mapping[str, str]) -> str:
    names: dict[str, list[str]] = {}
    for name in sorted(used & origins.keys(), key=_as_isort):
        names.setdefault(origins[name], []).append(name)
    return "\n".join(
        f"from {module} import {', '.join(names[module])}" for module in sorted(names)
    )


def _as_isort(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


@cache
def _templates() -> jinja2.Environment:
    folder = files(__package__ or "deedbox_generator") / "python"
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _render(template: str, **context: object) -> str:
    return _templates().get_template(template).render(**context)
