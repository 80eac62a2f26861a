"""What the templates are given: names, annotations and finished lines, all of them text.

A plan holds no core node and no decision that is still open; a template only lays
it out.  The order of everything is that of the spec.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """`doc` is a literal; `default` an expression."""

    name: str
    annotation: str
    default: str | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Struct:
    """`tag` is None for a record, which is never one of several."""

    name: str
    tag: str | None
    doc: str | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for an expression of types, or a `NewType`."""

    name: str
    value: str
    doc: str | None
    new_type: bool


@dataclass(frozen=True, slots=True)
class Choice:
    name: str
    doc: str | None
    variants: tuple[Struct, ...]


@dataclass(frozen=True, slots=True)
class Import:
    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Policy:
    """`wait` is None when no clause asks for it, `attempts` when none compares with it."""

    comment: str
    prefix: str
    attempts: str | None
    delays: tuple[str, ...]
    wait: str | None
    jitter: str | None


@dataclass(frozen=True, slots=True)
class Command:
    struct: Struct
    method: str
    outcomes: tuple[Struct, ...]
    union: str
    unrepeatable: bool
    deadline: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What is told to another machine."""

    struct: Struct
    machine: str


@dataclass(frozen=True, slots=True)
class Case:
    """One `case` of a state's `match` on the message: its patterns, its lines (indented).

    `reference` stands behind the head when all of the case is one clause, or `above` it
    where the line has no room.
    """

    patterns: tuple[str, ...]
    lines: tuple[str, ...]
    reference: str = ""
    guard: str = ""
    above: str = ""


@dataclass(frozen=True, slots=True)
class Reducer:
    """The function of one state, or of all the ended ones."""

    function: str
    states: tuple[str, ...]
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument; `name` is empty where it is given by position."""

    name: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.name}={self.value}" if self.name else self.value


@dataclass(frozen=True, slots=True)
class Made:
    """A command as it is made: its class and its arguments."""

    name: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A way into a state: a function that makes the state and what is then owed.

    `head` are the parameters before the star; `ticket` the line that counts the
    issues, if there are any; `local` the name of the state while it is made.
    """

    function: str
    head: str
    parameters: tuple[Field, ...]
    doc: str
    ticket: str | None
    local: str
    target: str
    values: tuple[Value, ...]
    commands: tuple[Made, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Its body: the state, and with it what is then owed."""
        values = ", ".join(each.text for each in self.values)
        commands = "".join(f"{each.text}, " for each in self.commands)
        made = f"{self.local} = {self.target}({values})"
        taken = f"return {self.local}, ({commands.removesuffix(', ')})"
        if len(self.commands) == 1:
            taken = f"return {self.local}, ({commands.strip()})"
        return (*([self.ticket] if self.ticket else []), made, taken)


@dataclass(frozen=True, slots=True)
class Waking:
    """The states that one answer of `wake` fits; `deadlines` are expressions."""

    states: tuple[str, ...]
    deadlines: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Transition:
    source: str
    trigger: str
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the machine's view, and the JSON path of its value."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Table:
    """`migrates`: a version before this one may have made the table."""

    name: str
    view: str
    phases: tuple[str, ...]
    columns: tuple[Column, ...]
    migrates: bool


@dataclass(frozen=True, slots=True)
class Older:
    """A released version: the module of its structs, and the way to the version `target`.

    `cases` are those of its states, `calls` those of the commands that it may still
    owe, whose names are `methods`.
    """

    version: int
    module: str
    doc: str
    imports: tuple[Import, ...]
    aliases: tuple[Alias, ...]
    records: tuple[Struct | Choice, ...]
    states: tuple[Struct, ...]
    commands: tuple[Struct, ...]
    function: str
    command_function: str
    target: int
    state_type: str
    command_type: str
    cases: tuple[Case, ...]
    calls: tuple[Case, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepRoles:
    """A step of a saga; outcomes are classes, `undo` is None for a step without one."""

    do: str
    done: tuple[str, ...]
    undo: str | None
    undone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saga:
    steps: tuple[StepRoles, ...]
    done: str
    undone: str


@dataclass(frozen=True, slots=True)
class Scan:
    """`page` is a class, the others are names."""

    fetch: str
    page: str
    listed: str
    by: str
    due: str | None
    item: str
    cursor: str
    limit: str
    size: int


@dataclass(frozen=True, slots=True)
class Machine:
    """`tabled`: too many states for `reduce` to try one by one; `large`: for `wake` too."""

    name: str
    module: str
    version: int
    doc: str
    key: tuple[str, ...]
    key_text: str
    policies: tuple[Policy, ...]
    states: tuple[Struct, ...]
    finals: tuple[str, ...]
    start: Struct
    messages: tuple[Struct, ...]
    commands: tuple[Command, ...]
    told: tuple[Told, ...]
    begin: Arrival
    begins_again: bool
    more_begins: tuple[Arrival, ...]
    again: tuple[str, ...]
    reducers: tuple[Reducer, ...]
    arrivals: tuple[Arrival, ...]
    wakings: tuple[Waking, ...]
    awaiting: tuple[str, ...]
    resting: tuple[str, ...]
    transitions: tuple[Transition, ...]
    table: Table
    older: tuple[Older, ...]
    saga: Saga | None
    scan: Scan | None
    tabled: bool
    large: bool

    @property
    def owed(self) -> tuple[str, ...]:
        """The classes of all that a step may leave owed."""
        commands = tuple(each.struct.name for each in self.commands)
        return commands + tuple(each.struct.name for each in self.told)

    @property
    def answers(self) -> tuple[str, ...]:
        """The classes of all outcomes."""
        return tuple(o.name for c in self.commands for o in c.outcomes)


@dataclass(frozen=True, slots=True)
class Package:
    """What one spec file becomes."""

    name: str
    source: str
    spec_hash: str
    module: str
    imports: tuple[Import, ...]
    aliases: tuple[Alias, ...]
    records: tuple[Struct | Choice | Alias, ...]
    machines: tuple[Machine, ...]
