"""The core: plain machines, resolved and typed, the one thing every kind becomes.

Everything downstream (flow checks, generator, SQL, diagrams, model checker) reads
only this.  Invariants, asserted once after lowering: every expression has its
type; every (state, trigger) pair of a machine without problems is decided; every
init list names every field of its state, in the order of the state; every span
points into a spec; no name is one that Python cannot spell.

Hidden fields are not listed in `State.fields`.  They follow from the state:
`born` and `issued` always, `ticket` when it awaits, `deed_number` when
`open_deed` is set.  The file is long because it is data, without behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .source import Span
from .types import ChoiceType, Declared, RecordType, Type

# ---- expressions -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """An int, a text or a bool; a duration is an int of milliseconds; `none` is None."""

    value: int | str | bool | None
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmptyList:
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Now:
    """The logical time of the message."""

    type: Type
    span: Span = field(compare=False, repr=False)


Scope: TypeAlias = Literal["key", "given", "state", "let", "item"]


@dataclass(frozen=True, slots=True)
class Read:
    """A bare name: of the key, the given, the state, a `let`, or a binder's item.

    In `start` and in the guard of `on start again`, where the machine has no state
    or any state, `key` and `given` are those of the message `Start` resp. the stored ones.
    """

    scope: Scope
    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bound:
    """A field of the message or outcome at hand, written `out.name` after `as out`."""

    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Side:
    """`old.name` or `new.name` in an `across`; a field of that state, key or given."""

    side: Literal["old", "new"]
    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a record, or of a choice whose variant a guard has established."""

    target: Expr
    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deed:
    """`deed`: the idempotency key of the deed that is open in this state."""

    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negative:
    operand: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


Operator: TypeAlias = Literal[
    "+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "and", "or", "implies"
]


@dataclass(frozen=True, slots=True)
class Binary:
    """`==` and `!=` against `none` keep the optional on the left and `none` on the right."""

    operator: Operator
    left: Expr
    right: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    test: Expr
    yes: Expr
    no: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PhaseIs:
    """`phase is A | B`, `old is A`, `new is A`; the names are those of lowered states."""

    subject: Literal["phase", "old", "new"]
    states: tuple[str, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VariantIs:
    target: Expr
    variants: tuple[str, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Known:
    """An optional that a guard has shown not to be none: `T?` read as `T`, no work at run time."""

    target: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


Function: TypeAlias = Literal[
    "earliest", "latest", "min", "max", "len", "take", "drop", "head", "last", "text"
]


@dataclass(frozen=True, slots=True)
class Call:
    function: Function
    arguments: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Over:
    """`any(item in source, body)` and its like; `count` and `sum` give int."""

    function: Literal["any", "all", "count", "sum", "filter"]
    item: str
    source: Expr
    body: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Wait:
    """`wait(P, n)`: the delay after issue `n` under policy `P`, jitter included."""

    policy: str
    issue: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attempts:
    """`P.attempts` of a limited policy."""

    policy: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """`count(c.o)`, only in properties: deeds of `c` which the far side ended with `o` (0, 1, 2 = more)."""

    command: str
    outcome: str
    type: Type
    span: Span = field(compare=False, repr=False)


Expr: TypeAlias = (
    Constant
    | EmptyList
    | Now
    | Read
    | Bound
    | Side
    | Member
    | Deed
    | Not
    | Negative
    | Binary
    | Conditional
    | PhaseIs
    | VariantIs
    | Known
    | Call
    | Over
    | Wait
    | Attempts
    | Ended
)


# ---- declarations ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A policy, as numbers.

    `delays[i]` is the wait in milliseconds after issue `i + 1`.  A limited policy has
    `attempts - 1` delays; an unlimited one has them up to the first that equals `max`,
    which then repeats.  `jitter` is None, "full", or percent (1 to 100).
    `words` is the policy as written, for a comment: `first 1s, factor 2, …`.
    """

    name: str
    module: str
    delays: tuple[int, ...]
    attempts: int | None
    within: int | None
    jitter: int | Literal["full"] | None
    words: str
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """`awaits`: the command whose answer it waits for.

    `open_deed`: the command whose deed is open here, so that `deed_number` is stored:
    the awaited one, or one that fell silent and may be repeated or undone later.
    `deadlines`: the instant fields that an `at` clause of this state waits for, in spec order.
    """

    name: str
    fields: tuple[Field, ...]
    final: bool
    awaits: str | None
    open_deed: str | None
    deadlines: tuple[str, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    fields: tuple[Field, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Command:
    """`deadline`: every state that awaits it has a deadline, so no platform limit applies."""

    name: str
    params: tuple[Field, ...]
    outcomes: tuple[Outcome, ...]
    unrepeatable: bool
    deadline: bool
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Told:
    """A message that the machine tells another one, or a start by which it begins it.

    `message` None: a start; its `fields` are the other machine's key and given.
    """

    module: str
    machine: str
    message: str | None
    key: tuple[Field, ...]
    fields: tuple[Field, ...]
    span: Span = field(compare=False, repr=False)


# ---- clauses -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OnMessage:
    message: str


@dataclass(frozen=True, slots=True)
class OnOutcome:
    command: str
    outcome: str


@dataclass(frozen=True, slots=True)
class AtDeadline:
    field: str


Trigger: TypeAlias = OnMessage | OnOutcome | AtDeadline


@dataclass(frozen=True, slots=True)
class Set:
    """One field of the state gone to, and its value."""

    field: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Let:
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Do:
    """Opens a new deed of `command`; `arguments` in the order of its parameters."""

    command: str
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Asks again for the open deed of `command`: same key, new ticket."""

    command: str
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tell:
    """A message to another machine's instance; `machine` is `module` and name."""

    module: str
    machine: str
    key: tuple[Expr, ...]
    message: str
    fields: tuple[Set, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Begin:
    module: str
    machine: str
    key: tuple[Expr, ...]
    fields: tuple[Set, ...]
    span: Span = field(compare=False, repr=False)


Issue: TypeAlias = Do | Repeat | Tell | Begin


@dataclass(frozen=True, slots=True)
class Goto:
    state: str
    fields: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Stay:
    """The same state; every field is named, an unchanged one as a `Read` of itself."""

    fields: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    text: str


Exit: TypeAlias = Goto | Stay | Reject


@dataclass(frozen=True, slots=True)
class Body:
    lets: tuple[Let, ...]
    issues: tuple[Issue, ...]
    exit: Exit


@dataclass(frozen=True, slots=True)
class Clause:
    """What one state does on one trigger, when `guard` holds; first match wins.

    `in A, B { … }` makes one clause for each state.  `body` None: ignored by name.
    """

    state: str
    trigger: Trigger
    guard: Expr | None
    body: Body | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Keep:
    pass


@dataclass(frozen=True, slots=True)
class Replace:
    """Runs `start` with the new given; `overrides` replace fields of the state it goes to."""

    overrides: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """In the guard: `Read` speaks of the stored key and given, `Bound` of the new start."""

    guard: Expr | None
    exit: Keep | Replace
    span: Span = field(compare=False, repr=False)


# ---- properties and bounds -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pred:
    """`states` empty: any state."""

    states: tuple[str, ...]
    expr: Expr


@dataclass(frozen=True, slots=True)
class Property:
    word: Literal["invariant", "never", "across", "eventually", "sometimes", "leads"]
    name: str
    pred: Pred
    target: Pred | None
    within: int | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The `check` block; `assumed` are (command, outcome) pairs that come in the end."""

    instances: int = 1
    messages: int = 1
    page: int | None = None
    excepted_faults: tuple[str, ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    code: str
    reason: str
    span: Span = field(compare=False, repr=False)


# ---- migrations ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """What a version of a machine keeps in a store and says to others: declarations only.

    Its states have no `deadlines` and no `doc`.  Two shapes are compared by `shapes`,
    which knows that the name of a type is not stored.
    """

    module: str
    machine: str
    version: int
    key: tuple[Field, ...]
    given: tuple[Field, ...]
    states: tuple[State, ...]
    messages: tuple[Message, ...]
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class MigrateState:
    """What one state of the older version becomes.

    `given` and `fields` name all of the given and all of the new state's fields.
    `issues` are asked for anew; `keeps`: the awaited command stays owed, with its
    ticket and key.  A state that is not mentioned is copied, and `written` is False.
    """

    old: str
    new: str
    given: tuple[Set, ...]
    fields: tuple[Set, ...]
    issues: tuple[Issue, ...]
    keeps: bool
    written: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MigrateCommand:
    """What an owed command becomes: a value for every parameter, from the older ones.

    A `Read` of scope "let" speaks of a parameter of the older command.
    """

    command: str
    fields: tuple[Set, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Migration:
    """From a released version to the next one that was released, or to this one.

    `older` is the released shape, its types replaced by those of `target` wherever a
    stored value can be read as such.  `states` has an entry for each of its states,
    `commands` for each of its commands that may still be owed.  In a state's entry
    `Read` speaks of the older state, and `Now` is the time of its last step.
    """

    older: Shape
    target: Shape
    states: tuple[MigrateState, ...]
    commands: tuple[MigrateCommand, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Machine:
    """A plain machine, or what a kind was lowered to; `kind` is the word it was written with.

    `told`: each message to another machine once, in the order of the spec.
    """

    name: str
    kind: Literal["machine", "retry", "scan", "saga"]
    version: int
    doc: str | None
    key: tuple[Field, ...]
    given: tuple[Field, ...]
    states: tuple[State, ...]
    messages: tuple[Message, ...]
    commands: tuple[Command, ...]
    told: tuple[Told, ...]
    start: Body
    again: tuple[Again, ...]
    clauses: tuple[Clause, ...]
    properties: tuple[Property, ...]
    bounds: Bounds
    migrations: tuple[Migration, ...]
    allows: tuple[Allow, ...]
    ladders: tuple[Ladder, ...]
    span: Span = field(compare=False, repr=False)


TypeDeclaration: TypeAlias = Declared | RecordType | ChoiceType


@dataclass(frozen=True, slots=True)
class DeclaredType:
    type: TypeDeclaration
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Module:
    """One spec file.

    `name`: the dotted name, or the file's stem when it gives itself none.
    `imported`: types it uses from other modules, and the paths of those specs.
    `sources`: its own path first, then every spec it imports, directly or not, sorted,
    then the recorded shapes it migrates from: what its generated code depends on.
    """

    name: str
    path: str
    types: tuple[DeclaredType, ...]
    imported: tuple[tuple[TypeDeclaration, str], ...]
    ladders: tuple[Ladder, ...]
    machines: tuple[Machine, ...]
    sources: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
