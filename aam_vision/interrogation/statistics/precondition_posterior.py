"""The posterior of an action's precondition when refusals and executions may be wrong.

A precondition is a set of literals; a trial is probable under it if it was executed where all of them held, or
refused where one did not. The posterior is taken over the sets within two changes of the best one: dropping, adding or
exchanging a literal. Near misses test literals one by one, so sets farther away are less probable still.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aam_vision.fact_tables import distinct
from aam_vision.interrogation.statistics.error_rates import EXECUTED, REFUSED, posterior_mean

Mask = NDArray[np.bool_]

POSITIVE, NEGATIVE = 0.2, 0.05
"""Prior probability of a literal of each sign. Lower: fewer false preconditions, more trials."""
IMPROBABLE = -25.0
"""Log-odds below which a literal is not considered any more. Higher: faster, less exact."""
ALTERNATIONS = 4
"""Alternations between estimating the rates and the preconditions, unless they converge before."""
LEAST_GAIN = 1e-9
"""Gain of log-posterior below which a set counts as the best: rounding errors stay below it."""


@dataclass(frozen=True)
class Precondition:
    """The posterior of one action's precondition over ``2 n`` literals: all positive ones, then all negative."""

    best: Mask
    """The most probable set; shape ``(2 n,)``."""
    doubt: NDArray[np.float64]
    """The probability that each literal is wrong in it if nothing else is; shape ``(2 n,)``."""
    applicable: Mask
    """In which trials all of the best set held; shape ``(trials,)``."""


def precondition(held: Mask, executed: Mask, refusals: float, executions: float) -> Precondition:
    """The posterior under given rates.

    Args:
        held: the atoms' values before every trial; shape ``(trials, n)``.
        executed: which trials were executed; shape ``(trials,)``.
        refusals: the probability that a step which could be executed is refused.
        executions: the probability that a step which could not be executed is reported as executed.
    """
    violated = np.concatenate([~held, held], axis=1)  # (trials, 2 n)
    size = held.shape[1]
    prior = np.log(np.repeat([POSITIVE / (1 - POSITIVE), NEGATIVE / (1 - NEGATIVE)], size))
    # how much more probable each trial is where all required literals held
    weight = np.where(executed, np.log((1 - refusals) / executions), np.log(refusals / (1 - executions)))
    against = violated[executed].sum(axis=0) * np.log((1 - refusals) / executions)
    live = np.flatnonzero(prior - against > IMPROBABLE)
    if not live.size:
        nothing = np.zeros(2 * size, dtype=np.bool_)
        return Precondition(nothing, np.zeros(2 * size), np.ones(len(held), dtype=np.bool_))
    first, number = distinct(violated[:, live])
    kinds = violated[first][:, live]
    weights = np.zeros(len(kinds))
    np.add.at(weights, number.ravel(), weight)

    def climb(chosen: Mask) -> tuple[float, Mask, NDArray[np.float64]]:
        """The score of the best set reached by two changes at a time, the set, and the gains of its neighbours."""
        while True:
            gains = _neighbours(kinds, weights, chosen, prior[live], live, size)
            first, second = np.unravel_index(int(gains.argmax()), gains.shape)
            if gains[first, second] <= LEAST_GAIN:
                score = weights @ ((kinds @ chosen.astype(np.int64)) == 0) + prior[live] @ chosen
                return float(score), chosen, gains
            chosen = chosen.copy()
            chosen[list({first, second})] ^= True

    # from the empty set, and from all literals that held whenever the action was executed
    starts: list[Mask] = [np.zeros(len(live), dtype=np.bool_)]
    if executed.any():
        starts.append(np.logical_not(violated[executed][:, live].any(axis=0)))
    _, found, gains = max(map(climb, starts), key=lambda climbed: climbed[0])
    best = np.zeros(2 * size, dtype=np.bool_)
    best[live] = found
    odds = np.full(2 * size, np.exp(IMPROBABLE))
    odds[live] += np.exp(np.minimum(gains, 0.0)).sum(axis=1)
    return Precondition(best, odds / (1 + odds), ~(violated @ best).astype(np.bool_))


def _neighbours(
    kinds: Mask,
    weights: NDArray[np.float64],
    best: Mask,
    prior: NDArray[np.float64],
    live: NDArray[np.intp],
    size: int,
) -> NDArray[np.float64]:
    """The gain of log-posterior from toggling literals i and j (on the diagonal, i alone)."""
    count = kinds @ best.astype(np.int64)  # how many of the best set each kind of trial violates
    change = kinds * np.where(best, -1, 1)  # (kinds, live)
    after = count[:, None, None] + change[:, :, None] + change[:, None, :]
    single = np.arange(len(best))
    after[:, single, single] = count[:, None] + change
    gains: NDArray[np.float64] = np.tensordot(weights, after == 0, axes=1) - weights @ (count == 0)
    own = prior * np.where(best, -1, 1)
    gains += own[:, None] + own[None, :]
    gains[single, single] -= own
    # no atom is required both to hold and not to
    sign, atom = np.divmod(live, size)
    chosen = np.zeros((2, size), dtype=np.int64)
    chosen[sign, atom] = best
    both = (atom[:, None] == atom[None, :]) & (sign[:, None] != sign[None, :])
    opposed = ~best & (chosen[1 - sign, atom] > 0)  # adding this needs the opposite one to go
    forbidden = opposed[:, None] | opposed[None, :]
    forbidden &= ~(both & (best[:, None] ^ best[None, :]))
    forbidden |= both & ~best[:, None] & ~best[None, :]
    gains[forbidden] = -np.inf
    return gains


def refusal_rate(executed: Mask, applicable: Mask) -> float:
    """The share of steps refused that could be executed."""
    return posterior_mean(REFUSED, int((applicable & ~executed).sum()), int(applicable.sum()))


def execution_rate(executed: Mask, applicable: Mask) -> float:
    """The share of steps executed that could not be."""
    return posterior_mean(EXECUTED, int((~applicable & executed).sum()), int((~applicable).sum()))
