"""The items of kinds that take more than a line to read: one function for each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from .. import syntax as s
from .tree_blocks import (
    attempt_of,
    bind_of,
    guard_of,
    init_of,
    issue_of,
    outcome_of,
)
from .tree_expressions import (
    expr_of,
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


def alias(node: Node, at: Place) -> s.Alias:
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


def policy_item(node: Node, at: Place) -> s.PolicyItem:
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


def command(node: Node, at: Place) -> s.Command:
    outcomes = child_if_any(node, "outcomes")
    return s.Command(
        name_of(node, at),
        params_of(node, at),
        () if outcomes is None else tuple(outcome_of(o, at) for o in trees(outcomes)),
        is_unrepeatable(node),
        doc_of(node),
        at.of(node),
    )


def again(node: Node, at: Place) -> s.Again:
    keep = child_if_any(node, "keep")
    end: s.Keep | s.Replace
    if keep is not None:
        end = s.Keep(at.of(keep))
    else:
        replace = child(node, "replace")
        end = s.Replace(init_of(replace, at), at.of(replace))
    return s.Again(bind_of(node, at), guard_of(node, at), end, at.of(node))


def each(node: Node, at: Place) -> s.Each:
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


def step(node: Node, at: Place) -> s.Step:
    none = child_if_any(node, "no_undo")
    undo: s.Attempt | s.NoUndo
    if none is None:
        undo = attempt_of(child(node, "undo"), at)
    else:
        undo = s.NoUndo(string_of(none), at.of(none))
    do = attempt_of(child(node, "documented_attempt"), at)
    return s.Step(name_of(node, at), do, undo, doc_of(node), at.of(node))


def property_of(node: Node, at: Place) -> s.Property:
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


def bound(node: Node, at: Place) -> s.Bound | s.Faults | s.Assume:
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


def migration(
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
