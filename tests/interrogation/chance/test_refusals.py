"""Refusals that are a matter of chance are an outcome in which nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aam_vision
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.refusals import WithRefusals, refused_by_chance, with_refusals
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.diagnosed import Way
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, LiftedAtom, Objects, State
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import unpredicted
from tests import domains
from tests.profiles import first, scaled, thorough


@thorough(60)
@given(domains.domains(), st.integers(0, 9), st.data())
def test_a_plan_goes_on_after_a_refusal_that_counts_as_a_step(
    domain: domains.Domain, seed: int, data: st.DataObject
) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, Access.SETTABLE)
    names = [header.name for header in agent.headers]
    counted = data.draw(st.sets(st.sampled_from(names)))
    start, rng = agent.initial()[0], np.random.default_rng(seed)
    steps = domains.instances(agent.headers, start.state.objects)
    plan = tuple(steps[number] for number in rng.integers(len(steps), size=6)) if steps else ()
    here, executed = start, 0
    for step in plan:
        response = agent.ask(Query(here, (step,)))
        if not response.executed and step.name not in counted:
            break
        here, executed = response.final, executed + 1
    response = WithRefusals(agent, counted).ask(Query(start, plan))
    assert (response.executed, response.final.state, response.told) == (executed, here.state, None)


@pytest.mark.parametrize(
    ("access", "seed"),
    first(1, [(Access.SETTABLE, 3300001), (Access.RESET, 3300000), (Access.SNAPSHOT, 3300001), (Access.TRAJECTORY, 3300002)]),
)  # fmt: skip
def test_an_agent_that_swaps_arguments_is_learned(access: Access, seed: int) -> None:
    """By what it requires nothing explains when it refuses; so how often it is carried out depends on where its arguments are."""
    asked = faulty_agent("arguments swapped sometimes", access, seed)
    assert isinstance(asked, FaultyAgent)
    result = aam_vision.interrogate(asked, seed=seed, exam=60, raises=False, go_on=False)
    further = go_further(asked, result, seed, Options(0.25, max_steps=3000), exam=60)
    assert (further.way, further.refusals) == (Way.OUTCOMES, asked.fault.actions)
    found, name = further.found, asked.fault.actions[0]
    assert found is not None
    assert isinstance(found.outcomes, ChanceResult)
    assert found.invented.startswith(f"A refused step of {name} counts as one that changes nothing")
    assert found.counts.failed_steps > result.counts.failed_steps
    missed = unpredicted(found, asked, np.random.default_rng(seed), refusals=further.refusals)
    assert missed <= 5
    (action,) = [one for one in found.outcomes.actions if one.index.header.name == name]
    assert not action.precondition.proven.size()
    shares = [one for case in action.cases if len(case.outcomes) == 2 for one in case.frequencies]
    assert shares
    assert all(one.low <= 0.3 <= one.high or one.low <= 0.7 <= one.high for one in shares)
    assert further.transcript is not None
    assert refused_by_chance(further.transcript) == further.refusals
    assert not refused_by_chance(with_refusals(further.transcript, further.refusals))


BALL = """(define (domain ball) (:requirements :strips :typing) (:types room - object)
  (:predicates (at ?r - room) (ball-in ?r - room) (free))
  (:action go :parameters (?a ?b - room) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
  (:action pick :parameters (?r - room) :precondition (and (at ?r) (ball-in ?r) (free))
    :effect (and (not (ball-in ?r)) (not (free))))
  (:action drop :parameters (?r - room) :precondition (at ?r) :effect (and (ball-in ?r) (free))))"""


class Burdened(AgentDecorator):
    """It slips now and then, and refuses to go half of the time while it carries the ball."""

    def __init__(self, agent: Agent, seed: int) -> None:
        super().__init__(agent)
        self._rng = np.random.default_rng(seed)

    def ask(self, query: Query) -> Response:
        burdened = Atom("free", ()) not in query.initial.state.true
        going = bool(query.plan) and query.plan[0].name == "go"
        response = super().ask(query)
        if not (going and response.executed):
            return response
        if burdened and self._rng.random() < 0.5:
            return Response(0, query.initial)
        return Response(1, query.initial) if self._rng.random() < 0.25 else response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return ()


@pytest.mark.parametrize("seed", range(scaled(3)))
def test_one_refusal_that_may_be_chance_proves_nothing(seed: int, tmp_path: Path) -> None:
    """Refused once while it carried the ball, it was called complete, and to need free hands."""
    (tmp_path / "domain.pddl").write_text(BALL)
    model = read_domain(tmp_path / "domain.pddl")
    objects = Objects(dict.fromkeys(("a", "b", "c"), "room"), model.vocabulary.types)
    begins = State(frozenset({Atom("at", ("a",)), Atom("ball-in", ("b",)), Atom("free", ())}), objects)
    agent = Burdened(SymbolicAgent(model, [begins], Access.RESET, refuses_surely=True), seed)
    found = aam_vision.interrogate(agent, seed=seed, within=0.3, max_steps=1500, raises=False)
    free = LiftedAtom("free", ())
    if isinstance(found.outcomes, ChanceResult) and found.outcomes.status != "budget":
        assert free not in found.model.schema("go").positive
    else:
        assert not found.complete


class Balky(AgentDecorator):
    """It refuses to go three times in ten, whatever is the case."""

    def __init__(self, agent: Agent, seed: int) -> None:
        super().__init__(agent)
        self._rng = np.random.default_rng(seed)

    def ask(self, query: Query) -> Response:
        balks = (one for one, step in enumerate(query.plan) if step.name == "go" and self._rng.random() < 0.3)
        return super().ask(Query(query.initial, query.plan[: next(balks, None)], query.goes_on))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return ()


@pytest.mark.parametrize("chance", [False, True])
@pytest.mark.parametrize("seed", range(scaled(3)))
def test_an_agent_that_refuses_one_action_by_chance_is_learned(
    seed: int, chance: bool, tmp_path: Path
) -> None:
    """That was weighed as if each action were refused by mistake as often as any other."""
    (tmp_path / "domain.pddl").write_text(BALL)
    model = read_domain(tmp_path / "domain.pddl")
    objects = Objects(dict.fromkeys(("a", "b", "c"), "room"), model.vocabulary.types)
    begins = State(frozenset({Atom("at", ("a",)), Atom("ball-in", ("b",)), Atom("free", ())}), objects)
    agent = Balky(SymbolicAgent(model, [begins], Access.RESET), seed)
    found = aam_vision.interrogate(agent, seed=seed, within=0.25, max_steps=800, chance=chance, raises=False)
    assert isinstance(found.outcomes, ChanceResult)
    assert found.invented.startswith("A refused step of go counts as one that changes nothing")
    go, *others = found.outcomes.actions
    often = [one for case in go.cases if len(case.outcomes) == 2 for one in case.frequencies]
    assert often
    assert all(one.low <= 0.3 <= one.high or one.low <= 0.7 <= one.high for one in often)
    assert not any(case.outcomes[1:] for other in others for case in other.cases)
    assert not any(one.side_effects for one in found.outcomes.actions)


class Lazy(AgentDecorator):
    """It refuses to go every third time."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._times = 0

    def ask(self, query: Query) -> Response:
        for number, step in enumerate(query.plan):
            self._times += step.name == "go"
            if step.name == "go" and self._times % 3 == 0:
                return super().ask(Query(query.initial, query.plan[:number], query.goes_on))
        return super().ask(query)


def test_what_comes_in_cycles_is_no_outcome_and_that_is_told(tmp_path: Path) -> None:
    """Its answers are weighed; that refusals are no errors, either, is told beside."""
    (tmp_path / "domain.pddl").write_text(BALL)
    model = read_domain(tmp_path / "domain.pddl")
    objects = Objects(dict.fromkeys(("a", "b", "c"), "room"), model.vocabulary.types)
    begins = State(frozenset({Atom("at", ("a",)), Atom("ball-in", ("b",)), Atom("free", ())}), objects)
    found = aam_vision.interrogate(Lazy(SymbolicAgent(model, [begins], Access.SETTABLE)), exam=60)
    assert found.status == "open"
    assert found.outcomes is None
    for text in (str(found), found.diagnosis.further if found.diagnosis is not None else ""):
        assert "refusals of go among them" in " ".join(text.split())
