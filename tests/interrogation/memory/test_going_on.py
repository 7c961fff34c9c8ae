"""From a diagnosis to an invented fact: what is learned says every step of new histories, or nothing is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.going_on import Further
from aam_vision.interrogation.memory.facts import ModelledCounter
from aam_vision.interrogation.memory.going_on import can_remember
from aam_vision.interrogation.memory.remembering import with_fact
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access
from experiments.faults.registry import faulty_agent
from experiments.trust_runs import mispredicted, unpredicted
from tests.profiles import crossed, first, some

from .measure import learned
from .planted import planted_agent, predicted_rightly

RESTARTS = [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]
STEPS = 4000


@pytest.mark.parametrize(("kind", "access", "seed"), crossed(["fact", "fact of an object"], RESTARTS, [1, 5]))
def test_a_planted_fact_is_learned(kind: str, access: Access, seed: int) -> None:
    agent = planted_agent(kind, access, seed)
    first, further = learned(agent, seed, STEPS)
    result = further.found
    assert result is not None
    assert further.fact is not None
    assert result.status == COMPLETE, result.missing
    assert result.exam.enough
    assert result.why.startswith("deterministic with one invented fact, memory-1: ")
    assert result.diagnosis == first.diagnosis
    assert result.counts.steps >= first.counts.steps
    assert result.counts.exam_steps > first.counts.exam_steps
    assert verify(result.transcript, result).holds or access is Access.SETTABLE
    shown = with_fact(first.transcript, further.fact)
    known = result.transcript.entries[: len(shown.entries)]
    assert [str(one) for one in shown.entries] == [str(one) for one in known], (
        "the fact is in every situation"
    )
    assert "memory-1" in result.pddl
    assert "is executed" in result.invented
    share = predicted_rightly(result.model, agent.fault, np.random.default_rng(seed), fact=further.fact)  # type: ignore[arg-type]
    assert share >= 0.99


@pytest.mark.parametrize("access", first(1, RESTARTS))
def test_effects_that_depend_on_a_fact_are_learned(access: Access) -> None:
    agent = planted_agent("case", access, 1)
    _, further = learned(agent, 1, STEPS)
    found = further.found
    assert found is not None
    assert further.fact is not None
    assert found.status == COMPLETE
    ((name, _),) = further.fact.cases
    assert {f"{name}-with-memory-1", f"{name}-without-memory-1"} < {one.name for one in found.model.headers}
    assert f"{name} has other effects where it is true" in found.invented
    share = predicted_rightly(found.model, agent.fault, np.random.default_rng(1), fact=further.fact)  # type: ignore[arg-type]
    assert share >= 0.99


@pytest.mark.parametrize(("kind", "access"), crossed(["code", "counter", "two facts"], RESTARTS))
def test_what_is_more_than_one_fact_is_never_complete_and_wrong(kind: str, access: Access) -> None:
    for seed in some(1, range(3)):
        agent = planted_agent(kind, access, seed)
        further = learned(agent, seed, 2000)[1]
        found = further.found
        if found is not None and found.status == COMPLETE:
            rng = np.random.default_rng(seed)
            assert predicted_rightly(found.model, agent.fault, rng, fact=further.fact) >= 0.99  # type: ignore[arg-type]


@pytest.mark.parametrize("access", first(1, [Access.SETTABLE, Access.SNAPSHOT, Access.RESET]))
def test_a_number_is_learned(access: Access) -> None:
    agent = planted_agent("counter", access, 2)
    further = learned(agent, 2, STEPS)[1]
    found, fact = further.found, further.fact
    assert found is not None
    assert isinstance(fact, ModelledCounter)
    assert found.status == COMPLETE, found.missing
    assert found.why.startswith("deterministic with one invented number, memory-1: ")
    told = "memory-1 is an invented number: 1 when a history begins; counted up by a0; counted down by a1 (the model"
    assert told in found.invented
    assert "at least 1 is needed by a1" in found.invented
    assert predicted_rightly(found.model, agent.fault, np.random.default_rng(2), fact=fact) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("access", "planted"), crossed(RESTARTS, [("cycle", 0), ("cycle", 4), ("tank", 2004)])
)
def test_what_comes_every_so_many_times_and_what_is_filled_is_learned(
    access: Access, planted: tuple[str, int]
) -> None:
    kind, seed = planted
    agent = planted_agent(kind, access, seed)
    further = learned(agent, seed, STEPS)[1]
    found, fact = further.found, further.fact
    assert found is not None
    assert isinstance(fact, ModelledCounter)
    assert bool(fact.cycle) is (kind == "cycle")
    assert bool(fact.back) is (kind == "tank")
    assert found.status == COMPLETE, found.missing
    assert predicted_rightly(found.model, agent.fault, np.random.default_rng(2), fact=fact) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("access", first(2, [Access.SNAPSHOT, Access.SETTABLE, Access.RESET]))
def test_what_all_steps_use_up_is_learned_and_is_open_where_a_refused_step_may_use_it_too(
    access: Access,
) -> None:
    agent = faulty_agent("hidden fuel", access, 0)
    further = learned(agent, 0, STEPS)[1]
    found, fact = further.found, further.fact
    assert found is not None
    assert isinstance(fact, ModelledCounter)
    assert fact.every
    assert not unpredicted(found, agent, np.random.default_rng(0), fact)
    assert (found.status == COMPLETE) is (access is not Access.SETTABLE)
    assert ("whether refused steps count, too" in found.why) is (access is Access.SETTABLE)


@pytest.mark.parametrize("family", ["episode end", "stale state", "delayed effect"])
def test_other_memory_stays_diagnosed(family: str) -> None:
    agent = faulty_agent(family, Access.RESET, 0)
    told, further = learned(agent, 0, 2000)
    assert told.not_strips
    assert further.found is None
    assert further.why


def test_what_is_misread_is_not_taken_for_memory() -> None:
    told, further = learned(faulty_agent("states misread", Access.SNAPSHOT, 0), 0, 2000)
    assert further == Further(None)
    assert not can_remember(told)


@pytest.mark.parametrize(
    ("family", "access"), crossed(["drift of an effect", "drift of a precondition"], RESTARTS)
)
def test_what_has_changed_is_learned_as_it_is_now(family: str, access: Access) -> None:
    agent = faulty_agent(family, access, 2)
    told, further = learned(agent, 2, STEPS)
    found = further.found
    assert found is not None
    assert not can_remember(told)
    assert found.status == COMPLETE, found.missing
    assert not mispredicted(found, agent, np.random.default_rng(2))
    assert found.changed.startswith("The agent has changed after step")
    assert found.counts.steps > told.counts.steps


def test_nothing_is_asked_beyond_the_budget() -> None:
    steps = 450
    told, further = learned(planted_agent("fact", Access.RESET, 1), 1, steps)
    result = further.found
    assert result is not None
    assert result.status == "budget"
    assert told.counts.steps < result.counts.steps + result.counts.exam_steps <= steps
