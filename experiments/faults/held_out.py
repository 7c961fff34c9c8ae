"""Whether a learned model predicts an agent, on steps that were never asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.task.result import Result
from aam_vision.query import Access
from aam_vision.strips import GroundAction, State
from experiments.faults.world import LONGEST, FaultyAgent, World

STEPS = 500
NEAR_MISSES = 0.4
"""The share of steps that an honest agent seldom executes."""


class Attempt(NamedTuple):
    """One attempted step, as it is seen."""

    before: State
    step: GroundAction
    executed: bool
    after: State


def attempts(agent: FaultyAgent, count: int, rng: np.random.Generator) -> Iterator[Attempt]:
    """Steps of the agent as it is now, with random histories, in interrogated and in fresh problems.

    On a trajectory they begin where the agent stands: nothing that is out of reach from there could have been asked.
    Where an agent is honest and only seen wrongly, its true states are given.
    """
    fault, nature = agent.fault, agent.nature
    nature.stopped = True
    beginnings = [World(state, fault.fresh(state)) for state in fault.setting.initial]
    if agent.access is Access.TRAJECTORY and agent.here is not None:
        beginnings = [agent.here]
    while True:
        world = beginnings[int(rng.integers(len(beginnings)))]
        before = world.state if fault.only_seen else fault.see(world, nature)
        for _ in range(int(rng.integers(1, LONGEST + 1))):
            step = _instruction(agent, world.state, rng)
            executed, world = agent.attempt(world, step)
            after = world.state if fault.only_seen else fault.see(world, nature)
            yield Attempt(before, step, executed, after)
            before, count = after, count - 1
            if not count:
                return


def _instruction(agent: FaultyAgent, state: State, rng: np.random.Generator) -> GroundAction:
    """One that an honest agent could execute, or one that is a little or altogether different."""
    step = agent.option(state, rng)
    headers = agent.headers
    objects = state.objects
    if step is not None and rng.random() >= NEAR_MISSES:
        return step
    if step is not None and step.objects and rng.random() < 0.5:
        header = next(header for header in headers if header.name == step.name)
        place = int(rng.integers(header.arity))
        others = [name for name in objects.of_type(header.types[place]) if name not in step.objects]
        if others:
            named = list(step.objects)
            named[place] = others[int(rng.integers(len(others)))]
            return GroundAction(step.name, tuple(named))
    while True:
        header = headers[int(rng.integers(len(headers)))]
        drawn = [names[int(rng.integers(len(names)))] for names in map(objects.of_type, header.types)]
        if len(set(drawn)) == len(drawn):
            return GroundAction(header.name, tuple(drawn))


def mispredicted(result: Result, agent: FaultyAgent, rng: np.random.Generator, count: int = STEPS) -> int:
    """How many of so many steps the learned model predicts wrongly, as far as it is determined."""
    return sum(wrong(result.hypotheses, one) for one in attempts(agent, count, rng))


def wrong(hypotheses: Hypotheses, attempt: Attempt) -> bool:
    """Whether a step came out otherwise than all models that are still possible predict."""
    before, step, executed, after = attempt
    action = hypotheses[step.name]
    violated = action.violated(*action.index.values(before, step.objects))
    if not violated or action.certain_to_fail(violated):
        if executed is bool(violated):
            return True
    elif executed:
        return False  # it was open, and so are the effects of what was never executed
    if not executed:
        return before != after
    expected = action.schema().successor(before, step.objects)
    open_atoms = action.index.facts(action.undecided_effects, step.objects)
    return bool((expected.true ^ after.true) - open_atoms)
