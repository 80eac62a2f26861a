"""Random syntax trees that a spec can say, for the laws of parser and formatter."""

from __future__ import annotations

from deedbox_dsl import syntax as s
from deedbox_dsl.parse.lexemes import scan
from deedbox_dsl.source import Span, Text
from hypothesis import strategies as st

NOWHERE = Span("", 0, 0, 1, 1)
WORDS = ("a", "job", "order_id", "x1", "Held", "Free", "OrderId", "cause", "deed")

names = st.sampled_from(WORDS).map(lambda text: s.Name(text, NOWHERE))
some_names = st.lists(names, min_size=1, max_size=3).map(tuple)
said = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='"\n\r'), max_size=12
)
documentation = st.none() | st.lists(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=20
    ).map(str.rstrip),
    min_size=1,
    max_size=3,
).map("\n".join)
counts = st.integers(0, 2**31)
durations = st.builds(s.DurationLit, counts, written=st.just(""), span=st.just(NOWHERE))
integers = st.builds(s.IntLit, counts, st.just(NOWHERE))


# ---- types and expressions ------------------------------------------------------------

type_names = st.deferred(
    lambda: st.builds(
        s.TypeName, names, st.lists(types, max_size=2).map(tuple), st.just(NOWHERE)
    )
)
types: st.SearchStrategy[s.TypeExpr] = st.deferred(
    lambda: st.one_of(
        st.builds(s.TypeName, names, st.just(()), st.just(NOWHERE)),
        st.builds(s.OptionalType, type_names, st.just(NOWHERE)),
        type_names,
    )
)
leaves: st.SearchStrategy[s.Expr] = st.one_of(
    st.builds(s.Var, st.sampled_from(WORDS), st.just(NOWHERE)),
    integers,
    durations,
    st.builds(s.TextLit, said, st.just(NOWHERE)),
    st.builds(s.BoolLit, st.booleans(), st.just(NOWHERE)),
    st.builds(s.NoneLit, st.just(NOWHERE)),
    st.builds(s.Now, st.just(NOWHERE)),
    st.builds(s.EmptyList, st.just(NOWHERE)),
)
OPERATORS: tuple[s.Operator, ...] = (
    *("+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "and", "or", "implies"),
)


def _larger(inner: st.SearchStrategy[s.Expr]) -> st.SearchStrategy[s.Expr]:
    here = st.just(NOWHERE)
    arguments = st.lists(
        inner | st.builds(s.Binder, names, inner, here), max_size=3
    ).map(tuple)
    return st.one_of(
        st.builds(s.Member, inner, names, here),
        st.builds(s.Call, inner, arguments, here),
        st.builds(s.Unary, st.sampled_from(("-", "not")), inner, here),
        st.builds(s.Binary, st.sampled_from(OPERATORS), inner, inner, here),
        st.builds(s.Is, inner, some_names, here),
        st.builds(s.Conditional, inner, inner, inner, here),
    )


expressions: st.SearchStrategy[s.Expr] = st.recursive(leaves, _larger, max_leaves=10)
guards = st.none() | expressions
here = st.just(NOWHERE)


# ---- blocks -------------------------------------------------------------------------------

fields = st.builds(s.Field, names, types, st.none() | expressions, documentation, here)
plain_fields = st.builds(s.Field, names, types, st.none(), st.none(), here)
some_fields = st.lists(fields, max_size=3).map(tuple)
init_items: st.SearchStrategy[s.InitItem] = st.one_of(
    st.builds(s.Set, names, expressions, here),
    st.builds(s.Pun, names, here),
    st.builds(s.CarryOver, here),
)
inits = st.builds(s.Init, st.lists(init_items, max_size=3).map(tuple), here)
maybe_inits = st.none() | inits
arguments = st.lists(expressions, max_size=3).map(tuple)
issues: st.SearchStrategy[s.Issue] = st.one_of(
    st.builds(s.Do, names, arguments, here),
    st.builds(s.Repeat, names, arguments, here),
    st.builds(s.Tell, names, arguments, names, maybe_inits, here),
    st.builds(s.Begin, names, arguments, maybe_inits, here),
)
some_issues = st.lists(issues, max_size=2).map(tuple)
exits: st.SearchStrategy[s.Exit] = st.one_of(
    st.builds(s.Goto, names, maybe_inits, here),
    st.builds(s.Stay, maybe_inits, here),
    st.builds(s.Reject, said, here),
)
lets = st.lists(st.builds(s.Let, names, expressions, here), max_size=2).map(tuple)
blocks = st.builds(s.Block, lets, some_issues, st.none() | exits, here)
triggers = st.builds(s.Trigger, names, st.none() | names, here)
clauses: st.SearchStrategy[s.Clause] = st.one_of(
    st.builds(s.On, triggers, st.none() | names, guards, blocks, here),
    st.builds(s.At, names, guards, blocks, here),
    st.builds(s.Ignore, st.lists(triggers, min_size=1, max_size=3).map(tuple), here),
)


# ---- items ----------------------------------------------------------------------------------

outcomes = st.builds(s.Outcome, names, some_fields, here)
preds = st.builds(s.Pred, st.lists(names, max_size=2).map(tuple), expressions, here)
properties = st.one_of(
    st.builds(
        s.Property,
        st.sampled_from(("invariant", "never", "eventually", "sometimes")),
        names,
        preds,
        st.none(),
        st.none(),
        here,
    ),
    st.builds(
        s.Property,
        st.just("across"),
        names,
        st.builds(s.Pred, st.just(()), expressions, here),
        st.none(),
        st.none(),
        here,
    ),
    st.builds(
        s.Property, st.just("leads"), names, preds, preds, st.none() | durations, here
    ),
)
bounds = st.one_of(
    st.builds(
        s.Bound, st.sampled_from(("instances", "messages", "page")), counts, here
    ),
    st.builds(s.Faults, st.lists(names, max_size=2).map(tuple), here),
    st.builds(s.Assume, names, names, here),
)
migrations = st.one_of(
    st.builds(s.MigrateState, names, st.none() | names, inits, some_issues, here),
    st.builds(s.MigrateDrop, names, names, maybe_inits, some_issues, here),
    st.builds(s.MigrateCommand, names, inits, here),
)
commands = st.builds(
    s.Command,
    names,
    some_fields,
    st.lists(outcomes, max_size=3).map(tuple),
    st.booleans(),
    documentation,
    here,
)
common: st.SearchStrategy[s.CommonItem] = st.one_of(
    st.builds(s.Key, st.lists(plain_fields, min_size=1, max_size=2).map(tuple), here),
    st.builds(s.Given, st.lists(fields, min_size=1, max_size=2).map(tuple), here),
    st.builds(
        s.Again,
        st.none() | names,
        guards,
        st.builds(s.Keep, here) | st.builds(s.Replace, maybe_inits, here),
        here,
    ),
    commands,
    properties,
    st.builds(s.Migrate, counts, st.lists(migrations, max_size=3).map(tuple), here),
    st.builds(s.Check, st.lists(bounds, min_size=1, max_size=3).map(tuple), here),
    st.builds(s.Allow, names, said, here),
)
messages = st.builds(s.Message, names, some_fields, documentation, here)
machine_items: st.SearchStrategy[s.MachineItem] = st.one_of(
    common,
    messages,
    st.builds(
        s.State,
        names,
        some_fields,
        st.none() | names,
        st.just(False),
        documentation,
        here,
    ),
    st.builds(
        s.State, names, some_fields, st.none(), st.just(True), documentation, here
    ),
    st.builds(s.Start, blocks, here),
    st.builds(s.Inside, some_names, st.lists(clauses, max_size=3).map(tuple), here),
)
simple_actions: st.SearchStrategy[s.Action] = st.one_of(
    st.builds(s.Next, here),
    st.builds(s.AgainAction, here),
    st.builds(s.Rest, here),
    st.builds(s.Continue, durations, here),
    st.builds(s.DoneAction, names, maybe_inits, here),
    st.builds(s.Abort, st.booleans(), here),
    st.builds(
        s.RetryForever,
        names,
        st.none() | st.builds(s.Escalate, durations, names, arguments, here),
        here,
    ),
)
actions: st.SearchStrategy[s.Action] = st.recursive(
    simple_actions,
    lambda inner: st.builds(s.RetryThen, names, st.none() | names, inner, here),
    max_leaves=3,
)
rules = st.lists(
    st.builds(s.Rule, outcomes, actions, here)
    | st.builds(s.SilenceRule, durations, actions, here),
    min_size=1,
    max_size=3,
).map(tuple)


def _attempts(
    once: st.SearchStrategy[bool], docs: st.SearchStrategy[str | None]
) -> st.SearchStrategy[s.Attempt]:
    return st.builds(s.Attempt, names, some_fields, rules, once, docs, here)


attempts = _attempts(st.booleans(), documentation)
wakes = st.builds(s.WakeOn, names, st.none() | durations, here)
retry_items: st.SearchStrategy[s.RetryItem] = st.one_of(
    common,
    messages,
    st.builds(s.Uses, names, here),
    attempts,
    st.builds(s.Spent, actions, here),
    wakes,
)
scan_items: st.SearchStrategy[s.ScanItem] = st.one_of(
    common,
    messages,
    wakes,
    st.builds(s.Page, counts, here),
    st.builds(s.Cursor, plain_fields, here),
    st.builds(s.Fetch, attempts, here),
    st.builds(s.Each, names, some_names, expressions, guards, attempts, here),
    st.builds(s.ContinueAfter, durations, here),
    st.builds(s.Idle, durations, here),
)
saga_items: st.SearchStrategy[s.SagaItem] = st.one_of(
    common,
    st.builds(
        s.Step,
        names,
        attempts,
        _attempts(st.just(False), st.none()) | st.builds(s.NoUndo, said, here),
        documentation,
        here,
    ),
    st.builds(s.SagaDone, names, maybe_inits, here),
    st.builds(s.SagaUndone, names, maybe_inits, here),
    st.builds(s.NoCancel, said, here),
)


# ---- files ----------------------------------------------------------------------------------

policy_items = st.one_of(
    st.builds(s.PolicyItem, st.sampled_from(("first", "max", "within")), counts, here),
    st.builds(
        s.PolicyItem, st.just("factor"), st.sampled_from(("1", "2", "1.5")), here
    ),
    st.builds(s.PolicyItem, st.just("attempts"), counts | st.just("unlimited"), here),
    st.builds(
        s.PolicyItem,
        st.just("jitter"),
        st.sampled_from(("none", "full")) | st.integers(0, 100),
        here,
    ),
)
limits = integers | durations | st.builds(s.IntLit, st.integers(-9, -1), here)
variants = st.builds(s.Variant, names, some_fields, here)


def _kinds() -> st.SearchStrategy[s.Kind]:
    def items(each: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
        return st.lists(each, max_size=4).map(tuple)

    return st.one_of(
        st.builds(s.Machine, names, counts, items(machine_items), documentation, here),
        st.builds(s.Retry, names, counts, items(retry_items), documentation, here),
        st.builds(s.Scan, names, counts, items(scan_items), documentation, here),
        st.builds(s.Saga, names, counts, items(saga_items), documentation, here),
    )


declarations: st.SearchStrategy[s.Declaration] = st.one_of(
    st.builds(s.Alias, names, types, st.none(), st.none(), documentation, here),
    st.builds(s.Alias, names, types, limits, limits, documentation, here),
    st.builds(s.Record, names, some_fields, documentation, here),
    st.builds(
        s.Choice,
        names,
        st.lists(variants, min_size=1, max_size=3).map(tuple),
        documentation,
        here,
    ),
    st.builds(
        s.Policy,
        names,
        st.lists(policy_items, min_size=1, max_size=5).map(tuple),
        documentation,
        here,
    ),
    _kinds(),
)
dotted = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(".".join)
modules_named = st.builds(s.Name, dotted, here)
modules = st.builds(
    s.Module,
    st.none() | dotted,
    st.lists(st.builds(s.Use, modules_named, some_names, here), max_size=2).map(tuple),
    st.lists(declarations, max_size=3).map(tuple),
    here,
)


def remarks(content: str) -> list[str]:
    """The comments of a text, in no order."""
    return sorted(each.text for each in scan(Text.of("", content)).comments)
