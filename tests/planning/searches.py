"""Search problems with a known answer, for every planner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from aam_vision.model.strips import Atom, GroundAction, Model, State
from aam_vision.planning.grounding import Operator, ground
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from tests import domains


def goal(name: str, positive: Iterable[Atom], negative: Iterable[Atom] = ()) -> Operator:
    parts = (frozenset(positive), frozenset(negative) - frozenset(positive))
    return Operator(GroundAction(name, ()), *parts, frozenset(), frozenset())


def counter(bits: int) -> tuple[list[Operator], list[Atom]]:
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


def certain(goal: Operator, state: State) -> bool:
    """Whether the goal holds in the state, whatever is unknown there."""
    return goal.positive <= state.true and not goal.negative & (state.true | state.unknown)


@dataclass(frozen=True)
class Search:
    """A problem, and how many steps the nearest goal is away; None where there is no plan."""

    problem: SearchProblem
    model: Model
    starts: list[State]
    distance: int | None

    def assert_answered(self, outcome: Found | Verdict) -> None:
        """The outcome is a shortest plan if there is one, else the proof that there is none."""
        if self.distance is None:
            assert outcome is Verdict.UNSOLVABLE
            return
        assert isinstance(outcome, Found)
        assert len(outcome.plan) == self.distance
        executed, final = self.model.run(self.starts[outcome.start], outcome.plan)
        assert executed == len(outcome.plan)
        assert outcome.goal in self.problem.goals
        assert certain(outcome.goal, final)


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Several starts and goals at once, facts unknown at the start, negative goals included."""
    domain = draw(domains.domains())
    model, objects = domain.model, domain.problems[0].objects
    facts = domains.ground_atoms(model.vocabulary, objects)
    assume(facts)
    some = st.frozensets(st.sampled_from(facts), max_size=3)
    starts = []
    for _ in range(draw(st.integers(1, 2))):
        true, hidden = draw(st.sampled_from([state.true for state in domain.problems])), draw(some)
        starts.append(State(frozenset(true & set(facts)) - hidden, objects, hidden))
    depth = domains.reachable(model, starts, limit=400)
    assume(depth is not None)
    assert depth is not None
    goals = []
    for number in range(draw(st.integers(1, 2))):
        # mostly something that holds somewhere, so that many goals can be reached
        there = draw(st.sampled_from(list(depth)))
        signs = {
            fact: (fact in there.true) is not draw(st.sampled_from([False] * 7 + [True]))
            for fact in draw(st.frozensets(st.sampled_from(facts), max_size=6))
        }
        goals.append(
            goal(f"goal-{number}", *([f for f in signs if signs[f] is sign] for sign in (True, False)))
        )
    wanted = [depth[state] for state in depth if any(certain(goal, state) for goal in goals)]
    everything = frozenset().union(*(start.true for start in starts))
    grounding = ground([domains.lifted_operator(s) for s in model.actions], everything, objects)
    problem = SearchProblem(grounding.operators, [(start.true, start.unknown) for start in starts], goals)
    return Search(problem, model, starts, min(wanted, default=None))


def assert_limits_are_no_proof(planner: Planner, *short: Limits) -> None:
    """Too little time or too few states are told apart from no plan, and with enough the shortest one is found."""
    operators, facts = counter(8)
    start = [(frozenset[Atom](), frozenset[Atom]())]
    problem = SearchProblem(operators, start, [goal("all", facts)])
    for limits in short:
        assert planner.solve(problem, limits) is Verdict.LIMIT
    patient = Limits(seconds=60, states=20_000)
    found = planner.solve(problem, patient)
    assert isinstance(found, Found)
    assert len(found.plan) == 255
    never = SearchProblem(operators, start, [goal("never", [Atom("never", ())])])
    assert planner.solve(never, patient) is Verdict.UNSOLVABLE
    assert planner.solve(SearchProblem(operators, start, []), patient) is Verdict.UNSOLVABLE
