"""An outcome that came seldom is told from a misread picture by looks at where the step leads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision import interrogate
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.examination.outcomes import NEEDED, brought_about, read_rightly
from aam_vision.interrogation.examination.trials import Trials
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import Atom, State
from tests import small
from tests.interrogation.task.doubting import hidden

MODEL = small.model(
    "take x: shelved x, free -> held x, not shelved x, not free",
    "put x: held x -> shelved x, free, not held x",
    predicates="broken/1",
)
START = small.state("red blue", "shelved red, shelved blue, free")
HELD = small.state("red blue", "held red, shelved blue")
BROKEN = State(START.true | small.atoms("broken red"), START.objects)


class Fragile(AgentDecorator):
    """Now and then it breaks what it puts down."""

    def __init__(self, agent: Agent, rate: float, seed: int) -> None:
        super().__init__(agent)
        self._rate, self._rng = rate, np.random.default_rng(seed)

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        state = response.final.state
        for step in query.plan[: response.executed]:
            if step.name == "put" and self._rng.random() < self._rate:
                state = replace(state, true=state.true | {Atom("broken", step.objects)})
        return Response(response.executed, Situation(state, state))


def _doubted(family: Family = Family.RANDOM) -> Diagnosis:
    """That a cup broke once, which may have been misread."""
    shown = (
        Example(Situation(HELD, HELD), small.step("put red"), "", Situation(s, s)) for s in (START, BROKEN)
    )
    return Diagnosis(family, "put", "put: ...", tuple(shown), seen=1, tried=30, by_chance=True)


def _told(agent: Agent, family: Family = Family.RANDOM) -> Diagnosis:
    known = Transcript(MODEL.vocabulary, MODEL.headers, Access.SETTABLE, (Situation(START, START),), ())
    return brought_about(Trials(CountingAgent(agent), known), _doubted(family))


def _agent() -> SymbolicAgent:
    return SymbolicAgent(MODEL, [START], Access.SETTABLE)


@pytest.mark.parametrize("family", [Family.RANDOM, Family.MISREAD])
def test_what_comes_with_the_step_and_at_no_look_is_an_outcome(family: Family) -> None:
    found = [_told(Fragile(_agent(), 0.06, seed), family) for seed in range(20)]
    told = [one for one in found if not one.by_chance]
    assert len(told) >= 18
    assert all((one.family, one.seen, one.culprit) == (Family.RANDOM, NEEDED, "put") for one in told)


@pytest.mark.parametrize("rate", [0.002, 0.01, 0.05, 0.3])
def test_what_is_misread_by_chance_shows_at_looks_too(rate: float) -> None:
    found = [
        _told(UnreliableAgent(hidden(_agent()), rate, 0, np.random.default_rng(seed))) for seed in range(60)
    ]
    assert found.count(_doubted()) >= 59


def test_an_agent_that_does_it_never_again_is_doubted_as_before() -> None:
    assert _told(_agent()) == _doubted()


def test_a_run_goes_on_to_outcomes_instead_of_weighing_them() -> None:
    """A cup that breaks in 6% of the steps: once that is seen, no run is certain that it never breaks."""
    found = [
        interrogate(Fragile(_agent(), 0.06, seed), seed=seed, within=0.2, raises=False) for seed in range(4)
    ]
    assert all(result.rates is None for result in found)
    assert sum(result.outcomes is not None for result in found) >= 3


class Pictured(Fragile):
    """Seen in images, each state in one of its own."""

    def pixels(self, situation: Situation) -> frozenset[str]:
        return frozenset([str(sorted(map(str, situation.state.true)))])


def test_other_pixels_are_no_mistake_of_reading() -> None:
    """From the same pixels the step led to the same ones, and then to others: that is random, however seldom it came."""
    model = SymbolicAgent(MODEL, [START], Access.SNAPSHOT)
    found = [interrogate(Pictured(model, 0.06, seed), seed=seed, raises=False) for seed in range(4)]
    told = [one.diagnosis for one in found if one.diagnosis is not None]
    assert len(told) >= 2
    assert all((one.family, one.by_chance) == (Family.RANDOM, False) for one in told)
    assert any(one.unread for one in told)


def test_what_was_seen_once_was_an_outcome_if_no_look_errs() -> None:
    found = read_rightly(_doubted(Family.MISREAD))
    assert (found.family, found.seen, found.tried, found.by_chance) == (Family.RANDOM, 0, 29, False)
    assert read_rightly(_doubted()) == _doubted()
