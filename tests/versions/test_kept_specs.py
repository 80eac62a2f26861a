"""The specs that a release keeps: written, read by `verify` and `trace`, and by nobody else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.test_command import verify
from tests.versions.test_commands import deedbox
from tests.versions.test_upgrade_in_flight import LAMP_1, lamp

GOES_ON = "state Burning { .., since: now }"
FOR_EVER = "state Burning { until: none, since: now }"
POLICIES = """\
module quick

policy brief { first 1s factor 2 max 8s attempts 3 jitter none }
"""
ERRAND = """\
module errands.run

use quick { brief }

/// Something is fetched.
machine Errand version 1 {
  key errand: text
  state Running { attempt: int } awaits fetch
  state Waiting { attempt: int, due: instant }
  final Done
  command fetch(errand: text) -> found | missing
  start { do fetch(errand) goto Running { attempt: 1 } }
  in Running {
    on fetch.found { goto Done }
    on fetch.missing when attempt >= brief.attempts { goto Done }
    on fetch.missing { goto Waiting { attempt, due: now + wait(brief, attempt) } }
  }
  in Waiting { at due { do fetch(errand) goto Running { attempt: attempt + 1 } } }
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A lamp whose first version is released, and whose second is not."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "lamp.deed").write_text(LAMP_1)
    assert deedbox(tmp_path, "release").returncode == 0
    return tmp_path


def next_version(project: Path, migrate: str) -> str:
    spec = project / "specs" / "lamp.deed"
    spec.write_text(lamp(migrate))
    return str(spec)


def kept(project: Path) -> dict[str, str]:
    folder = project / "specs" / ".shapes"
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.deed")
    }


def test_a_release_keeps_the_spec_as_it_is(project: Path) -> None:
    assert kept(project) == {"lamp.1/lamps.deed": LAMP_1}
    spec = project / "specs" / "lamp.deed"
    changed = LAMP_1.replace("now + 60s", "now + 30s")
    spec.write_text(changed)
    assert "updated" in deedbox(project, "release").stdout
    assert kept(project) == {"lamp.1/lamps.deed": changed}
    assert "recorded already" in deedbox(project, "release").stdout


def test_what_a_spec_uses_is_kept_with_it(project: Path) -> None:
    """Under the paths that their modules say, wherever the files lie."""
    specs = project / "specs"
    (specs / "lamp.deed").unlink()
    (specs / "rules.deed").write_text(POLICIES)
    (specs / "errand.deed").write_text(ERRAND)
    assert deedbox(project, "release").returncode == 0
    found = {name: text for name, text in kept(project).items() if "errand" in name}
    assert found == {
        "errand.1/errands/run.deed": ERRAND,
        "errand.1/quick.deed": POLICIES,
    }
    (specs / "rules.deed").write_text(POLICIES.replace("brief", "other"))
    (specs / "errand.deed").write_text(
        ERRAND.replace("use quick { brief }\n", POLICIES.partition("\n")[2])
    )
    assert "updated" in deedbox(project, "release", "specs/errand.deed").stdout
    assert [name for name in kept(project) if "errand" in name] == [
        "errand.1/errands/run.deed"
    ]


def test_a_kept_spec_is_no_spec_of_the_project(project: Path) -> None:
    ran = deedbox(project, "check")
    assert ran.stdout == "1 spec, no problems\n"
    (project / "specs" / ".shapes" / "lamp.1" / "lamps.deed").write_text("broken {")
    assert deedbox(project, "check").stdout == "1 spec, no problems\n"


def test_verify_takes_over_what_was_released(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = next_version(project, GOES_ON)
    assert verify(spec, "--costs") == 0
    said = capsys.readouterr().out
    assert "  from version 1: " in said
    assert re.search(r"upgrade \(\+\d+ states\)", said)
    assert verify(spec, "--without", "upgrade") == 0
    assert "from version 1" not in capsys.readouterr().out


def test_another_kept_spec_is_another_question(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report that is known is told again only while what is kept is the same."""
    spec = next_version(project, GOES_ON)
    assert verify(spec) == 0
    assert verify(spec) == 0
    file = project / "specs" / ".shapes" / "lamp.1" / "lamps.deed"
    file.unlink()
    capsys.readouterr()
    assert verify(spec) == 0
    assert "its specs are not kept" in capsys.readouterr().out


def test_a_run_that_begins_in_an_older_version_is_told_drawn_and_kept(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = next_version(project, FOR_EVER)
    assert verify(spec) == 1
    (id,) = set(re.findall(r"deedbox trace (\w+)", capsys.readouterr().out))
    told = deedbox(project, "trace", id, spec)
    assert "Start, in version 1" in told.stdout
    assert "UPGRADE TO VERSION 2" in told.stdout
    drawn = deedbox(project, "trace", id, spec, "--mermaid")
    assert "Machine: UPGRADE TO VERSION 2" in drawn.stdout
    states = json.loads(deedbox(project, "trace", id, spec, "--itf").stdout)["states"]
    assert [state["step"] for state in states][:3] == [
        "-",
        "Start, in version 1",
        "UPGRADE TO VERSION 2",
    ]
    assert [state["phase"] for state in states][:3] == ["-", "Burning", "Burning"]
    kept_test = deedbox(project, "trace", id, spec, "--pytest")
    assert kept_test.returncode == 0
    assert "Stored(" in kept_test.stdout


def test_the_upgrade_is_an_item_of_pytest(project: Path) -> None:
    spec = next_version(project, FOR_EVER)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", spec],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"::Lamp::upgrades\[faults=all\] PASSED", done.stdout), done.stdout
    assert re.search(r"::Lamp::goes_out\[faults=all\] FAILED", done.stdout)
    assert "UPGRADE TO VERSION 2" in done.stdout
