"""What a property says, as Python over what a test has seen.

The text is the generator's own for expressions.  What only a property speaks of, two
states and the far side's deeds, is put in for names that no spec can have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from deedbox_dsl import core
from deedbox_generator.expressions import Place, items_of, render, variant_name

from ..expressions.trees import inline, rebuilt
from ..instance.model import Model

TYPES: Final = "types"
"""The generated module that has the variants of choices."""


@dataclass(slots=True)
class Speech:
    """One expression on its way into Python.

    `module`: the name of the generated module.  `now`: what tells the time.
    `said`: whether it speaks of the state; `types`: whether of a choice.
    """

    model: Model
    module: str
    now: str
    said: bool = False
    types: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])

    def text(self, expr: core.Expr) -> str:
        ladders = {ladder.name: ladder for ladder in self.model.spec.ladders}
        ready = self._plain(inline(expr, ladders))
        self.names |= {item: item for item in items_of(ready)}
        return render(ready, self._place())

    def states(self, names: tuple[str, ...]) -> str:
        return " | ".join(f"{self.module}.{name}" for name in names)

    def _place(self) -> Place:
        return Place("state", self.now, "", "", {}, frozenset(), {}, self.names)

    def _plain(self, expr: core.Expr) -> core.Expr:
        """The expression without what only a property may say."""
        match expr:
            case core.Side(side, name):
                return self._put(expr, f"{side}.{name}")
            case core.PhaseIs("phase", states):
                self.said = True
                return self._put(expr, f"isinstance(state, {self.states(states)})")
            case core.PhaseIs(side, states):
                return self._put(expr, f"isinstance({side}, {self.states(states)})")
            case core.Ended(command, outcome):
                return self._put(expr, f"seen.count({self._outcome(command, outcome)})")
            case core.VariantIs(target, variants):
                self.types = True
                ready = self._plain(target)
                self.names |= {item: item for item in items_of(ready)}
                names = (variant_name(target.type, each) for each in variants)
                classes = " | ".join(f"{TYPES}.{name}" for name in names)
                of = render(ready, self._place())
                return self._put(expr, f"isinstance({of}, {classes})")
            case core.Read(scope="key" | "given" | "state"):
                self.said = True
                return expr
            case core.Read(scope="item", name=name):
                self.names[name] = name
                return expr
            case _:
                return rebuilt(expr, self._plain)

    def _put(self, expr: core.Expr, text: str) -> core.Expr:
        self.names[text] = text
        return core.Read("let", text, expr.type, expr.span)

    def _outcome(self, command: str, outcome: str) -> str:
        for struct, pair in self.model.outcomes.items():
            if pair == (command, outcome):
                return f"{self.module}.{struct.__name__}"
        raise LookupError(f"{command} has no outcome {outcome}")
