"""Groups of literals that are tested in one step under ``settable`` access.

Positive literals are tested one by one, the improbable ones of an action in groups that are hardly refused; negative
literals are tested as one group. A refused group leaves a clause, whose literals are more probable than before: so it is
split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.beliefs.constants import LIKELY
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union

GROUP_RISK = 0.1
"""Positive literals are tested in one step as long as that is refused with no more probability."""

Probe = tuple[str, Literals]
"""An action, and the literals that a step of it is to violate."""
LiteralGroup = tuple[float, str, Literals]
"""Positive literals to be tested in one step: the probability that any of them is required, their action, and they."""


@dataclass(frozen=True)
class ActionTests:
    """The tests of one action that are still to be made."""

    name: str
    version: int
    positive: list[LiteralGroup]
    doubtful: int
    """How many of them are rather executed than refused."""
    negative: Literals
    """Negative literals to be refuted together."""


def action_tests(name: str, action: ActionHypotheses, beliefs: Beliefs) -> ActionTests:
    """The tests of one action that are still to be made."""
    chances: dict[int, float] = {}
    spurious = 0
    expected: list[LiteralGroup] = []
    for literal in action.undecided.singles():
        chance = beliefs.probability(name, literal, action)
        if literal.positive:
            chances[literal.positive] = chance
        elif chance <= LIKELY:
            spurious |= literal.negative
        else:
            expected.append((chance, name, literal))
    positive = sorted(_packed(name, _given_refusals(action, chances)) + expected)
    return ActionTests(
        name,
        action.version,
        positive,
        sum(chance < LIKELY for chance, _, _ in positive),
        _refutable(action, Literals(0, spurious)),
    )


def likeliest(groups: Sequence[Sequence[LiteralGroup]]) -> Iterator[Probe]:
    """The groups of all actions, what is most probably refused first."""
    for _, name, literals in merge(*map(reversed, groups), reverse=True):
        yield name, literals


def _given_refusals(action: ActionHypotheses, chances: dict[int, float]) -> dict[int, float]:
    """The probabilities, given that one literal of every clause is required."""
    given = dict(chances)
    for clause in action.clauses:
        if not clause.negative:
            total = sum(chances[bit] for bit in bits(clause.positive))
            for bit in bits(clause.positive):
                given[bit] = max(given[bit], chances[bit] / total)
    return given


def _packed(name: str, chances: dict[int, float]) -> list[LiteralGroup]:
    """The positive literals, improbable ones in groups that are hardly refused; the least probable first."""
    packed: list[LiteralGroup] = []
    for chance, bit in sorted((chance, bit) for bit, chance in chances.items()):
        if packed and packed[-1][0] + chance <= GROUP_RISK:
            risk, _, (group, _) = packed.pop()
            packed.append((risk + chance, name, Literals(group | bit, 0)))
        else:
            packed.append((chance, name, Literals(bit, 0)))
    return sorted(packed)


def _refutable(action: ActionHypotheses, suspects: Literals) -> Literals:
    """Probably spurious literals to refute together: all, or half of the smallest clause of them."""
    inside = [clause for clause in action.clauses if clause.within(suspects)]
    if not inside:
        return suspects
    singles = list(min(inside, key=Literals.size).singles())
    return union(singles[: len(singles) // 2])
