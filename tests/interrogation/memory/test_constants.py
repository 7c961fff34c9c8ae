"""Objects of which steps change facts without naming them are told from what was shown, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.evidence.moves import Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.constants import meant
from aam_vision.interrogation.memory.diagnosed import Way
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import interrogated, unpredicted
from tests.profiles import first

LAMPS = Vocabulary("lamps", (Predicate("lit", ("lamp",)),), Types({"lamp": "object"}))
TOUCH = ActionHeader("touch", ("x",), ("lamp",))
OBJECTS = Objects({"a": "lamp", "b": "lamp", "c": "lamp"}, LAMPS.types)


def lit(*names: str) -> State:
    """Where these lamps are lit."""
    return State(frozenset(Atom("lit", (name,)) for name in names), OBJECTS)


@pytest.mark.parametrize("at_a_time", [1, 2])
def test_what_one_step_names_another_may_change_without(at_a_time: int) -> None:
    states = [lit("a"), lit("b"), lit("a", "b")]
    shown = [
        WalkStep(Situation(n, before), GroundAction("touch", (name,)), Situation(n + 1, after))
        for n, (name, before, after) in enumerate(zip("ab", states, states[1:], strict=False))
    ]
    entries = tuple(Walked(tuple(shown[n : n + at_a_time])) for n in range(0, 2, at_a_time))
    transcript = Transcript(LAMPS, (TOUCH,), Access.RESET, (shown[0].before,), entries)
    assert meant(transcript) == {"b": "lamp", "a": "lamp"}


@pytest.mark.parametrize(
    ("seed", "access"),
    first(1, [(977003, Access.SETTABLE), (977000, Access.SETTABLE), (977002, Access.SETTABLE)]),
)
def test_an_action_that_marks_everything_is_learned(seed: int, access: Access) -> None:
    agent = faulty_agent("effect on all objects", access, seed, 2)
    assert isinstance(agent, FaultyAgent)
    told, _ = interrogated(agent, seed, 60)
    further = go_further(agent, told, seed, Options(0.1, max_steps=3000), Budget(steps=3000), 60)
    assert further.way is Way.CONSTANTS
    assert further.found is not None
    assert further.found.complete, further.found.missing
    assert unpredicted(further.found, agent, np.random.default_rng(seed)) == 0
