"""Which situations to try again, to tell whether an atom changes what an action does: pairs that differ in nothing else.

Two situations of a pair agree in every fact and in the objects that are named, as far as such pairs can be reached; else in the
action's other atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from aam_vision.interrogation.chance.betting import against_one_frequency
from aam_vision.interrogation.chance.observations import Observations, Setting, holds
from aam_vision.interrogation.hypotheses.literals import Literals

_COMPARED = 400
"""Steps in a situation after which no more are made for that: they tell frequencies apart that differ by a quarter."""
_CONSTANT = 12
"""The same where all had one outcome, as where all effects held already."""
_WEIGHED = 30
"""Pairs that are weighed against each other: those that were tried most."""
_MANY = 60
"""Situations of which others are made or looked for, at most."""
_PROMISING = 1.0
"""Evidence in a pair from which it is tried before pairs that were tried more often."""

Situation = tuple[Setting, int]


def worth_trying(steps: Observations, where: Literals, bit: int) -> list[Situation]:
    """The situations of a case in which to try what an atom changes: two that were met, or any that would make one of two."""
    met = [one for one in steps.situations if holds(where, one[1])]
    pairs = _pairs(steps, met, bit)
    if not pairs:
        tried = [] if _in_vain(steps, where, bit) else met
        return [
            *((setting, held ^ bit) for setting, held in met[:_MANY]),
            *_unmatched(steps, tried, bit)[:_MANY],
        ]
    left = [one for one in pairs if not _compared(*_both(steps, one, bit))]
    if not left:
        return []
    left.sort(key=lambda one: -min(_made(afters) for afters in _both(steps, one, bit)))
    setting, held = max(left[:_WEIGHED], key=lambda one: max(_PROMISING, _evidence(steps, one, bit)))
    return [(setting, one) for one in (held, held ^ bit) if _made(steps.situations[setting, one]) < _COMPARED]


def tried_in_vain(steps: Observations, where: Literals, bit: int) -> bool:
    """Whether all pairs that were met in a case were tried as often as they are to be."""
    met = [one for one in steps.situations if holds(where, one[1])]
    pairs = _pairs(steps, met, bit)
    if pairs:
        return all(_compared(*_both(steps, one, bit)) for one in pairs)
    return _in_vain(steps, where, bit)


def _in_vain(steps: Observations, where: Literals, bit: int) -> bool:
    """The same of contexts that agree in the action's other atoms."""
    pairs = [held for held in steps.contexts if holds(where, held) and held ^ bit in steps.contexts]
    return bool(pairs) and all(_compared(steps.contexts[held], steps.contexts[held ^ bit]) for held in pairs)


def _pairs(steps: Observations, met: Iterable[Situation], bit: int) -> list[Situation]:
    """The situations without an atom of which the one with it was met, too."""
    return [
        (setting, held)
        for setting, held in met
        if not held & bit and (setting, held ^ bit) in steps.situations
    ]


def _unmatched(steps: Observations, met: Iterable[Situation], bit: int) -> list[Situation]:
    """Situations of which one was met that has the same of the action's other atoms, tried least first."""
    found = [one for one in met if one[1] ^ bit in steps.contexts and steps.made(one[1]) < _COMPARED]
    return sorted(found, key=lambda one: steps.made(one[1]))


def _both(steps: Observations, one: Situation, bit: int) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """What came in both situations of a pair."""
    setting, held = one
    return steps.situations[setting, held], steps.situations[setting, held ^ bit]


def _made(afters: Mapping[int, int]) -> int:
    return sum(afters.values())


def _evidence(steps: Observations, one: Situation, bit: int) -> float:
    """That something came more often in one situation of a pair."""
    without, with_ = _both(steps, one, bit)
    changes = sorted({now ^ one[1] for now in without} | {now ^ one[1] ^ bit for now in with_})
    hits = [
        [without.get(change ^ one[1], 0) for change in changes],
        [with_.get(change ^ one[1] ^ bit, 0) for change in changes],
    ]
    tried = [[_made(afters)] * len(changes) for afters in (without, with_)]
    return float(against_one_frequency(np.array(hits, float), np.array(tried, float)).max())


def _compared(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Whether two situations were tried often, or often enough to see that nothing varies in them."""
    varies = len(one) > 1 or len(other) > 1
    return min(_made(one), _made(other)) >= (_COMPARED if varies else _CONSTANT)
