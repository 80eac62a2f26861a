"""The parse tree read into the syntax tree: one arm of a `match` for each rule.

It knows the rule names of `grammar.lark` and the classes of `syntax.py`, and
nothing of what a spec means.  It reads a node by the names of its children, never
by their index.  It recurses over expressions, so `parse.py` bounds their depth first.

A span begins at a declaration's keyword, not at its doc comment: that is where
a reader looks.  This module is long because the language has that many constructs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar, cast

from . import syntax as s
from .source import Span, Text

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SKIP: Final = re.compile(r"(?:[ \t\n]|//[^\n]*)*")

Part: TypeAlias = (
    s.Declaration | s.MachineItem | s.RetryItem | s.ScanItem | s.SagaItem | s.Clause
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a parsed piece of text stands: its file, and the offset of its start."""

    text: Text
    base: int

    def of(self, node: Node) -> Span:
        """The span of a node, from its keyword on."""
        start = node.meta.start_pos
        doc = _find(node, "doc")
        if doc is not None:
            after = _SKIP.match(self.text.content, self.base + doc.meta.end_pos)
            start = start if after is None else after.end() - self.base
        return self.text.span(self.base + start, self.base + node.meta.end_pos)

    def at(self, token: Token) -> Span:
        start = self.base + (token.start_pos or 0)
        return self.text.span(start, start + len(token))


def module(node: Node, at: Place) -> s.Module:
    name = _find(node, "module_name")
    return s.Module(
        None if name is None else _dotted(_the(name, "dotted")),
        tuple(use(each, at) for each in _all(node, "use")),
        tuple(_declaration(each, at) for each in _trees(node) if each.data in _KINDS),
        at.text.span(0, len(at.text.content)),
    )


def module_name(node: Node) -> str | None:
    """The name a damaged file gives itself, from its readable head."""
    name = _find(node, "module_name")
    return None if name is None else _dotted(_the(name, "dotted"))


def uses(node: Node, at: Place) -> tuple[s.Use, ...]:
    return tuple(use(each, at) for each in _all(node, "use"))


def use(node: Node, at: Place) -> s.Use:
    names = _name_list(_the(node, "name_list"), at)
    return s.Use(_dotted(_the(node, "dotted")), names, at.of(node))


# ---- declarations ------------------------------------------------------------------

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
            return part(_trees(node)[0], at)
        case "alias":
            return _alias(node, at)
        case "record":
            return s.Record(_name(node, at), _fields(node, at), _doc(node), span)
        case "choice":
            variants = tuple(
                s.Variant(_name(each, at), _fields(each, at), at.of(each))
                for each in _all(node, "variant")
            )
            return s.Choice(_name(node, at), variants, _doc(node), span)
        case "policy":
            items = tuple(_policy_item(item, at) for item in _but(node, "doc"))
            return s.Policy(_name(node, at), items, _doc(node), span)
        case "machine":
            machine_items = _items(node, at, _machine_item)
            return s.Machine(
                _name(node, at), _number(node), machine_items, _doc(node), span
            )
        case "retry":
            retry_items = _items(node, at, _retry_item)
            return s.Retry(
                _name(node, at), _number(node), retry_items, _doc(node), span
            )
        case "scan":
            scan_items = _items(node, at, _scan_item)
            return s.Scan(_name(node, at), _number(node), scan_items, _doc(node), span)
        case "saga":
            saga_items = _items(node, at, _saga_item)
            return s.Saga(_name(node, at), _number(node), saga_items, _doc(node), span)
        case "key":
            return s.Key(_own_fields(node, at), span)
        case "given":
            return s.Given(_own_fields(node, at), span)
        case "command":
            return _command(node, at)
        case "message":
            return s.Message(_name(node, at), _fields(node, at), _doc(node), span)
        case "again":
            return _again(node, at)
        case "allow":
            return s.Allow(_name(node, at), _string(node), span)
        case "check":
            return s.Check(tuple(_bound(each, at) for each in _trees(node)), span)
        case "migrate":
            migrations = tuple(_migration(each, at) for each in _trees(node))
            return s.Migrate(_number(node), migrations, span)
        case "invariant" | "never" | "eventually" | "sometimes" | "across" | "leads":
            return _property(node, at)
        case "state" | "final":
            awaits = _find(node, "awaits")
            return s.State(
                _name(node, at),
                _fields(node, at),
                None if awaits is None else _name(awaits, at),
                node.data == "final",
                _doc(node),
                span,
            )
        case "start_block":
            return s.Start(_block(_the(node, "block"), at), span)
        case "inside":
            clauses = tuple(
                cast("s.Clause", part(each, at)) for each in _but(node, "name_list")
            )
            return s.Inside(_name_list(_the(node, "name_list"), at), clauses, span)
        case "on":
            trigger = _trigger(_the(node, "trigger"), at)
            return s.On(
                trigger,
                _bind(node, at),
                _guard(node, at),
                _block(_the(node, "block"), at),
                span,
            )
        case "at":
            block = _block(_the(node, "block"), at)
            return s.At(_name(node, at), _guard(node, at), block, span)
        case "ignore":
            return s.Ignore(tuple(_trigger(each, at) for each in _trees(node)), span)
        case "uses":
            return s.Uses(_name(node, at), span)
        case "documented_attempt":
            return _attempt(node, at)
        case "spent":
            return s.Spent(_action(_trees(node)[0], at), span)
        case "wake":
            return s.WakeOn(_name(node, at), _duration(node, at), span)
        case "page":
            return s.Page(_number(node), span)
        case "cursor":
            return s.Cursor(_field(_the(node, "field"), at), span)
        case "fetch":
            return s.Fetch(_attempt(node, at), span)
        case "each":
            return _each(node, at)
        case "continue_after":
            return s.ContinueAfter(_some(_duration(node, at)), span)
        case "idle":
            return s.Idle(_some(_duration(node, at)), span)
        case "step":
            return _step(node, at)
        case "saga_done":
            return s.SagaDone(_name(node, at), _init(node, at), span)
        case "saga_undone":
            return s.SagaUndone(_name(node, at), _init(node, at), span)
        case "no_cancel":
            return s.NoCancel(_string(node), span)
        case unknown:
            raise AssertionError(unknown)


def _items(node: Node, at: Place, item: Callable[[Node, Place], T]) -> tuple[T, ...]:
    return tuple(item(each, at) for each in _but(node, "doc"))


def _machine_item(node: Node, at: Place) -> s.MachineItem:
    return cast("s.MachineItem", part(node, at))


def _retry_item(node: Node, at: Place) -> s.RetryItem:
    return cast("s.RetryItem", part(node, at))


def _scan_item(node: Node, at: Place) -> s.ScanItem:
    return cast("s.ScanItem", part(node, at))


def _saga_item(node: Node, at: Place) -> s.SagaItem:
    return cast("s.SagaItem", part(node, at))


def _alias(node: Node, at: Place) -> s.Alias:
    bounds = _find(node, "range")
    low, high = (
        (None, None)
        if bounds is None
        else (_limit(each, at) for each in _trees(bounds))
    )
    return s.Alias(
        _name(node, at), _own_type(node, at), low, high, _doc(node), at.of(node)
    )


def _limit(node: Node, at: Place) -> s.IntLit | s.DurationLit:
    token = _tokens(node)[0]
    match node.data:
        case "duration":
            return _duration_literal(token, at)
        case "negative":
            return s.IntLit(-_integer(token), at.of(node), f"-{token}")
        case _:
            return s.IntLit(_integer(token), at.of(node), str(token))


def _policy_item(node: Node, at: Place) -> s.PolicyItem:
    token = _tokens(node)[-1]
    value: int | str
    match token.type:
        case "DURATION":
            value = milliseconds(token)
        case "PERCENT":
            value = int(token[:-1])
        case "INT" if node.data == "policy_attempts":
            value = _integer(token)
        case _:
            value = str(token)
    word = cast(
        'Literal["first", "factor", "max", "attempts", "within", "jitter"]',
        node.data.removeprefix("policy_"),
    )
    return s.PolicyItem(word, value, at.of(node), str(token))


# ---- types and fields -----------------------------------------------------------------


def _type(node: Node, at: Place) -> s.TypeExpr:
    if node.data == "optional_type":
        return s.OptionalType(_type_name(_trees(node)[0], at), at.of(node))
    return _type_name(node, at)


def _type_name(node: Node, at: Place) -> s.TypeName:
    arguments = tuple(_type(each, at) for each in _trees(node))
    return s.TypeName(_name(node, at), arguments, at.of(node))


def _own_type(node: Node, at: Place) -> s.TypeExpr:
    return next(
        _type(each, at)
        for each in _trees(node)
        if each.data in ("base_type", "optional_type")
    )


def _field(node: Node, at: Place) -> s.Field:
    *_, last = _trees(node)
    given = last.data not in ("base_type", "optional_type")
    value = _expr(last, at) if given else None
    return s.Field(_name(node, at), _own_type(node, at), value, _doc(node), at.of(node))


def _own_fields(node: Node, at: Place) -> tuple[s.Field, ...]:
    return tuple(_field(each, at) for each in _all(node, "field"))


def _fields(node: Node, at: Place) -> tuple[s.Field, ...]:
    fields = _find(node, "fields")
    return () if fields is None else _own_fields(fields, at)


def _params(node: Node, at: Place) -> tuple[s.Field, ...]:
    return _own_fields(_the(node, "params"), at)


# ---- items --------------------------------------------------------------------------------


def _command(node: Node, at: Place) -> s.Command:
    outcomes = _find(node, "outcomes")
    return s.Command(
        _name(node, at),
        _params(node, at),
        () if outcomes is None else tuple(_outcome(o, at) for o in _trees(outcomes)),
        _unrepeatable(node),
        _doc(node),
        at.of(node),
    )


def _outcome(node: Node, at: Place) -> s.Outcome:
    return s.Outcome(_name(node, at), _fields(node, at), at.of(node))


def _again(node: Node, at: Place) -> s.Again:
    keep = _find(node, "keep")
    end: s.Keep | s.Replace
    if keep is not None:
        end = s.Keep(at.of(keep))
    else:
        replace = _the(node, "replace")
        end = s.Replace(_init(replace, at), at.of(replace))
    return s.Again(_bind(node, at), _guard(node, at), end, at.of(node))


def _attempt(node: Node, at: Place) -> s.Attempt:
    """A `do`, `undo` or `fetch` with its rules; a `do` may stand inside its doc."""
    inner = _find(node, "attempt") or node
    return s.Attempt(
        _name(inner, at),
        _params(inner, at),
        tuple(_rule(each, at) for each in _trees(_the(inner, "rules"))),
        _unrepeatable(inner),
        _doc(node),
        at.of(node),
    )


def _rule(node: Node, at: Place) -> s.Rule | s.SilenceRule:
    action = _action(_trees(node)[-1], at)
    if node.data == "silence":
        return s.SilenceRule(_some(_duration(node, at)), action, at.of(node))
    return s.Rule(_outcome(_the(node, "outcome"), at), action, at.of(node))


def _action(node: Node, at: Place) -> s.Action:
    span = at.of(node)
    match node.data:
        case "act_next":
            return s.Next(span)
        case "act_again":
            return s.AgainAction(span)
        case "act_rest":
            return s.Rest(span)
        case "act_continue":
            return s.Continue(_some(_duration(node, at)), span)
        case "act_done":
            return s.DoneAction(_name(node, at), _init(node, at), span)
        case "act_abort":
            return s.Abort(_find(node, "with_undo") is not None, span)
        case "act_retry_then":
            after = _find(node, "after_name")
            wait = None if after is None else _name(after, at)
            return s.RetryThen(
                _name(node, at), wait, _action(_trees(node)[-1], at), span
            )
        case "act_retry_forever":
            told = _find(node, "escalate")
            escalate = None if told is None else _escalate(told, at)
            return s.RetryForever(_name(node, at), escalate, span)
        case unknown:
            raise AssertionError(unknown)


def _escalate(node: Node, at: Place) -> s.Escalate:
    after = _some(_duration(node, at))
    return s.Escalate(after, _name(node, at), _args(node, at), at.of(node))


def _each(node: Node, at: Place) -> s.Each:
    by = next(
        each
        for each in _trees(node)
        if each.data not in ("dotted", "due", "documented_attempt")
    )
    due = _find(node, "due")
    return s.Each(
        _name(node, at),
        tuple(s.Name(str(t), at.at(t)) for t in _tokens(_the(node, "dotted"))),
        _expr(by, at),
        None if due is None else _expr(_trees(due)[0], at),
        _attempt(_the(node, "documented_attempt"), at),
        at.of(node),
    )


def _step(node: Node, at: Place) -> s.Step:
    none = _find(node, "no_undo")
    undo: s.Attempt | s.NoUndo
    if none is None:
        undo = _attempt(_the(node, "undo"), at)
    else:
        undo = s.NoUndo(_string(none), at.of(none))
    do = _attempt(_the(node, "documented_attempt"), at)
    return s.Step(_name(node, at), do, undo, _doc(node), at.of(node))


# ---- properties, checking bounds, migrations ---------------------------------------------


def _property(node: Node, at: Place) -> s.Property:
    word = cast(
        'Literal["invariant", "never", "across", "eventually", "sometimes", "leads"]',
        node.data,
    )
    if word == "across":
        expr = _expr(_trees(node)[0], at)
        preds = [s.Pred((), expr, expr.span)]
    else:
        preds = [_pred(each, at) for each in _all(node, "pred")]
    return s.Property(
        word,
        _name(node, at),
        preds[0],
        preds[1] if word == "leads" else None,
        _duration(node, at),
        at.of(node),
    )


def _pred(node: Node, at: Place) -> s.Pred:
    states = _find(node, "name_list")
    expr = _expr(_trees(node)[-1], at)
    return s.Pred(() if states is None else _name_list(states, at), expr, at.of(node))


def _bound(node: Node, at: Place) -> s.Bound | s.Faults | s.Assume:
    span = at.of(node)
    match node.data:
        case "check_faults":
            excepted = _find(node, "name_list")
            return s.Faults(() if excepted is None else _name_list(excepted, at), span)
        case "check_assume":
            command, outcome = (s.Name(str(t), at.at(t)) for t in _tokens(node))
            return s.Assume(command, outcome, span)
        case _:
            word = cast(
                'Literal["instances", "messages", "page"]',
                node.data.removeprefix("check_"),
            )
            return s.Bound(word, _number(node), span)


def _migration(
    node: Node, at: Place
) -> s.MigrateState | s.MigrateDrop | s.MigrateCommand:
    span = at.of(node)
    name, *others = (s.Name(str(t), at.at(t)) for t in _tokens(node))
    issues = tuple(_issue(each, at) for each in _but(node, "init"))
    match node.data:
        case "migrate_state":
            becomes = others[0] if others else None
            return s.MigrateState(name, becomes, _some(_init(node, at)), issues, span)
        case "migrate_drop":
            return s.MigrateDrop(name, others[0], _init(node, at), issues, span)
        case _:
            return s.MigrateCommand(name, _some(_init(node, at)), span)


# ---- blocks -----------------------------------------------------------------------------


def _trigger(node: Node, at: Place) -> s.Trigger:
    name, *outcome = (s.Name(str(t), at.at(t)) for t in _tokens(node))
    return s.Trigger(name, outcome[0] if outcome else None, at.of(node))


def _bind(node: Node, at: Place) -> s.Name | None:
    bind = _find(node, "bind")
    return None if bind is None else _name(bind, at)


def _guard(node: Node, at: Place) -> s.Expr | None:
    guard = _find(node, "guard")
    return None if guard is None else _expr(_trees(guard)[0], at)


def _block(node: Node, at: Place) -> s.Block:
    lets: list[s.Let] = []
    issues: list[s.Issue] = []
    end: s.Exit | None = None
    for each in _trees(node):
        span = at.of(each)
        match each.data:
            case "let":
                value = _expr(_trees(each)[0], at)
                lets.append(s.Let(_name(each, at), value, span))
            case "goto":
                end = s.Goto(_name(each, at), _init(each, at), span)
            case "stay":
                end = s.Stay(_init(each, at), span)
            case "reject":
                end = s.Reject(_string(each), span)
            case _:
                issues.append(_issue(each, at))
    return s.Block(tuple(lets), tuple(issues), end, at.of(node))


def _issue(node: Node, at: Place) -> s.Issue:
    span = at.of(node)
    name, *message = (s.Name(str(t), at.at(t)) for t in _tokens(node))
    args = _args(node, at)
    match node.data:
        case "do":
            return s.Do(name, args, span)
        case "repeat":
            return s.Repeat(name, args, span)
        case "tell":
            return s.Tell(name, args, message[0], _init(node, at), span)
        case "begin":
            return s.Begin(name, args, _init(node, at), span)
        case unknown:
            raise AssertionError(unknown)


def _init(node: Node, at: Place) -> s.Init | None:
    init = _find(node, "init")
    if init is None:
        return None
    return s.Init(tuple(_init_item(each, at) for each in _trees(init)), at.of(init))


def _init_item(node: Node, at: Place) -> s.InitItem:
    match node.data:
        case "set":
            return s.Set(_name(node, at), _expr(_trees(node)[0], at), at.of(node))
        case "pun":
            return s.Pun(_name(node, at), at.of(node))
        case _:
            return s.CarryOver(at.of(node))


def _args(node: Node, at: Place) -> tuple[s.Expr, ...]:
    return tuple(_expr(each, at) for each in _trees(_the(node, "args")))


# ---- expressions --------------------------------------------------------------------------

_BINARY: Final[dict[str, s.Operator]] = {
    "implies": "implies",
    "either": "or",
    "both": "and",
    "plus": "+",
    "minus": "-",
    "times": "*",
}


def _expr(node: Node, at: Place) -> s.Expr:
    span = at.of(node)
    operands = _trees(node)
    match node.data:
        case "variable":
            return s.Var(str(_tokens(node)[0]), span)
        case "integer":
            token = _tokens(node)[0]
            return s.IntLit(_integer(token), span, str(token))
        case "duration":
            return _duration_literal(_tokens(node)[0], at)
        case "text":
            return s.TextLit(_string(node), span)
        case "true" | "false":
            return s.BoolLit(node.data == "true", span)
        case "none":
            return s.NoneLit(span)
        case "now":
            return s.Now(span)
        case "empty_list":
            return s.EmptyList(span)
        case "member":
            return s.Member(_expr(operands[0], at), _name(node, at), span)
        case "call":
            target, *arguments = operands
            each = tuple(_argument(a, at) for a in arguments)
            return s.Call(_expr(target, at), each, span)
        case "negate":
            return s.Unary("-", _expr(operands[0], at), span)
        case "negation":
            return s.Unary("not", _expr(operands[0], at), span)
        case "compare":
            operator = cast("s.Operator", str(_tokens(node)[0]))
            left, right = operands
            return s.Binary(operator, _expr(left, at), _expr(right, at), span)
        case "is_a":
            names = tuple(s.Name(str(t), at.at(t)) for t in _tokens(node))
            return s.Is(_expr(operands[0], at), names, span)
        case "conditional":
            test, yes, no = (_expr(each, at) for each in operands)
            return s.Conditional(test, yes, no, span)
        case binary:
            left, right = operands
            return s.Binary(_BINARY[binary], _expr(left, at), _expr(right, at), span)


def _argument(node: Node, at: Place) -> s.Expr | s.Binder:
    if node.data == "binder":
        return s.Binder(_name(node, at), _expr(_trees(node)[0], at), at.of(node))
    return _expr(node, at)


# ---- leaves -------------------------------------------------------------------------------


def milliseconds(written: str) -> int:
    """What a duration as written comes to: `2m` is 120000."""
    digits = written.rstrip("dhms")
    return int(digits.replace("_", "")) * UNITS[written[len(digits) :]]


def _integer(token: str) -> int:
    return int(token.replace("_", ""))


def _duration_literal(token: Token, at: Place) -> s.DurationLit:
    return s.DurationLit(milliseconds(token), str(token), at.at(token))


def _duration(node: Node, at: Place) -> s.DurationLit | None:
    duration = _find(node, "duration")
    return None if duration is None else _duration_literal(_tokens(duration)[0], at)


def _string(node: Node) -> str:
    return next(str(token)[1:-1] for token in _tokens(node) if token.type == "STRING")


def _number(node: Node) -> int:
    return next(_integer(token) for token in _tokens(node) if token.type == "INT")


def _unrepeatable(node: Node) -> bool:
    return any(token.type == "UNREPEATABLE" for token in _tokens(node))


def _name(node: Node, at: Place) -> s.Name:
    token = next(token for token in _tokens(node) if token.type == "NAME")
    return s.Name(str(token), at.at(token))


def _name_list(node: Node, at: Place) -> tuple[s.Name, ...]:
    return tuple(s.Name(str(token), at.at(token)) for token in _tokens(node))


def _dotted(node: Node) -> str:
    return ".".join(_tokens(node))


def _doc(node: Node) -> str | None:
    doc = _find(node, "doc")
    if doc is None:
        return None
    lines = (token[3:].removeprefix(" ").rstrip() for token in _tokens(doc))
    return "\n".join(lines)


def _some(value: T | None) -> T:
    """What the grammar makes certain."""
    assert value is not None
    return value


def _trees(node: Node) -> list[Node]:
    return [child for child in node.children if not isinstance(child, str)]


def _tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, str)]


def _all(node: Node, rule: str) -> list[Node]:
    return [child for child in _trees(node) if child.data == rule]


def _but(node: Node, rule: str) -> list[Node]:
    return [child for child in _trees(node) if child.data != rule]


def _find(node: Node, rule: str) -> Node | None:
    return next(iter(_all(node, rule)), None)


def _the(node: Node, rule: str) -> Node:
    return _all(node, rule)[0]
