"""Actions that an agent refuses everywhere: all others are learned without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.comparing import differences
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.result import ChanceResult
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript, taken_in
from aam_vision.interrogation.memory.refused import read_refused, refused_everywhere, without
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, GroundAction
from aam_vision.support.errors import InconsistentAgent
from experiments.noise import wrongly_certain
from tests import domains
from tests.profiles import first

JUMP, JUMPS = ActionHeader("jump", (), ()), GroundAction("jump", ())


class Legless(AgentDecorator):
    """An agent that may be told to jump, and never does; or only once it has picked something up."""

    def __init__(self, agent: Agent, *, at_all: bool) -> None:
        super().__init__(agent)
        self._at_all = at_all

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return (*self.agent.headers, JUMP)

    def initial(self) -> Sequence[Situation]:
        return [replace(one, handle=(one.handle, False)) for one in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        made = query.initial.handle
        here, picked = made if isinstance(made, tuple) else (made, False)
        situation, executed = replace(query.initial, handle=here), 0
        for step in query.plan:
            if step == JUMPS:
                if not (self._at_all and picked):
                    break
            else:
                response = self.agent.ask(Query(situation, (step,)))
                if not response.executed:
                    break
                situation, picked = response.final, picked or step.name == "pick"
            executed += 1
        return Response(executed, replace(situation, handle=(situation.handle, picked)))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return ()


def _agent(access: Access, *, at_all: bool = False) -> Legless:
    model, problems = domains.packaged("gripper", seed=3)
    return Legless(SymbolicAgent(model, problems[:1], access, refuses_surely=True), at_all=at_all)


@pytest.mark.parametrize(
    "access", first(2, [Access.SETTABLE, Access.TRAJECTORY, Access.RESET, Access.SNAPSHOT])
)
def test_all_other_actions_are_learned(access: Access) -> None:
    result = aam_vision.interrogate(_agent(access), exam=60)
    assert result.missing == "never executed: jump"
    truth, _ = domains.packaged("gripper")
    assert not wrongly_certain(
        {pal: mode for pal, mode in result.certain.items() if pal.action != "jump"}, truth
    )
    assert {pal.action for pal in result.certain} >= {action.header.name for action in truth.actions}
    if result.refused:
        assert [header.name for header in result.model.headers] == [header.name for header in truth.headers]
        assert result.invented.startswith("jump is not in the model: it was refused wherever tried, ")


@pytest.mark.parametrize("access", Access)
def test_outcomes_of_all_other_actions_are_learned(access: Access) -> None:
    agent, versions = _agent(access), list[Sequence[ActionKnowledge]]()
    state = agent.initial()[0].state
    for seed in (0, 1):
        result = aam_vision.interrogate(agent, chance=True, within=0.3, max_steps=200, seed=seed)
        assert isinstance(result.outcomes, ChanceResult)
        versions.append(result.outcomes.actions)
        *others, jump = result.outcomes.actions
        assert jump.given_up
        assert not jump.certain_to_succeed(0)
        assert "jump: never executed, though it was tried 1 time, and nothing explains that" in " ".join(
            str(result).split()
        )
        assert all(action.executed and not action.given_up for action in others)
    assert not [one for one in differences(*versions, independent=True) if one.different]
    with pytest.raises(InconsistentAgent, match="jump was executed, and refused before"):
        jump.was_executed(state, (), state)


def test_what_is_executed_after_all_is_not_left_out() -> None:
    result = aam_vision.interrogate(_agent(Access.SNAPSHOT, at_all=True), exam=60)
    assert result.complete, result.missing
    assert "made true by pick" in result.invented


def test_a_transcript_without_an_action_has_the_same_entries() -> None:
    transcript = _contradicted()
    assert refused_everywhere(transcript) == ("jump",)
    left = without(transcript, ("jump",))
    assert taken_in(left)[1] is None
    assert len(left.entries) == len(transcript.entries)
    asked = [entry for entry in left.entries if isinstance(entry, Asked)]
    assert all(step.name != "jump" for entry in asked for step in entry.query.plan)
    assert all(entry.response.executed <= len(entry.query.plan) for entry in asked)


@pytest.mark.parametrize("told", [["fly"], ["jump", "jump"], [3], ["pick"]])
def test_damaged_names_are_refused(told: list[object]) -> None:
    with pytest.raises(Malformed, match="left out"):
        read_refused(told, _contradicted())


def _contradicted() -> Transcript:
    """What was asked of an agent that refuses to jump where nothing explains that."""
    result = aam_vision.interrogate(_agent(Access.SETTABLE), exam=0, raises=False, go_on=False)
    assert result.not_strips
    return result.transcript
