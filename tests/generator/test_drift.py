"""The four diagnostics of an output folder, both sides of each, on the pure functions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from deedbox_dsl.problems import entries
from deedbox_generator.drift import FIRST_LINE, Manifest, changes, digest, dump, load
from deedbox_generator.drift import stale as stale_of

NOW = f"{FIRST_LINE}\nx = 1\n"
BEFORE = f"{FIRST_LINE}\nx = 0\n"
WIDE = f"{FIRST_LINE}\nx  =  1\n"
SPECS = {"a.deed": {"a/a.py": NOW}}

Folder = Mapping[str, str]


def built(folder: Folder) -> Manifest:
    """A manifest of a build that left the folder as it is."""
    return Manifest({"a.deed": {path: digest(text) for path, text in folder.items()}})


def codes(folder: Folder, manifest: Manifest) -> tuple[list[str], list[str]]:
    """What a build says of the folder, and what `--check` says."""
    made = changes(SPECS, manifest, folder.get, lambda _: True, "generated/")
    stale = stale_of(
        made, folder.get, lambda text: text.replace("  ", " "), "generated/"
    )
    return [each.code for each in made.problems], [each.problem.code for each in stale]


CASES: dict[str, tuple[Folder, Manifest, list[str], list[str]]] = {
    "as it was built": ({"a/a.py": NOW}, built({"a/a.py": NOW}), [], []),
    "not there": ({}, Manifest({}), [], ["DEED901"]),
    "older": ({"a/a.py": BEFORE}, built({"a/a.py": BEFORE}), [], ["DEED901"]),
    "left over": (
        {"a/a.py": NOW, "a/b.py": BEFORE},
        built({"a/a.py": NOW, "a/b.py": BEFORE}),
        [],
        ["DEED901"],
    ),
    "formatted otherwise": (
        {"a/a.py": WIDE},
        built({"a/a.py": WIDE}),
        [],
        ["DEED902"],
    ),
    "edited": ({"a/a.py": BEFORE}, built({"a/a.py": NOW}), ["DEED903"], ["DEED903"]),
    "edited and left over": (
        {"a/a.py": NOW, "a/b.py": BEFORE},
        built({"a/a.py": NOW, "a/b.py": NOW}),
        ["DEED903"],
        ["DEED903"],
    ),
    "edited into what it should be": (
        {"a/a.py": NOW},
        built({"a/a.py": BEFORE}),
        [],
        [],
    ),
    "of somebody else": ({"a/a.py": "x\n"}, Manifest({}), ["DEED904"], ["DEED904"]),
    "of somebody else, where we had one": (
        {"a/a.py": "x\n"},
        built({"a/a.py": NOW}),
        ["DEED904"],
        ["DEED904"],
    ),
    "of somebody else, and not in the way": (
        {"a/a.py": NOW, "a/c.py": "x\n"},
        built({"a/a.py": NOW}),
        [],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_lies_in_the_folder_is_called_what_it_is(name: str) -> None:
    folder, manifest, build, check = CASES[name]
    assert codes(folder, manifest) == (build, check)


def test_every_code_of_files_is_said_here() -> None:
    said = {code for *_, build, check in CASES.values() for code in (*build, *check)}
    assert said == {code for code in entries() if code.startswith("DEED9")}


def test_a_file_that_no_python_can_format_is_out_of_date() -> None:
    def refuses(text: str) -> str:
        raise ValueError(text)

    folder = {"a/a.py": BEFORE}
    made = changes(SPECS, built(folder), folder.get, lambda _: True, "")
    (stale,) = stale_of(made, folder.get, refuses, "")
    assert stale.problem.code == "DEED901"


def test_a_spec_that_is_gone_takes_its_files_along_and_any_other_keeps_them() -> None:
    empty: dict[str, str] = {}
    manifest = Manifest({"b.deed": {"b/b.py": "1"}, "c.deed": {"c/c.py": "2"}})
    made = changes(SPECS, manifest, empty.get, lambda spec: spec == "b.deed", "")
    assert set(made.manifest.specs) == {"a.deed", "b.deed"}
    assert load(dump(made.manifest)) == made.manifest


@pytest.mark.parametrize("text", [None, "", "no json", "[]", '{"specs": []}'])
def test_a_manifest_that_is_none_owns_nothing(text: str | None) -> None:
    assert load(text) == Manifest({})
