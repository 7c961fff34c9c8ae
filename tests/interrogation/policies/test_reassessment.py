"""A model learned earlier is verified: it says what is asked first, and nothing is believed because it was so before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.policies.reassessment import ReassessmentPolicy
from aam_vision.interrogation.task.loop import interrogate
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, read_mode, updated
from tests.profiles import thorough


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_the_model_is_the_agents_whatever_was_learned_earlier(domain: Domain, seed: int) -> None:
    prior = updated(domain.model, seed)
    policy = ReassessmentPolicy(prior)
    agent = SymbolicAgent(domain.model, domain.problems)
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    for pal in result.hypotheses.pal_tuples():
        modes = result.hypotheses.modes(pal)
        assert len(modes) > 1 or modes[0] is read_mode(domain.model, pal)
    assert result.counts.walk_steps <= policy.walker.limit
