"""The lines of the paper's Algorithms 1 and 2 that docs/concepts/aia.md calls "as published", under both kinds of access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Walk
from aam_vision.interrogation.policies.aia import AiaPolicy, course_of
from aam_vision.interrogation.policies.distinguishing import resolved
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import Mode, Model, PalTuple, State
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import DistinguishingProblem, add_palm
from tests import domains
from tests.domains import Domain
from tests.planning.fast_downward import BLIND, needs_fast_downward, planned, read
from tests.profiles import first, thorough

AMPLE = Budget(queries=2000, steps=20_000)
MOST_STATES = 60
MOST_WALK_STEPS = 500


@dataclass
class Posed:
    """A distinguishing query at the moment when it is posed."""

    problem: DistinguishingProblem
    initial: State
    ask: Ask
    modes: tuple[Mode, ...]
    """Those that gamma may still have."""
    states: tuple[int, ...]
    """S."""


@dataclass
class Watched:
    """The algorithm, with all distinguishing queries that it poses."""

    policy: AiaPolicy
    posed: list[Posed] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    walked: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        shown: list[tuple[DistinguishingProblem, State]] = []
        self.policy.show = lambda problem, initial: shown.append((problem, initial))
        move = self.policy.next(evidence, rng)
        if isinstance(move, Ask):
            self.asked.append(move)
        if isinstance(move, Walk):
            self.walked += move.steps
        for problem, initial in shown:
            assert isinstance(move, Ask)
            course = course_of(evidence, [*evidence.hypotheses.pal_tuples()])
            states = () if course is None else course.states
            modes = evidence.hypotheses.modes(problem.pal)
            assert not resolved(evidence.hypotheses, problem.pal)
            self.posed.append(Posed(problem, initial, move, modes, states))
        return move


def _interrogate(domain: Domain, watched: Watched, seed: int) -> Result:
    access = Access.SETTABLE if watched.policy.constructed else Access.SNAPSHOT
    agent = SymbolicAgent(domain.model, domain.problems, access)
    return interrogate(agent, watched, np.random.default_rng(seed), budget=AMPLE)


def _gripper() -> Domain:
    problem = packaged.generate("gripper", 2, np.random.default_rng(0)).initial
    return Domain(packaged.load("gripper"), (problem,))


def test_s_is_collected_by_walks_of_500_steps_and_holds_60_states_at_most() -> None:
    """Algorithm 1, line 1, where states can be made."""
    watched = Watched(AiaPolicy())
    _interrogate(_gripper(), watched, 0)
    assert watched.walked == MOST_WALK_STEPS
    assert all(len(posed.states) <= MOST_STATES for posed in watched.posed)
    assert max(len(posed.states) for posed in watched.posed) > 1


@pytest.mark.parametrize("constructed", [True, False])
def test_pal_tuples_come_up_in_the_order_that_is_given(constructed: bool) -> None:
    """Algorithm 1, line 4: in one round of Gamma no query is about a pal tuple that comes before that of an earlier query."""
    for backwards in (False, True):
        places: dict[PalTuple, int] = {}

        def ordering(
            pals: Sequence[PalTuple],
            rng: np.random.Generator,
            backwards: bool = backwards,
            places: dict[PalTuple, int] = places,
        ) -> Sequence[PalTuple]:
            chosen = pals[::-1] if backwards else pals
            places.update({pal: place for place, pal in enumerate(chosen)})
            return chosen

        watched = Watched(AiaPolicy(constructed=constructed, ordering=ordering))
        _interrogate(_gripper(), watched, 0)
        came_up = [places[posed.problem.pal] for posed in watched.posed]
        assert len({*came_up}) > 2
        rounds = sum(after < before for before, after in pairwise(came_up))
        assert rounds <= 1, came_up


@thorough(60)
@given(domains.domains(), st.integers(0, 3), st.booleans())
def test_every_query_and_what_is_returned_are_as_published(
    domain: Domain, seed: int, constructed: bool
) -> None:
    """The lines of Algorithms 1 and 2 that every query and every result shows."""
    watched = Watched(AiaPolicy(constructed=constructed, limits=Limits(states=300), walk_steps=20))
    result = _interrogate(domain, watched, seed)
    for pal in result.hypotheses.pal_tuples():
        truth = domain.model.schema(pal.action).mode(pal.atom, pal.location)
        assert truth in result.hypotheses.modes(pal), "Algorithm 1, line 2: the true model is returned"
    for number, posed in enumerate(watched.posed):
        pair = {posed.problem.i, posed.problem.j}
        assert len(pair) == 2
        assert pair <= {*posed.modes}, "line 8: two modes that are still possible"
        if not constructed:
            assert posed.ask.start.situation is not None, "Algorithm 2, line 4: a state that was seen"
            assert posed.ask.start.situation.state == posed.initial
        elif number:
            assert posed.ask.start.number in posed.states, "Algorithm 2, line 4: a state of S"
        assert posed.problem.solved_by(posed.initial, posed.ask.plan), "lines 7 to 10: M' + gamma^i differs"
        assert posed.ask.plan[-1].name == posed.problem.pal.action, "Lemma 2"
        for mode in _pruned(posed, domain.model):
            assert mode not in result.hypotheses.modes(posed.problem.pal)
            assert mode is not domain.model.schema(posed.problem.pal.action).mode(*posed.problem.pal[::2])
    for action in result.hypotheses.actions.values():
        if constructed and action.successes:
            assert not action.undecided, "an action that was ever executed is resolved entirely"
            assert not action.undecided_effects
    asked = {(ask.start.number, ask.plan) for ask in watched.asked}
    assert len(asked) == len(watched.asked), "stored responses are used if a query is repeated"


def _pruned(posed: Posed, truth: Model) -> list[Mode]:
    """The modes that filter_models prunes: where exactly one model is consistent (Definitions 5 and 6), the other."""
    problem, plan = posed.problem, posed.ask.plan
    executed, final = truth.run(posed.initial, plan)
    consistent = []
    for mode in (problem.i, problem.j):
        length, reached = add_palm(problem.model, problem.pal, mode).run(posed.initial, plan)
        consistent.append(executed == length == len(plan) and reached.true <= final.true)
    if consistent[0] == consistent[1]:
        return []
    return [problem.j if consistent[0] else problem.i]


@needs_fast_downward
@pytest.mark.parametrize("constructed", first(1, [True, False]))
def test_fast_downward_solves_the_p_po_of_every_query(constructed: bool, tmp_path: Path) -> None:
    """Algorithm 2, line 6: as the paper has it, from the same initial state."""
    watched = Watched(AiaPolicy(constructed=constructed))
    _interrogate(_gripper(), watched, 0)
    assert len(watched.posed) > 2
    for posed in watched.posed:
        plan = planned(read(posed.problem, posed.initial, tmp_path), BLIND)
        assert plan is not None
        assert posed.problem.solved_by(posed.initial, plan)
