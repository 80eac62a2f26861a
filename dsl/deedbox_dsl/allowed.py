"""`allow CODE "reason"`: the warnings that an author has answered.

An `allow` speaks for one code inside the machine that it stands in.  Errors are
never silenced; an `allow` that silences nothing is itself a warning, so that it
goes when its cause goes (said only of a file without errors, which may hide it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import syntax
from .problems import Edit, Fix, Problem, entries, has_errors


def without_allowed(
    modules: Mapping[str, syntax.Module], problems: Iterable[Problem]
) -> list[Problem]:
    """The problems that remain, and those of the `allow`s themselves."""
    left = list(problems)
    for path, module in modules.items():
        for kind in module.declarations:
            if not isinstance(
                kind, syntax.Machine | syntax.Retry | syntax.Scan | syntax.Saga
            ):
                continue
            for allow in kind.items:
                if isinstance(allow, syntax.Allow):
                    left = _apply(allow, kind, path, left)
    return left


def _apply(
    allow: syntax.Allow, kind: syntax.Kind, path: str, problems: list[Problem]
) -> list[Problem]:
    code = allow.code.text
    entry = entries().get(code)
    if entry is None or entry.severity == "error":
        text = f"`{code}` is an error, and only a warning can be allowed"
        if entry is None:
            text = f"there is no warning `{code}`"
        return [*problems, Problem("DEED209", allow.code.span, text)]
    kept = [
        problem
        for problem in problems
        if problem.code != code
        or problem.span.path != path
        or not kind.span.start <= problem.span.start < kind.span.end
    ]
    whole = not has_errors(each for each in problems if each.span.path == path)
    if whole and len(kept) == len(problems):
        text = f"nothing here gives the warning `{code}`, so this `allow` can go"
        fix = Fix("Delete it", (Edit(allow.span, ""),))
        kept.append(Problem("DEED209", allow.span, text, fixes=(fix,)))
    return kept
