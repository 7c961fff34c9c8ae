"""Several questions at a time: what is asked of so many copies, by a single agent, in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.journal import Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Stop, Walk
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.robust import Observer
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access, Agent, Query, Response
from aam_vision.support.errors import AgentFailed
from tests.interrogation.examination.test_examining import agent_of
from tests.profiles import crossed

COPIES = 8
SEVERAL = [Access.SETTABLE, Access.SNAPSHOT]


class Mortal(AgentDecorator):
    """An agent that fails after so many queries."""

    def __init__(self, agent: Agent, queries: int) -> None:
        super().__init__(agent)
        self._left = queries

    def ask(self, query: Query) -> Response:
        if not self._left:
            raise AgentFailed("it has ended")
        self._left -= 1
        return self.agent.ask(query)


def moves_of(agent: Agent, exam: int | None, seed: int = 0) -> tuple[Result, list[Ask | Walk]]:
    """The result of asking so many copies, and the moves of the examination."""
    moves: list[Ask | Walk] = []

    def note(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if not isinstance(move, Stop) and move.examines:
            moves.append(move)

    asked = Interrogation(agent, exam=exam, copies=COPIES)
    return asked.run(np.random.default_rng(seed), observer=Observer(note)), moves


@pytest.mark.parametrize(("access", "domain"), crossed(SEVERAL, ["blocksworld", "gripper"]))
def test_one_history_is_as_long_as_with_one_worker(access: Access, domain: str) -> None:
    result, moves = moves_of(agent_of(access, domain), 60)
    asks = [move for move in moves if isinstance(move, Ask)]
    histories = [0]
    for move in asks:
        histories.append(histories[-1] * move.goes_on + len(move.plan))
    least = (60 - 60 // 6) * 2 // 3 if access is Access.SETTABLE else 60 // 2
    assert max(histories) >= least
    assert 60 <= result.exam.steps <= 66
    plans, looks = asks[::2], asks[1::2]
    assert all(bool(plan.plan) != bool(look.plan) for plan, look in zip(plans, looks, strict=True))
    assert all(look.goes_on for look in looks)
    examined = result.transcript.entries[-len(moves) :]
    assert any(isinstance(one, Asked) and one.response.executed < len(one.query.plan) for one in examined)
    assert verify(result.transcript, result).holds


@pytest.mark.parametrize(("access", "queries"), crossed(SEVERAL, [1, 9]))
def test_an_interrogation_cut_short_goes_on_in_the_same_way(
    tmp_path: Path, access: Access, queries: int
) -> None:
    whole, _ = moves_of(agent_of(access), 24)
    with Journal.create(tmp_path, {}, {}) as journal, pytest.raises(Interrupted, match="it has ended"):
        interrogated(Mortal(agent_of(access), queries), journal)
    with Journal.open(tmp_path) as journal:
        resumed = interrogated(agent_of(access), journal)
    assert resumed.transcript == whole.transcript
    assert resumed.counts == whole.counts


def interrogated(agent: Agent, journal: Journal) -> Result:
    kept = JournalledAgent(agent, journal)
    return Interrogation(kept, exam=24, copies=COPIES).run(np.random.default_rng(0), record=kept)


def test_nothing_is_begun_early_that_a_budget_may_not_allow() -> None:
    agent = agent_of(Access.SETTABLE)
    asked = Interrogation(agent, exam=60, copies=COPIES, budget=Budget(steps=80))
    result = asked.run(np.random.default_rng(0))
    assert result.counts.steps + result.counts.exam_steps <= 80
