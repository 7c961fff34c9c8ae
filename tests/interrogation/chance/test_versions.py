"""Two versions of an agent, each interrogated: what is said to differ does, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.comparing import ActionDifferences, differences
from aam_vision.interrogation.chance.interrogating import Options, interrogate
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.retelling import precision_of
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction, State

from .agents import agent, read
from .domains import SLIPPERY


def known(seed: int, domain: str = SLIPPERY, within: float = 0.1) -> tuple[ActionKnowledge, ...]:
    asked = agent(Access.SETTABLE, seed, domain)
    return interrogate(asked, np.random.default_rng(seed), Options(within=within)).actions


def found(domain: str, seed: int = 1) -> dict[str, ActionDifferences]:
    """What differs between the hand that slips and another one."""
    told = differences(known(0), known(seed, domain), independent=True)
    return {one.one.index.header.name: one for one in told}


def test_equal_versions_are_not_told_apart() -> None:
    told = found(SLIPPERY)
    for one in told.values():
        assert not one.different
        assert one.certain
        assert one.undecided == 0
        assert all(
            outcome.comparison.limits[0] < 0 < outcome.comparison.limits[1] for outcome in one.outcomes
        )
        assert one.widest is not None
        assert 0.05 < one.widest < 0.5


def test_a_precondition_that_is_gone_is_proven_to_be() -> None:
    told = found(SLIPPERY.replace("(not (broken ?b))", ""))
    (atom,) = told["grab"].atoms
    assert told["grab"].one.index.atom(atom.bit).predicate == "broken"
    assert told["grab"].incompatible
    assert not told["drop"].different


def test_a_probability_that_is_another_is_told_with_an_interval_that_has_the_difference() -> None:
    told = found(SLIPPERY.replace("0.7 (and (holding ?b)", "0.2 (and (holding ?b)"))
    assert told["grab"].different
    assert not told["grab"].atoms
    limits = [one.comparison.limits for one in told["grab"].outcomes if one.comparison.different]
    assert any(low <= -0.5 <= high < 0 for low, high in limits)
    assert not told["drop"].different


def test_an_outcome_that_is_gone_is_told_with_its_probability() -> None:
    told = found(SLIPPERY.replace("(probabilistic 0.3 (broken ?b))", ""))
    gone = [one.comparison for one in told["drop"].outcomes if not one.comparison.other.hits]
    assert [one.limits[0] <= -0.3 <= one.limits[1] for one in gone] == [True]


@pytest.mark.parametrize("times", [1, 120])
def test_where_outcomes_are_not_certain_trials_of_the_same_kind_are_compared(times: int) -> None:
    """An outcome adds p where it holds always, the other deletes it: no situation shows both."""
    domain = """(define (domain d) (:requirements :strips :probabilistic-effects)
      (:predicates (p) (q))
      (:action go :parameters () :precondition (p) :effect (probabilistic CHANCE (q) REST (not (q)))))"""
    problem = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))"
    told = []
    for share in ("0.9", "0.2"):
        text = domain.replace("CHANCE", share).replace("REST", str(round(1 - float(share), 1)))
        asked = agent(Access.TRAJECTORY, 3, text, problem)
        told.append(interrogate(asked, np.random.default_rng(3), Options(max_steps=times)).actions)
    (one,) = differences(*told, independent=True)
    assert one.different is (times == 120)


SWITCH = """(define (domain switch)
  (:requirements :strips :typing :conditional-effects :probabilistic-effects)
  (:predicates (low) (high))
  (:action push :parameters () :precondition ()
    :effect (and (when (not (low)) (probabilistic 0.95 (high)))
                 (when (low) (probabilistic 0.1 (high))))))"""
OFF = "(define (problem p) (:domain switch) (:init) (:goal (high)))"


def switched(domain: str, seed: int, times: int = 150) -> list[ActionKnowledge]:
    """What so many pushes with the switch high up and low down tell, where the light is out."""
    model, off = read(domain, OFF)
    low = State(frozenset([Atom("low", ())]), off.objects)
    known = ActionKnowledge(AtomIndex(model.vocabulary, model.headers[0]), precision_of(0.1))
    asked = SymbolicAgent(model, [off], refuses_surely=True, chance=np.random.default_rng(seed))
    for _ in range(times):
        for state in (off, low):
            answer = asked.ask(Query(Situation(state, state), (GroundAction("push", ()),)))
            known.was_executed(state, (), answer.final.state)
    known.reconsider()
    return [known]


def test_conditional_effects_are_compared_case_by_case() -> None:
    one, same = switched(SWITCH, 0), switched(SWITCH, 1)
    other = switched(SWITCH.replace("(probabilistic 0.1", "(probabilistic 0.5"), 2)
    (equal,) = differences(one, same, independent=True)
    assert not equal.different
    assert {len(equal.outcomes), len(equal.one.cases)} == {4, 2}
    (found,) = differences(one, other, independent=True)
    assert found.different
    for outcome in found.outcomes:
        low, high = outcome.comparison.limits
        more = 0.4 if outcome.condition.positive else 0.0
        assert low <= (more if outcome.adds else -more) <= high
        assert outcome.comparison.different is bool(outcome.condition.positive)


def test_versions_with_other_cases_are_compared_by_kinds_of_trials() -> None:
    always = SWITCH.replace("(probabilistic 0.1", "(probabilistic 0.95")
    (found,) = differences(switched(SWITCH, 0), switched(always, 1), independent=True)
    assert not found.certain
    assert found.different
    told = {one.kind for one in found.outcomes if one.comparison.different}
    low = next(bit for bit, atom in enumerate(found.one.index.atoms) if atom.predicate == "low")
    assert all(kind is not None and kind >> low & 1 for kind in told)
