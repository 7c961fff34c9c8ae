"""Steps that must tell something are found, and only a search that saw everything says that there are none."""

from __future__ import annotations

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.undetermined_steps import constructed_step, reachable_step
from aam_vision.query import Access, Query, Situation
from aam_vision.strips import State
from experiments.brute_force import Domain
from experiments.random_strips import random_domain
from tests.profiles import FACTOR

SEEDS = range(40 * FACTOR)


def _evidence(domain: Domain, access: Access) -> tuple[SymbolicAgent, Evidence]:
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=domain.repeated))
    for situation in agent.initial():
        evidence.begin(situation)
    return agent, evidence


def test_every_step_that_is_found_tells_something() -> None:
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SNAPSHOT)
        while (found := reachable_step(evidence, evidence.visited)).ask is not None:
            assert not found.exhausted
            query = Query(evidence.depart(found.ask.start), found.ask.plan)
            known = len(evidence.visited), len(evidence.edges)
            told = evidence.take_in(Asked(query, agent.ask(query)))
            assert told or known != (len(evidence.visited), len(evidence.edges)), f"seed {seed}"


def test_steps_on_the_way_are_executed() -> None:
    lengths = set()
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SNAPSHOT)
        initial = evidence.visited
        while (found := reachable_step(evidence, initial)).ask is not None:
            query = Query(evidence.depart(found.ask.start), found.ask.plan)
            response = agent.ask(query)
            assert response.executed >= len(query.plan) - 1, f"seed {seed}"
            evidence.take_in(Asked(query, response))
            lengths.add(len(query.plan))
    assert max(lengths) > 2


def test_a_state_is_made_for_a_step_that_tells_something() -> None:
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SETTABLE)
        asked = 0
        while (found := constructed_step(evidence)).ask is not None:
            query = Query(evidence.depart(found.ask.start), found.ask.plan)
            evidence.take_in(Asked(query, agent.ask(query)))
            asked += 1
            assert asked < 500, f"seed {seed} does not end"


def test_a_search_that_gives_up_proves_nothing() -> None:
    _, evidence = _evidence(random_domain(1), Access.SNAPSHOT)
    assert reachable_step(evidence, evidence.visited, looks=0) == (None, False)
    assert constructed_step(evidence, looks=0) == (None, False)


def test_a_state_that_is_not_fully_seen_proves_nothing() -> None:
    domain = random_domain(1)
    _, evidence = _evidence(domain, Access.SNAPSHOT)
    seen = domain.problems[0]
    hidden = State(seen.true, seen.objects, unknown=frozenset(sorted(_false(domain))[:1]))
    start = evidence.situation(Situation("hidden", hidden))
    assert reachable_step(evidence, [start]) == (None, False)


def _false(domain: Domain):
    from experiments.brute_force import ground_atoms

    state = domain.problems[0]
    return set(ground_atoms(domain.model.vocabulary, state.objects)) - state.true
