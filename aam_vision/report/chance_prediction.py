"""The outcome of a plan by what was learned of an agent with chance: how probable it is, and between which limits.

The limits come from an *interval Markov chain* (Givan, Leach and Dean, "Bounded-parameter Markov decision processes", 2000): in
every step each outcome has any probability within its interval, an outcome that was never seen any probability that is not excluded,
and what is worst (or best) for the plan is assumed. The true probabilities are one such choice, so with the confidence of the intervals
the plan's are within the limits. They are wider than they would have to be, as the same action might have other probabilities each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from aam_vision.chance.frequency import Precision
from aam_vision.chance.graph import Step, successor
from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.chance.retelling import ALPHA, precision_of, retold
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.strips import GroundAction, State
from aam_vision.wording import some

MAX_STATES = 5000
"""States after a step that are told apart, at most; the least probable others count as unknown."""


class Chance(NamedTuple):
    """A probability: the estimate, and the limits."""

    estimate: float
    low: float
    high: float


class _Branch(NamedTuple):
    """One thing that may come of a step, and with which probability."""

    chance: Chance
    after: State | None
    """The state in which it ends by the model; None if nothing is known of it."""
    surely: bool
    """Whether it certainly ends in that state."""


@dataclass(frozen=True)
class _Moved:
    """What may come of a step in a state."""

    branches: tuple[_Branch, ...]
    surely: bool
    """Whether it is certain to be executed."""
    possible: bool
    """Whether it may be executed."""
    expected: bool
    """Whether the model says that it is executed."""
    why: str
    """Why it is not certain to be executed; empty if it is."""


class Ending(NamedTuple):
    """A state in which the plan may end, and how probable that is."""

    state: State
    chance: Chance


class Forecast:
    """What may come of a plan.

    Args:
        account: of the run.
        initial: where the plan starts; fully known.
        plan: its steps.
    """

    def __init__(self, account: ChanceAccount, initial: State, plan: Sequence[GroundAction]) -> None:
        names = sorted({step.name for step in plan})
        # intervals and what is not excluded, of every action in the plan: all of that together
        usual = precision_of(account.within)
        precision = Precision(ALPHA / max(1, 2 * len(names)), usual.within, usual.concentration)
        known = retold(account.run.transcript, precision).actions
        self._known = {action.index.header.name: action for action in known}
        self.plan = tuple(plan)
        self._layers: list[dict[State, _Moved]] = []
        states = {initial: 1.0}
        for step in self.plan:
            layer = {state: self._moved(state, step) for state in states}
            self._layers.append(layer)
            reached: dict[State, float] = {}
            for state, moved in layer.items():
                for chance, after, _ in moved.branches:
                    if after is not None:
                        reached[after] = reached.get(after, 0.0) + states[state] * chance.estimate
            kept = sorted(reached, key=lambda state: (-reached[state], sorted(map(str, state.true))))
            states = {state: reached[state] for state in kept[:MAX_STATES]}
        self._initial = initial
        self._ends = tuple(states)

    def done(self, number: int) -> Chance:
        """How probable it is that the first so many steps are executed."""
        return self._value(number, lambda state: 1.0, unknown=1.0)

    @cached_property
    def endings(self) -> tuple[Ending, ...]:
        """The states in which the whole plan may end, likeliest first."""
        found = []
        for end in self._ends:
            chance = self._value(len(self.plan), lambda state, end=end: float(state == end), unknown=None)  # type: ignore[misc]
            found.append(Ending(end, chance))
        return tuple(sorted(found, key=lambda one: -one.chance.estimate))

    def reasons(self, number: int) -> list[str]:
        """Why step ``number`` (from 1) may not be executed, for each of the states in which it may come."""
        return list(dict.fromkeys(moved.why for moved in self._layers[number - 1].values() if moved.why))

    def _moved(self, state: State, step: GroundAction) -> _Moved:
        action = self._known[step.name]
        index, precondition = action.index, action.precondition
        held, _ = index.values(state, step.objects)
        violated = precondition.violated(held, 0)
        refused = bool(violated) and precondition.certain_to_fail(violated)
        cautious = precondition.violated(held, 0, precondition.cautious)
        if refused:
            return _Moved((), False, False, False, _missing(action, cautious or violated, step))
        branches = tuple(_branches(action, state, held, step))
        if not branches:
            return _Moved((), False, True, False, f"it comes: {step.name} was never executed")
        why = f"it needs {_literals(action, violated, step)}, which is not determined" if violated else ""
        return _Moved(branches, not violated, True, not cautious, why)

    def _value(self, steps: int, final: Callable[[State], float], *, unknown: float | None) -> Chance:
        """The expectation of ``final`` after so many steps, and its limits; a refused step makes it 0.

        ``unknown``: its value in states that are not known, if it has the same value in all.
        """
        if steps == 0:
            value = final(self._initial)
            return Chance(value, value, value)
        last = self._layers[steps - 1].values()
        ends = {
            one.after: final(one.after) for moved in last for one in moved.branches if one.after is not None
        }
        lost = Chance(0.0, 0.0, 1.0) if unknown is None else Chance(unknown, unknown, unknown)
        values: Mapping[State, Chance] = {state: Chance(value, value, value) for state, value in ends.items()}
        for number in range(steps - 1, -1, -1):
            values = {state: _before(moved, values, lost) for state, moved in self._layers[number].items()}
            lost = Chance(0.0, 0.0, 1.0)
        return values[self._initial]


def _before(moved: _Moved, values: Mapping[State, Chance], lost: Chance) -> Chance:
    """The value before a step, from the values after it."""
    if not moved.possible:
        return Chance(0.0, 0.0, 0.0)
    if not moved.branches:
        return lost._replace(estimate=0.0, low=0.0)
    chances = [one.chance for one in moved.branches]
    after = [lost if one.after is None else values.get(one.after, lost) for one in moved.branches]
    surely = [value if one.surely else lost for one, value in zip(moved.branches, after, strict=True)]
    estimate = sum(chance.estimate * value.estimate for chance, value in zip(chances, after, strict=True))
    low = _extreme(chances, [value.low for value in surely], worst=True)
    high = _extreme(chances, [value.high for value in surely], worst=False)
    return Chance(estimate if moved.expected else 0.0, low if moved.surely else 0.0, high)


def _extreme(chances: Sequence[Chance], values: Sequence[float], *, worst: bool) -> float:
    """The least (or largest) expectation with any probabilities within the limits that add up to one."""
    order = sorted(range(len(values)), key=lambda one: values[one], reverse=not worst)
    total = sum(chance.low * value for chance, value in zip(chances, values, strict=True))
    left = 1.0 - sum(chance.low for chance in chances)
    for one in order:
        more = min(max(0.0, left), chances[one].high - chances[one].low)
        total += more * values[one]
        left -= more
    return min(1.0, max(0.0, total + (0.0 if worst else max(0.0, left))))


def _branches(action: ActionKnowledge, state: State, held: int, step: GroundAction) -> list[_Branch]:
    """What may come of an execution; the last is what was never seen."""
    if not action.executed:
        return []
    case, doubted = action.case(held), action.dependence
    sure = case.explanation.sure and not action.doubtful and not doubted.unexplained
    found = []
    made = Step(0, step.objects, held)
    for one, often, after in zip(case.outcomes, case.frequencies, case.after(held), strict=True):
        hidden = case.open_additions(one) & ~held | case.open_deletions(one) & held
        chance = Chance(often.probability, *((often.low, often.high) if sure else (0.0, 1.0)))
        found.append(_Branch(chance, successor(state, action, made, after), not hidden))
    return [*found, _Branch(Chance(0.0, 0.0, case.unseen if sure else 1.0), None, False)]


def _missing(action: ActionKnowledge, violated: Literals, step: GroundAction) -> str:
    """Why the step is refused: ``holding(a) does not hold``."""
    facts = [f"{atom} does not hold" for atom in sorted(action.index.facts(violated.positive, step.objects))]
    facts += [f"{atom} holds" for atom in sorted(action.index.facts(violated.negative, step.objects))]
    return some(facts, 4)


def _literals(action: ActionKnowledge, literals: Literals, step: GroundAction) -> str:
    """The literals under the step's binding, in words."""
    facts = [
        *(str(atom) for atom in sorted(action.index.facts(literals.positive, step.objects))),
        *(f"not {atom}" for atom in sorted(action.index.facts(literals.negative, step.objects))),
    ]
    return some(facts, 4)
