"""Pairs of atoms were never together exactly if each was true, but never both under one choice of arguments."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.beliefs.cooccurrence import CoOccurrence
from aam_vision.interrogation.beliefs.unexecuted_actions import COOCCURRENCE_SITUATIONS
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access
from aam_vision.model.strips import LiftedAtom
from tests import domains
from tests.domains import Domain, all_bindings
from tests.interrogation.runs import walked
from tests.model.pddl.files import written
from tests.profiles import thorough

TRUCK = """(define (domain truck)
  (:requirements :strips :typing)
  (:types goods level)
  (:predicates (loaded ?g - goods ?l - level) (next ?a ?b - level))
  (:action load :parameters (?g - goods ?l1 ?l2 ?l3 ?l4 - level)
    :precondition (and (loaded ?g ?l1) (next ?l1 ?l2)) :effect (and (not (loaded ?g ?l1)) (loaded ?g ?l2))))
"""


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_the_pairs_are_those_that_brute_force_finds(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed)
    nodes = evidence.visited[:COOCCURRENCE_SITUATIONS]
    for action in evidence.hypotheses.actions.values():
        index = action.index
        seen: set[tuple[int, int]] = set()
        for node in nodes:
            for objects in all_bindings(index.header, node.state.objects):
                held, _ = index.values(node.state, objects)
                true = [number for number in range(len(index.atoms)) if held >> number & 1]
                seen |= {(a, b) for a in true for b in true}
        pairs, growing = CoOccurrence().never_together(index, nodes), CoOccurrence()
        for count in range(1, len(nodes) + 1):  # situations may come one by one
            one_by_one = growing.never_together(index, nodes[:count])
        assert (one_by_one == pairs).all()
        for a in range(len(index.atoms)):
            for b in range(len(index.atoms)):
                assert pairs[a, b] == ((a, a) in seen and (b, b) in seen and (a, b) not in seen)


def _never_together(folder: Path, true: str) -> bool:
    model = read_domain(written(folder, TRUCK))
    text = f"(define (problem one) (:domain truck) (:objects a b - goods n0 n1 - level) (:init {true}) (:goal (and)))"
    start = read_problem(model, written(folder, text, "problem.pddl")).initial
    agent = SymbolicAgent(model, [start], Access.TRAJECTORY)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=True))
    evidence.begin(agent.initial()[0])
    index = evidence.hypotheses["load"].index
    pairs = CoOccurrence().never_together(index, evidence.visited)
    first, second = (
        index.atoms.index(LiftedAtom("loaded", (0, 1))),
        index.atoms.index(LiftedAtom("loaded", (0, 2))),
    )
    link, other = index.atoms.index(LiftedAtom("next", (1, 2))), index.atoms.index(LiftedAtom("next", (3, 4)))
    assert not pairs[link, other], "they have no argument in common, so one fact may be meant by both"
    return bool(pairs[first, second])


def test_atoms_with_a_common_argument_hold_together_as_two_facts_only(tmp_path: Path) -> None:
    assert _never_together(tmp_path, "(loaded a n0) (loaded b n1) (next n0 n1)")
    assert not _never_together(tmp_path, "(loaded a n0) (loaded a n1) (next n0 n1)")
