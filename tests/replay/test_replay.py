"""The committed packages are what their specs say, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from deedbox_generator.cli.build import build

HERE = Path(__file__).parent
SPECS = [
    HERE.parent.parent / "specs" / "shop" / "orders.deed",
    HERE.parent.parent / "specs" / "fleet" / "lease.deed",
    HERE.parent.parent / "specs" / "accounts" / "transfer.deed",
]


def test_every_committed_file_is_what_a_build_writes_today(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = build(SPECS, HERE, check=True)
    said = capsys.readouterr()
    assert status == 0, said.err
    assert "DEED90" not in said.out


@pytest.mark.parametrize("package", ["orders", "lease", "transfer"])
def test_nothing_lies_in_a_package_that_the_build_does_not_own(package: str) -> None:
    manifest = (HERE / ".deedbox-manifest.json").read_text("utf-8")
    for file in (HERE / package).glob("*.py"):
        assert f'"{package}/{file.name}"' in manifest
