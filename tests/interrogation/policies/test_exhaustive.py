"""A policy that stops too early is taken to where nothing is left to ask."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move, Stop
from aam_vision.interrogation.policies.decorators import Exhaustive, Replaying
from aam_vision.interrogation.task.loop import Budget, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.random_domains import outcome
from experiments.random_strips import Domain, random_domain
from tests.profiles import scaled


class Stopping:
    """A policy that asks nothing."""

    def __init__(self, *, complete: bool = False) -> None:
        self._complete = complete

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        return Stop(self._complete, "asks nothing")


def _run(domain: Domain, access: Access) -> Result:
    exhaustive = Exhaustive(Stopping(), access)
    policy = Replaying(exhaustive) if access is Access.RESET else exhaustive
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    return interrogate(
        agent, policy, np.random.default_rng(0), budget=Budget(steps=5000), repeated=domain.repeated
    )


@pytest.mark.parametrize("access", Access)
def test_nothing_is_left_to_ask(access: Access) -> None:
    for seed in range(scaled(30)):
        domain = random_domain(seed)
        result = _run(domain, access)
        ended, why = outcome(domain, access, result)
        assert ended in ("proven", "unproven"), f"seed {seed}: {ended} ({why})"
        assert ended == "proven" or access is Access.TRAJECTORY or domain.model.vocabulary.constants, seed


@pytest.mark.parametrize("access", Access)
def test_a_proof_is_left_alone(access: Access) -> None:
    domain = random_domain(0)
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    policy = Exhaustive(Stopping(complete=True), access)
    assert interrogate(agent, policy, np.random.default_rng(0)).counts.queries == 0


def test_where_the_agent_stands_must_allow_the_question_under_trajectory_access() -> None:
    domain = _one_way()
    result = _run(domain, Access.TRAJECTORY)
    ended, _ = outcome(domain, Access.TRAJECTORY, result)
    assert ended == "unproven", "the first step leads to where nothing can be told of a precondition"


def _one_way() -> Domain:
    """An action that can be executed once, and a second problem to which there is no way."""
    types = Types({})
    vocabulary = Vocabulary("door", (Predicate("open", ()), Predicate("lit", ())), types)
    header = ActionHeader("shut", (), ())
    is_open, is_lit = LiftedAtom("open", ()), LiftedAtom("lit", ())
    schema = ActionSchema(header, positive=frozenset([is_open]), delete=frozenset([is_open, is_lit]))
    objects = Objects({"o": "object"}, types)
    states = (
        State(frozenset([Atom("open", ()), Atom("lit", ())]), objects),
        State(frozenset([Atom("lit", ())]), Objects({"other": "object"}, types)),
    )
    return Domain(Model(vocabulary, (schema,)), states)
