"""Imports and policies that nobody uses."""

from __future__ import annotations

from dataclasses import replace

from .. import syntax
from ..problems import Edit, Fix, Problem
from ..source import Span, after
from ..walk import nodes
from .work import Work


def _used(module: syntax.Module) -> frozenset[str]:
    names: set[str] = set()
    for node in nodes(module.declarations):
        match node:
            case syntax.TypeName(name=name):
                names.add(name.text)
            case syntax.Var(name=text):
                names.add(text)
            case syntax.RetryThen(policy=name) | syntax.RetryForever(policy=name):
                names.add(name.text)
            case syntax.Uses(policy=name):
                names.add(name.text)
            case syntax.Tell(machine=name) | syntax.Begin(machine=name):
                names.add(name.text)
            case _:
                pass
    return frozenset(names)


def _without(use: syntax.Use, name: syntax.Name) -> Span:
    """What to delete for the name: itself and its comma, or the whole import."""
    at = [each.span for each in use.names].index(name.span)
    if len(use.names) == 1:
        return use.span
    if at + 1 < len(use.names):
        return replace(name.span, end=use.names[at + 1].span.start)
    return replace(after(use.names[at - 1].span), end=name.span.end)


def find_unused(work: Work) -> None:
    used = {
        path: _used(module) | work.lost.get(path, frozenset())
        for path, module in work.modules.items()
    }
    wanted = {
        (source, name)
        for table in work.origin.values()
        for name, source in table.items()
    }
    for path, module in work.modules.items():
        for use in module.uses:
            for name in use.names:
                if work.origin[path].get(name.text) and name.text not in used[path]:
                    text = f"`{name.text}` is imported and never used"
                    fix = Fix(f"Delete `{name.text}`", (Edit(_without(use, name), ""),))
                    work.problems.append(
                        Problem("DEED206", name.span, text, fixes=(fix,))
                    )
        library = not any(
            isinstance(
                declaration, syntax.Machine | syntax.Retry | syntax.Scan | syntax.Saga
            )
            for declaration in module.declarations
        )
        for declaration in module.declarations:
            if not isinstance(declaration, syntax.Policy) or library:
                continue
            name = declaration.name
            if name.text not in used[path] and (path, name.text) not in wanted:
                text = f"the policy `{name.text}` is never used"
                work.problems.append(Problem("DEED506", name.span, text))
