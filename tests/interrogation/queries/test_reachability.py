"""Planned probes: the path leads where the probe violates what it should, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence.graph import Evidence, Node, by_problem
from aam_vision.interrogation.evidence.moves import Ask, Asked, Walked
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.interrogation.queries.reachability import (
    BoundedSearch,
    KnownReachability,
    PlannedNearMiss,
    Reachability,
)
from aam_vision.model.query import Query, Response
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of, begun, walked
from tests.profiles import thorough

PATIENT = Limits(states=2000)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_what_is_gathered_can_hold_and_a_plan_leads_there(domain: Domain, seed: int) -> None:
    """Under the engine's own prediction; whether the agent then executes the path is another question."""
    evidence = walked(domain, seed)
    for nodes in by_problem(evidence):
        paths = Reachability(evidence.hypotheses, nodes)
        for action in evidence.hypotheses.actions.values():
            literals = list(action.undecided.singles())
            together = paths.gather(action, NOTHING, literals[:5])
            if together is None:
                assert paths.gather(action, NOTHING, []) is None, "wanting more is no reason for failing"
                continue
            for literal in literals[:5]:
                held = literal.within(together)
                assert held or paths.gather(action, union([together, literal]), []) is None
            for target in literals[:4] if action.successes else ():
                others = [literal for literal in literals if literal != target]
                holding = paths.gather(action, union([action.proven, target.opposite()]), others)
                if holding is not None:
                    planned = paths.reach(action, holding, PyperplanPlanner(), PATIENT)
                    if isinstance(planned, PlannedNearMiss):
                        _assert_leads_there(evidence, nodes, planned, holding)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6), st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_what_is_kept_answers_as_what_is_worked_out_anew(domain: Domain, seed: int, walks: list[int]) -> None:
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    evidence, kept = begun(agent), KnownReachability()
    for steps in walks:
        for situation in agent.initial():
            evidence.take_in(Walked(tuple(agent.walk(situation, steps, rng))))
        for path, fresh in zip(kept.of(evidence), KnownReachability().of(evidence), strict=True):
            assert path.problem == fresh.problem
            for action in evidence.hypotheses.actions.values():
                literals = list(action.undecided.singles())[:5]
                assert path.gather(action, NOTHING, literals) == fresh.gather(action, NOTHING, literals)
                found, anew = (
                    one.reach(action, action.proven, PyperplanPlanner(), PATIENT) for one in (path, fresh)
                )
                assert found == anew


def _assert_leads_there(
    evidence: Evidence, nodes: list[Node], planned: PlannedNearMiss, holding: Literals
) -> None:
    """Where effects on the way are not known yet, what the path comes by is not, either."""
    assert planned.start in nodes
    state = planned.start.state
    for step in planned.path:
        hypotheses = evidence.hypotheses[step.name]
        held, dim = hypotheses.index.values(state, step.objects)
        assert not hypotheses.candidates.positive & ~held & ~dim, "a positive candidate is surely violated"
        state = evidence.predict(state, step)
    held, dim = evidence.hypotheses[planned.step.name].index.values(state, planned.step.objects)
    assert not holding.positive & ~held & ~dim
    assert not holding.negative & held


# Searches are counted: what was in vain is not made again, and after enough of that nothing is.


class Counting:
    """pyperplan, counting what it is asked."""

    def __init__(self) -> None:
        self.searches = 0

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        self.searches += 1
        return PyperplanPlanner().solve(problem, limits)


def _walked() -> tuple[Evidence, list[Node], Reachability]:
    """Blocksworld, after a few steps of the agent."""
    evidence = walked(Domain(*domains.packaged("blocksworld")), 0, steps=40)
    nodes = sorted(evidence.visited, key=lambda node: node.number)
    return evidence, nodes, Reachability(evidence.hypotheses, nodes)


def _executed(evidence: Evidence) -> ActionHypotheses:
    return next(action for action in evidence.hypotheses.actions.values() if action.successes)


def test_what_was_in_vain_is_not_searched_again_and_patience_ends() -> None:
    evidence, _, paths = _walked()
    planner = Counting()
    searches = BoundedSearch("test", planner, Limits(states=0), patience=3)
    holdings = [
        (action, holding)
        for action in evidence.hypotheses.actions.values()
        if action.successes
        for target in action.undecided.singles()
        if (holding := paths.gather(action, union([action.proven, target.opposite()]), [])) is not None
    ]
    assert len(holdings) > 3, "there is something to search for"
    for asked, (action, holding) in enumerate(holdings, 1):
        for _ in range(2):
            if not searches.exhausted:
                assert searches.reach(paths, action, holding) is Verdict.LIMIT
        assert planner.searches == min(asked, 3), "the same search was made twice, or one too many"
    assert searches.exhausted
    generous = BoundedSearch("test", Counting(), Limits(), patience=1)
    found = [generous.reach(paths, action, holding) for action, holding in holdings]
    ended = any(isinstance(one, PlannedNearMiss) for one in found)
    assert ended, "what ends within its limits costs no patience"


def test_searches_from_one_situation_are_not_remembered_for_another() -> None:
    evidence, nodes, paths = _walked()
    planner, action = Counting(), _executed(evidence)
    searches = BoundedSearch("test", planner, Limits(states=0), patience=9)
    for start in (*nodes[:2], None, None):
        assert searches.reach(paths, action, action.proven, start) is Verdict.LIMIT
    assert planner.searches == 3


def test_what_was_in_vain_is_read_from_the_moves_of_the_evidence() -> None:
    """A search of a run that goes on knows what was searched before it was cut short; nothing else is kept."""
    evidence, nodes, paths = _walked()
    action = _executed(evidence)
    first = BoundedSearch("test", Counting(), Limits(states=0), patience=2)
    first.begin(evidence)
    assert first.reach(paths, action, action.proven) is Verdict.LIMIT
    start = next(node for node in nodes if node.initial)
    situation = evidence.departure(start)
    move = Ask(start, (), "look", searches=first.made)
    evidence.take_in(Asked(Query(situation, ()), Response(0, situation)), move)
    planner = Counting()
    for purpose, searches in (("test", 0), ("another", 1)):
        again = BoundedSearch(purpose, planner, Limits(states=0), patience=2)
        again.begin(evidence)
        assert again.made == ()
        paths = Reachability(evidence.hypotheses, nodes)
        assert again.reach(paths, action, action.proven) is Verdict.LIMIT
        assert planner.searches == searches
        again.begin(evidence)
        assert again.made == (), "what no move was made with is forgotten"
