"""Under which circumstances a prediction was tried: those that no model of the class gives a part in it.

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
from aam_vision.joins import FactIndex, Row
from aam_vision.strips import Atom, GroundAction, State

OTHER = "*"
"""In an atom: an object that is no argument of the step."""
MOST_STEPS = 64
"""Steps of a history from which on longer ones count as equal."""
MOST_USES = 10
"""The same of the executed steps of one action."""
FIRST = 6.0
"""The worth of trying a prediction for the first time; the n-th time is worth an n-th of it, whatever is new."""
WEIGHTS = {"atom": 1.0, "count": 2.0, "argument": 0.5, "after": 0.7, "just": 1.0, "again": 0.5, "past": 0.7}
"""The worth of a new circumstance of each kind; of several, the worth grows with the square root of their number."""

Name = tuple[Hashable, ...]
"""Of a circumstance: its kind, and what tells it from others of that kind."""


class History(NamedTuple):
    """What happened before a step, in its episode."""

    steps: int = 0
    """The executed steps."""
    uses: Mapping[str, int] = {}
    """How many of them were of each action."""
    last: str = ""
    """The action of the last one."""
    changed: frozenset[Atom] = frozenset()
    """The atoms that the last one changed."""
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

    present: frozenset[Name]
    numbers: tuple[tuple[Name, int], ...] = ()


def of_state(action: ActionHypotheses, index: FactIndex, step: GroundAction) -> Circumstances:
    """The true atoms in terms of the arguments, those with other objects or one twice among them, and their number.

    Atoms that the image hides count as false.
    """
    places: dict[str, int] = {}
    for place, name in enumerate(step.objects):
        places.setdefault(name, place)
    present: set[Name] = {("argument", place, name) for place, name in enumerate(step.objects)}
    for predicate, rows in index.rows.items():
        own: set[Row] = set()  # the few that name an argument; all others are alike
        for place in range(len(rows[0]) if rows else 0):
            for name in places:
                own.update(index.matching(predicate, place, name))
        present.update([("atom", predicate, *[places.get(name, OTHER) for name in row]) for row in own])
        if len(own) < len(rows):
            present.add(("atom", predicate, *[OTHER] * len(rows[0])))
    counts = [
        (("count", predicate.name), len(index.rows.get(predicate.name, ())))
        for predicate in action.index.vocabulary.predicates
    ]
    return Circumstances(frozenset(present), tuple(counts))


def of_history(
    action: ActionHypotheses, step: GroundAction, history: History, *, again: bool
) -> Circumstances:
    """What happened before; ``again``: the step was attempted in an equal state earlier."""
    present: list[Name] = [("after", history.last, history.refused)]
    if history.changed:
        own = action.index.grounded(step.objects)
        present += [("just", bit) for bit, atom in own if atom in history.changed]
    if again:
        present.append(("again",))
    uses = min(MOST_USES, history.uses.get(step.name, 0))
    steps = min(MOST_STEPS, history.steps)
    return Circumstances(frozenset(present), ((("past", "uses"), uses), (("past", "steps"), steps)))


@dataclass
class _Tried:
    """The circumstances under which one prediction was tried."""

    sometimes: set[Name]
    always: set[Name]
    ranges: dict[Name, tuple[int, int]]
    times: int = 1


@dataclass
class Coverage:
    """The predictions that were tried, each with the circumstances. The worth of a step never grows."""

    _tried: dict[Hashable, _Tried] = field(default_factory=dict)

    def add(self, prediction: Hashable, found: Circumstances) -> None:
        """The prediction was tried there."""
        tried = self._tried.get(prediction)
        if tried is None:
            ranges = {name: (value, value) for name, value in found.numbers}
            self._tried[prediction] = _Tried(set(found.present), set(found.present), ranges)
            return
        tried.times += 1
        tried.sometimes |= found.present
        tried.always &= found.present
        for name, value in found.numbers:
            low, high = tried.ranges[name]
            tried.ranges[name] = min(low, value), max(high, value)

    def worth(self, prediction: Hashable, found: Circumstances) -> float:
        """How much there is about these circumstances under which the prediction was not tried."""
        tried = self._tried.get(prediction)
        if tried is None:
            return FIRST
        new = Counter([name[0] for name in found.present - tried.sometimes])
        new.update([name[0] for name in tried.always - found.present])
        for name, value in found.numbers:
            low, high = tried.ranges[name]
            if not low <= value <= high:
                new[name[0]] += 1
        # in a fixed order, so that the sum is the same to the last bit in every process
        return min(FIRST, sum(weight * sqrt(new[kind]) for kind, weight in WEIGHTS.items()))

    def times(self, prediction: Hashable) -> int:
        """How often it was tried."""
        return self._tried[prediction].times if prediction in self._tried else 0
