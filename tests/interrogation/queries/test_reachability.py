"""Planned probes: the path leads where the probe violates what it should, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence.graph import Evidence, Node, by_problem
from aam_vision.interrogation.evidence.moves import Walked
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.reachability import KnownReachability, PlannedNearMiss, Reachability
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, Objects, State, Types, Vocabulary
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of, walked
from tests.profiles import thorough

PATIENT = Limits(states=2000)
_VOCABULARY = Vocabulary("none", ())


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_what_is_gathered_can_hold_and_nothing_wanted_is_missing(domain: Domain, seed: int) -> None:
    """Pairwise: against a check of every combination of arguments."""
    evidence = walked(domain, seed)
    for nodes in by_problem(evidence):
        paths = Reachability(evidence.hypotheses, nodes)
        for action in evidence.hypotheses.actions.values():
            literals = list(action.undecided.singles())[:5]
            together = paths.gather(action, NOTHING, literals)
            if together is None:
                assert paths.gather(action, NOTHING, []) is None, "wanting more is no reason for failing"
                continue
            for literal in literals:
                held = literal.within(together)
                assert held or paths.gather(action, union([together, literal]), []) is None


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_a_planned_probe_leads_to_where_the_literals_hold(domain: Domain, seed: int) -> None:
    """Under the engine's own prediction; whether the agent then executes the path is another question."""
    evidence = walked(domain, seed)
    for nodes in by_problem(evidence):
        paths = Reachability(evidence.hypotheses, nodes)
        for action in evidence.hypotheses.actions.values():
            for target in list(action.undecided.singles())[:4] if action.successes else ():
                others = [literal for literal in action.undecided.singles() if literal != target]
                holding = paths.gather(action, union([action.proven, target.opposite()]), others)
                if holding is not None:
                    planned = paths.reach(action, holding, PyperplanPlanner(), PATIENT)
                    if isinstance(planned, PlannedNearMiss):
                        _assert_leads_there(evidence, nodes, planned, holding)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6), st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_what_is_kept_from_earlier_moments_answers_as_what_is_worked_out_anew(
    domain: Domain, seed: int, walks: list[int]
) -> None:
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.begin(situation)
    kept = KnownReachability()
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


def test_situations_are_grouped_by_the_objects_of_their_problem() -> None:
    types = Types()
    small, large = {"a": "object"}, {"a": "object", "b": "object"}
    evidence = Evidence(Hypotheses(_VOCABULARY, []))
    for number, kinds in enumerate([small, large, small]):
        evidence.situation(
            Situation(number, State(frozenset([Atom(f"p{number}", ())]), Objects(kinds, types)))
        )
    groups = [[node.number for node in nodes] for nodes in by_problem(evidence)]
    assert groups == [[0, 2], [1]], "equal objects are one problem; the first situation comes first"
