"""Under which circumstances a prediction was tried: the circumstances that no model of the class gives a part in it.

What a step comes to follows from the atoms of its own arguments, if the agent is a STRIPS agent; all else about the
situation and its history must not matter. A fault is something that matters nevertheless. So each prediction is tried
where such a circumstance is present and where it is absent, and where a number is the least and the greatest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.strips import Atom, GroundAction, State

OTHER = "*"
"""In an atom: an object that is no argument of the step."""
LONGEST = 64
"""Steps of a history from which on longer ones count as equal."""
MOST_USES = 10
"""The same of the executed steps of one action."""
NEVER = 6.0
"""The worth of a prediction that was not tried at all."""
WEIGHTS = {"atom": 1.0, "count": 2.0, "argument": 0.5, "after": 0.7, "just": 1.0, "again": 0.5, "history": 0.5}
"""The worth of a new circumstance of each kind; of several, the worth grows with the square root of their number."""


class History(NamedTuple):
    """What happened before a step, in its episode."""

    steps: int = 0
    """The executed steps."""
    uses: Mapping[str, int] = {}
    """How many of them were of each action."""
    last: str = ""
    """The action of the last one."""
    changed: frozenset[Atom] = frozenset()
    """The atoms that the last one of them changed."""
    refused: bool = False
    """Whether a step was refused since."""

    def then(self, name: str, before: State, after: State) -> History:
        """The history after one more executed step."""
        uses = {**self.uses, name: self.uses.get(name, 0) + 1}
        return History(self.steps + 1, uses, name, before.true ^ after.true)

    def then_refused(self) -> History:
        """The history after one more refused step."""
        return self._replace(refused=True)


class Circumstances(NamedTuple):
    """What is the case where a step is attempted, beside the atoms that its outcome follows from."""

    shown: frozenset[tuple[Hashable, ...]]
    """What is present; the first of each tuple is the kind."""
    numbers: tuple[tuple[tuple[Hashable, ...], int], ...]
    """Numbers, with their names."""


class Occasions:
    """The circumstances of steps; those of equal states and arguments are worked out once."""

    def __init__(self) -> None:
        self._atoms: dict[tuple[State, tuple[str, ...]], frozenset[tuple[Hashable, ...]]] = {}

    def of(
        self, action: ActionHypotheses, state: State, step: GroundAction, history: History, *, again: bool
    ) -> Circumstances:
        """The circumstances of one step after a history; ``again``: it was attempted in an equal state before."""
        own = {Atom(predicate, row) for _, (predicate, row) in action.index.grounded(step.objects)}
        shown: set[tuple[Hashable, ...]] = {("argument", *pair) for pair in enumerate(step.objects)}
        shown.add(("after", history.last, history.refused))
        if history.changed & own:
            shown |= {
                ("just", bit)
                for bit, atom in action.index.grounded(step.objects)
                if atom in history.changed
            }
        if again:
            shown.add(("again",))
        counts = tuple(
            (("count", predicate.name), len(state.rows.get(predicate.name, ())))
            for predicate in action.index.vocabulary.predicates
        )
        uses = min(MOST_USES, history.uses.get(step.name, 0))
        past = ((("history", "uses"), uses), (("history", "steps"), min(LONGEST, history.steps)))
        return Circumstances(self._in(state, step.objects) | shown, (*counts, *past))

    def _in(self, state: State, objects: tuple[str, ...]) -> frozenset[tuple[Hashable, ...]]:
        """The true atoms in terms of the arguments: those that name one twice or another object are among them."""
        known = self._atoms.get((state, objects))
        if known is None:
            places: dict[str, int] = {}
            for place, name in enumerate(objects):
                places.setdefault(name, place)
            known = self._atoms[state, objects] = frozenset(
                [
                    ("atom", predicate, *[places.get(name, OTHER) for name in row])
                    for predicate, row in state.true
                ]
            )
        return known


@dataclass
class _Tried:
    """The circumstances under which one prediction was tried."""

    sometimes: set[tuple[Hashable, ...]]
    always: set[tuple[Hashable, ...]]
    ranges: dict[tuple[Hashable, ...], tuple[int, int]]
    times: int = 1


@dataclass
class Coverage:
    """The predictions that were tried, each with the circumstances."""

    _tried: dict[Hashable, _Tried] = field(default_factory=dict)

    def add(self, prediction: Hashable, found: Circumstances) -> None:
        """The prediction was tried there."""
        tried = self._tried.get(prediction)
        if tried is None:
            ranges = {name: (value, value) for name, value in found.numbers}
            self._tried[prediction] = _Tried(set(found.shown), set(found.shown), ranges)
            return
        tried.times += 1
        tried.sometimes |= found.shown
        tried.always &= found.shown
        for name, value in found.numbers:
            low, high = tried.ranges.get(name, (value, value))
            tried.ranges[name] = min(low, value), max(high, value)

    def worth(self, prediction: Hashable, found: Circumstances) -> float:
        """How much there is about these circumstances under which the prediction was not tried."""
        tried = self._tried.get(prediction)
        if tried is None:
            return NEVER
        new = Counter([one[0] for one in found.shown - tried.sometimes])
        new.update([one[0] for one in tried.always - found.shown])
        for name, value in found.numbers:
            low, high = tried.ranges.get(name, (0, 0))
            new[name[0]] += not low <= value <= high
        worth = sum(WEIGHTS[str(kind)] * sqrt(number) for kind, number in new.items())
        return worth + NEVER / (1 + tried.times)
