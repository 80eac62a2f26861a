"""The syntax tree: one frozen dataclass for each construct of the grammar.

It is what `parse` makes, what `format` prints, and what a kind is lowered *to*:
`lower` turns a `Retry`, a `Scan` or a `Saga` into a `Machine` of this same tree,
so the lowered form can be printed, parsed and checked like any other spec.
Spans take no part in equality: two texts of one meaning have equal trees.
A lowered node has the span of the spec line that caused it.

It is long because it is data: one class for each construct, and no behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name where it is written; `text` is what it says."""

    text: str
    span: Span = field(compare=False, repr=False)


# ---- types -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeName:
    """`text`, `OrderId`, `list[Line]`."""

    name: Name
    arguments: tuple[TypeExpr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OptionalType:
    item: TypeName
    span: Span = field(compare=False, repr=False)


TypeExpr: TypeAlias = TypeName | OptionalType


@dataclass(frozen=True, slots=True)
class Field:
    """`name: type`, and `= expr` where a kind's parameter is given a value."""

    name: Name
    type: TypeExpr
    value: Expr | None
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """`type Cents = int in 0..100`; the bounds are `IntLit` or `DurationLit`."""

    name: Name
    type: TypeExpr
    low: IntLit | DurationLit | None
    high: IntLit | DurationLit | None
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Record:
    name: Name
    fields: tuple[Field, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variant:
    name: Name
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    name: Name
    variants: tuple[Variant, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


# ---- policies ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PolicyItem:
    """One word of a policy and its value as written.

    `first`, `max`, `within`: milliseconds.  `factor`: the decimal text.
    `attempts`: an int, or "unlimited".  `jitter`: "none", "full", or percent as an int.
    `written` is how the spec spells the value, empty where nobody wrote it.
    """

    word: Literal["first", "factor", "max", "attempts", "within", "jitter"]
    value: int | str
    span: Span = field(compare=False, repr=False)
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Policy:
    name: Name
    items: tuple[PolicyItem, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


# ---- expressions -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var:
    """A bare name; what it means is decided by where it stands."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntLit:
    """`100_000`; `written` is how the spec spells it, empty where nobody wrote it."""

    value: int
    span: Span = field(compare=False, repr=False)
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DurationLit:
    """`30s`: its milliseconds, and how it was written (the formatter keeps that)."""

    milliseconds: int
    written: str = field(compare=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextLit:
    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BoolLit:
    value: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NoneLit:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Now:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmptyList:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    """`target.name`; `patient.attempts`, `out.ref`, `job.due`, `old.due`, `charge.paid`."""

    target: Expr
    name: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binder:
    """`job in list`, the first argument of `any all count sum filter`."""

    name: Name
    source: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`earliest(a, b)`, `wait(P, n)`, `any(job in jobs, job.due <= now)`."""

    target: Expr
    arguments: tuple[Expr | Binder, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    operator: Literal["-", "not"]
    operand: Expr
    span: Span = field(compare=False, repr=False)


Operator: TypeAlias = Literal[
    "+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "and", "or", "implies"
]


@dataclass(frozen=True, slots=True)
class Binary:
    operator: Operator
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Is:
    """`phase is A | B`, `old is A`, `choice is Variant`."""

    subject: Expr
    names: tuple[Name, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if test then yes else no`."""

    test: Expr
    yes: Expr
    no: Expr
    span: Span = field(compare=False, repr=False)


Expr: TypeAlias = (
    Var
    | IntLit
    | DurationLit
    | TextLit
    | BoolLit
    | NoneLit
    | Now
    | EmptyList
    | Member
    | Call
    | Unary
    | Binary
    | Is
    | Conditional
)


# ---- blocks ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Set:
    """`due: now + 5s` in an init list."""

    name: Name
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pun:
    """`holder` in an init list: the field and the value have one name."""

    name: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CarryOver:
    """`..` in an init list: equal names and types of the old state are copied."""

    span: Span = field(compare=False, repr=False)


InitItem: TypeAlias = Set | Pun | CarryOver


@dataclass(frozen=True, slots=True)
class Init:
    items: tuple[InitItem, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Let:
    name: Name
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Do:
    command: Name
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    command: Name
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tell:
    machine: Name
    key: tuple[Expr, ...]
    message: Name
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Begin:
    machine: Name
    key: tuple[Expr, ...]
    init: Init | None
    span: Span = field(compare=False, repr=False)


Issue: TypeAlias = Do | Repeat | Tell | Begin


@dataclass(frozen=True, slots=True)
class Goto:
    state: Name
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stay:
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reject:
    text: str
    span: Span = field(compare=False, repr=False)


Exit: TypeAlias = Goto | Stay | Reject


@dataclass(frozen=True, slots=True)
class Block:
    lets: tuple[Let, ...]
    issues: tuple[Issue, ...]
    exit: Exit | None
    span: Span = field(compare=False, repr=False)


# ---- the plain machine -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Given:
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    name: Name
    fields: tuple[Field, ...]
    awaits: Name | None
    final: bool
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    name: Name
    fields: tuple[Field, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    name: Name
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Command:
    name: Name
    params: tuple[Field, ...]
    outcomes: tuple[Outcome, ...]
    unrepeatable: bool
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Start:
    block: Block
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trigger:
    """`Acquire`, or `charge.paid` (then `outcome` is set)."""

    name: Name
    outcome: Name | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class On:
    trigger: Trigger
    bind: Name | None
    guard: Expr | None
    block: Block
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class At:
    deadline: Name
    guard: Expr | None
    block: Block
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ignore:
    triggers: tuple[Trigger, ...]
    span: Span = field(compare=False, repr=False)


Clause: TypeAlias = On | At | Ignore


@dataclass(frozen=True, slots=True)
class Inside:
    """`in A, B { … }`."""

    states: tuple[Name, ...]
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Keep:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Replace:
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Again:
    """`on start again as m when g { keep | replace … }`, an item of every kind."""

    bind: Name | None
    guard: Expr | None
    exit: Keep | Replace
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Allow:
    code: Name
    reason: str
    span: Span = field(compare=False, repr=False)


# ---- properties, checking bounds, migrations ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Pred:
    """`in A, B when expr`, or a plain `expr` (then `states` is empty)."""

    states: tuple[Name, ...]
    expr: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Property:
    """`pred` is the premise of a `leads`; `target` and `within` belong to it alone."""

    word: Literal["invariant", "never", "across", "eventually", "sometimes", "leads"]
    name: Name
    pred: Pred
    target: Pred | None
    within: DurationLit | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bound:
    """`instances n`, `messages n`, `page n`."""

    word: Literal["instances", "messages", "page"]
    value: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Faults:
    """`faults all [except a, b]`."""

    excepted: tuple[Name, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assume:
    """`assume command.outcome in the end`."""

    command: Name
    outcome: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Check:
    bounds: tuple[Bound | Faults | Assume, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MigrateState:
    """`state A becomes B { … } do c(…)`; `becomes` is None when the name stays."""

    state: Name
    becomes: Name | None
    init: Init
    issues: tuple[Issue, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MigrateDrop:
    state: Name
    becomes: Name
    init: Init | None
    issues: tuple[Issue, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MigrateCommand:
    command: Name
    init: Init
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Migrate:
    version: int
    items: tuple[MigrateState | MigrateDrop | MigrateCommand, ...]
    span: Span = field(compare=False, repr=False)


CommonItem: TypeAlias = (
    Key | Given | Again | Command | Property | Migrate | Check | Allow
)
MachineItem: TypeAlias = CommonItem | State | Message | Start | Inside


@dataclass(frozen=True, slots=True)
class Machine:
    name: Name
    version: int
    items: tuple[MachineItem, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


# ---- the kinds -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Next:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AgainAction:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rest:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    after: DurationLit
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DoneAction:
    state: Name
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Abort:
    with_undo: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RetryThen:
    """`retry P [after w] then action`."""

    policy: Name
    after: Name | None
    then: Action
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Escalate:
    after: DurationLit
    command: Name
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RetryForever:
    policy: Name
    escalate: Escalate | None
    span: Span = field(compare=False, repr=False)


Action: TypeAlias = (
    Next | AgainAction | Rest | Continue | DoneAction | Abort | RetryThen | RetryForever
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`paid { ref: PaymentRef } => next`."""

    outcome: Outcome
    action: Action
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SilenceRule:
    """`silence after 30s => …`."""

    after: DurationLit
    action: Action
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A kind's command with its rules: a `do`, an `undo` or a `fetch`."""

    command: Name
    params: tuple[Field, ...]
    rules: tuple[Rule | SilenceRule, ...]
    unrepeatable: bool
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Uses:
    """`policy patient` inside a retry."""

    policy: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spent:
    action: Action
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WakeOn:
    """`wake on M [after d]`."""

    message: Name
    after: DurationLit | None
    span: Span = field(compare=False, repr=False)


RetryItem: TypeAlias = CommonItem | Message | Uses | Attempt | Spent | WakeOn


@dataclass(frozen=True, slots=True)
class Retry:
    name: Name
    version: int
    items: tuple[RetryItem, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Page:
    size: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cursor:
    variable: Field
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fetch:
    attempt: Attempt
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Each:
    """`each job in page.jobs by job.id due job.due { do … }`; `source` is the dotted name."""

    item: Name
    source: tuple[Name, ...]
    by: Expr
    due: Expr | None
    attempt: Attempt
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContinueAfter:
    after: DurationLit
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Idle:
    wait: DurationLit
    span: Span = field(compare=False, repr=False)


ScanItem: TypeAlias = (
    CommonItem | Message | Page | Cursor | Fetch | Each | ContinueAfter | Idle | WakeOn
)


@dataclass(frozen=True, slots=True)
class Scan:
    name: Name
    version: int
    items: tuple[ScanItem, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NoUndo:
    reason: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    name: Name
    do: Attempt
    undo: Attempt | NoUndo
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SagaDone:
    """`done -> Settled { … }`."""

    state: Name
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SagaUndone:
    """`undone -> Refunded { … }`."""

    state: Name
    init: Init | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NoCancel:
    reason: str
    span: Span = field(compare=False, repr=False)


SagaItem: TypeAlias = CommonItem | Step | SagaDone | SagaUndone | NoCancel


@dataclass(frozen=True, slots=True)
class Saga:
    name: Name
    version: int
    items: tuple[SagaItem, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


# ---- files ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use:
    """`use shop.policies { ladder, patient }`; `module` is the dotted name."""

    module: Name
    names: tuple[Name, ...]
    span: Span = field(compare=False, repr=False)


Kind: TypeAlias = Machine | Retry | Scan | Saga
Declaration: TypeAlias = Alias | Record | Choice | Policy | Kind


@dataclass(frozen=True, slots=True)
class Module:
    """One spec file; `name` is the dotted name it gives itself, if any."""

    name: str | None
    uses: tuple[Use, ...]
    declarations: tuple[Declaration, ...]
    span: Span = field(compare=False, repr=False)
