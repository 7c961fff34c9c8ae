"""Looking several times tells what was seen wrongly from what has slipped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.task.repeated_looks import FIRST_LOOKS, LookingAgent
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, NOT_STRIPS, OPEN
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State
from aam_vision.report.chance_evaluation import Check, check, sample_transitions
from aam_vision.report.evaluation import equivalent
from aam_vision.support.errors import UnusableInput
from tests.profiles import crossed, first

from .agents import agent, read


def misread(access: Access, seed: int, rate: float = 0.05) -> Agent:
    """The slippery hand, every atom of which is seen wrongly with some probability at each look."""
    return UnreliableAgent(NumberedAgent(agent(access, seed)), rate, 0.0, np.random.default_rng([seed, 7]))


def judged(result: ChanceResult) -> list[tuple[ActionKnowledge, Check]]:
    """What is said of every action, and whether it is right."""
    truth, _ = read()
    return [(one, check(one, truth.schema(one.index.header.name))) for one in result.actions]


@pytest.mark.parametrize("access", [Access.RESET, Access.SNAPSHOT, Access.TRAJECTORY])
def test_every_situation_is_seen_as_it_is(access: Access) -> None:
    clear, looking = NumberedAgent(agent(access, 1)), LookingAgent(misread(access, 1))
    (here,), (seen,) = clear.initial(), looking.initial()
    for turn in range(60):
        assert seen.state == here.state
        action = GroundAction("drop" if turn % 2 else "grab", ("a", "h"))
        response, answer = clear.ask(Query(here, (action,))), looking.ask(Query(seen, (action,)))
        assert answer.executed == response.executed
        here, seen = response.final, answer.final


def test_a_walk_is_the_agents_own() -> None:
    looking = LookingAgent(misread(Access.RESET, 2))
    walked = looking.walk(looking.initial()[0], 12, np.random.default_rng(0))
    assert len(walked) > 3
    truth, _ = read()
    for before, after in pairwise(walked):
        assert before.after == after.before
    for step in walked:
        schema = truth.schema(step.action.name)
        assert schema.applicable(step.before.state, step.action.objects)


def test_noise_without_looks_and_looks_that_cannot_be_repeated_or_tell_nothing() -> None:
    with pytest.raises(UnusableInput, match="so noise and chance cannot be told apart"):
        LookingAgent(misread(Access.RESET, 0, rate=0.5)).initial()
    (seen,) = LookingAgent(misread(Access.RESET, 0, rate=0.5), whole=False).initial()
    assert seen.state.unknown
    result = interrogate(misread(Access.RESET, 3), np.random.default_rng(3), Options(0.1))
    assert result.status == NOT_STRIPS
    with pytest.raises(UnusableInput, match="cannot be looked at again; use snapshot, reset or trajectory"):
        LookingAgent(agent(Access.SETTABLE))


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_how_much_looks_differ_decides_how_many_there_are_and_none_is_a_step(rate: float) -> None:
    counted = CountingAgent(misread(Access.RESET, 4, rate))
    at_first, looking = LookingAgent(counted), LookingAgent(misread(Access.RESET, 4, rate))
    at_first.initial()
    assert (at_first.looks >= FIRST_LOOKS, counted.counts.steps) == (True, 0)
    interrogate(looking, np.random.default_rng(4), Options(0.2))
    assert looking.misread == pytest.approx(rate, abs=0.02)
    assert looking.error == pytest.approx(looking.situations * 1e-6)
    per_situation = looking.looks / looking.situations
    assert (2 if rate else 0) < per_situation < {0.0: 4, 0.05: 12, 0.2: 40}[rate]


@pytest.mark.parametrize("access", first(1, [Access.SNAPSHOT, Access.RESET]))
def test_noise_and_slips_are_told_apart(access: Access) -> None:
    truth, initial = read()
    result = interrogate(LookingAgent(misread(access, 3)), np.random.default_rng(3), Options(0.1))
    assert result.status == COMPLETE
    steps = sample_transitions(truth, [initial], 200, np.random.default_rng(1))
    assert equivalent(result.model, truth, [step.before for step in steps])
    assert not any(checked.wrong or not all(checked.intervals) for _, checked in judged(result))


# Trials whose end cannot be read count against every figure: none is wrong, whatever hides which outcome.


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

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        return Response(response.executed, self._seen(response.final)) if response.executed else response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        for before, action, after in self.agent.walk(start, steps, rng):
            first = walked[-1].after if walked else before
            walked.append(WalkStep(first, action, self._seen(after)))
        return walked


RUNS = 4


def blurred(hidden: str, share: float, access: Access, seed: int = 0) -> ChanceResult:
    blurred = Blurred(NumberedAgent(agent(access, 100 + seed)), hidden, share)
    return interrogate(blurred, np.random.default_rng(seed), Options(0.15, max_steps=150))


@pytest.mark.parametrize(("access", "share"), crossed([Access.SNAPSHOT, Access.RESET], [0.2, 1.0]))
def test_intervals_hold_although_one_outcome_is_seldom_read(access: Access, share: float) -> None:
    wrong = unread = 0
    for seed in range(RUNS):
        result = blurred("broken", share, access, seed)
        assert result.status in (COMPLETE, OPEN, BUDGET)
        for action, checked in judged(result):
            assert not checked.wrong
            assert action.unseen >= checked.missing
            wrong += not all(checked.intervals)
            unread += action.unread
    assert unread > 0
    assert wrong <= 1, f"of {2 * RUNS}, each with a probability of 5% at most"


def test_what_every_trial_may_have_led_to_is_not_excluded() -> None:
    result = blurred("broken", 1.0, Access.SNAPSHOT)
    grab = next(action for action in result.actions if action.index.header.name == "grab")
    assert len(grab.outcomes) == 2, "the third is never read"
    assert grab.unseen > 0.1, "it has a probability of .1"
    widths = [one.high - one.low for one in grab.frequencies]
    assert all(width > one.width for width, one in zip(widths, grab.frequencies, strict=True))


def test_a_trajectory_ends_where_nothing_can_be_read() -> None:
    result = blurred("holding", 1.0, Access.TRAJECTORY)
    assert result.status == OPEN
    assert "the last situation is not known" in result.why


def test_the_first_situation_has_to_be_known() -> None:
    class Blind(Blurred):
        def initial(self) -> Sequence[Situation]:
            return [self._seen(one) for one in self.agent.initial()]

    with pytest.raises(UnusableInput, match="first situation"):
        interrogate(Blind(agent(Access.RESET), "free", 1.0), np.random.default_rng(0), Options(0.1))
