"""Chains of probes: what a step violates where the plan gets to it is what it should."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Walked
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.queries.settable_chains import (
    ArgumentChoices,
    BaseState,
    Chain,
    ChainStep,
    Changes,
    NumberedFacts,
)
from aam_vision.interrogation.queries.undetermined_steps import constructed_step, reachable_step
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import State
from experiments.random_strips import ground_atoms, random_domain
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of, begun, walked
from tests.profiles import scaled, thorough


@thorough(100)
@given(domains.domains(constants=True), st.data())
def test_instructions_say_in_facts_what_hypotheses_say_in_atoms(domain: Domain, data: st.DataObject) -> None:
    """Whenever that is asked: candidates and effects are fewer after every walk."""
    agent = agent_of(domain)
    evidence, objects_of = begun(agent), domain.problems[0].objects
    action = evidence.hypotheses[data.draw(st.sampled_from(domain.model.headers)).name]
    index = action.index
    bindings = domains.all_bindings(index.header, objects_of)
    assume(bindings and index.atoms)
    objects = data.draw(st.sampled_from(bindings))
    instruction = NumberedFacts(domain.problems[0]).instruction(action, objects)
    some_atoms = st.sets(st.sampled_from(index.atoms), max_size=2)
    for seed in range(4):
        flipped, hidden = (sum(index.bit[atom] for atom in data.draw(some_atoms)) for _ in range(2))
        unknown = index.facts(hidden, objects)
        true = index.facts(action.positive ^ flipped, objects) - unknown
        held, dim = index.values(State(true, objects_of, unknown), objects)
        violated = action.violated(held, dim)
        then, then_dim = action.after(held, dim, objects)
        values = instruction.violating(violated)
        assert values is not None
        before = Changes(0, instruction.facts(dim))
        after = ChainStep(instruction, violated, *values).after(instruction.facts(held), before)
        assert after == Changes(instruction.facts(held ^ then), instruction.facts(then_dim))
        for literal in action.candidates.singles():
            if literal != violated and (other := instruction.violating(literal)) is not None:
                assert ChainStep(instruction, literal, *other).after(instruction.facts(held), before) is None
        for situation in agent.initial():
            evidence.take_in(Walked(tuple(agent.walk(situation, 5, np.random.default_rng(seed)))))


@thorough(100)
@given(domains.domains(), st.integers(0, 3), st.data())
def test_every_step_violates_just_what_it_should(domain: Domain, seed: int, data: st.DataObject) -> None:
    """Replayed in states of atoms, which know nothing of how a chain is found."""
    evidence = walked(domain, seed, 3)
    actions = evidence.hypotheses.actions
    chain = Chain(evidence, BaseState(evidence.nodes[0].state))

    def some(mask: int) -> int:
        return sum(bit for bit in bits(mask) if data.draw(st.integers(0, 3)) == 0)

    for _ in range(6):
        name = data.draw(st.sampled_from(sorted(actions)))
        positive = some(actions[name].candidates.positive)
        violated = Literals(positive, some(actions[name].candidates.negative & ~positive))
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
    objects = data.draw(domains.states(vocabulary)).objects
    types = data.draw(domains.headers(vocabulary, "act")).types
    used = data.draw(st.sets(st.sampled_from(sorted(objects)))) if objects else set()
    fitting = [objects.of_type(kind) for kind in types]
    pinned = tuple((place, pool[0]) for place, pool in enumerate(fitting[:1]) if pool)
    for pins in ((), pinned):
        found = ArgumentChoices(objects).choices(types, pins, used)
        assert len(set(found)) == len(found)
        for row in found:
            assert len(set(row)) == len(row)
            assert all(name in pool for name, pool in zip(row, fitting, strict=True))
            assert all(row[place] == name for place, name in pins)
            for place, pool in enumerate(fitting):
                if row[place] in used and place not in dict(pins):
                    assert {name for name in pool if name not in used} <= set(row)


# Steps that must tell something are found, and only a search that saw everything says that there are none.


SEEDS = range(scaled(60))


def _evidence(domain: Domain, access: Access) -> tuple[SymbolicAgent, Evidence]:
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    return agent, begun(agent, repeated=domain.repeated)


def _ask(agent: SymbolicAgent, evidence: Evidence, ask: Ask) -> tuple[Response, bool]:
    """The answer, and whether it told anything."""
    query = Query(evidence.departure(ask.start), ask.plan)
    response = agent.ask(query)
    return response, evidence.take_in(Asked(query, response), ask)


def test_every_step_that_is_found_tells_something_and_steps_on_the_way_are_executed() -> None:
    lengths = set()
    for seed, anywhere in product(SEEDS, (True, False)):
        agent, evidence = _evidence(random_domain(seed), Access.SNAPSHOT)
        initial = evidence.visited
        while (found := reachable_step(evidence, evidence.visited if anywhere else initial)).ask is not None:
            assert not found.exhausted
            known = len(evidence.visited), len(evidence.edges)
            response, told = _ask(agent, evidence, found.ask)
            assert told or known != (len(evidence.visited), len(evidence.edges)), f"seed {seed}"
            assert response.executed >= len(found.ask.plan) - 1, f"seed {seed}"
            lengths.add(len(found.ask.plan))
    assert max(lengths) > 2


def test_states_are_made_until_every_outcome_is_known() -> None:
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SETTABLE)
        asked = 0
        while (found := constructed_step(evidence)).ask is not None:
            _ask(agent, evidence, found.ask)
            asked += 1
            assert asked < 500, f"seed {seed} does not end"


def test_a_search_that_gives_up_and_a_state_that_is_not_fully_seen_prove_nothing() -> None:
    domain = random_domain(1)
    _, evidence = _evidence(domain, Access.SNAPSHOT)
    assert reachable_step(evidence, evidence.visited, looks=0) == (None, False)
    assert constructed_step(evidence, looks=0) == (None, False)
    seen = domain.problems[0]
    hidden = frozenset(ground_atoms(domain.model.vocabulary, seen.objects)) - seen.true
    assert hidden
    start = evidence.situation(Situation("hidden", State(seen.true, seen.objects, unknown=hidden)))
    assert reachable_step(evidence, [start]) == (None, False)
