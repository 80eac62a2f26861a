"""The parse tree read into the syntax tree: one arm of a `match` for each rule.

It knows the rule names of `grammar.lark` and the classes of `syntax.py`, and
nothing of what a spec means.  It recurses over expressions, so `piece.py` bounds
their depth first.  Here stand files and declarations; `tree_items`, `tree_blocks` and
`tree_expressions` read what is inside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from .. import syntax as s
from .tree_blocks import (
    action_of,
    attempt_of,
    bind_of,
    block_of,
    guard_of,
    init_of,
    trigger_of,
)
from .tree_expressions import (
    field_of,
    fields_of,
    own_fields_of,
)
from .tree_items import (
    again,
    alias,
    bound,
    command,
    each,
    migration,
    policy_item,
    property_of,
    step,
)
from .tree_nodes import (
    Place,
    certain,
    child,
    child_if_any,
    children,
    children_but,
    doc_of,
    dotted_of,
    duration_of,
    name_of,
    names_of,
    number_of,
    string_of,
    trees,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

T = TypeVar("T")


Part: TypeAlias = (
    s.Declaration | s.MachineItem | s.RetryItem | s.ScanItem | s.SagaItem | s.Clause
)


def module(node: Node, at: Place) -> s.Module:
    name = child_if_any(node, "module_name")
    return s.Module(
        None if name is None else dotted_of(child(name, "dotted")),
        tuple(use(each, at) for each in children(node, "use")),
        tuple(_declaration(each, at) for each in trees(node) if each.data in _KINDS),
        at.text.span(0, len(at.text.content)),
    )


def module_name(node: Node) -> str | None:
    """The name a damaged file gives itself, from its readable head."""
    name = child_if_any(node, "module_name")
    return None if name is None else dotted_of(child(name, "dotted"))


def uses(node: Node, at: Place) -> tuple[s.Use, ...]:
    return tuple(use(each, at) for each in children(node, "use"))


def use(node: Node, at: Place) -> s.Use:
    names = names_of(child(node, "name_list"), at)
    dotted = child(node, "dotted")
    module = s.Name(dotted_of(dotted), at.of(dotted))
    return s.Use(module, names, at.of(node))


_KINDS: Final = frozenset(
    ("alias", "record", "choice", "policy", "machine", "retry", "scan", "saga")
)


def _declaration(node: Node, at: Place) -> s.Declaration:
    return cast("s.Declaration", part(node, at))


def part(node: Node, at: Place) -> Part:
    """A declaration, an item of a kind, or a clause: whatever `node` is."""
    span = at.of(node)
    match node.data:
        case "machine_item" | "retry_item" | "scan_item" | "saga_item" | "clause":
            return part(trees(node)[0], at)
        case "alias":
            return alias(node, at)
        case "record":
            return s.Record(name_of(node, at), fields_of(node, at), doc_of(node), span)
        case "choice":
            variants = tuple(
                s.Variant(name_of(each, at), fields_of(each, at), at.of(each))
                for each in children(node, "variant")
            )
            return s.Choice(name_of(node, at), variants, doc_of(node), span)
        case "policy":
            items = tuple(policy_item(item, at) for item in children_but(node, "doc"))
            return s.Policy(name_of(node, at), items, doc_of(node), span)
        case "machine":
            machine_items = _items(node, at, _machine_item)
            return s.Machine(
                name_of(node, at), number_of(node), machine_items, doc_of(node), span
            )
        case "retry":
            retry_items = _items(node, at, _retry_item)
            return s.Retry(
                name_of(node, at), number_of(node), retry_items, doc_of(node), span
            )
        case "scan":
            scan_items = _items(node, at, _scan_item)
            return s.Scan(
                name_of(node, at), number_of(node), scan_items, doc_of(node), span
            )
        case "saga":
            saga_items = _items(node, at, _saga_item)
            return s.Saga(
                name_of(node, at), number_of(node), saga_items, doc_of(node), span
            )
        case "key":
            return s.Key(own_fields_of(node, at), span)
        case "given":
            return s.Given(own_fields_of(node, at), span)
        case "command":
            return command(node, at)
        case "message":
            return s.Message(name_of(node, at), fields_of(node, at), doc_of(node), span)
        case "again":
            return again(node, at)
        case "allow":
            return s.Allow(name_of(node, at), string_of(node), span)
        case "check":
            return s.Check(tuple(bound(each, at) for each in trees(node)), span)
        case "migrate":
            migrations = tuple(migration(each, at) for each in trees(node))
            return s.Migrate(number_of(node), migrations, span)
        case "invariant" | "never" | "eventually" | "sometimes" | "across" | "leads":
            return property_of(node, at)
        case "state" | "final":
            awaits = child_if_any(node, "awaits")
            return s.State(
                name_of(node, at),
                fields_of(node, at),
                None if awaits is None else name_of(awaits, at),
                node.data == "final",
                doc_of(node),
                span,
            )
        case "start_block":
            return s.Start(block_of(child(node, "block"), at), span)
        case "inside":
            clauses = tuple(
                cast("s.Clause", part(each, at))
                for each in children_but(node, "name_list")
            )
            return s.Inside(names_of(child(node, "name_list"), at), clauses, span)
        case "on":
            trigger = trigger_of(child(node, "trigger"), at)
            return s.On(
                trigger,
                bind_of(node, at),
                guard_of(node, at),
                block_of(child(node, "block"), at),
                span,
            )
        case "at":
            block = block_of(child(node, "block"), at)
            return s.At(name_of(node, at), guard_of(node, at), block, span)
        case "ignore":
            return s.Ignore(tuple(trigger_of(each, at) for each in trees(node)), span)
        case "uses":
            return s.Uses(name_of(node, at), span)
        case "documented_attempt":
            return attempt_of(node, at)
        case "spent":
            return s.Spent(action_of(trees(node)[0], at), span)
        case "wake":
            return s.WakeOn(name_of(node, at), duration_of(node, at), span)
        case "page":
            return s.Page(number_of(node), span)
        case "cursor":
            return s.Cursor(field_of(child(node, "field"), at), span)
        case "fetch":
            return s.Fetch(attempt_of(node, at), span)
        case "each":
            return each(node, at)
        case "continue_after":
            return s.ContinueAfter(certain(duration_of(node, at)), span)
        case "idle":
            return s.Idle(certain(duration_of(node, at)), span)
        case "step":
            return step(node, at)
        case "saga_done":
            return s.SagaDone(name_of(node, at), init_of(node, at), span)
        case "saga_undone":
            return s.SagaUndone(name_of(node, at), init_of(node, at), span)
        case "no_cancel":
            return s.NoCancel(string_of(node), span)
        case unknown:
            raise AssertionError(unknown)


def _items(node: Node, at: Place, item: Callable[[Node, Place], T]) -> tuple[T, ...]:
    return tuple(item(each, at) for each in children_but(node, "doc"))


def _machine_item(node: Node, at: Place) -> s.MachineItem:
    return cast("s.MachineItem", part(node, at))


def _retry_item(node: Node, at: Place) -> s.RetryItem:
    return cast("s.RetryItem", part(node, at))


def _scan_item(node: Node, at: Place) -> s.ScanItem:
    return cast("s.ScanItem", part(node, at))


def _saga_item(node: Node, at: Place) -> s.SagaItem:
    return cast("s.SagaItem", part(node, at))
