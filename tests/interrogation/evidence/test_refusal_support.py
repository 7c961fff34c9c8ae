"""Refusals that bear a conclusion out: each of them could be wrong, but not all."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import unconfirmed
from aam_vision.interrogation.evidence.transcript import initial_evidence
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import DOUBTED, interrogate
from aam_vision.model.query import Access
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE
from tests.profiles import thorough


@thorough(25)
@given(domains.domains())
def test_without_asking_again_what_is_proven_is_said_to_rest_on_too_little(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT)
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE, scrutiny=DOUBTED)
    assert not (result.proven and result.unconfirmed)
    evidence = initial_evidence(result.transcript)
    for entry in result.transcript.entries:
        evidence.take_in(entry)
    assert result.unconfirmed == unconfirmed(evidence)
    for claim in result.unconfirmed:
        if claim.literals.size() == 1:
            bit = claim.literals.positive | claim.literals.negative
            atom = result.hypotheses[claim.action].index.atom(bit)
            assert all(
                (pal.action, pal.atom, pal.location.value) != (claim.action, atom, "pre")
                for pal in result.certain
            )
