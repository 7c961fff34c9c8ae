"""Steps that must tell something are found, and only a search that saw everything says that there are none."""

from __future__ import annotations

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.undetermined_steps import constructed_step, reachable_step
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import State
from experiments.random_strips import Domain, ground_atoms, random_domain
from tests.profiles import scaled

SEEDS = range(scaled(60))


def _evidence(domain: Domain, access: Access) -> tuple[SymbolicAgent, Evidence]:
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=domain.repeated))
    for situation in agent.initial():
        evidence.begin(situation)
    return agent, evidence


def _ask(agent: SymbolicAgent, evidence: Evidence, ask: Ask) -> tuple[Response, bool]:
    """The answer, and whether it told anything."""
    query = Query(evidence.departure(ask.start), ask.plan)
    response = agent.ask(query)
    return response, evidence.take_in(Asked(query, response), ask)


def test_every_step_that_is_found_tells_something() -> None:
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SNAPSHOT)
        while (found := reachable_step(evidence, evidence.visited)).ask is not None:
            assert not found.exhausted
            known = len(evidence.visited), len(evidence.edges)
            _, told = _ask(agent, evidence, found.ask)
            assert told or known != (len(evidence.visited), len(evidence.edges)), f"seed {seed}"


def test_steps_on_the_way_are_executed() -> None:
    lengths = set()
    for seed in SEEDS:
        agent, evidence = _evidence(random_domain(seed), Access.SNAPSHOT)
        initial = evidence.visited
        while (found := reachable_step(evidence, initial)).ask is not None:
            response, _ = _ask(agent, evidence, found.ask)
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


def test_a_search_that_gives_up_proves_nothing() -> None:
    _, evidence = _evidence(random_domain(1), Access.SNAPSHOT)
    assert reachable_step(evidence, evidence.visited, looks=0) == (None, False)
    assert constructed_step(evidence, looks=0) == (None, False)


def test_a_state_that_is_not_fully_seen_proves_nothing() -> None:
    domain = random_domain(1)
    _, evidence = _evidence(domain, Access.SNAPSHOT)
    seen = domain.problems[0]
    facts = ground_atoms(domain.model.vocabulary, seen.objects)
    hidden = State(seen.true, seen.objects, unknown=frozenset(facts) - seen.true)
    assert hidden.unknown
    start = evidence.situation(Situation("hidden", hidden))
    assert reachable_step(evidence, [start]) == (None, False)
