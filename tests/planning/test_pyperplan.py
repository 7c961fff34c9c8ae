"""Plans are right and shortest, and "there is none" means that there is none."""

from __future__ import annotations

from itertools import pairwise
from unittest import mock

from hypothesis import given

from aam_vision.model.strips import Atom, GroundAction
from aam_vision.planning import pyperplan
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import Found, Limits, SearchProblem, TimedPlanner, Verdict
from aam_vision.planning.pyperplan import (
    AdditiveHeuristic,
    FactNumbers,
    NumberedOperators,
    PyperplanPlanner,
    _by_pyperplan,
    breadth_first,
)
from tests.planning.searches import Search, assert_limits_are_no_proof, certain, counter, goal, searches
from tests.profiles import thorough

PATIENT = Limits(seconds=60, states=20_000)


@thorough(150)
@given(searches())
def test_a_plan_is_found_exactly_if_there_is_one_and_it_is_a_shortest(search: Search) -> None:
    search.assert_answered(PyperplanPlanner().solve(search.problem, PATIENT))


@thorough(100)
@given(searches())
def test_both_breadth_first_searches_find_the_same_plan(search: Search) -> None:
    problem = search.problem
    task = NumberedOperators(problem.operators, FactNumbers()).task(problem)
    if problem.goals:
        assert breadth_first(task, 20_000, 60) == _by_pyperplan(task, 20_000)


@thorough(100)
@given(searches())
def test_a_guided_search_goes_on_where_the_blind_one_ends(search: Search) -> None:
    """Its plans are right, though not the shortest; and it too proves that there is none."""
    outcome = PyperplanPlanner().solve(search.problem, Limits(seconds=60, states=1, guided=20_000))
    assert isinstance(outcome, Found) == (search.distance is not None)
    if isinstance(outcome, Found):
        executed, final = search.model.run(search.starts[outcome.start], outcome.plan)
        assert executed == len(outcome.plan)
        assert certain(outcome.goal, final)


def _chain(start: int) -> tuple[list[Operator], tuple[frozenset[Atom], frozenset[Atom]]]:
    """Six steps that lead from place 0 to place 6, and a start at one of the places."""
    places = [frozenset([Atom("at", (str(number),))]) for number in range(7)]
    steps = [
        Operator(GroundAction("go", (str(number),)), here, frozenset(), there, here)
        for number, (here, there) in enumerate(pairwise(places))
    ]
    return steps, (places[start], frozenset())


def test_a_guided_search_looks_at_fewer_states_where_there_are_more_steps() -> None:
    steps, start = _chain(0)
    problem = SearchProblem(steps, [start], [goal("there", [Atom("at", ("6",))])])
    limits = Limits(seconds=60, states=1, guided=6)
    assert isinstance(PyperplanPlanner().solve(problem, limits), Found)
    with mock.patch.object(pyperplan, "LARGE", 3):
        assert PyperplanPlanner().solve(problem, limits) is Verdict.LIMIT


def test_the_additive_estimate_is_exact_for_a_chain_and_infinite_where_there_is_no_way() -> None:
    steps, start = _chain(2)
    for place, left in (("6", 4.0), ("7", float("inf"))):
        wanted = goal("there", [Atom("at", (place,))])
        task = NumberedOperators(steps, FactNumbers()).task(SearchProblem(steps, [start], [wanted]))
        assert AdditiveHeuristic(task)(task.states).tolist() == [left]


def test_limits_are_told_apart_from_unsolvable() -> None:
    assert_limits_are_no_proof(PyperplanPlanner(), Limits(states=20), Limits(seconds=0))


def test_a_goal_and_an_operator_that_need_nothing_still_wait_for_a_start() -> None:
    """Without a start chosen first, ``x`` could be deleted before it is there."""
    x, y = Atom("x", ()), Atom("y", ())
    swap = Operator(GroundAction("swap", ()), frozenset(), frozenset(), frozenset([y]), frozenset([x]))
    start = (frozenset([x]), frozenset())
    planner = PyperplanPlanner()
    at_once = planner.solve(SearchProblem([swap], [start], [goal("any", [])]), PATIENT)
    assert isinstance(at_once, Found)
    assert (at_once.start, at_once.plan) == (0, ())
    both = SearchProblem([swap], [start], [goal("both", [x, y])])
    assert planner.solve(both, PATIENT) is Verdict.UNSOLVABLE


def test_time_is_counted_over_all_searches() -> None:
    operators, facts = counter(7)
    problem = SearchProblem(operators, [(frozenset(), frozenset())], [goal("all", facts)])
    timed = TimedPlanner(PyperplanPlanner())
    assert timed.seconds == 0
    assert timed.solve(problem, PATIENT) == PyperplanPlanner().solve(problem, PATIENT)
    once = timed.seconds
    timed.solve(problem, PATIENT)
    assert timed.seconds > once > 0
