"""What a machine tells another: a class of its own, no import of the other's module."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from deedbox import Instant
from deedbox.codec import Codec
from deedbox_dsl import compile
from deedbox_generator.emit import emit

ROOT = Path(__file__).parents[2]
POST: Final = """
module post.offices

type Office = text
type Grams = int in 1..30_000
type Wait = duration in 1s..1h
record Piece { weight: Grams, label: text }
choice Target { Home | Locker { number: int } }

machine Counter version 1 {
  key office: Office, number: int
  given open_for: Wait, target: Target?
  state Open
  message Handed { pieces: list[Piece], target: Target, wait: duration }
  message Closed
  start { goto Open }
  in Open {
    on Handed { stay }
    on Closed { stay }
  }
  allow DEED406 "a counter stays"
}

machine Bell version 1 {
  key number: int
  state Quiet { rings: int }
  message Rung
  start { goto Quiet { rings: 0 } }
  in Quiet { on Rung { stay { rings: min(rings + 1, 9) } } }
  allow DEED406 "a bell stays"
}
"""
SENDER: Final = """
module post.senders

use post.offices { Bell, Counter, Office, Piece, Target }

machine Sender version 1 {
  key name: text
  given office: Office
  state Waits { number: int }
  final Gone
  message Brought { pieces: list[Piece], target: Target }
  message Left
  start {
    begin Counter(office, 1) { open_for: 30m, target: none }
    goto Waits { number: 1 }
  }
  in Waits {
    on Brought as m {
      tell Counter(office, number) Handed {
        pieces: m.pieces, target: m.target, wait: 5s,
      }
      tell Bell(number) Rung
      stay { .. }
    }
    on Left {
      tell Counter(office, 1) Closed
      goto Gone
    }
  }
}
"""
SPECS: Final = {"specs/offices.deed": POST, "specs/senders.deed": SENDER}


def build(folder: Path, specs: dict[str, str] = SPECS) -> None:
    program = compile(specs)
    assert program.problems == ()
    for files in emit(program.modules, program.texts).values():
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("post")
    build(folder)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [each for each in sys.modules if each.startswith(("offices", "send"))]:
        del sys.modules[name]


def modules() -> tuple[Any, Any, Any, Any]:
    names = ("offices.counter", "offices.bell", "senders.sender", "offices.types")
    counter, bell, sender, types = map(importlib.import_module, names)
    return counter, bell, sender, types


def test_the_document_of_what_is_told_is_the_message(post: Path) -> None:
    """The other machine's own decoder reads it; only its address comes on top."""
    del post
    counter, bell, sender, types = modules()
    start = sender.Start("s", types.Office("o"), Instant(1))
    state, (begun,) = sender.start(start)
    assert begun == sender.BeginCounter("Sender/s/1/1", 1, "o", 1, 1_800_000, None)
    assert Codec(counter.machine).told(begun) == (
        '["o",1]',
        counter.Start("o", 1, 1_800_000, None),
    )
    pieces = (types.Piece(7, "ä"),)
    brought = sender.Brought(pieces, types.TargetLocker(3), Instant(2))
    state, (handed, rung) = sender.reduce(state, brought)
    assert state.issued == 3
    assert handed.to == '["o",1]'
    assert Codec(counter.machine).told(handed) == (
        '["o",1]',
        counter.Handed(pieces, types.TargetLocker(3), 5_000),
    )
    assert (rung.ticket, rung.idempotency_key) == (3, "Sender/s/1/3")
    assert Codec(bell.machine).told(rung) == ("[1]", bell.Rung())


def test_the_descriptor_says_who_is_told_what(post: Path) -> None:
    del post
    _, _, sender, _ = modules()
    assert [(each.machine, each.struct) for each in sender.machine.told] == [
        ("Counter", sender.BeginCounter),
        ("Counter", sender.TellCounterHanded),
        ("Bell", sender.TellBellRung),
        ("Counter", sender.TellCounterClosed),
    ]
    assert not hasattr(sender.Handlers, "tell_bell_rung")


def test_what_is_told_to_one_machine_is_one_queue_in_the_store(post: Path) -> None:
    """R20: a start and what is told after it arrive in this order."""
    del post
    _, _, sender, _ = modules()
    codec = Codec(sender.machine)
    assert codec.targets == {"tell Counter": "Counter", "tell Bell": "Bell"}
    closed = sender.TellCounterClosed("key", 4, "o")
    document = msgspec.json.encode(closed).decode()
    for version in (0, 1, 2):
        assert codec.command(version, "tell Counter", document) == closed


def test_packages_that_tell_each_other_import_only_types(post: Path) -> None:
    source = (post / "senders" / "sender.py").read_text("utf-8")
    lines = [line for line in source.split("\n") if line.startswith("from ")]
    assert [line for line in lines if "offices" in line] == [
        "from offices.types import Office, Piece, Target, Wait"
    ]


def test_they_are_strictly_typed(post: Path) -> None:
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-incremental"),
            *("--config-file=", "."),
        ],
        cwd=post,
        env={"MYPYPATH": str(ROOT / "runtime"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_type_of_the_other_module_may_not_have_the_name_of_one_here() -> None:
    """`Wait` is needed for the start of a `Counter`, and would be two types here."""
    clash = SENDER.replace("machine Sender", "type Wait = text\n\nmachine Sender")
    clash = clash.replace("message Left", "message Left { wait: Wait }")
    (problem,) = compile(SPECS | {"specs/senders.deed": clash}).problems
    assert problem.code == "DEED208"
    assert "`Wait` of `post.offices`" in problem.message


def test_a_class_for_what_is_told_may_not_have_the_name_of_a_state() -> None:
    clash = SENDER.replace("final Gone", "final TellBellRung")
    clash = clash.replace("goto Gone", "goto TellBellRung")
    (problem,) = compile(SPECS | {"specs/senders.deed": clash}).problems
    assert problem.code == "DEED208"
    assert "`TellBellRung`" in problem.message
