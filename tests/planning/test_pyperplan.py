"""Plans are right and shortest, and "there is none" means that there is none."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.planning.grounding import Operator, ground
from aam_vision.planning.planner import Found, Limits, SearchProblem, TimedPlanner, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import Atom, GroundAction, State
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

PATIENT = Limits(seconds=60, states=20_000)


def _goal(name: str, positive: Iterable[Atom], negative: Iterable[Atom] = ()) -> Operator:
    parts = (frozenset(positive), frozenset(negative) - frozenset(positive))
    return Operator(GroundAction(name, ()), *parts, frozenset(), frozenset())


def _certain(goal: Operator, state: State) -> bool:
    return goal.positive <= state.true and not goal.negative & (state.true | state.unknown)


@thorough(150)
@given(domains.domains(), st.data())
def test_a_plan_is_found_exactly_if_there_is_one_and_it_is_a_shortest(
    domain: Domain, data: st.DataObject
) -> None:
    """Several starts and goals at once, facts unknown at the start, negative goals included."""
    model, objects = domain.model, domain.problems[0].objects
    facts = domains.ground_atoms(model.vocabulary, objects)
    assume(facts)
    some = st.frozensets(st.sampled_from(facts), max_size=3)
    starts = []
    for _ in range(data.draw(st.integers(1, 2))):
        true, hidden = data.draw(st.sampled_from([state.true for state in domain.problems])), data.draw(some)
        starts.append(State(frozenset(true & set(facts)) - hidden, objects, hidden))
    depth = domains.reachable(model, starts, limit=400)
    assume(depth is not None)
    assert depth is not None
    goals = []
    for number in range(data.draw(st.integers(1, 2))):
        # mostly something that holds somewhere, so that many goals can be reached
        there = data.draw(st.sampled_from(list(depth)))
        signs = {
            fact: (fact in there.true) is not data.draw(st.sampled_from([False] * 7 + [True]))
            for fact in data.draw(st.frozensets(st.sampled_from(facts), max_size=6))
        }
        goals.append(
            _goal(f"goal-{number}", *([f for f in signs if signs[f] is sign] for sign in (True, False)))
        )
    wanted = [depth[state] for state in depth if any(_certain(goal, state) for goal in goals)]

    everything = frozenset().union(*(start.true for start in starts))
    grounding = ground([domains.lifted_operator(s) for s in model.actions], everything, objects)
    problem = SearchProblem(grounding.operators, [(start.true, start.unknown) for start in starts], goals)
    outcome = PyperplanPlanner().solve(problem, PATIENT)

    if not wanted:
        assert outcome is Verdict.UNSOLVABLE
        return
    assert isinstance(outcome, Found)
    assert len(outcome.plan) == min(wanted)
    executed, final = model.run(starts[outcome.start], outcome.plan)
    assert executed == len(outcome.plan)
    assert outcome.goal in goals
    assert _certain(outcome.goal, final)


def _counter(bits: int) -> tuple[list[Operator], list[Atom]]:
    """A binary counter: its last state is 2^bits - 1 steps away."""
    facts = [Atom("bit", (str(number),)) for number in range(bits)]
    operators = [
        Operator(
            GroundAction("count", (str(number),)),
            frozenset(facts[:number]),
            frozenset([facts[number]]),
            frozenset([facts[number]]),
            frozenset(facts[:number]),
        )
        for number in range(bits)
    ]
    return operators, facts


def test_limits_are_told_apart_from_unsolvable() -> None:
    operators, facts = _counter(8)
    problem = SearchProblem(operators, [(frozenset(), frozenset())], [_goal("all", facts)])
    planner = PyperplanPlanner()
    assert planner.solve(problem, Limits(states=20)) is Verdict.LIMIT
    assert planner.solve(problem, Limits(seconds=0)) is Verdict.LIMIT
    found = planner.solve(problem, PATIENT)
    assert isinstance(found, Found)
    assert len(found.plan) == 255
    nowhere = [_goal("never", [Atom("never", ())])]
    unsolvable = SearchProblem(operators, problem.starts, nowhere)
    assert planner.solve(unsolvable, PATIENT) is Verdict.UNSOLVABLE
    assert planner.solve(SearchProblem(operators, problem.starts, []), PATIENT) is Verdict.UNSOLVABLE


def test_a_goal_and_an_operator_that_need_nothing_still_wait_for_a_start() -> None:
    """Without a start chosen first, ``x`` could be deleted before it is there."""
    x, y = Atom("x", ()), Atom("y", ())
    swap = Operator(GroundAction("swap", ()), frozenset(), frozenset(), frozenset([y]), frozenset([x]))
    start = (frozenset([x]), frozenset())
    planner = PyperplanPlanner()
    at_once = planner.solve(SearchProblem([swap], [start], [_goal("any", [])]), PATIENT)
    assert isinstance(at_once, Found)
    assert (at_once.start, at_once.plan) == (0, ())
    both = SearchProblem([swap], [start], [_goal("both", [x, y])])
    assert planner.solve(both, PATIENT) is Verdict.UNSOLVABLE


def test_the_same_problem_has_the_same_plan_every_time() -> None:
    operators, facts = _counter(5)
    problem = SearchProblem(operators, [(frozenset(), frozenset())], [_goal("all", facts)])
    assert PyperplanPlanner().solve(problem, PATIENT) == PyperplanPlanner().solve(problem, PATIENT)


def test_time_is_counted_over_all_searches() -> None:
    operators, facts = _counter(7)
    problem = SearchProblem(operators, [(frozenset(), frozenset())], [_goal("all", facts)])
    timed = TimedPlanner(PyperplanPlanner())
    assert timed.seconds == 0
    assert timed.solve(problem, PATIENT) == PyperplanPlanner().solve(problem, PATIENT)
    once = timed.seconds
    timed.solve(problem, PATIENT)
    assert timed.seconds > once > 0
