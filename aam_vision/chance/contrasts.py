"""Which contexts to try again, to tell whether an atom changes what an action does: pairs that differ in nothing else."""

from __future__ import annotations

from aam_vision.chance.observations import Observations, holds
from aam_vision.interrogation.hypotheses.literals import Literals

_COMPARED = 400
"""Steps in a context after which no more are made for that: they tell frequencies apart that differ by a quarter."""
_CONSTANT = 12
"""The same where all had one outcome, as where all effects held already."""


def worth_trying(steps: Observations, where: Literals, bit: int) -> set[int]:
    """The contexts of a case in which to try what an atom changes: two that were met, or any that would make one of two."""
    pairs = _pairs(steps, where, bit)
    if not pairs:
        return {held ^ bit for held in steps.contexts if holds(where, held)}
    left = [held for held in pairs if not _compared(steps, held, bit)]
    if not left:
        return set()
    best = max(left, key=lambda held: min(steps.made(held), steps.made(held ^ bit)))
    return {one for one in (best, best ^ bit) if steps.made(one) < _COMPARED}


def tried_in_vain(steps: Observations, where: Literals, bit: int) -> bool:
    """Whether all pairs that were met in a case were tried as often as they are to be."""
    pairs = _pairs(steps, where, bit)
    return bool(pairs) and all(_compared(steps, held, bit) for held in pairs)


def _pairs(steps: Observations, where: Literals, bit: int) -> list[int]:
    """The contexts of a case of which the other one was met, too."""
    return [held for held in steps.contexts if holds(where, held) and held ^ bit in steps.contexts]


def _compared(steps: Observations, held: int, bit: int) -> bool:
    """Whether two contexts were tried often, or often enough to see that nothing varies in them."""
    pair = held, held ^ bit
    varies = any(len(steps.contexts[one]) > 1 for one in pair)
    return min(steps.made(one) for one in pair) >= (_COMPARED if varies else _CONSTANT)
