"""The gallery, built by the real command: typed, formatted, importable, and total."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import (
    Annotated,
    Any,
    NewType,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import pytest
from deedbox import Due, Instant, Machine, Refused
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct
from msgspec import json as codec

ROOT = Path(__file__).parents[2]


def _run(*words: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_generated_code_is_strictly_typed_for_mypy(built: Path) -> None:
    (built / "mypy.ini").write_text(
        "[mypy]\nstrict = true\nexplicit_package_bases = true\n"
        f"mypy_path = {ROOT / 'runtime'}:{built}\ncache_dir = {built / '.cache'}\n"
    )
    _run("mypy", "--config-file", "mypy.ini", ".", folder=built)


def test_the_generated_code_is_strictly_typed_for_pyright(built: Path) -> None:
    settings_of = {
        "include": ["."],
        "extraPaths": [str(ROOT / "runtime")],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
    }
    (built / "pyrightconfig.json").write_text(json.dumps(settings_of))
    _run("basedpyright", "-p", ".", "--pythonpath", sys.executable, folder=built)


def test_the_generated_code_is_formatted(built: Path) -> None:
    _run("black", "--check", "--quiet", ".", folder=built)


def test_a_second_build_changes_nothing(
    built: Path, rebuild: Callable[..., int]
) -> None:
    before = {path: path.read_bytes() for path in built.rglob("*.py")}
    assert rebuild() == 0
    assert {path: path.read_bytes() for path in built.rglob("*.py")} == before
    assert rebuild("--check") == 0


# ---- the reducers ----------------------------------------------------------------------

Any_machine = Machine[Any, Any, Any, Any, Any]


@pytest.fixture(scope="session")
def machines(built: Path, generated: Callable[[str], Any]) -> dict[str, Any_machine]:
    names = [
        f"{path.parent.name}.{path.stem.removesuffix('_sqlite')}"
        for path in sorted(built.glob("*/*_sqlite.py"))
    ]
    return {name: cast(Any_machine, generated(name).machine) for name in names}


INSTANTS = st.integers(min_value=0, max_value=10_000_000)
LIMIT = 2**40


def values(type_: object) -> st.SearchStrategy[Any]:
    """Any value that a field of this type may have after decoding."""
    match type_:
        case NewType(__name__="Instant"):
            return INSTANTS
        case NewType(__name__="Duration"):
            return INSTANTS
        case NewType(__supertype__=base):
            return values(base)
        case types.NoneType:
            return st.none()
        case type() if issubclass(type_, Struct):
            return structs(type_)
        case type() if type_ is bool:
            return st.booleans()
        case type() if type_ is int:
            return st.integers(min_value=1, max_value=50)
        case type() if type_ is str:
            return st.text(max_size=3)
        case _:
            pass
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return _bounded(arguments[0], arguments[1:])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, arguments))
    raise AssertionError(f"no values for {type_!r}")


def _bounded(base: object, metas: tuple[object, ...]) -> st.SearchStrategy[Any]:
    lows = [meta.ge for meta in metas if isinstance(meta, Meta) and meta.ge is not None]
    highs = [
        meta.le for meta in metas if isinstance(meta, Meta) and meta.le is not None
    ]
    if not lows and not highs:
        return values(base)
    return st.integers(
        min_value=int(max(lows, default=-LIMIT)),
        max_value=int(min(highs, default=LIMIT)),
    )


def structs(kind: type[Any]) -> st.SearchStrategy[Any]:
    hints: Mapping[str, object] = get_type_hints(kind, include_extras=True)
    build: Callable[..., Struct] = kind
    return st.builds(build, **{name: values(hint) for name, hint in hints.items()})


def one_of(kinds: Sequence[type[Any]]) -> st.SearchStrategy[Any]:
    return st.one_of(*[structs(kind) for kind in kinds])


def test_the_whole_gallery_is_there(machines: dict[str, Any_machine]) -> None:
    names = {machine.name for machine in machines.values()}
    assert names >= {
        "Order",
        "Lease",
        "SyncRetry",
        "Indexer",
        "Showcase",
        "Landing",
        "Delivery",
        "Subscription",
        "NightlyExport",
        "Transfer",
        "Leader",
        "Sequence",
        "Trip",
        "Importer",
    }


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_a_reducer_decides_every_state_and_message(
    machines: dict[str, Any_machine], data: st.DataObject
) -> None:
    """Total and pure: two calls agree, nothing is raised, and what comes out can be stored."""
    machine = data.draw(st.sampled_from(sorted(machines.items())))[1]
    state = data.draw(one_of(machine.states))
    outcomes = [kind for command in machine.commands for kind in command.outcomes]
    arrivals: list[type[Any]] = [
        machine.start_type,
        *machine.messages,
        *outcomes,
        Due,
    ]
    msg = data.draw(one_of(arrivals))
    if type(msg) in outcomes and data.draw(st.booleans(), label="its own answer"):
        awaited = machine.awaited(state)
        if awaited is not None:
            msg = type(msg)(**{**_fields(msg), "ticket": awaited})
    step = machine.reduce(state, msg)
    assert machine.reduce(state, msg) == step
    if isinstance(step, Refused):
        return
    reached, commands = step
    assert type(reached) in machine.states
    assert reached.born == state.born
    assert reached.issued >= state.issued
    assert codec.decode(codec.encode(reached), type=_type_of(reached)) == reached
    for command in commands:
        asks = [each for each in machine.commands if each.struct is type(command)]
        tells = [each for each in machine.told if each.struct is type(command)]
        assert len(asks) + len(tells) == 1
        if asks and asks[0].outcomes:
            assert machine.awaited(reached) == command.ticket


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_wake_that_is_early_changes_nothing(
    machines: dict[str, Any_machine], data: st.DataObject
) -> None:
    """NE-06: nothing is done before its deadline, whatever else woke the process."""
    machine = data.draw(st.sampled_from(sorted(machines.items())))[1]
    state = data.draw(one_of(machine.states))
    wake = machine.wake(state)
    if wake is not None and wake > 0:
        early = data.draw(st.integers(min_value=0, max_value=wake - 1))
        assert isinstance(machine.reduce(state, Due(at=Instant(early))), Refused)
        assert not isinstance(machine.reduce(state, Due(at=wake)), Refused)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_an_answer_to_another_issue_is_late(
    machines: dict[str, Any_machine], data: st.DataObject
) -> None:
    """R4: an answer to an older ticket is inert."""
    machine = data.draw(st.sampled_from(sorted(machines.items())))[1]
    outcomes = [kind for command in machine.commands for kind in command.outcomes]
    if not outcomes:
        return
    state = data.draw(one_of(machine.states))
    msg = data.draw(one_of(outcomes))
    if msg.ticket != machine.awaited(state):
        step = machine.reduce(state, msg)
        assert isinstance(step, Refused)
        assert step.kind == "late"


def _type_of(value: object) -> type[object]:
    return type(value)


def _fields(struct: Struct) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
