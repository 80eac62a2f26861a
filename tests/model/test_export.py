"""`deedbox export` and `deedbox trace` as they are called, and the texts they write."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from deedbox_checker.command import register
from deedbox_checker.engine.tables import Tables, tables
from deedbox_checker.export.moves import ENTRIES, ROWS, blocks, moves
from deedbox_checker.export.murphi import murphi
from deedbox_checker.export.promela import promela
from hypothesis import given
from hypothesis import strategies as st

from .specimens import ROOT

REPOSITORY = str(ROOT / "specs" / "nerudo" / "repository.deed")
LEASE = str(ROOT / "specs" / "fleet" / "lease.deed")
LIGHT = """\
machine Light version 1 {
  key light: text
  state Off
  state On
  message Press
  start { goto Off }
  in Off { on Press { goto On } }
  in On { on Press { goto Off } }
  never shines: phase is On
  allow DEED406 "it is pressed for ever"
}
"""


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers(required=True))
    parsed = parser.parse_args(arguments)
    status = parsed.run(parsed)
    assert isinstance(status, int)
    return status


def graph(rows: list[list[int]]) -> Tables:
    return tables(len(rows), 1, 0, [[(t, 0) for t in row] for row in rows], bytes(1))


@st.composite
def graphs(draw: st.DrawFn) -> Tables:
    size = draw(st.integers(1, 3 * ROWS))
    row = st.lists(st.integers(0, size - 1), max_size=4)
    few = draw(st.lists(row, min_size=1, max_size=8))
    return graph([few[n % len(few)] for n in range(size)])


@given(graphs())
def test_the_blocks_hold_every_row_once_and_are_short(table: Tables) -> None:
    cut = list(blocks(table))
    assert [target for block in cut for target in block.targets] == [
        moves(table, row) for row in range(table.locals)
    ]
    assert [block.first for block in cut[1:]] == [block.end for block in cut[:-1]]
    for block in cut:
        assert len(block.targets) <= ROWS
        assert sum(map(len, block.targets[:-1])) < ENTRIES


def test_a_step_that_changes_nothing_and_one_made_twice_are_not_exported() -> None:
    assert moves(graph([[0, 1, 1], []]), 0) == (1,)


def test_a_machine_that_never_moves_is_a_model_too() -> None:
    assert ":: false" in promela(graph([[]]))
    assert "rule" not in murphi(graph([[]])).replace("ruleset", "rule set")


def test_an_export_is_written_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "lease.pml"
    assert command("export", "--promela", LEASE, "--out", str(out)) == 0
    text = out.read_text()
    assert text.startswith("/* Lease, explored by deedbox: ")
    assert "   0: not started\n" in text


def test_the_cases_of_a_murphi_model_say_what_they_stand_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("export", "--murphi", REPOSITORY, "--machine", "Landing") == 0
    assert "  case 1: -- phase: Quiet, row: -\n" in capsys.readouterr().out


def test_which_machine_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("export", "--murphi", REPOSITORY) == 2
    assert "Indexer, Showcase, Landing: --machine NAME" in capsys.readouterr().err
    assert command("export", "--murphi", LEASE, "--machine", "None") == 2


def test_no_instance_at_all_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        command("export", "--murphi", LEASE, "--instances", "0")
    assert end.value.code == 2
    assert "0 is below 1" in capsys.readouterr().err


def test_the_report_names_the_run_that_trace_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "light.deed"
    spec.write_text(LIGHT)
    assert command("verify", "--no-cache", str(spec)) == 1
    said = capsys.readouterr().out
    words = next(line for line in said.splitlines() if "deedbox trace " in line)
    id = words.split()[-1]
    assert command("trace", id, str(spec)) == 0
    again = capsys.readouterr().out
    assert again.strip() in said
    out = tmp_path / "drawn.mmd"
    assert command("trace", id, str(spec), "--mermaid", "--out", str(out)) == 0
    assert "Sender->>Machine: Press" in out.read_text()
    assert command("trace", id, str(spec), "--pytest") == 0
    assert "from light import light" in capsys.readouterr().out


def test_a_run_that_there_is_not_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("trace", "0000000", LEASE) == 2
    assert "no run that breaks anything is called 0000000" in capsys.readouterr().err
    assert command("trace", "0", LEASE) == 2
