"""`docs/reference/counterexample.md` shows what is printed today.

A block after `<!-- run: NAME -->` is the text of a failure, one after
`<!-- test: NAME -->` the test that is kept of it.  With DEEDBOX_ACCEPT=1 a run writes
what it found into the page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Final

import pytest
from deedbox_checker.counterexample.command import written
from deedbox_checker.counterexample.printed import failure
from deedbox_checker.subjects.subjects import Subject
from deedbox_checker.verdicts.verdict import Verdict
from deedbox_checker.verdicts.verify import verify

from tests.versions.in_flight import losing_the_key, made
from tests.versions.test_upgrade_in_flight import LAMP_1, lamp

from . import reducers
from .reducers import afterwards, changed
from .specimens import ROOT, lease, subject

PAGE: Final = ROOT / "docs" / "reference" / "counterexample.md"
BLOCK: Final = re.compile(
    r"(<!-- (?P<what>run|test): (?P<name>[^\n]+) -->\n\n```\w+\n)(?P<text>.*?)(?=^```$)",
    re.MULTILINE | re.DOTALL,
)


def silent() -> Subject:
    """What fell silent is aborted as what has failed: nobody undoes it."""
    rewrite = "=> retry ladder then abort with undo", "=> retry ladder then abort"
    return subject("shop/orders.deed", "Order", rewrite=rewrite)


def without_the_assumption() -> Subject:
    return subject(
        "shop/orders.deed", "Order", rewrite=("assume refund.refunded in the end", "")
    )


SHOWN: Final[Mapping[str, tuple[Callable[[], Subject], str]]] = {
    "silence taken for a failure": (silent, "keeps_money"),
    "a refund that fails for ever": (
        without_the_assumption,
        "money_returns",
    ),
    "a key that is lost": (losing_the_key, "keys_are_own"),
    "a renewal that shortens": (
        lambda: changed(lease(), afterwards(reducers.shortens)),
        "only_later",
    ),
    "a lamp that burns for ever": (
        lambda: made(LAMP_1, lamp("state Burning { until: none, since: now }")),
        "goes_out",
    ),
}
"""By the name on the page: the machine, and the property that it breaks."""


def found(name: str) -> tuple[Subject, Verdict]:
    make, property = SHOWN[name]
    each = make()
    report = verify(each.machine, each.module, older=each.older)
    return each, next(v for v in report.verdicts if v.name == property)


def now(what: str, name: str) -> str:
    each, verdict = found(name)
    path = each.path if each.path.startswith("specs/") else f"specs/{each.path}"
    if what == "test":
        return written("pytest", each, verdict, path)
    return "\n".join(failure(verdict, path, each.text)) + "\n"


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_shows_what_is_printed(name: str) -> None:
    page = PAGE.read_text("utf-8")
    blocks = {each["name"]: each for each in BLOCK.finditer(page)}
    assert blocks.keys() == SHOWN.keys()
    block = blocks[name]
    text = now(block["what"], name)
    if os.environ.get("DEEDBOX_ACCEPT") == "1":
        start, end = block.span("text")
        PAGE.write_text(page[:start] + text + page[end:], "utf-8")
        return
    assert block["text"] == text
