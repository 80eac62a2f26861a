"""A value whose cases have no end, by the name under which its author finds it."""

from __future__ import annotations

from deedbox_dsl import core

from .trees import walk


class Endless(Exception):
    """An instant or a length of time is used in a way whose order is not finite."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name = name
        self.why = why


def name_of(expr: core.Expr) -> str:
    """The first name in it by which a reader finds the place."""
    for part in walk(expr):
        match part:
            case core.Read(name=name) | core.Bound(name=name) | core.Member(name=name):
                return name
            case core.Side(name=name) | core.Wait(policy=name):
                return name
            case _:
                pass
    return "now"
