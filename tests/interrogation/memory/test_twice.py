"""Facts of one object in two places: an agent that depends on them is learned, and nobody else is asked about them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.diagnosed import Way
from aam_vision.interrogation.memory.twice import seen_twice
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import interrogated, unpredicted
from tests.profiles import first


@pytest.mark.parametrize(
    ("access", "seed"), first(2, product([Access.SETTABLE, Access.RESET, Access.SNAPSHOT], [970000, 970001]))
)
def test_what_depends_on_such_a_fact_is_learned(access: Access, seed: int) -> None:
    agent = faulty_agent("repeated arguments", access, seed)
    assert isinstance(agent, FaultyAgent)
    told, _ = interrogated(agent, seed, 60)
    further = go_further(agent, told, seed, Options(0.1, max_steps=3000), Budget(steps=3000), 60)
    assert further.way is Way.REPEATED
    assert further.found is not None
    assert further.found.complete, further.found.missing
    assert further.found.why.startswith("deterministic where facts may name one object twice: ")
    assert unpredicted(further.found, agent, np.random.default_rng(seed)) == 0
    (action,) = agent.fault.actions
    needed = [one for one in further.found.model.schema(action).positive if one.predicate == "near"]
    assert [len(set(one.arguments)) for one in needed] == [1]


def test_nobody_is_asked_about_facts_that_are_not_there() -> None:
    agent = faulty_agent("refused unless one of two", Access.SNAPSHOT, 970000)
    told, _ = interrogated(agent, 970000, 60)
    assert not seen_twice(told)
