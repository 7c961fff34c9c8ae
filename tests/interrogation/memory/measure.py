"""``python -m tests.interrogation.memory.measure --seeds N``: what is learned of agents in which something hidden was planted.

A line per kind and access: how many runs ended how, in how many of those that went on to memory the model says at least 99% of 500 steps
of new histories, the runs that are ``complete`` and say fewer (or any step wrong), and means of steps and CPU seconds. No test: it takes
minutes. ``python -m experiments.trust --goes-on`` measures it of families of faults.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import product
from time import process_time

import numpy as np

import aam_vision
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.diagnosed import Further, Way
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.query import Agent

from .planted import KINDS, planted_agent, predicted_rightly

ENOUGH = 0.99


def learned(agent: Agent, seed: int, steps: int) -> tuple[Result, Further]:
    """An interrogation, and what became of it if it ended with a diagnosis that memory or a change may explain."""
    told = aam_vision.interrogate(agent, seed=seed, max_steps=steps, raises=False, go_on=False)
    among, budget = (Way.ANEW, Way.MEMORY), Budget(steps=steps)
    return told, go_further(agent, told, seed, Options(), budget, among=among)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--access", nargs="*", default=["settable", "snapshot", "reset"])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for kind, access in product(options.kinds, options.access):
        counts, steps, began = Counter[str](), 0, process_time()
        for seed in seeds:
            agent = planted_agent(kind, access, seed)
            told, further = learned(agent, seed, options.steps)
            result, share = further.found or told, None
            if not result.not_strips:
                rng = np.random.default_rng([seed, 99])
                share = predicted_rightly(result.model, agent.fault, rng, fact=further.fact)  # type: ignore[arg-type]
            status = result.status if not further.why else "not explained"
            if further.found is not None:
                status = f"{'memory' if further.fact else 'changed'}, {status}"
            counts[status] += 1
            counts["right"] += share is not None and share >= ENOUGH
            complete = further.found is not None and result.status == COMPLETE and share is not None
            counts["complete, under 99%"] += complete and share < ENOUGH
            counts["complete, any wrong"] += complete and share < 1
            counts["went on"] += further != Further(None)
            steps += result.counts.steps + result.counts.exam_steps
        told_of = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
        seconds = (process_time() - began) / len(seeds)
        print(
            f"{kind:20} {access:9} {told_of}; steps {steps / len(seeds):.0f}, {seconds:.1f} CPU s", flush=True
        )


if __name__ == "__main__":
    main()
