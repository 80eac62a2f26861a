"""Blocks, rules and actions of the parse tree, as syntax: what happens, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from .. import syntax as s
from .tree_expressions import expr_of, fields_of, params_of
from .tree_nodes import (
    Place,
    certain,
    child,
    child_if_any,
    doc_of,
    duration_of,
    is_unrepeatable,
    name_of,
    string_of,
    tokens,
    trees,
)

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

T = TypeVar("T")


def outcome_of(node: Node, at: Place) -> s.Outcome:
    return s.Outcome(name_of(node, at), fields_of(node, at), at.of(node))


def attempt_of(node: Node, at: Place) -> s.Attempt:
    """A `do`, `undo` or `fetch` with its rules; a `do` may stand inside its doc."""
    inner = child_if_any(node, "attempt") or node
    return s.Attempt(
        name_of(inner, at),
        params_of(inner, at),
        tuple(_rule(each, at) for each in trees(child(inner, "rules"))),
        is_unrepeatable(inner),
        doc_of(node),
        at.of(node),
    )


def _rule(node: Node, at: Place) -> s.Rule | s.SilenceRule:
    action = action_of(trees(node)[-1], at)
    if node.data == "silence":
        return s.SilenceRule(certain(duration_of(node, at)), action, at.of(node))
    return s.Rule(outcome_of(child(node, "outcome"), at), action, at.of(node))


def action_of(node: Node, at: Place) -> s.Action:
    span = at.of(node)
    match node.data:
        case "act_next":
            return s.Next(span)
        case "act_again":
            return s.AgainAction(span)
        case "act_rest":
            return s.Rest(span)
        case "act_continue":
            return s.Continue(certain(duration_of(node, at)), span)
        case "act_done":
            return s.DoneAction(name_of(node, at), init_of(node, at), span)
        case "act_abort":
            return s.Abort(child_if_any(node, "with_undo") is not None, span)
        case "act_retry_then":
            after = child_if_any(node, "after_name")
            wait = None if after is None else name_of(after, at)
            return s.RetryThen(
                name_of(node, at), wait, action_of(trees(node)[-1], at), span
            )
        case "act_retry_forever":
            told = child_if_any(node, "escalate")
            escalate = None if told is None else _escalate(told, at)
            return s.RetryForever(name_of(node, at), escalate, span)
        case unknown:
            raise AssertionError(unknown)


def _escalate(node: Node, at: Place) -> s.Escalate:
    after = certain(duration_of(node, at))
    return s.Escalate(after, name_of(node, at), _args(node, at), at.of(node))


def trigger_of(node: Node, at: Place) -> s.Trigger:
    name, *outcome = (s.Name(str(t), at.at(t)) for t in tokens(node))
    return s.Trigger(name, outcome[0] if outcome else None, at.of(node))


def bind_of(node: Node, at: Place) -> s.Name | None:
    bind = child_if_any(node, "bind")
    return None if bind is None else name_of(bind, at)


def guard_of(node: Node, at: Place) -> s.Expr | None:
    guard = child_if_any(node, "guard")
    return None if guard is None else expr_of(trees(guard)[0], at)


def block_of(node: Node, at: Place) -> s.Block:
    lets: list[s.Let] = []
    issues: list[s.Issue] = []
    end: s.Exit | None = None
    for each in trees(node):
        span = at.of(each)
        match each.data:
            case "let":
                value = expr_of(trees(each)[0], at)
                lets.append(s.Let(name_of(each, at), value, span))
            case "goto":
                end = s.Goto(name_of(each, at), init_of(each, at), span)
            case "stay":
                end = s.Stay(init_of(each, at), span)
            case "reject":
                end = s.Reject(string_of(each), span)
            case _:
                issues.append(issue_of(each, at))
    return s.Block(tuple(lets), tuple(issues), end, at.of(node))


def issue_of(node: Node, at: Place) -> s.Issue:
    span = at.of(node)
    name, *message = (s.Name(str(t), at.at(t)) for t in tokens(node))
    args = _args(node, at)
    match node.data:
        case "do":
            return s.Do(name, args, span)
        case "repeat":
            return s.Repeat(name, args, span)
        case "tell":
            return s.Tell(name, args, message[0], init_of(node, at), span)
        case "begin":
            return s.Begin(name, args, init_of(node, at), span)
        case unknown:
            raise AssertionError(unknown)


def init_of(node: Node, at: Place) -> s.Init | None:
    init = child_if_any(node, "init")
    if init is None:
        return None
    return s.Init(tuple(_init_item(each, at) for each in trees(init)), at.of(init))


def _init_item(node: Node, at: Place) -> s.InitItem:
    match node.data:
        case "set":
            return s.Set(name_of(node, at), expr_of(trees(node)[0], at), at.of(node))
        case "pun":
            return s.Pun(name_of(node, at), at.of(node))
        case _:
            return s.CarryOver(at.of(node))


def _args(node: Node, at: Place) -> tuple[s.Expr, ...]:
    return tuple(expr_of(each, at) for each in trees(child(node, "args")))
