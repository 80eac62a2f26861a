"""A report as JSON."""

from __future__ import annotations

from typing import Final, TypeAlias

from ..counterexample.printed import BROKEN
from ..engine.several import Several
from ..traces.trace import Line, Trace
from ..verdicts.verdict import Verdict
from ..verdicts.verify import Report

UNFINISHED: Final = "DEED704"

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def as_json(report: Report, path: str = "") -> dict[str, Json]:
    return {
        "spec": path,
        "machine": report.machine,
        "holds": report.holds,
        "incomplete": report.incomplete or None,
        "code": UNFINISHED if report.incomplete else None,
        "states": report.states,
        "steps": report.steps,
        "depth": report.depth,
        "seconds": round(report.seconds, 3),
        "faults": list(report.faults),
        "costs": dict[str, Json](report.costs),
        "assumed": list(report.assumed),
        "page": report.page,
        "items": report.items,
        "several": several_json(report.several),
        "older": older_json(report),
        "unreached": list(report.unreached),
        "verdicts": [verdict_json(verdict) for verdict in report.verdicts],
    }


def several_json(product: Several | None) -> Json:
    if product is None:
        return None
    return {
        "instances": product.instances,
        "states": product.states,
        "orbits": product.orbits,
    }


def older_json(report: Report) -> list[Json]:
    found: list[Json] = []
    for version, states in report.older:
        found.append({"version": version, "states": states, "unexplored": None})
    for version, reason in report.lost:
        found.append({"version": version, "states": None, "unexplored": reason})
    return found


def verdict_json(verdict: Verdict) -> dict[str, Json]:
    stated = verdict.stated
    return {
        "name": verdict.name,
        "says": verdict.says,
        "holds": verdict.holds,
        "broken": verdict.broken or None,
        "code": None if verdict.holds else BROKEN,
        "line": None if stated is None else stated.span.line,
        "id": None if verdict.trace is None else verdict.trace.id(verdict.name),
        "trace": None if verdict.trace is None else trace_json(verdict.trace),
    }


def trace_json(trace: Trace) -> dict[str, Json]:
    return {
        "faults": trace.faults,
        "steps": [line_json(line) for line in trace.lines],
        "loop": [line_json(line) for line in trace.loop],
        "stays": trace.stays,
        "excused": [{"group": name, "because": why} for name, why in trace.excused],
    }


def line_json(line: Line) -> dict[str, Json]:
    return {
        "who": line.who,
        "step": line.step,
        "changes": [
            {"name": each.name, "before": each.before, "after": each.after}
            for each in line.changes
        ],
    }
