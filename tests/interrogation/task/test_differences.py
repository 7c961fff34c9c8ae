"""A model learned earlier is believed nowhere: whatever it says, the agent's own model is learned, and compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.errors import UnusableInput
from aam_vision.interrogation.policies.reassessment import ReassessmentPolicy
from aam_vision.interrogation.task.differences import check_prior, differences
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.strips import Model, lifted_atoms
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, read_mode
from tests.profiles import thorough


def _updated(model: Model, seed: int) -> Model:
    """The model with another mode of one lifted atom in every action."""
    rng, actions = np.random.default_rng(seed), []
    for schema in model.actions:
        atoms = lifted_atoms(model.vocabulary, schema.header)
        if atoms:
            chosen = frozenset({atoms[int(rng.integers(len(atoms)))]})
            parts = [("positive", "negative"), ("add", "delete")][int(rng.integers(2))]
            if chosen <= getattr(schema, parts[0]) | getattr(schema, parts[1]):
                schema = replace(schema, **{part: getattr(schema, part) - chosen for part in parts})
            else:
                part = parts[int(rng.integers(2))]
                schema = replace(schema, **{part: getattr(schema, part) | chosen})
        actions.append(schema)
    return Model(model.vocabulary, tuple(actions))


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_the_model_is_the_agents_whatever_was_learned_earlier(domain: Domain, seed: int) -> None:
    prior = _updated(domain.model, seed)
    policy = ReassessmentPolicy(prior)
    agent = SymbolicAgent(domain.model, domain.problems)
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    for pal in result.hypotheses.pal_tuples():
        modes = result.hypotheses.modes(pal)
        assert len(modes) > 1 or modes[0] is read_mode(domain.model, pal)
    assert result.counts.walk_steps <= policy.walker.limit


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_differences_are_none_only_between_models_that_read_alike(domain: Domain, seed: int) -> None:
    other = _updated(domain.model, seed)
    assert not differences(domain.model, domain.model)
    forth, back = differences(domain.model, other), differences(other, domain.model)
    assert [(one.before, one.now) for one in forth] == [(one.now, one.before) for one in back]


@given(domains.domains())
@thorough(20)
def test_a_model_of_another_agent_is_refused(domain: Domain) -> None:
    model = domain.model
    check_prior(model, model.vocabulary, model.headers, "old.pddl")
    fewer = replace(model, actions=model.actions[1:])
    with pytest.raises(UnusableInput, match=r"prior old\.pddl: is a model of another agent"):
        check_prior(fewer, model.vocabulary, model.headers, "old.pddl")
