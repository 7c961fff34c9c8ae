"""Diagnoses of agents whose first steps of one action do nothing, and that are honest from then on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction

LATE = "move"


class LateStarter(AgentDecorator):
    """An agent that does nothing at its first uses of one action.

    Args:
        agent: what it does otherwise.
        idle: the number of uses that do nothing.
    """

    def __init__(self, agent: SymbolicAgent, idle: int) -> None:
        super().__init__(agent)
        self._agent = agent
        self._idle = idle

    def initial(self) -> Sequence[Situation]:
        return self._agent.initial()

    def ask(self, query: Query) -> Response:
        at = query.initial
        for number, step in enumerate(query.plan):
            executed, at = self._done(at, step)
            if not executed:
                return Response(number, at)
        return Response(len(query.plan), at)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        while len(walked) < steps and (own := self._agent.walk(start, 1, rng)):
            _, after = self._done(start, own[0].action)
            walked.append(WalkStep(start, own[0].action, after))
            start = after
        return walked

    def _done(self, at: Situation, step: GroundAction) -> tuple[bool, Situation]:
        response = self._agent.ask(Query(at, (step,)))
        if response.executed and step.name == LATE and self._idle:
            self._idle -= 1
            return True, at
        return bool(response.executed), response.final


def diagnosed(idle: int, seed: int) -> Diagnosis:
    problem = generate("gripper", 2, np.random.default_rng(0)).initial
    agent = LateStarter(SymbolicAgent(load("gripper"), [problem], Access.SNAPSHOT), idle)
    with pytest.raises(Interrupted) as interrupted:
        Interrogation(agent, exam=0).run(np.random.default_rng(seed))
    found = interrupted.value.result.diagnosis
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("idle", [2, 4])
def test_what_came_several_times_and_never_again_is_a_change(idle: int, seed: int) -> None:
    """The old outcome is shown first, and then the one that has come since."""
    found = diagnosed(idle, seed)
    assert (found.family, found.culprit) == (Family.CHANGING, LATE)
    old, new = found.examples
    assert (old.step.name, new.step.name) == (LATE, LATE)
    assert old.outcome == "executed, and nothing changed"
    assert "+at_robby" in new.outcome
    assert not found.by_chance


@pytest.mark.parametrize("seed", range(3))
def test_what_came_once_and_never_again_is_chance_or_a_change(seed: int) -> None:
    """The same step of the same snapshot had another outcome: nothing hidden or conditional explains that."""
    found = diagnosed(1, seed)
    assert found.family in (Family.RANDOM, Family.MISREAD, Family.CHANGING)
    assert found.culprit == LATE
    assert "executed, and nothing changed" in {one.outcome for one in found.examples}
