"""Reset access: every question begins in an initial situation, or where the agent stands, and goes back by replaying."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop
from aam_vision.interrogation.policies.decorators import Replaying, replay
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.planning.planner import Limits
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE
from tests.profiles import thorough

Watch = Callable[[Move, Evidence, CountingAgent], None]


def _run(domain: Domain, seed: int = 0, watch: Watch = lambda move, evidence, agent: None) -> Result:
    """Searches are short, since there are many runs."""
    agent = SymbolicAgent(domain.model, domain.problems, Access.RESET)
    policy = Replaying(EconomicalPolicy(limits=Limits(states=1000)))
    return interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE, watch=watch)


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_a_replayed_prefix_leads_to_where_the_policy_wanted_to_ask(domain: Domain, seed: int) -> None:
    stood = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Stop):
            return
        assert move.start.initial or move.start is stood[-1]
        if isinstance(move, Ask) and move.wanted is not None:
            executed, final = domain.model.run(move.start.state, move.plan[: move.replayed])
            assert (executed, final) == (move.replayed, move.wanted.state)
        stood.append(evidence.current)

    stood.append(None)
    _run(domain, seed, watch)


@thorough(25)
@given(domains.domains())
def test_every_visited_situation_can_be_reached_again_by_the_fewest_steps_that_were_made(
    domain: Domain,
) -> None:
    last: list[Evidence] = []
    _run(domain, watch=lambda move, evidence, agent: last.append(evidence))
    evidence = last[-1]
    distance = {node.number: 0 for node in evidence.nodes if node.initial}
    for _ in evidence.nodes:
        for edge in evidence.edges:
            if edge.before.number in distance:
                further = distance[edge.before.number] + 1
                distance[edge.after.number] = min(further, distance.get(edge.after.number, further))
    for node in evidence.visited:
        start, steps = replay(evidence, node)
        executed, final = domain.model.run(start.state, steps)
        assert (start.initial, executed, final) == (True, len(steps), node.state)
        assert len(steps) == distance[node.number]
