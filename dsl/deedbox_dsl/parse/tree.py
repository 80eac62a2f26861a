"""The parse tree read into the syntax tree: one arm of a `match` for each rule.

It knows the rule names of `grammar.lark` and the classes of `syntax.py`, and
nothing of what a spec means.  It recurses over expressions, so `parse.py` bounds
their depth first.  Here stand files, declarations and items; `tree_blocks` and
`tree_expressions` read what is inside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast

from .. import syntax as s
from .tree_blocks import (
    action_of,
    attempt_of,
    bind_of,
    block_of,
    guard_of,
    init_of,
    issue_of,
    outcome_of,
    trigger_of,
)
from .tree_expressions import (
    expr_of,
    field_of,
    fields_of,
    own_fields_of,
    own_type_of,
    params_of,
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
    duration_literal,
    duration_of,
    integer_of,
    is_unrepeatable,
    milliseconds,
    name_of,
    names_of,
    number_of,
    string_of,
    tokens,
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
            return _alias(node, at)
        case "record":
            return s.Record(name_of(node, at), fields_of(node, at), doc_of(node), span)
        case "choice":
            variants = tuple(
                s.Variant(name_of(each, at), fields_of(each, at), at.of(each))
                for each in children(node, "variant")
            )
            return s.Choice(name_of(node, at), variants, doc_of(node), span)
        case "policy":
            items = tuple(_policy_item(item, at) for item in children_but(node, "doc"))
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
            return _command(node, at)
        case "message":
            return s.Message(name_of(node, at), fields_of(node, at), doc_of(node), span)
        case "again":
            return _again(node, at)
        case "allow":
            return s.Allow(name_of(node, at), string_of(node), span)
        case "check":
            return s.Check(tuple(_bound(each, at) for each in trees(node)), span)
        case "migrate":
            migrations = tuple(_migration(each, at) for each in trees(node))
            return s.Migrate(number_of(node), migrations, span)
        case "invariant" | "never" | "eventually" | "sometimes" | "across" | "leads":
            return _property(node, at)
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
            return _each(node, at)
        case "continue_after":
            return s.ContinueAfter(certain(duration_of(node, at)), span)
        case "idle":
            return s.Idle(certain(duration_of(node, at)), span)
        case "step":
            return _step(node, at)
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


def _alias(node: Node, at: Place) -> s.Alias:
    bounds = child_if_any(node, "range")
    low, high = (
        (None, None) if bounds is None else (_limit(each, at) for each in trees(bounds))
    )
    return s.Alias(
        name_of(node, at), own_type_of(node, at), low, high, doc_of(node), at.of(node)
    )


def _limit(node: Node, at: Place) -> s.IntLit | s.DurationLit:
    token = tokens(node)[0]
    match node.data:
        case "duration":
            return duration_literal(token, at)
        case "negative":
            return s.IntLit(-integer_of(token), at.of(node), f"-{token}")
        case _:
            return s.IntLit(integer_of(token), at.of(node), str(token))


def _policy_item(node: Node, at: Place) -> s.PolicyItem:
    token = tokens(node)[-1]
    value: int | str
    match token.type:
        case "DURATION":
            value = milliseconds(token)
        case "PERCENT":
            value = int(token[:-1])
        case "INT" if node.data == "policy_attempts":
            value = integer_of(token)
        case _:
            value = str(token)
    word = cast(
        'Literal["first", "factor", "max", "attempts", "within", "jitter"]',
        node.data.removeprefix("policy_"),
    )
    return s.PolicyItem(word, value, at.of(node), str(token))


def _command(node: Node, at: Place) -> s.Command:
    outcomes = child_if_any(node, "outcomes")
    return s.Command(
        name_of(node, at),
        params_of(node, at),
        () if outcomes is None else tuple(outcome_of(o, at) for o in trees(outcomes)),
        is_unrepeatable(node),
        doc_of(node),
        at.of(node),
    )


def _again(node: Node, at: Place) -> s.Again:
    keep = child_if_any(node, "keep")
    end: s.Keep | s.Replace
    if keep is not None:
        end = s.Keep(at.of(keep))
    else:
        replace = child(node, "replace")
        end = s.Replace(init_of(replace, at), at.of(replace))
    return s.Again(bind_of(node, at), guard_of(node, at), end, at.of(node))


def _each(node: Node, at: Place) -> s.Each:
    by = next(
        each
        for each in trees(node)
        if each.data not in ("dotted", "due", "documented_attempt")
    )
    due = child_if_any(node, "due")
    return s.Each(
        name_of(node, at),
        tuple(s.Name(str(t), at.at(t)) for t in tokens(child(node, "dotted"))),
        expr_of(by, at),
        None if due is None else expr_of(trees(due)[0], at),
        attempt_of(child(node, "documented_attempt"), at),
        at.of(node),
    )


def _step(node: Node, at: Place) -> s.Step:
    none = child_if_any(node, "no_undo")
    undo: s.Attempt | s.NoUndo
    if none is None:
        undo = attempt_of(child(node, "undo"), at)
    else:
        undo = s.NoUndo(string_of(none), at.of(none))
    do = attempt_of(child(node, "documented_attempt"), at)
    return s.Step(name_of(node, at), do, undo, doc_of(node), at.of(node))


def _property(node: Node, at: Place) -> s.Property:
    word = cast(
        'Literal["invariant", "never", "across", "eventually", "sometimes", "leads"]',
        node.data,
    )
    if word == "across":
        expr = expr_of(trees(node)[0], at)
        preds = [s.Pred((), expr, expr.span)]
    else:
        preds = [_pred(each, at) for each in children(node, "pred")]
    return s.Property(
        word,
        name_of(node, at),
        preds[0],
        preds[1] if word == "leads" else None,
        duration_of(node, at) if word == "leads" else None,
        at.of(node),
    )


def _pred(node: Node, at: Place) -> s.Pred:
    states = child_if_any(node, "name_list")
    expr = expr_of(trees(node)[-1], at)
    return s.Pred(() if states is None else names_of(states, at), expr, at.of(node))


def _bound(node: Node, at: Place) -> s.Bound | s.Faults | s.Assume:
    span = at.of(node)
    match node.data:
        case "check_faults":
            excepted = child_if_any(node, "name_list")
            return s.Faults(() if excepted is None else names_of(excepted, at), span)
        case "check_assume":
            command, outcome = (s.Name(str(t), at.at(t)) for t in tokens(node))
            return s.Assume(command, outcome, span)
        case _:
            word = cast(
                'Literal["instances", "messages", "page"]',
                node.data.removeprefix("check_"),
            )
            return s.Bound(word, number_of(node), span)


def _migration(
    node: Node, at: Place
) -> s.MigrateState | s.MigrateDrop | s.MigrateCommand:
    span = at.of(node)
    name, *others = (s.Name(str(t), at.at(t)) for t in tokens(node))
    issues = tuple(issue_of(each, at) for each in children_but(node, "init"))
    match node.data:
        case "migrate_state":
            becomes = others[0] if others else None
            return s.MigrateState(
                name, becomes, certain(init_of(node, at)), issues, span
            )
        case "migrate_drop":
            return s.MigrateDrop(name, others[0], init_of(node, at), issues, span)
        case _:
            return s.MigrateCommand(name, certain(init_of(node, at)), span)
