"""``python -m experiments.told_apart``: two versions of an agent, interrogated in turn until they are told apart.

A hand picks up a block with one probability in one version, and with another in the other. Each version is interrogated by itself; they
take steps in turn, and whenever there are two in a hundred more of them both are compared (``chance/comparing.py``, which may be looked at
any time). It ends when they are told apart, or when both interrogations have nothing left to ask.

The table has the trials of that action in both versions together, and a *bound*: no sequential test that calls equal versions
different with probability a at most and surely ends where they differ does with fewer on average. Wald's identity: the log-likelihood
ratio of (p, q) against any equal pair (r, r) has to reach log(1/a), and grows by kl(p, r) + kl(q, r) with a trial of each on average;
the r that is hardest to exclude makes the bound 2 log(1/a) / min over r of kl(p, r) + kl(q, r). A test that does not know p and q
beforehand needs more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import log
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Annotated

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.comparing import ALPHA, differences
from aam_vision.interrogation.chance.interrogating import interrogation
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.result import Options
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, batches
from experiments.options import FirstSeed, about, check_probabilities
from experiments.tables import Row, Summary, as_named, per, pooled, total
from experiments.weak_dependence import hand

BATCH = 20  # comparisons in one job
LOOKS = 1.02  # both are compared when they have executed this many times as many steps as at the last look


def told_apart(
    one: Annotated[float, about("How often the one version picks up.")] = 0.9,
    other: Annotated[float, about("How often the other does.")] = 0.7,
    comparisons: Annotated[int, about("How many pairs are compared.", min=1)] = 100,
    within: Annotated[float, about("Half width of the intervals after which nothing is left to ask.")] = 0.05,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/told-apart")),
) -> int:
    """How many trials it takes to tell two versions of an agent apart, and how often equal ones are called different.

    Examples:
        python -m experiments.told_apart --one 0.9 --other 0.7
        python -m experiments.told_apart --one 0.9 --other 0.9 --comparisons 400
    """
    check_probabilities(one=one, other=other)
    versions = {"one": one, "other": other, "within": within}
    jobs = [{**versions, **seeds} for seeds in batches(first_seed, comparisons, BATCH)]
    return Experiment("told_apart", batch, summary).run(jobs, scale)


def batch(*, one: float, other: float, within: float, seed: int, count: int) -> Row:
    """As many comparisons from this seed on."""
    began = process_time()
    found = [compared(one, other, within, number) for number in range(seed, seed + count)]
    return {
        "trials": [trials for trials, _, different in found if different],
        "steps": [steps for _, steps, _ in found],
        "different": sum(different for _, _, different in found),
        "seconds": round(process_time() - began, 2),
    }


def compared(one: float, other: float, within: float, seed: int) -> tuple[int, int, bool]:
    """Interrogate two versions in turn until they are told apart, or both are known.

    Returns the trials of the action that has chance in both, the steps of both, and whether they were told apart.
    """
    versions = []
    for number, probability in enumerate((one, other)):
        model, start = hand(probability)
        chance = np.random.default_rng([seed, number])
        agent = SymbolicAgent(model, [start], refuses_surely=True, chance=chance)
        versions.append(interrogation(agent, np.random.default_rng([seed, number, 1]), Options(within)))
    known: list[tuple[ActionKnowledge, ...]] = [(), ()]
    going = [True, True]
    steps, looked = 0, 0
    while any(going):
        for number, version in enumerate(versions):
            if going[number]:
                try:
                    known[number] = next(version)
                    steps += 1
                except StopIteration:
                    going[number] = False
        executed = sum(action.executed for actions in known for action in actions)
        if all(known) and (executed >= LOOKS * looked or not any(going)):
            looked = executed
            if any(action.different for action in differences(*known, independent=True)):
                return _executed(known), steps, True
    return _executed(known), steps, False


def _executed(known: Sequence[Sequence[ActionKnowledge]]) -> int:
    """How often both versions have picked up."""
    return sum(
        action.executed for actions in known for action in actions if action.index.header.name == "pick"
    )


def bound(p: float, q: float, alpha: float) -> float:
    """The trials of both that a sequential test needs on average to tell p and q apart, at least; infinite if they are equal."""
    if p == q:
        return float("inf")
    shares = np.linspace(min(p, q), max(p, q), 10_001)[1:-1]

    def divergence(share: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray(share * np.log(share / shares) + (1 - share) * np.log((1 - share) / (1 - shares)))

    return 2 * log(1 / alpha) / float((divergence(p) + divergence(q)).min())


def _bound(rows: list[Row]) -> float | None:
    one, other = rows[0]["one"], rows[0]["other"]
    return None if one == other else round(bound(one, other, ALPHA), 1)


def _trials(rows: list[Row]) -> float | None:
    trials = pooled(rows, "trials")
    return round(mean(trials), 1) if trials else None


def _deciles(rows: list[Row]) -> str | None:
    trials = pooled(rows, "trials")
    return f"{np.quantile(trials, 0.1):.0f}-{np.quantile(trials, 0.9):.0f}" if trials else None


summary = Summary(
    "Two versions, interrogated in turn until they are told apart",
    {
        **as_named("one", "other", "within"),
        "pairs": total("count"),
        "told apart": total("different"),
        "trials": _trials,
        "10-90%": _deciles,
        "bound": _bound,
        "steps": lambda rows: round(mean(pooled(rows, "steps")), 1),
        "CPU s": per("seconds", "count", 3),
    },
    by=("one", "other", "within"),
)


if __name__ == "__main__":
    sys.exit(run_command(told_apart))
