"""Arguments that name one object twice: atoms coincide, deletes come first, then adds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.policies.trajectory import TrajectoryPolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access
from aam_vision.model.strips import Objects, State
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from aam_vision.run import api
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, read_mode, true_mode
from tests.profiles import promised, thorough


def _interrogate(
    domain: Domain, access: Access, policy: SettablePolicy | AiaPolicy | EconomicalPolicy | TrajectoryPolicy
) -> Result:
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=True)
    return interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE, repeated=True)


@promised(60)
@given(domains.domains(repeated=True, constants=True))
def test_a_random_domain_is_learned_with_what_happens_when_arguments_are_named_twice(domain: Domain) -> None:
    result = _interrogate(domain, Access.SETTABLE, SettablePolicy())
    assert result.hypotheses.repeated
    assert_sound(result.hypotheses, domain.model)
    assert "budget of" not in result.why
    assert verify(result.transcript, result).holds
    if result.proven:
        rng, states = np.random.default_rng(0), []
        for start in [*domain.problems] * 10:
            facts, share = (
                domains.ground_atoms(domain.model.vocabulary, start.objects),
                rng.choice([0.3, 0.7, 0.9]),
            )
            states.append(State(frozenset(one for one in facts if rng.random() < share), start.objects))
        assert evaluation.equivalent(result.model, domain.model, states, repeated=True)
        for pal in result.hypotheses.pal_tuples():
            learned = true_mode(result.model, pal)
            assert learned in (true_mode(domain.model, pal), read_mode(domain.model, pal))


@thorough(40)
@given(domains.domains(repeated=True, constants=True, max_problems=1), st.integers(0, 100))
def test_one_trajectory_is_sound_and_claims_no_more_than_what_holds_where_it_may_lead(
    domain: Domain, seed: int
) -> None:
    policy = TrajectoryPolicy(limits=Limits(states=500), work=3000)
    result = _interrogate(domain, Access.TRAJECTORY, policy)
    assert_sound(result.hypotheses, domain.model)
    if result.proven and all(action.successes for action in result.hypotheses.actions.values()):
        rng, state = np.random.default_rng(seed), domain.problems[0]
        for _ in range(30):
            assert evaluation.equivalent(result.model, domain.model, [state], repeated=True)
            steps = evaluation.applicable(domain.model, state, repeated=True)
            if not steps:
                break
            schema, objects = steps[int(rng.integers(len(steps)))]
            state = schema.successor(state, objects)


@thorough(40)
@given(domains.domains(repeated=True))
def test_with_enough_objects_every_domain_is_learned_completely(domain: Domain) -> None:
    """Three objects of every type are as many as an action has parameters."""
    model = domain.model
    kinds = [*model.vocabulary.types.parents] or ["object"]
    objects = Objects({f"{k}{n}": k for k in [*kinds, "object"] for n in range(3)}, model.vocabulary.types)
    result = _interrogate(Domain(model, (State(frozenset(), objects),)), Access.SETTABLE, SettablePolicy())
    inexecutable = [schema for schema in model.actions if not result.hypotheses[schema.header.name].successes]
    assert result.proven or inexecutable, result.undetermined


def test_an_addition_that_only_undoes_a_deletion_is_found() -> None:
    """It shows only where both are one place."""
    for add in ("at y, ", ""):
        model = small.model(f"move x y: at y -> {add}not at x")
        domain = Domain(model, (small.state("a b c", "at a, at b"),))
        result = _interrogate(domain, Access.SETTABLE, SettablePolicy())
        assert result.proven
        assert evaluation.exact(result.model, model)
        assert Hypotheses(model.vocabulary, model.headers)["move"].undoing == 0


@pytest.mark.parametrize("access", Access)
def test_what_no_query_can_attribute_to_one_of_several_effects_is_left_open(access: Access) -> None:
    """Where both arguments are one object, the atom is deleted and added; else nothing shows it."""
    model, start = small.model("act x y: p x x x -> p x x x, not p x x y"), small.state("a b", "p a a a")
    agent = SymbolicAgent(model, [start], access, repeated=True, refuses_surely=True)
    result = api.interrogate(agent, repeated_arguments=True)
    assert result.proven
    assert verify(result.transcript, result).holds
    assert evaluation.equivalent(result.model, model, [start], repeated=True)
    if access is Access.SETTABLE:
        assert evaluation.exact(result.model, model)
