"""What waits to be tested under ``settable`` access, and in what groups.

Positive literals wait one by one, the improbable ones of an action in groups that are hardly refused; negative literals
wait as one group. A refused group leaves a clause, whose literals are more probable than before: so it is split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union

GROUP_RISK = 0.1
"""Positive literals are tested in one step as long as that is refused with no more probability."""

Probe = tuple[str, Literals]
"""An action, and what a step of it is to violate."""
LiteralGroup = tuple[float, str, Literals]
"""Positive literals to be tested in one step: the probability that any is required, their action, and they."""


@dataclass(frozen=True)
class ActionTests:
    """What there is to test of one action."""

    name: str
    version: int
    positive: list[LiteralGroup]
    doubtful: int
    """How many of them are rather executed than refused."""
    group: Literals
    """Negative literals to be refuted together."""


def action_tests(name: str, action: ActionHypotheses, beliefs: Beliefs) -> ActionTests:
    """What there is to test of one action."""
    chances: dict[int, float] = {}
    spurious = 0
    expected: list[LiteralGroup] = []
    for literal in action.undecided.singles():
        chance = beliefs.probability(name, literal, action)
        if literal.positive:
            chances[literal.positive] = chance
        elif chance <= 0.5:
            spurious |= literal.negative
        else:
            expected.append((chance, name, literal))
    positive = sorted(_packed(name, _given_refusals(action, chances)) + expected)
    return ActionTests(
        name,
        action.version,
        positive,
        sum(likely < 0.5 for likely, _, _ in positive),
        _group(action, Literals(0, spurious)),
    )


def _probes(found: Iterable[LiteralGroup]) -> Iterator[Probe]:
    return ((name, literals) for _, name, literals in found)


def likeliest(waiting: Sequence[Sequence[LiteralGroup]]) -> Iterator[Probe]:
    """What is most probably refused first."""
    return _probes(merge(*map(reversed, waiting), reverse=True))


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
    group, risk = 0, 0.0
    for chance, bit in sorted((chance, bit) for bit, chance in chances.items()):
        if group and risk + chance > GROUP_RISK:
            packed.append((risk, name, Literals(group, 0)))
            group, risk = 0, 0.0
        group, risk = group | bit, risk + chance
    if group:
        packed.append((risk, name, Literals(group, 0)))
    return sorted(packed)


def _group(action: ActionHypotheses, suspects: Literals) -> Literals:
    """Probably spurious literals to refute together: all, or half of the smallest clause of them."""
    inside = [clause for clause in action.clauses if clause.within(suspects)]
    if not inside:
        return suspects
    singles = list(min(inside, key=Literals.size).singles())
    return union(singles[: len(singles) // 2])
