"""Traces <s_I, a_1, ..., a_n, s_G>, which learners from observation get instead of answers.

Paper, Section "Empirical Evaluation", "Comparison with FAMA": the agent acts at random for three steps, and
only the states before and after are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aam_vision.errors import AgentFailed
from aam_vision.query import Agent
from aam_vision.strips import GroundAction, State

LENGTH = 3
"""Actions in a trace, as in the paper: the length of the longest plans in AIA's queries."""
APPROACH = 25
"""Steps, at most, that the agent takes before a trace begins: as many as a walk of AIA's has."""
_TRIES = 100


@dataclass(frozen=True)
class Trace:
    """The actions, and the states seen before the first and after the last."""

    initial: State
    actions: tuple[GroundAction, ...]
    final: State


def random_traces(
    agent: Agent, count: int, rng: np.random.Generator, *, length: int = LENGTH, approach: int = APPROACH
) -> list[Trace]:
    """Traces of the agent acting on its own, each from a state that a random walk has led to.

    The problem, and the number of steps before the trace begins (0 to ``approach``), are drawn anew for every
    trace. A walk that ends too early is drawn again.

    Raises:
        AgentFailed: from its initial situations the agent never gets ``length`` steps far.
    """
    starts = agent.initial()
    traces: list[Trace] = []
    failures = 0
    while len(traces) < count:
        start = starts[int(rng.integers(len(starts)))]
        walked = agent.walk(start, int(rng.integers(approach + 1)) + length, rng)
        if len(walked) >= length:
            steps = walked[-length:]
            actions = tuple(step.action for step in steps)
            traces.append(Trace(steps[0].before.state, actions, steps[-1].after.state))
        elif (failures := failures + 1) >= _TRIES * count:
            raise AgentFailed(f"the agent ended {failures} walks after less than {length} steps: no traces")
    return traces
