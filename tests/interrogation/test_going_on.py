"""``interrogate`` goes on from a diagnosis: what comes of it, whatever explains the agent, is a result as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.envs.pddlgym_files import chance_model, initial_states
from aam_vision.interrogation.chance.result import ChanceResult
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import Atom, Objects, State
from aam_vision.report.chance_evaluation import check
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import trusted, unpredicted
from tests.profiles import first, scaled
from tests.refusals import told_by

from .chance.agents import agent
from .memory.planted import planted_agent


def interrogated(asked: Agent, seed: int = 1, within: float = 0.1) -> Result:
    """The result, however it ended."""
    return aam_vision.interrogate(asked, seed=seed, within=within, raises=False)


def test_what_is_random_is_learned_with_how_often_each_outcome_comes() -> None:
    found = interrogated(agent(Access.RESET))
    assert isinstance(found.outcomes, ChanceResult)
    assert (found.status, found.missing, found.certain) == ("complete", None, {})
    assert found.complete
    assert not found.not_strips
    assert "probabilistic" in found.pddl
    text = " ".join(str(found).split())
    for part in ("random", "grab: ", "(63-75%) holding(?b)", "not excluded: another outcome in up to "):
        assert part in text
    undecided = [one.index.text(one.precondition.undecided) for one in found.outcomes.actions]
    assert len(found.undetermined) == sum(map(len, undecided))


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    first(
        4,
        [
            ("random outcome", Access.SETTABLE, 1),
            ("random outcome", Access.TRAJECTORY, 1300000),
            ("drift of an effect", Access.RESET, 1),
            ("drift of a precondition", Access.TRAJECTORY, 2),
            ("drift of an effect", Access.TRAJECTORY, 0),
        ],
    ),
    ids=[
        "outcomes",
        "outcomes, and no way back",
        "an effect less",
        "what looked like a condition",
        "an effect less, and no way back",
    ],
)
def test_what_was_learned_is_what_the_agent_does(family: str, access: Access, seed: int) -> None:
    asked = faulty_agent(family, access, seed)
    assert isinstance(asked, FaultyAgent)
    found = interrogated(asked)
    assert found.complete
    assert found.diagnosis is not None
    assert bool(found.outcomes) is not bool(found.changed)
    assert unpredicted(found, asked, np.random.default_rng(0)) == 0


@pytest.mark.parametrize(
    ("access", "seed"),
    first(1, [(Access.RESET, 2), (Access.SETTABLE, 2), (Access.SETTABLE, 0), (Access.RESET, 3)]),
)
def test_rare_outcomes_are_not_taken_for_misread_pictures(access: Access, seed: int) -> None:
    """A table that explodes now and then: the outcome is seen once, and one atom differs."""
    truth, initial = chance_model("explodingblocks"), initial_states("explodingblocks", "train")[:1]
    chance = np.random.default_rng([seed, 4])
    exploding = SymbolicAgent(truth, initial, access, refuses_surely=True, chance=chance)
    found = interrogated(exploding, seed, within=0.25)
    assert isinstance(found.outcomes, ChanceResult)
    assert found.diagnosis is not None
    assert found.diagnosis.family is Family.RANDOM
    assert not any(check(one, truth.schema(one.index.header.name)).wrong for one in found.outcomes.actions)


@pytest.mark.parametrize("access", first(1, [Access.SNAPSHOT, Access.RESET, Access.SETTABLE]))
def test_what_is_hidden_is_learned_with_an_invented_fact(access: Access) -> None:
    found = interrogated(planted_agent("fact", access, 1))
    assert found.complete
    assert found.invented.startswith("memory-1 is an invented fact")
    assert "memory-1" in found.pddl


@pytest.mark.parametrize(
    ("family", "access", "learned"),
    first(
        4,
        [
            ("random outcome", "snapshot", "outcomes, complete"),
            ("effect depends on own atom", "snapshot", "cases, open"),
            ("delayed effect", "reset", "delayed, open"),
            ("drift of an effect", "reset", "anew, open"),
            ("hidden counter", "reset", "memory, open"),
            ("refused for a spoiled object", "snapshot", "memory, open"),
        ],
    ),
)
def test_what_explains_it_is_found_behind_looks_that_err(family: str, access: str, learned: str) -> None:
    found = trusted(
        agent=f"fault: {family}",
        access=access,
        flip_rate=0.05,
        seed=1,
        size=2,
        exam=60,
        go_on=True,
    )
    assert found["right"]
    assert (found["learned"], found["learned_right"], found["learned_missed"]) == (learned, True, 0)


def test_where_there_is_no_way_back_every_further_step_begins_where_it_stands() -> None:
    """The agent raises an error where one does not."""
    for family in ("effect wears off", "refused unless one of two", "comes and goes"):
        found = trusted(
            agent=f"fault: {family}", access="trajectory", seed=1500001, size=2, exam=60, go_on=True
        )
        assert found["learned"] is not None
        assert not found["learned_false"]


def test_where_refusals_err_too_nothing_is_gone_on_with() -> None:
    asked = UnreliableAgent(
        faulty_agent("hidden counter", Access.RESET, 1), 0.05, 0.05, np.random.default_rng(0)
    )
    found = interrogated(asked)
    assert found.rates is not None
    assert found.rates.refusals_err
    assert (found.invented, found.outcomes) == ("", None)


def test_what_nothing_explains_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(aam_vision.Interrupted) as raised:
        aam_vision.interrogate(faulty_agent("stale state", Access.SNAPSHOT, 4))
    found = raised.value.result
    assert (found.status, found.diagnosis is not None) == ("not-strips", True)
    further = found.diagnosis.further if found.diagnosis else ""
    assert further.startswith("It is no deterministic agent with several actions in place of one, either (")
    assert "No model with memory was found (" in further


def test_a_run_may_stop_at_its_diagnosis() -> None:
    found = aam_vision.interrogate(agent(Access.RESET), seed=1, raises=False, go_on=False)
    assert found.not_strips
    assert found.outcomes is None
    assert found.diagnosis is not None
    assert not found.diagnosis.further


@pytest.mark.parametrize(
    ("options", "told"),
    [
        *(({"within": within}, "give a number from") for within in (0.0, 0.5, -1)),
        *(
            ({"chance": True, option: given}, f"{option}.*cannot be given with chance")
            for option, given in (("policy", "aia"), ("repeated_arguments", True), ("confirm", True))
        ),
    ],
)
def test_what_nobody_can_want_is_refused_before_anything_is_asked(options: Any, told: str) -> None:
    told_by(lambda: aam_vision.interrogate(agent(Access.RESET), **options), told)


ROOMS = """(define (domain rooms) (:requirements :strips :typing :negative-preconditions) (:types room - object)
  (:predicates (at ?r - room) (lit ?r - room) (clean ?r - room))
  (:action go :parameters (?a - room ?b - room) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
  (:action on :parameters (?r - room) :precondition (and (at ?r) (not (lit ?r))) :effect (lit ?r))
  (:action off :parameters (?r - room) :precondition (and (at ?r) (lit ?r)) :effect (not (lit ?r)))
  (:action wash :parameters (?r - room) :precondition (and (at ?r) (lit ?r) (not (clean ?r))) :effect (clean ?r))
  (:action soil :parameters (?r - room) :precondition (and (at ?r) (clean ?r)) :effect (not (clean ?r))))"""


class Rests(AgentDecorator):
    """An agent that goes on only once it has done something else in between; no two of its situations are the same."""

    last, steps = "", 0

    def initial(self) -> Sequence[Situation]:
        return [replace(one, handle=0) for one in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        state, executed = query.initial.state, 0
        for step in query.plan:
            response = self.agent.ask(Query(Situation(state, state), (step,)))
            if not response.executed or step.name == self.last == "go":
                break
            state, executed, self.last = response.final.state, executed + 1, step.name
        self.steps += 1
        return Response(executed, Situation(self.steps, state))


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_that_seem_to_explain_refusals_are_examined(seed: int, tmp_path: Path) -> None:
    """What was missing at a refusal need not be its reason, and may never be tried again: ``clean(?b)`` of rooms that it cannot reach any more."""
    (tmp_path / "rooms.pddl").write_text(ROOMS)
    model = read_domain(tmp_path / "rooms.pddl")
    objects = Objects(dict.fromkeys(("r1", "r2", "r3"), "room"), model.vocabulary.types)
    begins = State(frozenset({Atom("at", ("r1",))}), objects)
    agent = Rests(SymbolicAgent(model, [begins], Access.TRAJECTORY))
    found = aam_vision.interrogate(agent, seed=seed, raises=False)
    assert not found.complete
    assert found.diagnosis is not None


@pytest.mark.parametrize(("family", "steps"), [("random outcome", 40), ("episode end", 150)])
def test_finding_out_what_is_wrong_keeps_to_the_budget(family: str, steps: int) -> None:
    """Experiments, the examination, and what the run goes on to are all within it."""
    for access in (Access.RESET, Access.TRAJECTORY):
        found = aam_vision.interrogate(faulty_agent(family, access, 5), seed=5, max_steps=steps, raises=False)
        assert found.counts.steps + found.counts.exam_steps <= steps


@pytest.mark.parametrize(
    ("domain", "steps"), first(2, [("tireworld", 89), ("river", 60), ("explodingblocks", 243)])
)
def test_of_a_small_budget_half_is_left_for_what_explains_the_agent(domain: str, steps: int) -> None:
    """Once experiments took all of it, and outcomes were what had been seen by then."""
    truth, initial = chance_model(domain), initial_states(domain, "train")[:1]
    learned = 0
    for seed, access in product(range(scaled(4)), (Access.RESET, Access.SNAPSHOT)):
        chance = np.random.default_rng([seed, 4])
        asked = SymbolicAgent(truth, initial, access, refuses_surely=True, chance=chance)
        found = aam_vision.interrogate(asked, seed=seed, max_steps=steps, raises=False)
        assert isinstance(found.outcomes, ChanceResult)
        assert found.diagnosis is not None
        assert found.diagnosis.family is not Family.MISREAD
        assert found.diagnosis.steps <= (steps + 1) // 2
        assert found.why == f"the budget of {steps} steps is spent"
        assert found.counts.steps + found.counts.exam_steps <= steps
        learned += sum(one.executed for one in found.outcomes.actions)
    assert learned >= scaled(4) * steps // 2
