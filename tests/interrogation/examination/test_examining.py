"""The examination: plans that the model predicts, asked before it counts as complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.examination.coverage import (
    OTHER,
    Attempts,
    Coverage,
    History,
    Names,
    Prediction,
    unlike,
)
from aam_vision.interrogation.examination.examining import ENDS, LEAST, SHARE
from aam_vision.interrogation.examination.findings import ENOUGH, Exam
from aam_vision.interrogation.examination.predictions import Predictions
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result, ending
from aam_vision.interrogation.task.verdict import OPEN, verdict
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.domains import generate, load
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.planning.joins import StateIndex
from experiments.faults.registry import faulty_agent
from tests import domains
from tests.domains import Domain
from tests.interrogation.problems import Problems
from tests.profiles import crossed, first, scaled, thorough

ACCESSES = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]


def agent_of(access: Access, domain: str = "gripper", seed: int = 0, *, surely: bool = False) -> Agent:
    agent = SymbolicAgent(*domains.packaged(domain, seed=seed), access, refuses_surely=surely)
    return agent if surely or access is Access.SETTABLE else NumberedAgent(agent)


def learned(agent: Agent, exam: int | None, seed: int = 0, **budget: int) -> Result:
    asked = Interrogation(agent, exam=exam, budget=Budget(**budget))
    return asked.run(np.random.default_rng(seed))


@pytest.mark.parametrize(
    "access", first(1, [Access.RESET, Access.TRAJECTORY, Access.SNAPSHOT, Access.SETTABLE])
)
def test_it_costs_what_was_asked_for_changes_nothing_else_and_predicts_refusals_too(access: Access) -> None:
    plans = refusals = 0
    for seed in range(3):  # in one run alone the share of refusals may be small by chance
        without, with_it = (learned(agent_of(access, surely=True), steps, seed) for steps in (0, 80))
        assert replace(with_it.exam, further=0) == Exam(80, 0)
        assert (with_it.exam.further > 0) is (access is Access.SETTABLE)
        assert with_it.model == without.model
        assert replace(with_it.counts, exam_steps=0) == without.counts
        assert (without.status, with_it.status) == ("open", "complete")
        taught = without.transcript.entries
        assert with_it.transcript.entries[: len(taught)] == taught
        assert verify(with_it.transcript, with_it).holds
        examined = with_it.transcript.entries[len(taught) :]
        asked = [entry for entry in examined if isinstance(entry, Asked) and entry.query.plan]
        refused = [entry for entry in asked if entry.response.executed < len(entry.query.plan)]
        assert sum(entry.response.executed for entry in asked) >= len(refused)
        assert any(isinstance(entry, Walked) for entry in examined) is (access is not Access.TRAJECTORY)
        plans, refusals = plans + len(asked), refusals + len(refused)
    assert refusals >= plans // 6 > 0


@pytest.mark.parametrize("access", first(1, ACCESSES))
def test_by_default_it_takes_a_fifth_of_all_steps_and_what_the_bound_takes_at_least(access: Access) -> None:
    result = learned(agent_of(access, surely=True), None)
    assert result.exam.steps == max(LEAST, result.counts.steps // SHARE)
    assert result.counts.exam_steps == result.exam.steps + result.exam.further
    assert result.complete


@thorough(60)
@given(domains.domains(), st.sampled_from(ACCESSES[:3]), st.integers(0, 9))
def test_an_honest_agent_does_what_is_predicted(domain: domains.Domain, access: Access, seed: int) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, access)
    honest = agent if access is Access.SETTABLE else NumberedAgent(agent)
    result = learned(honest, 30, seed, queries=300, steps=3000)
    assert result.exam.wrong == 0
    assert result.diagnosis is None


SAFE = """(define (domain safe) (:requirements :strips :typing) (:types lamp - object)
  (:predicates (on ?l - lamp) (left) (right) (key) (opened))
  (:action light :parameters (?l - lamp) :precondition (and (left)) :effect (and (on ?l)))
  (:action go :parameters () :precondition (and (left)) :effect (and (right) (not (left))))
  (:action back :parameters () :precondition (and (right)) :effect (and (left) (not (right))))
  (:action unlock :parameters () :precondition (and (key)) :effect (and (opened) (not (key)))))"""
"""It is unlocked once, and then no question tells whether that took more than the key."""


class OffAgain(AgentDecorator):
    """From some step on, a lamp that is lit goes off when somebody comes back."""

    executed = 0

    def ask(self, query: Query) -> Response:
        response = super().ask(query)
        self.executed += response.executed
        steps = [step.name for step in query.plan[: response.executed]]
        if self.executed < 40 or steps[-1:] != ["back"]:
            return response
        state = response.final.state
        off = replace(state, true=frozenset(atom for atom in state.true if atom.predicate != "on"))
        return replace(response, final=Situation(off, off))


def test_what_stays_open_is_examined_if_so_many_steps_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "safe.pddl").write_text(SAFE)
    model = read_domain(tmp_path / "safe.pddl")
    objects = Objects({"one": "lamp", "two": "lamp"}, Types({"lamp": "object"}))
    agent = SymbolicAgent(
        model, [State(frozenset({Atom("left", ()), Atom("key", ())}), objects)], Access.TRAJECTORY
    )
    without, with_it = (learned(agent, steps) for steps in (None, 60))
    assert (without.status, with_it.status) == ("open", "open")
    assert "no way to ask" in without.why
    assert without.exam == Exam()
    assert with_it.exam == Exam(60)
    assert with_it.hypotheses.undecided() == without.hypotheses.undecided() > 0
    assert replace(with_it.counts, exam_steps=0) == without.counts
    with pytest.raises(Interrupted, match="changes by itself"):
        learned(OffAgain(agent), 60)
    short = learned(agent, 60, steps=without.counts.steps + 20)
    assert (short.status, short.why) == ("open", without.why)
    assert 0 < short.exam.steps <= 20
    assert not verdict(ending(without)).examination
    assert "60 of 60 steps" in verdict(ending(with_it)).examination


def test_what_the_budget_does_not_allow_is_not_examined() -> None:
    cost = learned(agent_of(Access.SNAPSHOT), 0).counts.steps
    result = learned(agent_of(Access.SNAPSHOT), 80, steps=cost + 20)
    assert result.proven
    assert result.counts.steps + result.counts.exam_steps <= cost + 20
    assert result.status == "budget"
    assert "raise --max-steps" in (result.missing or "")


@given(st.integers(1, 400))
def test_the_bound_is_exact_and_nothing_is_bounded_by_no_step_or_a_wrong_one(steps: int) -> None:
    """An agent with this share of other steps passes with a probability of 5%."""
    assert Exam(ENOUGH).bound <= 0.05 < Exam(ENOUGH - 1).bound
    assert Exam().bound == Exam(steps, 1).bound == 1.0
    assert (1 - Exam(steps).bound) ** steps == pytest.approx(0.05)
    assert Exam(steps).enough is (steps >= ENOUGH)
    assert not Exam(steps, 1).enough


# Where the examination's plans begin, what the long ones show, and which circumstances count as new.


def run_of(domain: str, access: Access, exam: int, size: int = 2, seed: int = 0) -> Result:
    return learned(SymbolicAgent(*domains.packaged(domain, size=size, seed=seed), access), exam)


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 5))
def test_a_state_unlike_another_differs_in_one_predicate_and_is_a_state(domain: Domain, seed: int) -> None:
    state = domain.problems[0]
    vocabulary = domain.model.vocabulary
    if not vocabulary.predicates:
        return
    other = unlike(vocabulary, state, np.random.default_rng(seed))
    changed = state.true ^ other.true
    assert len({atom[0] for atom in changed}) <= 1
    assert other.objects == state.objects
    for name, objects in changed:
        types = vocabulary.predicate(name).types
        assert all(one in state.objects.members(kind) for one, kind in zip(objects, types, strict=True))


def test_where_any_state_can_be_made_some_begin_in_states_that_the_interrogation_never_came_to() -> None:
    taught = run_of("miconic", Access.SETTABLE, 0).transcript
    examined = run_of("miconic", Access.SETTABLE, 100).transcript.entries[len(taught.entries) :]
    seen = {one.state for one in taught.initial}
    seen |= {step.after.state for one in examined if isinstance(one, Walked) for step in one.steps}
    seen |= {one.response.final.state for one in (*taught.entries, *examined) if isinstance(one, Asked)}
    seen |= {one.query.initial.state for one in taught.entries if isinstance(one, Asked)}
    assert any(one.query.initial.state not in seen for one in examined if isinstance(one, Asked))


@pytest.mark.parametrize("domain", first(1, ["gripper", "blocksworld"]))
def test_a_long_plan_has_every_action_about_equally_often(domain: str) -> None:
    result = run_of(domain, Access.SETTABLE, 60, seed=1)
    asked = [one.query.plan for one in result.transcript.entries if isinstance(one, Asked)]
    longest = max(asked, key=len, default=())
    uses = [sum(step.name == name for step in longest) for name in result.hypotheses.actions]
    least = 50 * 2 // 3  # a sixth of the 60 steps is the agent's own walk
    assert least <= len(longest) <= least + least // ENDS
    assert min(uses) >= len(longest) // (2 * len(uses))


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_a_long_plan_puts_off_what_ends_everything(seed: int) -> None:
    """Whoever picks a ball up is in no room any more, and can do nothing."""
    model, problems = domains.packaged("gripper", size=1)
    pick = model.schema("pick")
    lost = replace(pick, delete=pick.delete | {one for one in pick.positive if one.predicate == "at_robby"})
    assert lost != pick
    actions = tuple(lost if one == pick else one for one in model.actions)
    result = learned(SymbolicAgent(replace(model, actions=actions), problems, Access.SETTABLE), 60, seed)
    assert result.complete
    asked = [one.query.plan for one in result.transcript.entries if isinstance(one, Asked)]
    assert max(map(len, asked)) >= 50 * 2 // 3


@pytest.mark.parametrize("access", ACCESSES[1:])
def test_an_examination_of_refusals_alone_is_none(access: Access) -> None:
    model, problems = domains.packaged("gripper", size=1)
    never = tuple(replace(one, negative=one.positive) for one in model.actions)
    result = learned(SymbolicAgent(replace(model, actions=never), problems, access), 60)
    assert result.proven
    assert result.status == OPEN
    assert "never executed: " in (result.missing or "")


def a_move() -> tuple[Hypotheses, State, GroundAction]:
    """What may be known of a gripper, a state, and a move in it."""
    model, (state,) = domains.packaged("gripper")
    step = GroundAction("move", tuple(state.objects.of_type(model.headers[0].types[0])[:2]))
    return Hypotheses(model.vocabulary, model.headers), state, step


def test_circumstances_are_new_by_atoms_and_histories_and_worth_nothing_when_tried() -> None:
    hypotheses, state, step = a_move()
    first = step.objects[0]
    near = {Atom("near", (one, first)) for one in (first, "elsewhere")}
    dressed = State(state.true | near, state.objects)
    names = Names()
    found = names.of_state(hypotheses["move"], StateIndex(dressed), step).present
    assert found & names.bit("atom", "near", 0, 0)
    assert found & names.bit("atom", "near", OTHER, 0)
    plain = names.of_state(hypotheses["move"], StateIndex(state), step).present
    assert not plain & names.bit("atom", "near", 0, 0)
    hypotheses, state, step = a_move()
    action = hypotheses["move"]
    names = Names()
    here = names.of_state(action, StateIndex(state), step)
    fewer = names.of_state(action, StateIndex(State(frozenset(sorted(state.true)[1:]), state.objects)), step)
    coverage = Coverage(names)
    worths = [coverage.worth("move", fewer)]
    coverage.add("move", here)
    worths.append(coverage.worth("move", fewer))
    assert coverage.worth("move", here) == 0
    coverage.add("move", fewer)
    worths.append(coverage.worth("move", fewer))
    assert worths == sorted(worths, reverse=True)
    assert worths[1] > worths[2] == 0
    hypotheses, _, step = a_move()
    action = hypotheses["move"]
    changed = frozenset([next(Atom(*fact) for _, fact in action.index.grounded(step.objects))])
    names = Names()
    coverage = Coverage(names)
    coverage.add("move", names.of_history(action, step, History(), again=False))
    for history in (History(3, {"move": 3}, step), History(1, {}, None, changed), History(refused="move")):
        assert coverage.worth("move", names.of_history(action, step, history, again=False)) > 0
    assert coverage.worth("move", names.of_history(action, step, History(), again=True)) > 0


def test_attempts_read_at_once_and_one_after_the_other_are_the_same() -> None:
    result = run_of("gripper", Access.SETTABLE, 40)
    problem = result.transcript.initial[0].state
    evidence = Evidence(result.hypotheses)
    for situation in result.transcript.initial:
        evidence.begin(situation)
    by_and_by, at_once = (Attempts(evidence, Access.SETTABLE) for _ in range(2))
    for entry in result.transcript.entries:
        evidence.take_in(entry)
        by_and_by.take_in()
    at_once.take_in()
    predictions = Predictions(evidence)
    options = predictions.executable(problem)
    assert options
    for step in options:
        here = (Prediction(step.name), problem, step, History())
        assert by_and_by.worth(*here) == at_once.worth(*here)
    for step in predictions.refused(problem):
        assert predictions.is_refused(problem, step)
        here = (problem, step, History())
        assert by_and_by.refusal_worth(*here) == at_once.refusal_worth(*here)


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    [
        *first(1, [("repeated arguments", Access.SNAPSHOT, seed) for seed in (6000, 6001, 6002)]),
        *first(1, [("stale state", access, 75009) for access in (Access.RESET, Access.SNAPSHOT)]),
    ],
)
def test_conditions_on_one_argument_twice_or_on_the_state_before_are_found(
    family: str, access: Access, seed: int
) -> None:
    """A step that should be refused right after itself is tried."""
    agent = faulty_agent(family, access, seed)
    with pytest.raises(Interrupted) as raised:
        learned(agent, 60, seed)
    assert raised.value.result.status == "not-strips"


class Dropless(Problems):
    """In the last problem nothing can be dropped."""

    def answer(self, number: int, query: Query) -> Response:
        last = number == len(self.agents) - 1
        plan = tuple(takewhile(lambda step: not (last and step.name == "drop"), query.plan))
        return super().answer(number, replace(query, plan=plan))


def in_problems(kind: type[Problems], access: Access, seeds: Sequence[int]) -> Problems:
    begins = [generate("gripper", 2, np.random.default_rng(one)).initial for one in seeds]
    return kind([SymbolicAgent(load("gripper"), [one], access) for one in begins])


@pytest.mark.parametrize(("access", "seed"), crossed([Access.SNAPSHOT, Access.RESET], range(scaled(3))))
def test_what_differs_in_problems_that_look_alike_is_met(access: Access, seed: int) -> None:
    try:
        told = learned(in_problems(Dropless, access, [seed] * 3), None, seed).status
    except Interrupted as error:
        told = str(error)
    assert told == OPEN or "situations that look alike" in told


HEATERS = Vocabulary(
    "heaters", (Predicate("plugged", ("heater",)), Predicate("hot", ("heater",))), Types({"heater": "object"})
)
WHICH, PLUGGED, HOT = ("which",), LiftedAtom("plugged", (0,)), LiftedAtom("hot", (0,))
PLUG = ActionSchema(ActionHeader("plug", WHICH, ("heater",)), add=frozenset({PLUGGED}))
HEAT = ActionSchema(
    ActionHeader("heat", WHICH, ("heater",)), positive=frozenset({PLUGGED}), add=frozenset({HOT})
)


def told_of(agent: Agent, seed: int) -> str:
    try:
        return learned(agent, None, seed).status
    except Interrupted as error:
        return error.result.status


class OtherwiseInOne(AgentDecorator):
    """Another agent answers in the second of three problems, each of which has objects of its own. It does nothing by itself."""

    def __init__(self, access: Access, *other: ActionSchema) -> None:
        names = [[f"heater-{problem}-{one}" for one in range(5)] for problem in range(3)]
        objects = [Objects(dict.fromkeys(some, "heater"), HEATERS.types) for some in names]
        begins = [State(frozenset(), one) for one in objects]
        usual, self.other = (
            SymbolicAgent(Model(HEATERS, actions), begins, access, refuses_surely=True)
            for actions in ((PLUG, HEAT), other)
        )
        self.its = objects[1]
        super().__init__(usual)

    def ask(self, query: Query) -> Response:
        return (self.other if query.initial.state.objects == self.its else self.agent).ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []


OTHERWISE = {
    "one effect more": (replace(PLUG, add=frozenset({PLUGGED, HOT})), HEAT),
    "one requirement less": (PLUG, replace(HEAT, positive=frozenset())),
}


@pytest.mark.parametrize(
    ("access", "how"), crossed([Access.RESET, Access.SNAPSHOT, Access.SETTABLE], OTHERWISE)
)
def test_what_differs_in_one_problem_is_met(access: Access, how: str) -> None:
    told = [told_of(OtherwiseInOne(access, *OTHERWISE[how]), seed) for seed in range(scaled(10))]
    assert {*told} <= {"complete", "not-strips"}
    # before problems were circumstances, a third to a half of some
    assert told.count("complete") <= len(told) / 7


@pytest.mark.parametrize("seed", range(scaled(3)))
def test_steps_in_every_problem_are_examined(seed: int) -> None:
    agent = in_problems(Problems, Access.SNAPSHOT, [seed, 100 + seed, 200 + seed])
    learned(agent, None, seed)
    assert min(agent.asked[number] for number in range(3)) > 0
