"""Plans for agents with chance: goals are reached whatever comes, and effects may depend on conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.bare import BareSymbolicAgent, control_of
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.controls.mapping import Carrier, Carriers
from aam_vision.model.delayed import AT_SET_TIME, DelayedEffect, Delays
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Model, State
from aam_vision.planning.engines import planner_named
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.run.execution import replanning
from aam_vision.run.execution.replanning import (
    Course,
    Taken,
    carried_out,
    carry_out,
    for_goal,
    for_plan,
    pursue,
)
from aam_vision.support.errors import AgentFailed, UnusableInput
from tests import domains
from tests.domains import Domain
from tests.interrogation.chance.agents import read
from tests.profiles import thorough
from tests.refusals import told_by
from tests.report.evaluation.models import CORRIDOR, GO, RING, one_mode_changed, pals_of, standing

SWITCH = """(define (domain switch)
  (:requirements :strips :typing :conditional-effects :probabilistic-effects)
  (:predicates (low) (high) (broken))
  (:action push :parameters () :precondition (not (broken))
    :effect (and (when (not (low)) (low))
                 (when (low) (probabilistic 0.6 (high) 0.1 (broken))))))"""
START = "(define (problem p) (:domain switch) (:init) (:goal (high)))"


def pursued(goal: str, seed: int, most: int = 100) -> Course:
    model, initial = read(SWITCH, START)
    agent = SymbolicAgent(model, [initial], refuses_surely=True, chance=np.random.default_rng(seed))
    return pursue(agent, agent.initial()[0], model, (goal, "the test"), planner_named("pyperplan"), most)


@pytest.mark.parametrize("seed", range(6))
def test_a_goal_behind_a_condition_is_reached_or_cannot_be_any_more(seed: int) -> None:
    done = pursued("(high)", seed)
    last = done.steps[-1]
    assert done.reached is ("+high()" in last.changes)
    assert done.reached or "+broken()" in last.changes
    assert done.steps[0].changes == ("+low()",)
    assert done.steps[0].probability == 1
    assert done.plans >= 1
    assert all(step.probability > 0 for step in done.steps)


def test_a_goal_that_no_outcome_brings_about_is_refused_before_anything_is_done() -> None:
    with pytest.raises(UnusableInput, match="no plan"):
        pursued("(and (high) (not (low)))", 0)


def test_a_goal_is_given_up_after_so_many_steps() -> None:
    done = pursued("(high)", 0, most=1)
    assert not done.reached
    assert "--max-steps" in done.verdict


def test_a_goal_that_holds_needs_nothing() -> None:
    done = pursued("(not (low))", 0)
    assert (done.reached, done.steps) == (True, ())


def test_a_refusal_ends_a_plan_and_is_as_predicted() -> None:
    model, initial = read(SWITCH, START.replace("(:init)", "(:init (broken))"))
    agent = SymbolicAgent(model, [initial], refuses_surely=True, chance=np.random.default_rng(0))
    told: list[Taken] = []
    done = carry_out(agent, agent.initial()[0], model, [GroundAction("push", ())] * 2, told.append)
    assert not done.reached
    assert [(step.executed, step.as_predicted) for step in told] == [(False, True)]
    assert "Step 1 of 2, push(): refused, as predicted. Given up there." in done.verdict


# Plans that are carried out: with the true model all comes out as predicted, with another one the difference
# is named.


def behind_controls(model: Model, initial: Sequence[State]) -> tuple[BareSymbolicAgent, Carriers]:
    """An agent with one control for every operator, which names all of its parameters."""
    controls = [control_of(model, one.name, one.parameters, [one.name]) for one in model.headers]
    carriers = {one.name: Carrier(one.name, one.arity) for one in model.headers}
    return BareSymbolicAgent(model, controls, initial), carriers


def goal_of(data: st.DataObject, model: Model, start: State) -> str:
    """A goal as text: three literals of some reachable state."""
    reachable = domains.reachable(model, [start], limit=200)
    assume(reachable is not None)
    like = data.draw(st.sampled_from(sorted(reachable or (), key=str)))
    facts = domains.ground_atoms(model.vocabulary, start.objects)
    chosen = data.draw(st.lists(st.sampled_from(facts), min_size=1, max_size=3, unique=True))
    written = [f"({' '.join([atom.predicate, *atom.objects])})" for atom in chosen]
    told = zip(chosen, written, strict=True)
    return " ".join(text if atom in like.true else f"(not {text})" for atom, text in told)


@thorough(60)
@given(domains.domains(constants=True, max_problems=1), st.data())
def test_with_the_true_model_every_reachable_goal_is_reached(domain: Domain, data: st.DataObject) -> None:
    agent, carriers = behind_controls(domain.model, domain.problems)
    (start,) = agent.initial()
    text = goal_of(data, domain.model, start.state)
    task = for_goal(domain.model, start.state, text, "goal", PyperplanPlanner())
    done = carried_out(agent, start, domain.model, carriers, task)
    assert done.reached
    assert done.verdict.startswith("Goal reached: ")
    assert [step.operator for step in done.steps] == list(task.plan)
    assert done.final == domain.model.run(start.state, task.plan)[1]
    again = for_plan(domain.model, start.state, task.plan)
    assert carried_out(agent, start, domain.model, carriers, again).reached


@thorough(60)
@given(domains.domains(max_problems=1), st.data())
def test_with_a_wrong_model_the_first_difference_is_named(domain: Domain, data: st.DataObject) -> None:
    agent, carriers = behind_controls(domain.model, domain.problems)
    (start,) = agent.initial()
    pals = pals_of(domain.model)
    assume(pals)
    wrong = one_mode_changed(data, domain.model, pals)
    text = goal_of(data, wrong, start.state)
    task = for_goal(wrong, start.state, text, "goal", PyperplanPlanner())
    done = carried_out(agent, start, wrong, carriers, task)
    truth = start.state
    for step in done.steps:
        expected = wrong.schema(step.operator.name).successor(truth, step.operator.objects)
        truth = agent.given(truth, step.control)
        assert step.as_predicted is (truth == expected)
    assert done.final == truth
    assert done.reached is all(step.as_predicted for step in done.steps)
    assert done.verdict.startswith("Goal reached" if done.reached else "Not as predicted: step ")


class Blindfolded:
    """An agent of which one predicate is never seen."""

    def __init__(self, agent: BareSymbolicAgent, predicate: str, hidden: Sequence[Atom]) -> None:
        self._agent, self._predicate, self._hidden = agent, predicate, frozenset(hidden)
        self.vocabulary, self.headers, self.access = agent.vocabulary, agent.headers, agent.access

    def initial(self) -> list[Situation]:
        return [Situation(one.state, self._seen(one.state)) for one in self._agent.initial()]

    def ask(self, query: Query) -> Response:
        assert isinstance(query.initial.handle, State)
        answer = self._agent.ask(Query(Situation(query.initial.handle, query.initial.handle), query.plan))
        return Response(
            answer.executed, Situation(answer.final.state, self._seen(answer.final.state)), answer.told
        )

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[object]:
        raise NotImplementedError

    def _seen(self, state: State) -> State:
        shown = frozenset(atom for atom in state.true if atom.predicate != self._predicate)
        return State(shown, state.objects, self._hidden)


def test_what_cannot_be_seen_is_no_difference_and_is_told() -> None:
    model = Model(CORRIDOR, (GO, RING))
    start = standing(0)
    agent, carriers = behind_controls(model, [start])
    hidden = [atom for atom in domains.ground_atoms(CORRIDOR, start.objects) if atom.predicate == "at"]
    blind = Blindfolded(agent, "at", hidden)
    # the planner relies on nothing that is not seen
    with pytest.raises(UnusableInput, match=r"no plan .* atoms could not be seen there"):
        for_goal(model, blind.initial()[0].state, "(at r2)", "goal", PyperplanPlanner())
    task = for_goal(model, start, "(at r2)", "goal", PyperplanPlanner())
    done = carried_out(blind, blind.initial()[0], model, carriers, task)  # type: ignore[arg-type]
    assert done.reached
    assert all(step.hidden for step in done.steps)
    assert done.verdict == "Goal reached: all 2 steps came out as predicted. Not seen in the end: at(r2)."


def test_nothing_is_done_for_a_goal_that_holds_or_an_empty_plan() -> None:
    model, start = Model(CORRIDOR, (GO,)), standing(0)
    agent, carriers = behind_controls(model, [start])
    task = for_goal(model, start, "(at r0)", "goal", PyperplanPlanner())
    done = carried_out(agent, agent.initial()[0], model, carriers, task)
    assert (done.reached, done.steps) == (True, ())
    assert "nothing has to be done" in done.verdict
    empty = carried_out(agent, agent.initial()[0], model, carriers, for_plan(model, start, []))
    assert empty.verdict == "Nothing to do: the plan is empty."


def test_an_agent_that_refuses_a_control_has_failed() -> None:
    model, start = Model(CORRIDOR, (GO,)), standing(0)
    agent, carriers = behind_controls(model, [start])

    class Refusing(BareSymbolicAgent):
        def ask(self, query: Query) -> Response:
            return Response(0, query.initial)

    refusing = Refusing(model, [control_of(model, "go", GO.header.parameters, ["go"])], [start])
    task = for_goal(model, start, "(at r1)", "goal", PyperplanPlanner())
    with pytest.raises(AgentFailed, match=r"refused go\(r0, r1\)"):
        carried_out(refusing, agent.initial()[0], model, carriers, task)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (["r0 r0"], r"step 1, go\(r0, r0\): names an object twice"),
        (["r0 r1", "r0 r1"], r"step 2, .*: cannot be carried out .*: at\(r0\) is false"),
    ],
)
def test_a_plan_that_the_model_rules_out_is_refused(plan: list[str], said: str) -> None:
    steps = [GroundAction("go", tuple(objects.split())) for objects in plan]
    with pytest.raises(UnusableInput, match=said):
        for_plan(Model(CORRIDOR, (GO,)), standing(0), steps)


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("(near r0)", "undeclared predicate 'near'"),
        ("(at r77)", "the problem has no object 'r77'; did you mean 'r7'"),
        ("(at room-one)", "no object 'room-one'; of type object it has r0, r1, r2, r3, r4, r5, r6, r7, r8$"),
        ("(at r0 r1)", "takes 1 argument, found 2"),
        ("at r0", "expected '\\(' in the goal, found 'at'"),
        ("(at r0", "still open"),
        ("(at r0))", "unexpected '\\)'"),
        ("()", "the goal is empty"),
        ("(or (at r0) (at r1))", "disjunction"),
        ("(not (at r0)) (at r0)", "no plan of the learned operators"),
    ],
)
def test_a_goal_that_cannot_be_used_is_refused_in_one_line(goal: str, said: str) -> None:
    told_by(lambda: for_goal(Model(CORRIDOR, (GO,)), standing(0), goal, "--goal", PyperplanPlanner()), said)


def test_where_effects_come_later_no_other_planner_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replanning, "LIMITS", Limits(seconds=60, states=1))
    bell = CORRIDOR.predicate("bell")
    rings = DelayedEffect(AT_SET_TIME, LiftedAtom("bell", ("r1",)), bell, bell.types, True, 2, firm=True)
    delays = Delays((rings,))
    model = Model(CORRIDOR.with_delays(delays), (replace(GO, delays=delays),))
    with pytest.raises(UnusableInput, match=r"1 states and 60 s; give a --plan$"):
        for_goal(model, standing(0), "(at r7)", "--goal", planner_named("pyperplan"))
