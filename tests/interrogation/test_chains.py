"""Chains of probes: what a step violates where the plan gets to it is what it should."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.atoms import Literals, bits
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.hypotheses import Hypotheses
from aam_vision.interrogation.policies.arguments import ArgumentChoices
from aam_vision.interrogation.policies.chains import Chain, Sketch
from aam_vision.strips import Objects
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


def _walked(domain: Domain, seed: int) -> Evidence:
    """What is known after a few walks."""
    agent = SymbolicAgent(domain.model, domain.problems)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    rng = np.random.default_rng(seed)
    for situation in agent.initial():
        evidence.begin(situation)
        evidence.walk(agent.walk(situation, 3, rng))
    return evidence


@thorough(100)
@given(domains.domains(), st.integers(0, 3), st.data())
def test_every_step_violates_just_what_it_should(domain: Domain, seed: int, data: st.DataObject) -> None:
    """Replayed in states of atoms, which know nothing of how a chain is found."""
    evidence = _walked(domain, seed)
    actions = evidence.hypotheses.actions
    chain = Chain(evidence, Sketch(evidence.nodes[0].state))
    for _ in range(6):
        name = data.draw(st.sampled_from(sorted(actions)))
        candidates = actions[name].candidates
        positive = sum(bit for bit in bits(candidates.positive) if data.draw(st.integers(0, 3)) == 0)
        negative = sum(
            bit for bit in bits(candidates.negative & ~positive) if data.draw(st.integers(0, 3)) == 0
        )
        violated = Literals(positive, negative)
        chain = chain.then(name, violated) or chain
    state = chain.state()
    for step, action in zip(chain.steps, chain.plan(), strict=True):
        hypotheses = actions[action.name]
        assert hypotheses.violated(*hypotheses.index.values(state, action.objects)) == step.violated
        state = evidence.predict(state, action)


@thorough(100)
@given(st.data())
def test_arguments_differ_and_are_those_not_in_use_where_there_are_enough(data: st.DataObject) -> None:
    vocabulary = data.draw(domains.vocabularies())
    state = data.draw(domains.states(vocabulary))
    types = data.draw(domains.headers(vocabulary, "act")).types
    objects: Objects = state.objects
    used = data.draw(st.sets(st.sampled_from(sorted(objects)))) if objects else set()
    fitting = [objects.of_type(kind) for kind in types]
    pinned = tuple((place, pool[0]) for place, pool in enumerate(fitting[:1]) if pool)
    for pins in ((), pinned):
        found = ArgumentChoices(objects, used).choices(types, pins)
        assert len(set(found)) == len(found)
        for row in found:
            assert len(set(row)) == len(row)
            assert all(name in pool for name, pool in zip(row, fitting, strict=True))
            assert all(row[place] == name for place, name in pins)
            for place, pool in enumerate(fitting):
                if row[place] in used and place not in dict(pins):
                    assert {name for name in pool if name not in used} <= set(row)
