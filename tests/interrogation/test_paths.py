"""Planned probes: the path leads where the probe violates what it should, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.hypotheses import NOTHING, Hypotheses, Literals
from aam_vision.interrogation.paths import Paths, PlannedProbe, by_problem
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.query import Situation
from aam_vision.strips import Atom, Objects, State, Types, Vocabulary
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
from tests.profiles import thorough

PATIENT = Limits(seconds=1000, states=2000)
_VOCABULARY = Vocabulary("none", ())


def _walked(domain: Domain, seed: int, steps: int = 24) -> Evidence:
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.situation(situation)
    for situation in agent.initial():
        evidence.walk(agent.walk(situation, steps, rng))
    return evidence


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_a_planned_probe_violates_what_it_was_planned_for(domain: Domain, seed: int) -> None:
    """Under the engine's own prediction; whether the agent then executes the path is another question."""
    evidence = _walked(domain, seed)
    for nodes in by_problem(evidence):
        paths = Paths(evidence.hypotheses, nodes)
        for name, action in evidence.hypotheses.actions.items():
            if not action.successes:
                continue
            for target in list(action.undecided.singles())[:4]:
                others = [literal for literal in action.undecided.singles() if literal != target]
                holding = Literals(
                    action.proven.positive | sum(literal.positive for literal in others),
                    action.proven.negative | sum(literal.negative for literal in others),
                )
                for violated, rows in paths.options(name, holding, target).items():
                    assert target.within(violated)
                    assert not action.certain_to_fail(violated)
                    planned = paths.probe(name, violated, NOTHING, rows, PyperplanPlanner(), PATIENT)
                    if isinstance(planned, PlannedProbe):
                        _assert_leads_there(evidence, nodes, planned, violated)


def _assert_leads_there(
    evidence: Evidence, nodes: list[Node], planned: PlannedProbe, violated: Literals
) -> None:
    """Where effects on the way are not known yet, what the path comes by is not, either."""
    assert planned.start in nodes
    state = planned.start.state
    for step in planned.path:
        hypotheses = evidence.hypotheses[step.name]
        held, dim = hypotheses.index.values(state, step.objects)
        assert not hypotheses.candidates.positive & ~held & ~dim, "a positive candidate is surely violated"
        state = evidence.predict(state, step)
    action = evidence.hypotheses[planned.step.name]
    held, dim = action.index.values(state, planned.step.objects)
    candidates = action.candidates
    surely = Literals(candidates.positive & ~held & ~dim, candidates.negative & held)
    assert surely.within(violated)
    assert violated.within(action.violated(held, dim))


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
