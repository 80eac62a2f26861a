"""Which names each module declares and imports, and from where.

A module that is imported must be there and declare the name, and no modules may
import each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import syntax
from ..naming import named_pascal, named_snake, reserved, taken, unknown
from ..problems import Problem
from ..reserved import BASE_TYPES, why_reserved
from ..source import Span
from .work import Work, module_name


def declare_module(work: Work, path: str) -> None:
    module = work.modules[path]
    name = module_name(path, module)
    if name in work.paths:
        other = work.modules[work.paths[name]].span
        work.problems.append(
            taken(
                name, module.span, other, f"the module name `{name}` is already taken"
            )
        )
    else:
        work.paths[name] = path


def declare_names(work: Work, path: str) -> None:
    table: dict[str, syntax.Declaration] = {}
    for declaration in work.modules[path].declarations:
        name = declaration.name
        if name.text in table:
            work.problems.append(
                taken(name.text, name.span, table[name.text].name.span)
            )
            continue
        table[name.text] = declaration
        if isinstance(declaration, syntax.Policy):
            work.problems += named_snake(name, "policy", why_reserved(name.text))
        elif name.text in BASE_TYPES:
            work.problems.append(reserved(name, "a type of the language"))
        else:
            work.problems += named_pascal(name, "declaration")
    work.declared[path] = table


def import_names(work: Work, path: str) -> None:
    unnamed = any(
        work.lost[other] and not work.modules[other].name for other in work.lost
    )
    origin: dict[str, str] = {}
    places: dict[str, Span] = {}
    for use in work.modules[path].uses:
        source = work.paths.get(use.module.text)
        if source is None and not unnamed:
            text = f"there is no module `{use.module.text}`"
            others = [name for name, at in work.paths.items() if at != path]
            work.problems.append(unknown("DEED204", use.module, text, others))
        for name in use.names:
            own = work.declared[path].get(name.text)
            if own is not None or name.text in places:
                before = own.name.span if own is not None else places[name.text]
                work.problems.append(taken(name.text, name.span, before))
                continue
            places[name.text] = name.span
            if source is None:
                origin[name.text] = ""
                continue
            known = work.declared[source]
            origin[name.text] = source if name.text in known else ""
            if name.text not in known and name.text not in work.lost.get(source, ()):
                text = f"the module `{use.module.text}` does not declare `{name.text}`"
                work.problems.append(unknown("DEED204", name, text, known))
    work.origin[path] = origin


def imports_of(work: Work, path: str) -> Iterator[tuple[str, Span]]:
    for use in work.modules[path].uses:
        source = work.paths.get(use.module.text)
        if source is not None:
            yield source, use.span


def refuse_cycles(work: Work) -> None:
    """Depth-first search; an import of a module that is still open closes a cycle."""
    done: set[str] = set()
    for root in sorted(work.modules):
        trail: list[str] = []
        stack: list[tuple[str, Iterator[tuple[str, Span]]]] = []
        if root not in done:
            trail.append(root)
            stack.append((root, imports_of(work, root)))
        while stack:
            path, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                done.add(path)
                trail.pop()
                stack.pop()
                continue
            source, span = step
            if source in trail:
                names = [
                    module_name(p, work.modules[p])
                    for p in trail[trail.index(source) :]
                ]
                circle = " -> ".join(f"`{name}`" for name in [*names, names[0]])
                text = f"these modules import each other: {circle}"
                work.problems.append(Problem("DEED205", span, text))
            elif source not in done:
                trail.append(source)
                stack.append((source, imports_of(work, source)))


def sources_of(work: Work, path: str) -> tuple[str, ...]:
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        for source, _ in imports_of(work, waiting.pop()):
            if source not in seen and source != path:
                seen.add(source)
                waiting.append(source)
    return (path, *sorted(seen))
