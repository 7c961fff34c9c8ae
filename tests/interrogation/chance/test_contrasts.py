"""What an action does may depend on an atom: pairs of situations that differ in nothing else are tried until that is settled."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.chance.checking import unsettled_dependence
from aam_vision.interrogation.chance.conditions import tried_in_vain, worth_trying
from aam_vision.interrogation.chance.interrogating import Options, interrogate
from aam_vision.interrogation.chance.intervals import Precision, concentration
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import Observations
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, State

from .agents import agent, read

PUSHING = """(define (domain pushing)
  (:requirements :strips :typing :negative-preconditions :conditional-effects :probabilistic-effects)
  (:types thing)
  (:predicates (high ?x - thing) (done ?x - thing))
  (:action push :parameters (?x - thing)
    :effect (and (when (high ?x) (probabilistic 0.9 (done ?x))) (when (not (high ?x)) (probabilistic 0.4 (done ?x)))))
  (:action lift :parameters (?x - thing) :precondition (not (high ?x)) :effect (high ?x))
  (:action undo :parameters (?x - thing) :precondition (done ?x) :effect (not (done ?x))))
"""
TWO_THINGS = "(define (problem p) (:domain pushing) (:objects a b - thing) (:init (high a)) (:goal (done a)))"
HIGH, DONE = 1, 2


def made(counts: dict[int, dict[int, int]]) -> Observations:
    found = Observations()
    for held, afters in counts.items():
        for now, times in afters.items():
            for _ in range(times):
                found.add(held, now)
    return found


def test_the_other_context_of_a_pair_is_tried_where_there_is_none_yet() -> None:
    steps = made({0: {DONE: 5}, DONE: {DONE: 3}})
    assert {held for _, held in worth_trying(steps, NOTHING, HIGH)} == {HIGH, HIGH | DONE}
    assert not tried_in_vain(steps, NOTHING, HIGH)


def test_a_pair_in_which_nothing_varies_is_soon_left_for_one_in_which_something_does() -> None:
    steps = made(
        {
            DONE: {DONE: 60},
            DONE | HIGH: {DONE | HIGH: 60},
            0: {0: 9, DONE: 4},
            HIGH: {HIGH: 1, HIGH | DONE: 9},
        }
    )
    assert {held for _, held in worth_trying(steps, NOTHING, HIGH)} == {0, HIGH}
    assert not tried_in_vain(steps, NOTHING, HIGH)


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_is_settled(seed: int) -> None:
    truth, _ = read(PUSHING, TWO_THINGS)
    pusher = agent(Access.SETTABLE, seed, PUSHING, TWO_THINGS)
    result = interrogate(pusher, np.random.default_rng(seed), Options(0.1))
    assert result.status == COMPLETE
    pushed = result.model.schema("push")
    assert {case.positive | case.negative for case in pushed.cases} == {
        case.positive | case.negative for case in truth.schema("push").cases
    }
    assert all(action.certain for action in result.actions)


def test_what_could_not_be_settled_is_said() -> None:
    truth, initial = read(PUSHING, TWO_THINGS)
    push = truth.schema("push").header
    action = ActionKnowledge(AtomIndex(truth.vocabulary, push), Precision(0.05, 0.1, concentration(0.1)))
    high, done = Atom("high", ("a",)), Atom("done", ("a",))
    things = initial.objects
    for turn in range(400):
        for below, share in ((frozenset([high]), 232), (frozenset[Atom](), 168)):
            worked = turn * share // 400 != (turn + 1) * share // 400
            action.was_executed(
                State(below, things), ("a",), State(below | {done} if worked else below, things)
            )
    action.reconsider()
    assert not action.certain
    assert unsettled_dependence([action]) == (
        "whether what push does depends on high(?x) was not settled by the trials given to that"
    )
