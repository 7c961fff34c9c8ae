"""What is learned of an agent with chance is right, within the access, and made of no more steps than are allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, interrogate, most_steps
from aam_vision.interrogation.chance.intervals import Precision, concentration, frequencies
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, FAILED, NOT_STRIPS, OPEN
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Model, State
from aam_vision.report.chance_evaluation import (
    check,
    exact,
    same_structure,
    sample_transitions,
    variational_distance,
)
from aam_vision.support.errors import AgentFailed
from experiments.chance import random_chance, random_conditional
from experiments.random_strips import Domain
from tests.profiles import first, scaled, some
from tests.resources import WHY, Looked

from .agents import agent, read
from .domains import DOOR_PROBLEM, DOORS, PROBLEM, SLIPPERY

ACCESS = [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]


def learned(access: Access, seed: int = 0, within: float = 0.08) -> ChanceResult:
    return interrogate(agent(access, seed), np.random.default_rng(seed), Options(within))


@pytest.mark.parametrize("access", ACCESS)
def test_structure_and_probabilities_are_right(access: Access) -> None:
    truth, initial = read()
    result = learned(access)
    assert result.status == COMPLETE
    steps = sample_transitions(truth, [initial], 300, np.random.default_rng(1))
    assert same_structure(result.model, truth, [step.before for step in steps])
    assert variational_distance(result.model, truth, steps) < 0.08
    for action in result.actions:
        checked = check(action, truth.schema(action.index.header.name))
        assert not checked.wrong
        assert all(checked.intervals)
        assert all((one.high - one.low) / 2 <= 0.08 for one in action.frequencies)
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


def test_no_more_steps_are_taken_than_are_allowed() -> None:
    for limit in (0, 1, 7, 50):
        result = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(max_steps=limit))
        assert result.status == BUDGET
        assert result.counts.steps == limit
        assert result.why == ("1 step was allowed" if limit == 1 else f"{limit} steps were allowed")


def test_the_same_seed_gives_the_same_result() -> None:
    one, other = (learned(Access.RESET, 3, 0.15) for _ in range(2))
    assert (one.model, one.counts) == (other.model, other.counts)


def test_an_agent_without_chance_comes_out_without_chance() -> None:
    model = load("gripper")
    initial = [generate("gripper", 2, np.random.default_rng(0)).initial]
    deterministic = SymbolicAgent(
        model, initial, Access.SETTABLE, refuses_surely=True, chance=np.random.default_rng(0)
    )
    result = interrogate(deterministic, np.random.default_rng(0), Options(0.1))
    assert result.status == COMPLETE
    assert exact(result.model, model)
    for action in result.actions:
        assert len(action.outcomes) == 1
        assert action.unseen <= 0.2


@pytest.mark.parametrize(
    ("drawn", "seeds", "steps", "access"),
    [
        *first(2, ((random_chance, 12, 250, access) for access in ACCESS)),
        *first(1, ((random_conditional, 16, 700, access) for access in (Access.SETTABLE, Access.RESET))),
    ],
)
def test_what_is_called_certain_of_random_domains_is_right(
    drawn: Callable[[int], tuple[Model, Domain]], seeds: int, steps: int, access: Access
) -> None:
    several = conditions = 0
    for seed in range(seeds):
        truth, domain = drawn(seed)
        if domain.repeated:
            continue
        asked = SymbolicAgent(
            truth, domain.problems, access, refuses_surely=True, chance=np.random.default_rng([seed, 1])
        )
        result = interrogate(asked, np.random.default_rng(seed), Options(0.1, max_steps=steps))
        assert result.status in (COMPLETE, OPEN, BUDGET)
        for action in result.actions:
            assert not check(action, truth.schema(action.index.header.name)).wrong
            several += len(action.outcomes) > 1
            conditions += action.dependence.sure.bit_count()
    assert several > 3
    assert drawn is random_chance or conditions


class Unchanged(AgentDecorator):
    """The agent itself, but for its walks: it takes none."""

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        return self.agent.ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []


OTHER = """(define (problem other) (:domain slippery)
  (:objects c d - block left right - hand) (:init (free left)) (:goal (and (holding c))))
"""


class OwnObjects(Unchanged):
    """Refuses to be asked about things that its problem does not have."""

    def ask(self, query: Query) -> Response:
        state = query.initial.state
        assert {one for atom in state.true for one in atom.objects} <= set(state.objects)
        return self.agent.ask(query)


def test_states_that_are_made_have_the_objects_of_their_problem_alone() -> None:
    (model, one), (_, other) = read(), read(problem=OTHER)
    slippery = SymbolicAgent(model, [one, other], refuses_surely=True, chance=np.random.default_rng(0))
    result = interrogate(OwnObjects(slippery), np.random.default_rng(0), Options(0.2))
    assert result.status == COMPLETE


class Capricious(Unchanged):
    """Refuses now and then what it can do."""

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self._rng = np.random.default_rng(0)

    def ask(self, query: Query) -> Response:
        if self._rng.random() < 0.2:
            return Response(0, query.initial)
        return self.agent.ask(query)


class Changing(Unchanged):
    """Becomes another agent where a question is of a kind, or after some of them."""

    def __init__(self, inner: Agent, other: Agent, when: Callable[[int, Query], bool]) -> None:
        super().__init__(inner)
        self._other = other
        self._when = when
        self._asked = 0

    def ask(self, query: Query) -> Response:
        self._asked += 1
        return (self._other if self._when(self._asked, query) else self.agent).ask(query)


def clumsy(access: Access) -> SymbolicAgent:
    """The same agent, which mostly breaks what it drops."""
    return agent(access, 1, domain=SLIPPERY.replace("(probabilistic 0.3", "(probabilistic 0.9"))


def test_probabilities_that_drift_are_named() -> None:
    whys = []
    for seed in range(4):
        changing = Changing(
            agent(Access.SNAPSHOT, seed), clumsy(Access.SNAPSHOT), lambda asked, query: asked > 400
        )
        result = interrogate(changing, np.random.default_rng(seed), Options(0.05, max_steps=900))
        assert result.status == NOT_STRIPS
        whys.append(result.why)
    # what has changed once also comes some steps after what came before it: that may show sooner
    assert sum("how often an outcome of drop comes has changed" in why for why in whys) >= 3


def test_a_frequency_that_depends_on_an_atom_makes_two_cases() -> None:
    both = SLIPPERY.replace("(free ?h - hand)", "(free ?h - hand) (wet ?b - block)")
    problem = PROBLEM.replace("(free h)", "(free h) (wet a)")
    dry = agent(Access.SNAPSHOT, 0, both, problem)
    wet = agent(Access.SNAPSHOT, 1, both.replace("(probabilistic 0.3", "(probabilistic 0.9"), problem)
    changing = Changing(dry, wet, lambda asked, query: query.plan[0].objects[0] == "a")
    result = interrogate(changing, np.random.default_rng(0), Options(0.05, max_steps=900))
    drop = next(one for one in result.actions if one.index.header.name == "drop")
    assert [drop.index.text(case.condition) for case in drop.cases] == [["wet(?b)"], ["not wet(?b)"]]
    for case, broken in zip(drop.cases, (0.9, 0.3), strict=True):
        adds = [bool(one.adds & drop.index.bit[LiftedAtom("broken", (0,))]) for one in case.outcomes]
        often = case.frequencies[adds.index(True)]
        assert often.low < broken < often.high
    assert len(result.model.schema("grab").branches) == 1


def test_conditional_effects_are_learned_with_their_conditions() -> None:
    for access in some(1, (Access.SETTABLE, Access.RESET)):
        truth, initial = read(DOORS, DOOR_PROBLEM)
        asked = agent(access, 3, DOORS, DOOR_PROBLEM)
        result = interrogate(asked, np.random.default_rng(3), Options(0.1))
        assert result.status == COMPLETE
        assert exact(result.model, truth)
        steps = sample_transitions(truth, [initial], 300, np.random.default_rng(1))
        assert variational_distance(result.model, truth, steps) < 0.08
        pull, toggle = result.actions[:2]
        assert pull.index.text(Literals(pull.dependence.sure, 0)) == ["stuck(?d)", "oiled(?d)"]
        assert toggle.index.text(Literals(toggle.dependence.sure, 0)) == ["wet(?h)"]
        for action in result.actions:
            checked = check(action, truth.schema(action.index.header.name))
            assert not checked.wrong
            assert all(checked.intervals)


class Elsewhere(Unchanged):
    """Changes a thing that its instruction does not name."""

    def ask(self, query: Query) -> Response:
        answer = self.agent.ask(query)
        if not answer.executed:
            return answer
        return Response(answer.executed, self._changed(query.plan[0].objects, answer.final))

    def _changed(self, named: tuple[str, ...], final: Situation) -> Situation:
        other = "b" if "a" in named else "a"
        state = State(final.state.true | {Atom("broken", (other,))}, final.state.objects)
        return Situation(state, state)


def test_an_agent_whose_refusals_no_precondition_explains_is_named() -> None:
    result = interrogate(Capricious(agent(Access.RESET)), np.random.default_rng(0))
    assert result.status == NOT_STRIPS
    assert "refused although" in result.why


def test_changes_of_things_that_are_not_named_are_told_beside_what_is_learned() -> None:
    result = interrogate(Elsewhere(agent(Access.RESET)), np.random.default_rng(0))
    assert result.status == OPEN
    assert all(one.uncertainty < 0.1 for one in result.actions), "what no way leads to does not end it"
    assert "also brings about broken(another " in result.why
    assert "which a parameter of type " in result.why


LAMPS = 11
ROULETTE = f"""
(define (domain roulette) (:predicates {" ".join(f"(lamp{n})" for n in range(LAMPS))})
  (:action spin :parameters () :precondition () :effect (lamp0)))
"""
TABLE = "(define (problem p) (:domain roulette) (:init) (:goal (lamp0)))"


class Roulette(AgentDecorator):
    """Whatever it is asked to do, one of eleven lamps is on afterwards, and no other."""

    def __init__(self) -> None:
        super().__init__(agent(Access.SNAPSHOT, 0, ROULETTE, TABLE))
        self._rng = np.random.default_rng(5)

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        after = self._spun(query.initial) if query.plan else query.initial
        return Response(len(query.plan), after)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return [WalkStep(start, GroundAction("spin", ()), self._spun(start))]

    def _spun(self, situation: Situation) -> Situation:
        lamp = Atom(f"lamp{self._rng.integers(LAMPS)}", ())
        state = State(frozenset([lamp]), situation.state.objects)
        return Situation(state, state)


def test_more_than_ten_outcomes_of_one_action_are_refused_by_name() -> None:
    result = interrogate(Roulette(), np.random.default_rng(0), Options(0.1))
    assert result.status == NOT_STRIPS
    assert result.why.startswith("spin has more than 10 outcomes: what it does depends on something that")


CROWD = """
(define (domain crowd) (:predicates (done)) (:types person)
  (:action meet :parameters (?a - person ?b - person ?c - person) :precondition () :effect (done)))
"""
HALLS = """
(define (domain halls) (:types lamp) (:predicates (on ?l - lamp))
  (:action press :parameters (?l - lamp) :precondition (not (on ?l)) :effect (probabilistic 0.9 (on ?l))))
"""


def _many(domain: str, kind: str, count: int) -> str:
    objects = " ".join(f"x{number}" for number in range(count))
    return f"(define (problem p) (:domain {domain}) (:objects {objects} - {kind}) (:init) (:goal (and)))"


@pytest.mark.parametrize(
    ("domain", "problem", "told"),
    [
        (CROWD, _many("crowd", "person", 18), "of 5832 choices of arguments of meet only the first 5000"),
        (
            HALLS,
            _many("halls", "lamp", 13),
            "no step tells any more in the 3000 nearest situations; there are more",
        ),
    ],
)
def test_a_run_that_did_not_consider_everything_is_not_complete(domain: str, problem: str, told: str) -> None:
    result = interrogate(agent(Access.RESET, 0, domain, problem), np.random.default_rng(0), Options(0.3))
    assert (result.status, result.missing) == (OPEN, result.why)
    assert result.why.startswith(told)


def test_an_agent_that_fails_leaves_what_was_learned() -> None:
    class Failing(Unchanged):
        def ask(self, query: Query) -> Response:
            if len(self.asked) == 5:
                raise AgentFailed("it has stopped")
            self.asked.append(query)
            return self.agent.ask(query)

        def __init__(self, agent: Agent) -> None:
            super().__init__(agent)
            self.asked: list[Query] = []

    result = interrogate(Failing(agent(Access.RESET)), np.random.default_rng(0))
    assert (result.status, result.complete, result.missing) == (FAILED, False, "it has stopped")
    assert any(action.executed for action in result.actions)


def test_intervals_that_no_more_trials_can_narrow_are_told() -> None:
    """What can be broken once, on a trajectory, is tried once."""
    domain = "(define (domain vase) (:predicates (broken)) (:action drop :parameters () :precondition (not (broken)) :effect (broken)))"
    problem = "(define (problem p) (:domain vase) (:init) (:goal (broken)))"
    result = interrogate(agent(Access.TRAJECTORY, 0, domain, problem), np.random.default_rng(0), Options(0.1))
    assert result.status == COMPLETE
    assert result.why == (
        "no step that can be reached tells any more; intervals of drop stay wider than wanted, for no more trials can be reached"
    )


@pytest.mark.parametrize("looks", [0, 1, 9, 60])
def test_when_time_or_memory_is_spent_what_is_known_is_told(looks: int) -> None:
    result = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(resources=Looked(looks)))
    assert (result.status, result.why) == (BUDGET, WHY)
    assert len(result.model.actions) == 2
    whole = interrogate(agent(Access.RESET), np.random.default_rng(0), Options(max_steps=result.counts.steps))
    assert whole.model == result.model


def test_more_steps_are_allowed_for_narrower_intervals() -> None:
    assert [most_steps(within) for within in (0.4, 0.05, 0.025)] == [20_000, 20_000, 80_000]


def test_the_intervals_of_all_cases_of_an_action_share_its_error_probability() -> None:
    """If each case had the 5% of its action, some interval of four cases would miss the truth in up to 20% of all runs."""
    doors = agent(Access.SETTABLE, 3, DOORS, DOOR_PROBLEM)
    result = interrogate(doors, np.random.default_rng(0), Options(0.15, max_steps=600))
    pull = next(one for one in result.actions if one.index.header.name == "pull")
    assert len(pull.cases) == 3
    share = Precision(0.05 / 3, 0.15, concentration(0.15))
    for case in pull.cases:
        hits, trials = ([getattr(one, name) for one in case.frequencies] for name in ("hits", "trials"))
        assert case.frequencies == frequencies(hits, trials, [0] * len(hits), share)


@pytest.mark.parametrize("seed", [995010, 995011])
def test_what_came_once_in_one_kind_of_situation_is_tried_there_again(seed: int) -> None:
    """An action that surely fails where two things come together was said to work 99% of the time: it had been tried there once."""
    truth, domain = random_conditional(seed)
    one = SymbolicAgent(
        truth, domain.problems, Access.SETTABLE, refuses_surely=True, chance=np.random.default_rng([seed, 4])
    )
    result = interrogate(one, np.random.default_rng(seed), Options(max_steps=1200))
    for action in result.actions:
        found = check(action, truth.schema(action.index.header.name))
        assert all(found.intervals)
        assert not found.wrong


class LookAlikes(Unchanged):
    """Two problems that look alike; in the second 60% of the steps change nothing."""

    def __init__(self, access: Access, seed: int) -> None:
        initial = [generate("gripper", 2, np.random.default_rng(0)).initial]
        super().__init__(SymbolicAgent(load("gripper"), initial, access, refuses_surely=True))
        self.asked = Counter[int]()
        self._rng = np.random.default_rng(seed)

    def initial(self) -> list[Situation]:
        (first,) = super().initial()
        return [Situation((number, first.handle), first.state) for number in (1, 2)]

    def ask(self, query: Query) -> Response:
        assert isinstance(query.initial.handle, tuple)
        number, handle = query.initial.handle
        response = super().ask(replace(query, initial=Situation(handle, query.initial.state)))
        self.asked[number] += 1
        slips = number == 2 and self._rng.random() < 0.6
        final = query.initial if slips else Situation((number, response.final.handle), response.final.state)
        return replace(response, final=final)


@pytest.mark.parametrize("access", first(1, [Access.RESET, Access.SNAPSHOT]))
@pytest.mark.parametrize("seed", range(scaled(3)))
def test_problems_that_look_alike_are_tried_evenly_and_what_differs_is_told(
    access: Access, seed: int
) -> None:
    agent = LookAlikes(access, seed)
    result = interrogate(agent, np.random.default_rng(seed), Options(0.1, max_steps=3000))
    assert result.status == NOT_STRIPS
    assert "which looks like others at first" in result.why
    assert min(agent.asked.values()) > sum(agent.asked.values()) / 4
