"""Searches are counted: what was in vain is not made again, and after enough of that nothing is."""

from __future__ import annotations

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Ask, Asked, Walked
from aam_vision.interrogation.hypotheses.literals import union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.reachability import BoundedSearch, PlannedNearMiss, Reachability
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Query, Response
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner


class Counting:
    """pyperplan, counting what it is asked."""

    def __init__(self) -> None:
        self.searches = 0

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        self.searches += 1
        return PyperplanPlanner().solve(problem, limits)


def _walked() -> tuple[Evidence, list[Node]]:
    """Blocksworld, after a few steps of the agent."""
    model, rng = packaged.load("blocksworld"), np.random.default_rng(0)
    agent = SymbolicAgent(model, [packaged.generate("blocksworld", 2, rng).initial], Access.SNAPSHOT)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    (situation,) = agent.initial()
    evidence.begin(situation)
    evidence.take_in(Walked(tuple(agent.walk(situation, 40, rng))))
    return evidence, sorted(evidence.visited, key=lambda node: node.number)


def test_what_was_in_vain_is_not_searched_again_and_patience_ends() -> None:
    evidence, nodes = _walked()
    paths, planner = Reachability(evidence.hypotheses, nodes), Counting()
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
    assert any(isinstance(one, PlannedNearMiss) for one in found), (
        "what ends within its limits costs no patience"
    )


def test_searches_from_one_situation_are_not_remembered_for_another() -> None:
    evidence, nodes = _walked()
    paths, planner = Reachability(evidence.hypotheses, nodes), Counting()
    searches = BoundedSearch("test", planner, Limits(states=0), patience=9)
    action = next(action for action in evidence.hypotheses.actions.values() if action.successes)
    for start in (*nodes[:2], None, None):
        assert searches.reach(paths, action, action.proven, start) is Verdict.LIMIT
    assert planner.searches == 3


def test_what_was_in_vain_is_read_from_the_moves_of_the_evidence() -> None:
    """A search of a run that goes on knows what was searched before it was cut short; nothing else is kept."""
    evidence, nodes = _walked()
    paths = Reachability(evidence.hypotheses, nodes)
    action = next(action for action in evidence.hypotheses.actions.values() if action.successes)
    first = BoundedSearch("test", Counting(), Limits(states=0), patience=2)
    first.begin(evidence)
    assert first.reach(paths, action, action.proven) is Verdict.LIMIT
    (situation,) = (node.situation for node in nodes if node.initial)
    assert situation is not None
    move = Ask(evidence.situation(situation), (), "look", searches=first.made)
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
