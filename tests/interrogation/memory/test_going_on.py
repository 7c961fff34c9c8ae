"""From a diagnosis to an invented fact: what is learned says every step of new histories, or nothing is claimed."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from aam_vision.interrogation.memory.diagnosed import Further
from aam_vision.interrogation.memory.facts import ModelledCounter
from aam_vision.interrogation.memory.going_on import can_remember
from aam_vision.interrogation.memory.remembering import with_fact
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access
from experiments.faults.registry import faulty_agent
from experiments.trust_runs import unpredicted
from tests.profiles import crossed, first, some

from .measure import learned
from .planted import planted_agent, predicted_rightly

RESTARTS = [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]
STEPS = 4000


@cache
def went_on(kind: str, access: Access, seed: int, steps: int = STEPS) -> tuple[Result, Further, float]:
    """The diagnosis of a planted agent, what became of it, and the share of steps of new histories that is said rightly."""
    agent = planted_agent(kind, access, seed)
    told, further = learned(agent, seed, steps)
    model, rng = (further.found or told).model, np.random.default_rng(seed)
    return told, further, predicted_rightly(model, agent.fault, rng, fact=further.fact)


@pytest.mark.parametrize(
    ("kind", "access", "seed"),
    [
        *first(1, product(["fact"], RESTARTS, [1, 5])),
        *first(1, product(["fact of an object"], RESTARTS[1:] + RESTARTS[:1], [5, 1])),
        *first(1, product(["case"], RESTARTS, [1])),
    ],
)
def test_a_planted_fact_is_learned(kind: str, access: Access, seed: int) -> None:
    told, further, share = went_on(kind, access, seed)
    result = further.found
    assert result.status == COMPLETE, result.missing
    assert share >= 0.99
    assert result.exam.enough
    assert result.why.startswith("deterministic with one invented fact, memory-1: ")
    assert result.diagnosis == told.diagnosis
    assert result.counts.steps >= told.counts.steps
    assert result.counts.exam_steps > told.counts.exam_steps
    assert verify(result.transcript, result).holds or access is Access.SETTABLE
    shown = with_fact(told.transcript, further.fact)
    known = result.transcript.entries[: len(shown.entries)]
    assert [str(one) for one in shown.entries] == [str(one) for one in known], "it is in every situation"
    assert "memory-1" in result.pddl
    assert "is executed" in result.invented or kind == "case"
    for name, _ in further.fact.cases:
        assert {f"{name}-{one}-memory-1" for one in ("with", "without")} < {
            h.name for h in result.model.headers
        }
        assert f"{name} has other effects where it is true" in result.invented
    assert bool(further.fact.cases) is (kind == "case")


@pytest.mark.parametrize(("kind", "access"), crossed(["code", "counter", "two facts"], RESTARTS[::-1]))
def test_what_is_more_than_one_fact_is_never_complete_and_wrong(kind: str, access: Access) -> None:
    for seed in some(1, range(3)):
        _, further, share = went_on(kind, access, seed, 2000)
        assert further.found is None or further.found.status != COMPLETE or share >= 0.99


DRIFTS = ["drift of an effect", "drift of a precondition"]
NUMBERS = [("counter", 2), ("cycle", 0), ("cycle", 4), ("tank", 2004)]


@pytest.mark.parametrize(("access", "planted"), crossed(RESTARTS[1:] + RESTARTS[:1], NUMBERS))
def test_a_number_is_learned_in_cycles_or_filled_or_neither(access: Access, planted: tuple[str, int]) -> None:
    kind, seed = planted
    _, further, share = went_on(kind, access, seed)
    found, fact = further.found, further.fact
    assert isinstance(fact, ModelledCounter)
    assert found.status == COMPLETE, found.missing
    assert share == 1
    assert (bool(fact.cycle), bool(fact.back)) == (kind == "cycle", kind == "tank")
    assert found.why.startswith("deterministic with one invented number, memory-1: ")
    if kind == "counter":
        told = "memory-1 is an invented number: 1 when a history begins; counted up by a0; counted down by a1 (the model"
        assert told in found.invented
        assert "at least 1 is needed by a1" in found.invented


@pytest.mark.parametrize("access", first(1, RESTARTS[::-1]))
def test_what_all_steps_use_up_is_open_where_a_refused_step_may_use_it_too(access: Access) -> None:
    agent = faulty_agent("hidden fuel", access, 0)
    further = learned(agent, 0, STEPS)[1]
    found, fact = further.found, further.fact
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
    ("family", "access"), [*crossed(DRIFTS, RESTARTS[::2]), *first(0, product(DRIFTS, [Access.SNAPSHOT]))]
)
def test_what_has_changed_is_learned_as_it_is_now(family: str, access: Access) -> None:
    agent = faulty_agent(family, access, 2)
    told, further = learned(agent, 2, STEPS)
    found = further.found
    assert not can_remember(told)
    assert found.status == COMPLETE, found.missing
    assert not unpredicted(found, agent, np.random.default_rng(2))
    assert found.changed.startswith("The agent has changed after step")
    assert found.counts.steps > told.counts.steps


def test_nothing_is_asked_beyond_the_budget() -> None:
    steps = 450
    told, further = learned(planted_agent("fact", Access.RESET, 1), 1, steps)
    result = further.found
    assert result.status == "budget"
    assert told.counts.steps < result.counts.steps + result.counts.exam_steps <= steps
