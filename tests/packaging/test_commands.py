"""The command line as a whole: what is there with the extras and without."""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points

import pytest
from deedbox.__main__ import COMMANDS_OF, main


@pytest.mark.parametrize("extra", COMMANDS_OF)
def test_the_names_known_without_an_extra_are_those_that_it_brings(extra: str) -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    (point,) = entry_points(group="deedbox.commands", name=extra)
    point.load()(commands)
    assert sorted(commands.choices) == sorted(COMMANDS_OF[extra])


def test_an_unknown_word_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--loud"])
    assert end.value.code == 2
    assert "--loud" in capsys.readouterr().err
