"""An earlier run of controls as a hypothesis, and copies of the agent: both change what is asked when, never what is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.agents.copies import StatelessCopies, prove
from aam_vision.agents.workers import Crew, Held
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.mapping import carriers
from aam_vision.interrogation.controls.prior import TRIED, Prior, try_earlier
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.model.strips import Model
from tests.profiles import first

from . import worlds

NAMES = ["wet", "door", "lamps", "rooms"]


def _agent(name: str, folder: Path) -> worlds.BareSymbolicAgent:
    return worlds.WORLDS[name].agent(folder)


def _prior(result: ControlsResult) -> Prior:
    return Prior(result.model, carriers(result.mapping, result.model))


def _seen(result: ControlsResult) -> Sequence[object]:
    return [(one.before, one.control, one.after) for found in result.transitions.values() for one in found]


@pytest.mark.parametrize("name", first(2, NAMES))
def test_copies_are_given_the_same_controls_as_one_agent(name: str, tmp_path: Path) -> None:
    agent = _agent(name, tmp_path)
    crew = Crew(3, lambda: Held(_agent(name, tmp_path)), prove)
    copies = StatelessCopies(agent, crew)
    begun: list[int] = []
    announce = copies.expect
    copies.expect = lambda questions: (begun.append(len(questions)), announce(questions))[1]  # type: ignore[func-returns-value, method-assign]
    try:
        alone, together = interrogate(agent), interrogate(copies, options=Options(copies=3))
    finally:
        crew.close()
    assert alone.exhausted or max(begun) > 1, "several ways were begun at a time"
    assert (alone.pddl, alone.steps, alone.status) == (together.pddl, together.steps, together.status)
    assert _seen(alone) == _seen(together)


@pytest.mark.parametrize("name", first(2, NAMES))
def test_every_operator_that_is_as_before_is_tried_first(name: str, tmp_path: Path) -> None:
    prior = _prior(interrogate(_agent(name, tmp_path)))
    giving = Giving(_agent(name, tmp_path))
    trials = try_earlier(giving, prior)
    assert set(trials) == {header.name for header in prior.model.headers}
    assert not any(one.contradicted for one in trials.values())
    assert all(one.as_before >= 1 for one in trials.values())
    assert giving.steps <= 4 * TRIED * len(trials)


@pytest.mark.parametrize("name", first(2, NAMES))
def test_a_wrong_earlier_model_is_contradicted_and_changes_nothing_of_what_is_learned(
    name: str, tmp_path: Path
) -> None:
    plain = interrogate(_agent(name, tmp_path))
    right = _prior(plain)
    wrong = tuple(replace(one, add=one.delete, delete=one.add) for one in right.model.actions)
    turned = Prior(Model(right.model.vocabulary, wrong), right.carriers)
    assert all(one.contradicted for one in try_earlier(Giving(_agent(name, tmp_path)), turned).values())
    bare = tuple(replace(one, positive=frozenset(), negative=frozenset()) for one in right.model.actions)
    for prior in (right, turned, Prior(Model(right.model.vocabulary, bare), right.carriers)):
        found = interrogate(_agent(name, tmp_path), options=Options(prior=prior))
        assert not found.unexplained
        assert found.status == plain.status
        for transition in worlds.reachable(_agent(name, tmp_path)):
            assert found.predictions.agrees(transition.before, transition.control, transition.after)
