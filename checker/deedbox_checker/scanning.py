"""A scan's parts, read off its core machine; and the scan with a smaller page.

What a page, a cursor and a limit are is fixed by the lowering of scans; a core machine
in which they do not stand as that makes them is not explored, and says so.  The page is
replaced in the core, so the generated code and the clauses that it is held against
are smaller in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Final, TypeVar, cast

from deedbox_dsl import core
from deedbox_dsl.types import Base, Declared, ListOf, RecordType, Type

from .domain import bare, body_sets
from .evaluate import walk

LARGEST: Final = 3
"""The largest page that is explored."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scanning:
    """`fetch` and `outcome`: the command and its answer whose field `listed` is the list.

    `by` and `due` are fields of a record, `item` the state's field that holds one;
    `cursor` and `limit` are parameters of the command.
    """

    fetch: str
    outcome: str
    listed: str
    record: RecordType
    by: str
    by_type: Type
    due: str | None
    item: str
    cursor: str
    limit: str
    page: int

    @property
    def size(self) -> int:
        """How many records the list has at most."""
        return 2 * self.page + 1


def scanning(spec: core.Machine) -> Scanning | str | None:
    """The parts of a scan, why they are not known, or None: it is no scan."""
    if spec.kind != "scan":
        return None
    for clause in spec.clauses:
        match clause:
            case core.Clause(
                state="Fetching",
                trigger=core.OnOutcome(command, outcome),
                body=core.Body(exit=core.Goto(state="Working")) as body,
            ):
                return parts(spec, command, outcome, clause, body)
            case _:
                pass
    return "no answer to its fetch begins a page"


def parts(
    spec: core.Machine,
    command: str,
    outcome: str,
    clause: core.Clause,
    body: core.Body,
) -> Scanning | str:
    values = {each.field: each.value for each in body_sets(body)}
    match values["upto"]:
        case core.Member(
            target=core.Call(
                function="last",
                arguments=(
                    core.Call(
                        function="take",
                        arguments=(
                            core.Bound(listed, ListOf(RecordType() as record)),
                            core.Constant(int(page)),
                        ),
                    ),
                ),
            ),
            name=by,
            type=by_type,
        ) if is_text(by_type):
            pass
        case _:
            return "its cursor is not a text field of its records"
    states = {state.name: state for state in spec.states}
    params = {
        param.name
        for each in spec.commands
        if each.name == command
        for param in each.params
    }
    cursor = states["Pausing"].fields[0].name
    if not {cursor, "limit"} <= params:
        return f"`{command}` is not given `{cursor}` and `limit`"
    return Scanning(
        command,
        outcome,
        listed,
        record,
        by,
        bare(by_type),
        due_field(clause),
        states["Working"].fields[0].name,
        cursor,
        "limit",
        page,
    )


def is_text(type: Type) -> bool:
    match bare(type):
        case Declared(base=Base.TEXT) | Base.TEXT:
            return True
        case _:
            return False


def due_field(clause: core.Clause) -> str | None:
    """The field of a record that says when it is due."""
    for part in walk(clause.guard) if clause.guard is not None else ():
        match part:
            case core.Over(
                body=core.Binary("<=", core.Member(target=core.Read("item"), name=name))
            ):
                return name
            case _:
                pass
    return None


def is_due(expr: core.Expr) -> bool:
    """Whether it asks if a record of the list is due now."""
    match expr:
        case core.Binary("<=", core.Member(target=core.Read("item")), core.Now()):
            return True
        case _:
            return False


# ---- a smaller page ----------------------------------------------------------------


def paged(spec: core.Machine) -> core.Machine:
    """The machine with the page that its `check` block asks for."""
    found = scanning(spec)
    page = spec.bounds.page
    if page is None or not isinstance(found, Scanning) or page == found.page:
        return spec
    params = next(each.params for each in spec.commands if each.name == found.fetch)
    limit = [param.name for param in params].index(found.limit)
    listed, before = found.listed, found.page

    def smaller(node: object) -> object | None:
        match node:
            case core.Call(
                function="take",
                arguments=(
                    core.Bound(name=name) as source,
                    core.Constant(value) as many,
                ),
            ) if (name, value) == (listed, before):
                return replace(node, arguments=(source, replace(many, value=page)))
            case core.Binary(
                ">",
                core.Call(function="len", arguments=(core.Bound(name=name),)),
                core.Constant(value) as many,
            ) if (name, value) == (listed, before):
                return replace(node, right=replace(many, value=page))
            case core.Do(found.fetch, arguments) | core.Repeat(found.fetch, arguments):
                asked = list(arguments)
                asked[limit] = smaller_limit(asked[limit], before, page)
                return replace(node, arguments=tuple(asked))
            case _:
                return None

    return replace(
        spec,
        start=rewritten(spec.start, smaller),
        again=rewritten(spec.again, smaller),
        clauses=rewritten(spec.clauses, smaller),
    )


def smaller_limit(expr: core.Expr, before: int, page: int) -> core.Expr:
    """One record more than a page."""
    match expr:
        case core.Constant(value) if value == before + 1:
            return replace(expr, value=page + 1)
        case _:
            return expr


def rewritten(node: T, change: Callable[[object], object | None]) -> T:
    """A piece of the core with every part replaced for which `change` gives another."""
    return cast(T, _rewritten(node, change))


def _rewritten(node: object, change: Callable[[object], object | None]) -> object:
    changed = change(node)
    if changed is not None:
        return changed
    if isinstance(node, tuple):
        parts = cast("tuple[object, ...]", node)
        return tuple(_rewritten(part, change) for part in parts)
    if type(node).__module__ != core.__name__ or not is_dataclass(node):
        return node
    inner = {
        each.name: _rewritten(cast(object, getattr(node, each.name)), change)
        for each in fields(node)
    }
    return replace(cast("core.Do", node), **cast("dict[str, core.Expr]", inner))  # type: ignore[arg-type]  # a part is what it was
