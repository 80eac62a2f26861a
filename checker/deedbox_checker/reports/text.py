"""A report as text; that of a broken property is its counterexample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deedbox_dsl.source import Text

from ..counterexample.printed import failure
from ..verdicts.verify import Report
from .data import UNFINISHED, Json


def as_text(report: Report, path: str = "", text: Text | None = None) -> str:
    """The whole report of a machine; `text`: of its spec."""
    return "\n".join([summary(report), *details(report, path, text)])


def summary(report: Report) -> str:
    """One line: what was searched, and whether everything holds."""
    if report.incomplete:
        return f"{report.machine}: INCOMPLETE, {report.incomplete}"
    broken = sum(not verdict.holds for verdict in report.verdicts)
    found = "holds" if report.holds else f"{broken} broken"
    if report.unreached:
        found += f", {len(report.unreached)} never reached"
    return (
        f"{report.machine}: {found}; {count(report.states)} states, "
        f"{count(report.steps)} steps, {report.depth} deep, {report.seconds:.2f} s"
    )


def count(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= 10 * size:
            return f"{number // size}{unit}"
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def as_table(reports: Sequence[Mapping[str, Json]]) -> str:
    """Many reports, given as JSON, in a line each."""
    rows = [("machine", "", "states", "steps", "depth", "seconds", "faults on")]
    for report in reports:
        verdict = "holds" if report["holds"] else "BROKEN"
        if report["incomplete"]:
            verdict = "INCOMPLETE"
        faults = report["faults"]
        on = len(faults) if isinstance(faults, list) else 0
        sizes = (f"{report[name]:,}" for name in ("states", "steps", "depth"))
        states, steps, depth = sizes
        rows.append(
            (
                str(report["machine"]),
                verdict,
                states,
                steps,
                depth,
                f"{report['seconds']:.2f}",
                str(on),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join(
            text.ljust(width) if n < 2 else text.rjust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in rows
    )


def details(report: Report, path: str, text: Text | None) -> Iterator[str]:
    for verdict in report.verdicts:
        if verdict.stated is not None and verdict.holds:
            yield f"  holds   {verdict.says}"
    for verdict in report.verdicts:
        if not verdict.holds:
            yield ""
            yield from failure(verdict, path, text)
    if report.incomplete:
        yield f"  more: deedbox explain {UNFINISHED}"
    for place in report.unreached:
        yield f"  no run reaches {place}"
    if report.assumed:
        yield f"  assumed to come in the end: {', '.join(report.assumed)}"
    if report.page is not None:
        records = 2 * report.page + 1
        yield f"  pages of {report.page} records, lists of up to {records}, edited at any time"
    if report.items is not None:
        yield f"  lists from outside of up to {report.items} items"
    if report.several is not None:
        product = report.several
        yield (
            f"  {product.instances} instances: {count(product.states)} states,"
            f" {count(product.orbits)} without telling them apart"
        )
    for version, states in report.older:
        yield f"  from version {version}: {count(states)} states, taken over at any moment"
    for version, reason in report.lost:
        yield f"  from version {version}: what its states may hold, and not its steps: {reason}"
    costs = dict(report.costs)
    yield "  faults: " + ", ".join(
        f"{name} (+{count(costs[name])} states)" if name in costs else name
        for name in report.faults
    )
