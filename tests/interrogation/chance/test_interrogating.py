"""What is learned of an agent with chance is right, within the access and the steps allowed, from the start or from a diagnosis on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.going_on import can_go_on, go_on
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.intervals import Precision, concentration, frequencies
from aam_vision.interrogation.chance.result import ChanceResult, Options, most_steps
from aam_vision.interrogation.chance.retelling import observed
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, FAILED, NOT_STRIPS, OPEN
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, Model, State
from aam_vision.report.chance_evaluation import (
    check,
    exact,
    sample_transitions,
    variational_distance,
)
from aam_vision.report.evaluation import equivalent
from aam_vision.support.errors import AgentFailed
from experiments.chance import random_chance, random_conditional
from experiments.faults.registry import faulty_agent
from experiments.random_strips import Domain
from tests.interrogation.problems import Problems
from tests.profiles import first, scaled, some
from tests.resources import WHY, Looked

from .agents import agent, read
from .domains import DOOR_PROBLEM, DOORS

ACCESS = [Access.RESET, Access.SETTABLE, Access.SNAPSHOT]


def learned(access: Access, seed: int = 0, within: float = 0.08) -> ChanceResult:
    return interrogate(agent(access, seed), np.random.default_rng(seed), Options(within))


def slipping(
    model: Model, problems: Sequence[State], access: Access, seed: int | Sequence[int]
) -> SymbolicAgent:
    chance = np.random.default_rng(seed)
    return SymbolicAgent(model, problems, access, refuses_surely=True, chance=chance)


def assert_right(result: ChanceResult, truth: Model) -> None:
    """Nothing that is called certain is wrong, and every interval has the truth."""
    for action in result.actions:
        checked = check(action, truth.schema(action.index.header.name))
        assert not checked.wrong
        assert all(checked.intervals)


@pytest.mark.parametrize("access", first(2, ACCESS))
def test_structure_and_probabilities_are_right(access: Access) -> None:
    truth, initial = read()
    result = learned(access)
    assert result.status == COMPLETE
    steps = sample_transitions(truth, [initial], 300, np.random.default_rng(1))
    assert equivalent(result.model, truth, [step.before for step in steps])
    assert variational_distance(result.model, truth, steps) < 0.08
    assert_right(result, truth)
    assert all((one.high - one.low) / 2 <= 0.08 for action in result.actions for one in action.frequencies)
    assert exact(result.model, truth) or access is not Access.SETTABLE


STUCK = """(define (domain stuck)
  (:requirements :probabilistic-effects :negative-preconditions)
  (:predicates (set) (stuck) (waited))
  (:action turn :parameters () :precondition (and (not (set)) (not (stuck)))
    :effect (probabilistic 0.5 (set) 0.3 (stuck)))
  (:action undo :parameters () :precondition (not (stuck)) :effect (not (set)))
  (:action wait :parameters () :precondition (not (waited)) :effect (waited))
  (:action go-on :parameters () :precondition (waited) :effect (not (waited))))"""
STUCK_PROBLEM = "(define (problem one) (:domain stuck) (:init) (:goal (set)))"


def test_where_nothing_can_be_done_in_a_problem_it_stands_at_its_beginning() -> None:
    """A walk there is empty, and where an earlier one has ended it cannot go on."""
    truth, domain = random_chance(910507)
    asked = slipping(truth, domain.problems, Access.RESET, [910507, 4])
    found = aam_vision.interrogate(asked, seed=910507, max_steps=300, raises=False)
    assert isinstance(found.outcomes, ChanceResult)


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.SETTABLE])
def test_where_nothing_is_worth_a_step_the_agent_is_not_left_to_itself(access: Access) -> None:
    """A stuck turn cannot be tried again: what can be done there tells nothing."""
    stuck = agent(access, 3, STUCK, STUCK_PROBLEM)
    result = interrogate(stuck, np.random.default_rng(3), Options(0.1, max_steps=3000))
    assert result.status == COMPLETE
    turns = next(one.executed for one in result.actions if one.index.header.name == "turn")
    assert result.counts.steps < 2 * turns


def test_a_trajectory_is_learned_from_as_far_as_it_leads() -> None:
    truth, _ = read()
    result = interrogate(agent(Access.TRAJECTORY), np.random.default_rng(0), Options(0.1, max_steps=200))
    assert all(not check(one, truth.schema(one.index.header.name)).wrong for one in result.actions)
    assert sum(action.executed for action in result.actions) > 0


def test_no_more_steps_are_taken_than_are_allowed_and_the_same_seed_takes_the_same() -> None:
    for limit in (0, 1, 7, 50):
        result = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(max_steps=limit))
        assert result.status == BUDGET
        assert result.counts.steps == limit
        assert result.why == ("1 step was allowed" if limit == 1 else f"{limit} steps were allowed")
    one, other = (learned(Access.RESET, 3, 0.15) for _ in range(2))
    assert (one.model, one.counts) == (other.model, other.counts)
    assert [most_steps(within) for within in (0.4, 0.05, 0.025)] == [20_000, 20_000, 80_000]


def test_an_agent_without_chance_comes_out_without_chance() -> None:
    model = load("gripper")
    initial = [generate("gripper", 2, np.random.default_rng(0)).initial]
    deterministic = slipping(model, initial, Access.SETTABLE, 0)
    result = interrogate(deterministic, np.random.default_rng(0), Options(0.1))
    assert result.status == COMPLETE
    assert exact(result.model, model)
    for action in result.actions:
        assert len(action.outcomes) == 1
        assert action.unseen <= 0.2


@pytest.mark.parametrize(
    ("drawn", "seeds", "steps", "access"),
    [
        *first(2, [(random_chance, some(8, range(12)), 250, access) for access in ACCESS]),
        *first(1, [(random_conditional, some(6, range(16)), 700, access) for access in ACCESS[1::-1]]),
    ],
)
def test_what_is_certain_of_random_domains_is_right(
    drawn: Callable[[int], tuple[Model, Domain]], seeds: Sequence[int], steps: int, access: Access
) -> None:
    several = conditions = 0
    for seed in seeds:
        truth, domain = drawn(seed)
        if domain.repeated:
            continue
        asked = slipping(truth, domain.problems, access, [seed, 1])
        result = interrogate(asked, np.random.default_rng(seed), Options(0.1, max_steps=steps))
        assert result.status in (COMPLETE, OPEN, BUDGET)
        for action in result.actions:
            assert not check(action, truth.schema(action.index.header.name)).wrong
            several += len(action.outcomes) > 1
            conditions += action.dependence.sure.bit_count()
    assert 3 * several >= len(seeds)
    assert drawn is random_chance or conditions


@pytest.mark.parametrize("access", [Access.RESET, Access.SETTABLE])
def test_of_the_one_place_there_is_it_cannot_be_told_whether_an_argument_means_it(access: Access) -> None:
    """An action that clears ``p2(k)`` seemed to clear ``p2(?y)``, for certain: no other place than k was named."""
    truth, domain = random_chance(910124)
    asked = slipping(truth, domain.problems, access, [910124, 4])
    result = interrogate(asked, np.random.default_rng(0), Options(0.1, max_steps=1000))
    assert not any(check(one, truth.schema(one.index.header.name)).wrong for one in result.actions)
    assert any(one.index.coinciding_constants for one in result.actions)


class Unchanged(AgentDecorator):
    """The agent itself, but for its walks: it takes none."""

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []


OTHER = """(define (problem other) (:domain slippery)
  (:objects c d - block left right - hand) (:init (free left)) (:goal (and (holding c))))
"""
SWAPPED = OTHER.replace("c d - block left right - hand", "c h - block b left - hand")
"""What is a block here has the name of a hand there."""


class OwnObjects(Unchanged):
    """Refuses to be asked about things that its problem does not have, or that are of another type there."""

    def ask(self, query: Query) -> Response:
        state = query.initial.state
        types = {one.name: one.types for one in self.vocabulary.predicates}
        assert all(state.objects.fit(atom.objects, types[atom.predicate]) for atom in state.true)
        return self.agent.ask(query)


@pytest.mark.parametrize("problem", [OTHER, SWAPPED], ids=["others", "of the same names"])
def test_states_that_are_made_have_the_objects_of_their_problem_alone(problem: str) -> None:
    (model, one), (_, other) = read(), read(problem=problem)
    slippery = slipping(model, [one, other], Access.SETTABLE, 0)
    result = interrogate(OwnObjects(slippery), np.random.default_rng(0), Options(0.2))
    assert result.status == COMPLETE


@pytest.mark.parametrize("access", first(1, [Access.SETTABLE, Access.RESET]))
def test_conditional_effects_are_learned_with_their_conditions(access: Access) -> None:
    """If each case had the 5% of its action, some interval of four cases would miss the truth in up to 20% of all runs."""
    truth, initial = read(DOORS, DOOR_PROBLEM)
    asked = agent(access, 3, DOORS, DOOR_PROBLEM)
    result = interrogate(asked, np.random.default_rng(3), Options(0.15))
    assert result.status == COMPLETE
    assert exact(result.model, truth)
    steps = sample_transitions(truth, [initial], 300, np.random.default_rng(1))
    assert variational_distance(result.model, truth, steps) < 0.1
    pull, toggle = result.actions[:2]
    assert pull.index.text(Literals(pull.dependence.sure, 0)) == ["stuck(?d)", "oiled(?d)"]
    assert toggle.index.text(Literals(toggle.dependence.sure, 0)) == ["wet(?h)"]
    assert_right(result, truth)
    assert len(pull.cases) == 3
    share = Precision(0.05 / 3, 0.15, concentration(0.15))
    for case in pull.cases:
        hits, trials = ([getattr(one, name) for one in case.frequencies] for name in ("hits", "trials"))
        assert case.frequencies == frequencies(hits, trials, [0] * len(hits), share)


class Elsewhere(Unchanged):
    """Changes a thing that its instruction does not name."""

    def ask(self, query: Query) -> Response:
        answer = self.agent.ask(query)
        other = Atom("broken", ("b" if "a" in query.plan[0].objects else "a",))
        state = replace(answer.final.state, true=answer.final.state.true | {other})
        return replace(answer, final=Situation(state, state)) if answer.executed else answer


def test_refusals_without_reason_and_changes_of_what_is_not_named_are_told() -> None:
    result = interrogate(faulty_agent("random refusal", Access.RESET, 0), np.random.default_rng(0))
    assert result.status == NOT_STRIPS
    assert "refused although" in result.why
    result = interrogate(Elsewhere(agent(Access.RESET)), np.random.default_rng(0), Options(0.1))
    assert result.status == OPEN
    assert all(one.uncertainty < 0.2 for one in result.actions), "what no way leads to does not end it"
    assert "also brings about broken(another " in result.why
    assert "which a parameter of type " in result.why


CROWD = """(define (domain crowd) (:predicates (done)) (:types person)
  (:action meet :parameters (?a - person ?b - person ?c - person) :precondition () :effect (done)))"""
HALLS = """(define (domain halls) (:types lamp) (:predicates (on ?l - lamp))
  (:action press :parameters (?l - lamp) :precondition (not (on ?l)) :effect (probabilistic 0.9 (on ?l))))"""
VASE = """(define (domain vase) (:predicates (broken))
  (:action drop :parameters () :precondition (not (broken)) :effect (broken)))"""
SEEN = "no step that can be reached tells any more"


@pytest.mark.parametrize(
    ("access", "domain", "kind", "count", "status", "told"),
    [
        (Access.RESET, CROWD, "person", 18, OPEN, "of 5832 choices of arguments of meet only the first 5000"),
        (Access.RESET, HALLS, "lamp", 13, OPEN, "no step tells any more in the 3000 nearest situations; there are more"),
        # what can be broken once, on a trajectory, is tried once
        (Access.TRAJECTORY, VASE, "-", 0, COMPLETE, f"{SEEN}; intervals of drop stay wider than wanted, for no more trials can be reached"),
    ],
    ids=["too many arguments", "too many situations", "too few trials"],
)  # fmt: skip
def test_what_bounds_a_run_is_told(
    access: Access, domain: str, kind: str, count: int, status: str, told: str
) -> None:
    objects = " ".join(f"x{number}" for number in range(count)) + (f" - {kind}" if count else "")
    name = domain.split()[2].strip("()")
    problem = f"(define (problem p) (:domain {name}) (:objects {objects}) (:init) (:goal (and)))"
    result = interrogate(agent(access, 0, domain, problem), np.random.default_rng(0), Options(0.2))
    assert result.status == status
    assert result.why.startswith(told)
    assert result.missing == (None if status == COMPLETE else result.why)


def test_more_than_ten_outcomes_of_one_action_are_refused_by_name() -> None:
    """Whatever it is asked to do, one of eleven lamps is on afterwards, and no other."""
    lamps = [f"lamp{number}" for number in range(11)]
    domain = f"""(define (domain roulette) (:predicates {" ".join(f"({lamp})" for lamp in lamps)})
      (:action spin :parameters () :precondition () :effect (lamp0)))"""
    table, rng = "(define (problem p) (:domain roulette) (:init) (:goal (lamp0)))", np.random.default_rng(5)

    class Roulette(Unchanged):
        def ask(self, query: Query) -> Response:
            lamp = Atom(lamps[int(rng.integers(len(lamps)))], ())
            state = State(frozenset([lamp]), query.initial.state.objects)
            return Response(len(query.plan), Situation(state, state) if query.plan else query.initial)

    spun = Roulette(agent(Access.SNAPSHOT, 0, domain, table))
    result = interrogate(spun, np.random.default_rng(0), Options(0.1))
    assert result.status == NOT_STRIPS
    assert result.why.startswith("spin has more than 10 outcomes: what it does depends on something that")


def test_an_agent_that_fails_leaves_what_was_learned() -> None:
    class Failing(Unchanged):
        left = 5

        def ask(self, query: Query) -> Response:
            self.left -= 1
            if self.left < 0:
                raise AgentFailed("it has stopped")
            return self.agent.ask(query)

    result = interrogate(Failing(agent(Access.RESET)), np.random.default_rng(0))
    assert (result.status, result.complete, result.missing) == (FAILED, False, "it has stopped")
    assert any(action.executed for action in result.actions)


@pytest.mark.parametrize("looks", [0, 9])
def test_when_time_or_memory_is_spent_what_is_known_is_told(looks: int) -> None:
    result = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(resources=Looked(looks)))
    assert (result.status, result.why) == (BUDGET, WHY)
    assert len(result.model.actions) == 2
    whole = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(max_steps=result.counts.steps))
    assert whole.model == result.model


@pytest.mark.parametrize("seed", first(1, [995010, 995011]))
def test_what_came_once_in_one_kind_of_situation_is_tried_there_again(seed: int) -> None:
    """An action that surely fails where two things come together was said to work 99% of the time: it had been tried there once."""
    truth, domain = random_conditional(seed)
    one = slipping(truth, domain.problems, Access.SETTABLE, [seed, 4])
    result = interrogate(one, np.random.default_rng(seed), Options(max_steps=1200))
    assert_right(result, truth)


class LookAlikes(Problems):
    """Two problems that look alike; in the second 60% of the steps change nothing."""

    def __init__(self, access: Access, seed: int) -> None:
        initial = [generate("gripper", 2, np.random.default_rng(0)).initial]
        super().__init__([SymbolicAgent(load("gripper"), initial, access, refuses_surely=True)] * 2)
        self._rng = np.random.default_rng(seed)

    def answer(self, number: int, query: Query) -> Response:
        response = super().answer(number, query)
        return replace(response, final=query.initial) if number and self._rng.random() < 0.6 else response


@pytest.mark.parametrize(
    ("access", "seed"), first(1, product([Access.RESET, Access.SNAPSHOT], range(scaled(3))))
)
def test_what_differs_in_problems_that_look_alike_is_told(access: Access, seed: int) -> None:
    agent = LookAlikes(access, seed)
    result = interrogate(agent, np.random.default_rng(seed), Options(0.1, max_steps=3000))
    assert result.status == NOT_STRIPS
    assert "which looks like others at first" in result.why
    assert min(agent.asked.values()) > sum(agent.asked.values()) / 4


def diagnosed(asked: Agent, seed: int = 0) -> Result:
    """What an interrogation ends with that takes the agent for a deterministic one."""
    try:
        result = aam_vision.interrogate(asked, seed=seed, go_on=False)
    except Interrupted as error:
        result = error.result
    assert result.not_strips
    return result


@pytest.mark.parametrize("access", first(2, [Access.RESET, Access.SETTABLE, Access.SNAPSHOT]))
def test_an_agent_whose_steps_slip_is_learned_from_where_it_was_noticed(access: Access) -> None:
    asked = CountingAgent(agent(access))
    result = diagnosed(asked)
    assert can_go_on(result)
    seen = list(observed(result.transcript))
    before = asked.counts.steps
    found = go_on(asked, result.transcript, result.counts, np.random.default_rng(0), Options(0.1))
    assert found.status == COMPLETE
    truth, _ = read()
    assert exact(found.model, truth)
    assert not any(check(one, truth.schema(one.index.header.name)).wrong for one in found.actions)
    further = asked.counts.steps - before
    assert found.counts.steps == result.counts.steps + further
    tried = sum(one.executed + one.refused for one in found.actions)
    assert tried == len(seen) + further, "all that was seen counts as a trial"


def test_an_effect_that_depends_on_a_condition_is_learned_as_cases() -> None:
    asked = faulty_agent("effect depends on own atom", Access.SETTABLE, 0)
    result = diagnosed(asked)
    found = go_on(asked, result.transcript, result.counts, np.random.default_rng(0), Options(0.1))
    assert found.status == COMPLETE
    (changed,) = [one for one in found.model.actions if len(one.branches) > 1]
    assert (changed.header.name,) == asked.fault.actions
    assert all(len(case.outcomes) == 1 for case in changed.branches)


@pytest.mark.parametrize("family", ["hidden fuel", "fault after k uses in the process", "states misread"])
def test_what_is_hidden_or_changing_or_misread_is_not_taken_for_chance(family: str) -> None:
    assert not can_go_on(diagnosed(faulty_agent(family, Access.SNAPSHOT, 1), 1))


@pytest.mark.parametrize("left", [0, 3])
def test_the_budget_is_that_of_both_together(left: int) -> None:
    asked = CountingAgent(agent(Access.RESET))
    result = diagnosed(asked)
    found = go_on(
        asked,
        result.transcript,
        result.counts,
        np.random.default_rng(0),
        Options(0.1, max_steps=result.counts.steps + left),
    )
    assert found.status == BUDGET
    assert found.counts.steps == result.counts.steps + left
