"""The policy for trajectory access: few steps, each of its own choice, from where the agent stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aam_vision
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Walk
from aam_vision.interrogation.policies.trajectory import MAX_FRUITLESS, TrajectoryPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, Model, Objects, State
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import AMPLE
from tests.profiles import first, thorough

PEERS = {"gripper": 8, "blocksworld": 16, "miconic": 17, "satellite": 29, "logistics": 39}
"""Steps that OLAM or information-gain-aml take to the correct model, the fewer of the two. Ours are means: seeds differ by half."""


@thorough(30)
@given(domains.domains(), st.sampled_from([0.0, 0.3]))
def test_each_question_is_a_new_one_from_where_the_agent_stands(domain: Domain, hidden: float) -> None:
    """And no walk is ever made; it stops once too many questions in a row told nothing."""

    class Observed(TrajectoryPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            move = super().next(evidence, rng)
            assert not isinstance(move, Walk)
            if isinstance(move, Ask):
                assert move.start is evidence.current
                assert move.plan
                assert not evidence.was_asked(move.start, move.plan)
            else:
                told = "".join("01"[exchange.told] for exchange in evidence.exchanges)
                assert max(map(len, told.split("1"))) <= MAX_FRUITLESS + 1
            return move

    observed = Observed(limits=Limits(states=1000), work=3000)
    agent = HidingAgent(Domain(domain.model, domain.problems[:1]), Access.TRAJECTORY, hidden)
    interrogate(agent, observed, np.random.default_rng(0), budget=AMPLE)


@pytest.mark.parametrize("seed", range(5))
def test_of_actions_of_which_the_same_is_known_the_first_is_tried_first(seed: int) -> None:
    model, (problem,) = domains.packaged("gripper", seed=[seed, 1])
    names = [action.header.name for action in model.actions]
    assert names.index("pick") < names.index("drop")  # of the same parameters
    tried: list[str] = []

    class Noting(TrajectoryPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            move = super().next(evidence, rng)
            tried.extend(step.name for step in (move.plan if isinstance(move, Ask) else ()))
            return move

    agent = SymbolicAgent(model, [problem], Access.TRAJECTORY)
    interrogate(agent, Noting(), np.random.default_rng(seed), budget=Budget(steps=12))
    assert tried.index("pick") < tried.index("drop")


def _steps_to_the_correct_model(model: Model, problem: State, seed: int) -> int | None:
    agent = SymbolicAgent(model, [problem], Access.TRAJECTORY)
    result = interrogate(agent, TrajectoryPolicy(), np.random.default_rng(seed), budget=Budget(steps=60))
    assert result.counts.walk_steps == result.counts.resets == 0
    correct = None
    for point in result.curve:
        right = evaluation.exact(point.model, model)
        correct = (correct or point.steps) if right else None
    return correct


@pytest.mark.parametrize("name", first(1, PEERS))
def test_packaged_domains_need_no_more_steps_than_the_peers_do(name: str) -> None:
    model, (problem,) = domains.packaged(name, seed=[0, 1])
    steps = [_steps_to_the_correct_model(model, problem, seed) for seed in range(3)]
    assert None not in steps
    assert sum(filter(None, steps)) / len(steps) <= PEERS[name]


LAMPS = """(define (domain lamps) (:requirements :strips :typing :negative-preconditions) (:types room - object)
  (:predicates (at ?r - room) (lit ?r - room) (clean ?r - room))
  (:action go :parameters (?a - room ?b - room) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
  (:action switch :parameters (?r - room) :precondition (and (at ?r) (not (lit ?r))) :effect (lit ?r))
  (:action clean :parameters (?r - room) :precondition (and (at ?r) (lit ?r)) :effect (clean ?r)))"""


@pytest.mark.parametrize("surely", [True, False])
@pytest.mark.parametrize("rooms", range(3, 6))
def test_what_nothing_undoes_waits_for_questions_about_what_it_changes(
    tmp_path: Path, rooms: int, surely: bool
) -> None:
    """Once all rooms are lit, nobody can find out whether the robot may leave dark ones."""
    (tmp_path / "lamps.pddl").write_text(LAMPS)
    model = read_domain(tmp_path / "lamps.pddl")
    objects = Objects({f"r{number}": "room" for number in range(rooms)}, model.vocabulary.types)
    begins = State(frozenset({Atom("at", ("r0",))}), objects)
    agent = SymbolicAgent(model, [begins], Access.TRAJECTORY, refuses_surely=surely)
    assert aam_vision.interrogate(agent, exam=0).proven
