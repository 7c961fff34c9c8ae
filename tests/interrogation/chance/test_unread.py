"""Trials whose end cannot be read count against every figure: none is wrong, whatever hides which outcome."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, interrogate
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, OPEN
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import State
from aam_vision.report.chance_evaluation import check
from aam_vision.support.errors import UnusableInput

from .agents import agent, read


class Blurred(AgentDecorator):
    """Leaves out some atoms of what it shows, where they are true: all of one predicate, of some situations."""

    def __init__(self, inner: Agent, hidden: str, share: float) -> None:
        super().__init__(inner)
        self._hidden, self._share = hidden, share
        self._rng = np.random.default_rng(5)

    def _seen(self, situation: Situation) -> Situation:
        state = situation.state
        gone = frozenset(atom for atom in state.true if atom.predicate == self._hidden)
        if not gone or self._rng.random() >= self._share:
            return situation
        return Situation(situation.handle, State(state.true - gone, state.objects, gone))

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        return Response(response.executed, self._seen(response.final)) if response.executed else response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        for before, action, after in self.agent.walk(start, steps, rng):
            first = walked[-1].after if walked else before
            walked.append(WalkStep(first, action, self._seen(after)))
        return walked


RUNS = 6


def learned(hidden: str, share: float, access: Access, seed: int = 0) -> ChanceResult:
    blurred = Blurred(NumberedAgent(agent(access, 100 + seed)), hidden, share)
    return interrogate(blurred, np.random.default_rng(seed), Options(0.15, max_steps=150))


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET])
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_intervals_hold_although_one_outcome_is_seldom_read(access: Access, share: float) -> None:
    truth, _ = read()
    wrong = unread = 0
    for seed in range(RUNS):
        result = learned("broken", share, access, seed)
        assert result.status in (COMPLETE, OPEN, BUDGET)
        for action in result.actions:
            checked = check(action, truth.schema(action.index.header.name))
            assert not checked.wrong
            assert action.unseen >= checked.missing
            wrong += not all(checked.intervals)
            unread += action.unread
    assert unread > 0
    assert wrong <= 2, f"of {2 * RUNS}, each with a probability of 5% at most"


def test_what_every_trial_may_have_led_to_is_not_excluded() -> None:
    result = learned("broken", 1.0, Access.SNAPSHOT)
    grab = next(action for action in result.actions if action.index.header.name == "grab")
    assert len(grab.outcomes) == 2, "the third is never read"
    assert grab.unseen > 0.1, "it has a probability of .1"
    widths = [one.high - one.low for one in grab.frequencies]
    assert all(width > one.width for width, one in zip(widths, grab.frequencies, strict=True))


def test_a_trajectory_ends_where_nothing_can_be_read() -> None:
    result = learned("holding", 1.0, Access.TRAJECTORY)
    assert result.status == OPEN
    assert "the last situation is not known" in result.why


def test_the_first_situation_has_to_be_known() -> None:
    class Blind(Blurred):
        def initial(self) -> Sequence[Situation]:
            return [self._seen(one) for one in self.agent.initial()]

    with pytest.raises(UnusableInput, match="first situation"):
        interrogate(Blind(agent(Access.RESET), "free", 1.0), np.random.default_rng(0), Options(0.1))
