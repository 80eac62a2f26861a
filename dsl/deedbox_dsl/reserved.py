"""The words that no name may be: the language's, Python's, and those of the machinery.

The parser takes `now`, `none` or `state` as a field's name wherever only a name
can stand, and such a field would then mean something else in an expression; a
Python keyword would break the generated module.  Both are refused here, for
every name, and nothing is ever renamed.
"""

from __future__ import annotations

import builtins
import keyword


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGE = _words(
    """
    module use type record choice policy machine retry scan saga version key given
    state final awaits message command start in on at as when ignore let do goto stay
    reject spent done undone step undo no then invariant never eventually
    sometimes leads across silence implies to within check migrate from becomes or and
    not is if else true false none now unrepeatable repeat tell begin assume
    """
)
"""All but `after`: it is what a cursor is called, and no expression can go on with it."""

PYTHON = frozenset(keyword.kwlist)

BASE_TYPES = frozenset({"text", "int", "bool", "instant", "duration", "list"})

HIDDEN_FIELDS = frozenset(
    {"born", "issued", "ticket", "deed_number", "idempotency_key", "deed"}
)
"""Every state or command has them, or an expression means them, without their being declared."""

PROPERTY_WORDS = frozenset({"phase", "old", "new"})

ANNOTATIONS = frozenset({"str", "int", "bool", "list", "tuple", "type", "object"})
"""A field of this name would hide the Python type in the class that declares it."""

BUILTIN_TYPES = frozenset(name for name in dir(builtins) if name[:1].isupper())

BUILTIN_MESSAGES = frozenset({"Start", "Due"})

FUNCTIONS = _words(
    """
    earliest latest min max len take drop head last text wait any all count sum filter
    """
)

LOCALS = (
    FUNCTIONS
    | frozenset(name for name in dir(builtins) if name[:1].islower())
    | frozenset({"msg", "own", "self", "cls", "cmd", "deedbox", "issues"})
)
"""A `let` or an `as` becomes a local variable; these would hide what the block calls."""

CAPTURES = HIDDEN_FIELDS | _words(
    """
    attempt limit cause error due since told woken cancelled silent_at now
    """
)
"""Fields that a kind gives its states by itself, so no captured value may have their names."""

GENERATED_CLASSES = _words(
    """
    State Start Due Msg Command Taken Step Handlers Refused Instant Duration Annotated Any
    Literal Final Protocol TypeAlias Awaitable Struct Meta NewType Machine SqliteTable
    CommandType Older Told Transition SagaRoles StepRoles ScanRoles PostgresTable Outcome Message Never Mapping Callable
    VERSION LATE KEPT ENDED TRANSITIONS UNSTAMPED
    """
)
"""What a generated module of a machine names by itself."""


def why_reserved(name: str) -> str | None:
    """Whose word it is, or None when any declaration may use the name."""
    if name in LANGUAGE:
        return "a word of the language"
    if name in PYTHON:
        return "a word of Python"
    return None


def why_no_field(name: str) -> str | None:
    if name in HIDDEN_FIELDS:
        return "a field that every machine has by itself"
    if name in PROPERTY_WORDS:
        return "a word of the properties"
    if name in ANNOTATIONS:
        return "a type of Python"
    return why_reserved(name)


def why_no_local(name: str) -> str | None:
    if name in LOCALS:
        return "a name that the generated code calls"
    return why_no_field(name)


def why_no_class(name: str) -> str | None:
    if name in BUILTIN_MESSAGES:
        return "a message that every machine has by itself"
    if name in BUILTIN_TYPES:
        return "a class of Python"
    return why_reserved(name)
