"""pytest collects specs: each property of each machine, and each rule, is an item.

    specs/shop/orders.deed::Order::money_returns[faults=all]

This module is loaded by every pytest of a project that has deedbox, so it knows only
what is told of an item; what needs the compiler is in `asking.items`, which is loaded
with the first spec.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

from .asking.options import chosen, declare, limit

if TYPE_CHECKING:
    from .asking.items import SpecFile

NEEDS: Final = ("lark", "jinja2", "black")
SUMMARY: Final = "deed_summary"
TRACE: Final = "deed_trace"
"""What a report carries from the process that ran an item to the one that tells of it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    declare(parser)


def pytest_configure(config: pytest.Config) -> None:
    from .environment.labels import FAULTS

    for name in (*chosen(config, "fault"), *chosen(config, "without")):
        if name not in FAULTS:
            known = ", ".join(FAULTS)
            raise pytest.UsageError(f"there is no fault {name}; there are {known}")
    limit(config)
    file = cast("Path | None", config.getoption("--deed-trace"))
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Traces(file), "deedbox traces")


class Lacking(pytest.File):
    """A spec in a project that has deedbox, and not what the checker needs."""

    def collect(self) -> Iterable[pytest.Item]:
        words = f"verifying needs {', '.join(missing())}"
        raise self.CollectError(f"{words}: pip install 'deedbox[checker]'")


def missing() -> list[str]:
    return [name for name in NEEDS if find_spec(name) is None]


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> SpecFile | Lacking | None:
    if file_path.suffix != ".deed":
        return None
    if missing():
        return Lacking.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its keywords unannotated
    from .asking.items import SpecFile

    return SpecFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its keywords unannotated


# ---- what is told of an item -----------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A report carries what was explored and what broke, to another process too."""
    report = yield
    for name in (SUMMARY, TRACE):
        told = cast(object, getattr(item, name, None))
        if told is not None and call.when == "call":
            setattr(report, name, told)
    return report


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, str] | None:
    """With `-v`, an item that passes says what was explored for it."""
    summary = cast("str | None", getattr(report, SUMMARY, None))
    if summary is None or not report.passed:
        return None
    return "passed", ".", f"PASSED ({summary})"


class Traces:
    """The runs of all items that broke, whichever process found them, in their order.

    The first is in the file that was asked for, the next beside it: a file of the format
    holds one run.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: dict[str, dict[str, object]] = {}
        self._written: list[tuple[str, Path]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        trace = cast("dict[str, object] | None", getattr(report, TRACE, None))
        if trace is not None:
            self._found[report.nodeid] = trace

    def pytest_sessionfinish(self) -> None:
        file = self._file
        for number, (item, trace) in enumerate(sorted(self._found.items()), 1):
            if number > 1:
                file = self._file.with_stem(f"{self._file.stem}-{number}")
            file.write_text(json.dumps(trace, indent=2) + "\n", encoding="utf-8")
            self._written.append((item, file))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for item, file in self._written:
            terminalreporter.write_line(f"the run of {item} is in {file}")
