"""``python -m tests.interrogation.memory.measure --seeds N``: what is learned of agents in which something hidden was planted.

A line per kind and access: how many runs ended how, in how many of those that went on to memory the model says at least 99% of 500 steps
of new histories, the runs that are ``complete`` and say fewer (or any step wrong), and means of steps and CPU seconds. No test: it takes
minutes. ``--faults``: instead families of faults of ``experiments.faults``, whose memory, if they have any, is no invented fact; what has
changed is learned as it is now.
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import process_time

import numpy as np

import aam_vision
from aam_vision.interrogation.memory.changed import can_renew, renew
from aam_vision.interrogation.memory.going_on import Remembered, can_remember, remember
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.query import Agent
from experiments.faults.registry import FAULTY, faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import STEPS, mispredicted

from .planted import KINDS, planted_agent, predicted_rightly

ENOUGH = 0.99


def learned(agent: Agent, seed: int, steps: int) -> tuple[Result, Remembered | Result | str | None]:
    """An interrogation, and what became of it if it ended with a diagnosis that memory or a change may explain."""
    try:
        told = aam_vision.interrogate(agent, seed=seed, max_steps=steps)
    except Interrupted as error:
        told = error.result
    if can_renew(told):
        recorded = RecordingAgent(agent, told.transcript)
        return told, renew(recorded, told, np.random.default_rng(seed), Budget(steps=steps))
    if not can_remember(told):
        return told, None
    return told, remember(
        RecordingAgent(agent, told.transcript), told, np.random.default_rng(seed), Budget(steps=steps)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--access", nargs="*", default=["settable", "snapshot", "reset"])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--faults", nargs="*", help="families of experiments.faults instead, or all of them")
    parser.add_argument("--why", action="store_true", help="print a line per run")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    kinds = options.kinds if options.faults is None else options.faults or list(FAULTY)
    for kind in kinds:
        for access in options.access:
            _measure(kind, access, seeds, options)


def _measure(kind: str, access: str, seeds: range, options: argparse.Namespace) -> None:
    counts, steps, began = Counter[str](), 0, process_time()
    for seed in seeds:
        faulty = options.faults is not None
        agent = faulty_agent(kind, access, seed) if faulty else planted_agent(kind, access, seed)
        told, found = learned(agent, seed, options.steps)
        result = (
            found.result if isinstance(found, Remembered) else found if isinstance(found, Result) else told
        )
        share = None
        if isinstance(agent, FaultyAgent) and isinstance(found, Result):
            share = 1 - mispredicted(result, agent, np.random.default_rng([seed, 7])) / STEPS
        elif not faulty and not result.not_strips:
            share = predicted_rightly(result.model, agent.fault, np.random.default_rng([seed, 99]))  # type: ignore[arg-type]
        status = (
            result.status
            if found is None
            else "not explained"
            if isinstance(found, str)
            else f"{'changed' if isinstance(found, Result) else 'memory'}, {result.status}"
        )
        counts[status] += 1
        counts["right"] += share is not None and share >= ENOUGH
        complete = isinstance(found, Remembered | Result) and result.status == COMPLETE
        counts["complete, under 99%"] += complete and share is not None and share < ENOUGH
        counts["complete, any wrong"] += complete and share is not None and share < 1
        counts["went on"] += found is not None
        steps += result.counts.steps + result.counts.exam_steps
        if options.why:
            family = None if told.diagnosis is None else told.diagnosis.family.value
            what = found.fact.changes if isinstance(found, Remembered) else found
            print("   ", seed, family, status, share, what, flush=True)
    told_of = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
    seconds = (process_time() - began) / len(seeds)
    print(f"{kind:20} {access:9} {told_of}; steps {steps / len(seeds):.0f}, {seconds:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
