"""What an agent was asked since it was reset, under each access."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt, Histories, two_ways
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import GroundAction
from experiments.faults.world import FaultyAgent, World

from .planted import PlantedFacts, planted_agent

RESTARTS = [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]


def questions(agent: FaultyAgent, rng: np.random.Generator, count: int) -> Iterator[Asked | Walked]:
    """Walks and steps from where the access allows, as they come."""
    here, seen = agent.initial()[0], list(agent.initial())
    for _ in range(count):
        start = seen[int(rng.integers(len(seen)))] if agent.access.returns else here
        if not agent.access.returns and rng.random() < 0.2:
            start = seen[0]
        if rng.random() < 0.3:
            steps = tuple(agent.walk(start, 3, rng))
            here = steps[-1].after if steps else here
            yield Walked(steps)
        else:
            option = agent.option(start.state, rng)
            plan = () if option is None else (option, option)
            response = agent.ask(query := Query(start, plan))
            here = response.final
            yield Asked(query, response)
        if agent.access.returns:
            seen.append(here)


@pytest.mark.parametrize("access", RESTARTS)
def test_the_attempts_of_a_history_come_out_again_when_they_are_made_again(access: Access) -> None:
    """Whatever the access leads back to, the attempts before one tell what is hidden there."""
    for seed in range(6):
        agent = planted_agent("fact", access, seed)
        fault, rng = agent.fault, np.random.default_rng(seed)
        assert isinstance(fault, PlantedFacts)
        initial = agent.initial()
        histories = Histories(access, initial)
        for entry in questions(agent, rng, 30):
            histories.add(entry)
        worlds: list[World] = []
        for one in histories.attempts:
            assert one.parent < len(worlds)
            if one.parent == BEGINNING:
                assert one.before is not None
                world = World(one.before, fault.fresh(one.before))
            else:
                world = worlds[one.parent]
            outcome = fault.step(world, one.action, agent.nature)
            assert outcome.executed is one.executed
            assert one.before in (None, world.state)
            assert one.after in (None, outcome.world.state)
            worlds.append(outcome.world)


def test_an_attempt_that_is_made_again_counts_once() -> None:
    agent = planted_agent("fact", Access.SETTABLE, 0)
    start = agent.initial()[0]
    step = agent.option(start.state, np.random.default_rng(0))
    assert step is not None
    histories = Histories(Access.SETTABLE, [start])
    for plan in ((step,), (step, step), (step,)):
        histories.add(Asked(query := Query(start, plan), agent.ask(query)))
    assert len(histories.attempts) == 2


def test_two_histories_are_told_after_which_a_step_went_differently() -> None:
    agent = planted_agent("fact", Access.RESET, 0)
    state = agent.initial()[0].state
    step, other = GroundAction("a", ()), GroundAction("b", ())
    attempts = [
        Attempt(BEGINNING, step, False, state, None),
        Attempt(BEGINNING, other, True, state, state),
        Attempt(1, step, True, state, state),
    ]
    assert two_ways(attempts) == "a() is executed after b(), and refused at first"
    assert two_ways(attempts[:2]) == ""


def test_a_situation_that_was_never_seen_has_no_history() -> None:
    agent = planted_agent("fact", Access.RESET, 0)
    here = agent.initial()[0]
    assert Histories(Access.RESET, [here]).before(Situation("unknown", here.state)) == BEGINNING
