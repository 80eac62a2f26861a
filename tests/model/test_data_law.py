"""What happens with real data, the explorer has found: it may leave no value out.

Small machines over numbers, texts and lists are drawn, and run with values of their
own.  Whatever end such a run comes to, the search has to come to as well, unless it
says that it does not explore the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import hypothesis.strategies as st
from deedbox import Refused
from deedbox.step import step
from deedbox_checker.subjects.subjects import Subject, subjects
from deedbox_checker.verdicts.verify import verify
from deedbox_dsl import compile
from deedbox_dsl.problems import has_errors
from hypothesis import Phase, assume, event, example, given, settings

SPEC: Final = """
module small.drawn

machine Drawn version 1 {{
  key own: text
  given first: text, lots: list[text]
  state On {{ n: int, k: int, f: text, h: text? }}
  final F0
  final F1
  final F2
  message Say {{ word: text, some: list[text] }}
  message Tick
  start {{ goto On {{ n: {start_n}, k: {start_k}, f: {start_f}, h: none }} }}
  in On {{
    on Say as m when {guards[0]} {{ goto F0 }}
    on Say as m when {guards[1]} {{ goto F1 }}
    on Say as m {{ stay {{ n: {said[0]}, k: {said[1]}, f: {said[2]}, h: {said[3]} }} }}
    on Tick when {guards[2]} {{ goto F2 }}
    on Tick {{ stay {{ n: {ticked[0]}, k: {ticked[1]}, f: {ticked[2]}, h: {ticked[3]} }} }}
  }}
}}
"""
INTS: Final = ("n", "k", "0", "1", "3", "5")
OWN_TEXTS: Final = ("f", "first", "own", '"a"', '"b"')
SAID_TEXTS: Final = (*OWN_TEXTS, "m.word")
TEXTS: Final = ("a", "b", "c", "d", "one")
WALKS: Final = 120
LENGTH: Final = 7

Draw = Callable[[st.SearchStrategy[str]], str]


def number(draw: Draw) -> str:
    one, two = draw(st.sampled_from(INTS)), draw(st.sampled_from(INTS))
    made = (
        "{0}",
        "{0} + 1",
        "{0} - 1",
        "{0} + {1}",
        "{0} - {1}",
        "{0} * 2",
        "min({0}, {1})",
    )
    return draw(st.sampled_from(made)).format(one, two)


def atom(draw: Draw, texts: tuple[str, ...], *, lists: bool) -> str:
    kinds = ["number", "text", "there", "kept"]
    if lists:
        kinds += ["any", "len", "count"] if "m.word" in texts else ["lots"]
    one, two = draw(st.sampled_from(texts)), draw(st.sampled_from(texts))
    same = draw(st.sampled_from(("==", "!=")))
    match draw(st.sampled_from(kinds)):
        case "number":
            order = draw(st.sampled_from(("==", "<", ">=", "!=")))
            return f"{number(draw)} {order} {number(draw)}"
        case "text":
            return f"{one} {same} {two}"
        case "there":
            return f"h {same} none"
        case "kept":
            return f"(h != none and h {same} {one})"
        case "any":
            return f"any(each in m.some, each {same} {one})"
        case "len":
            return f"len(m.some) {draw(st.sampled_from(('> 1', '== 0', '> 2')))}"
        case "count":
            return f"count(each in m.some, each == {one}) > 1"
        case _:
            return f"any(each in lots, each {same} {one})"


def guard(draw: Draw, texts: tuple[str, ...]) -> str:
    """With one question about a list: two might need more items than are tried."""
    joined = draw(
        st.sampled_from(("{0}", "{0} and {1}", "{0} or {1}", "{0} and {1} and {2}"))
    )
    return joined.format(*(f"({atom(draw, texts, lists=n == 0)})" for n in range(3)))


@st.composite
def specs(draw: Draw) -> str:
    def fields(texts: tuple[str, ...]) -> tuple[str, ...]:
        text = st.sampled_from(texts)
        kept = st.sampled_from((*texts, "none", "h"))
        return number(draw), number(draw), draw(text), draw(kept)

    return SPEC.format(
        start_n=draw(st.sampled_from(INTS[2:])),
        start_k=draw(st.sampled_from(INTS[2:])),
        start_f=draw(st.sampled_from(OWN_TEXTS[1:])),
        guards=[guard(draw, texts) for texts in (SAID_TEXTS, SAID_TEXTS, OWN_TEXTS)],
        said=fields(SAID_TEXTS),
        ticked=fields(OWN_TEXTS),
    )


def subject(spec: str) -> Subject:
    program = compile({"drawn.deed": spec})
    assume(not has_errors(program.problems))  # a guard that always holds is none
    (found,) = subjects(program)
    return found


def ends_of_runs(found: Subject, random: Random) -> set[str]:
    """The final states that real data comes to."""
    module: Any = found.module
    ends: set[str] = set()

    def some() -> tuple[str, ...]:
        return tuple(random.choice(TEXTS) for _ in range(random.randrange(4)))

    for _ in range(WALKS):
        state: Any = None
        message: Any = module.Start(own="one", first=random.choice(TEXTS), lots=some())
        for _ in range(LENGTH):
            done = step(module.machine, state, message)
            assert not isinstance(done, Refused)
            state = done.state
            name = type(state).__name__
            if name != "On":
                ends.add(name)
                break
            word = random.choice(TEXTS)
            said = module.Say(word=word, some=some())
            message = said if random.random() < 0.6 else module.Tick()
    return ends


COUNTS_DOWN: Final = SPEC.format(
    start_n="5",
    start_k="0",
    start_f='"a"',
    guards=["k == 3", "m.word == f", "n == 0"],
    said=("n", "k", "f", "h"),
    ticked=("n - 1", "k + 1", "f", "h"),
)


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)
@given(specs())
@example(COUNTS_DOWN)
def test_the_search_comes_wherever_real_data_comes(spec: str) -> None:
    found = subject(spec)
    report = verify(found.machine, found.module, limit=500)
    if report.incomplete:
        event("not explored")
        return
    event("explored")
    left_out = {place.removeprefix("state ") for place in report.unreached}
    assert ends_of_runs(found, Random(spec)).isdisjoint(left_out), spec
