"""Arguments that name one object twice: atoms coincide, deletes come first, then adds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
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
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from aam_vision.run import api
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, read_mode, true_mode
from tests.profiles import promised, thorough


def _interrogate(
    domain: Domain, access: Access, policy: SettablePolicy | AiaPolicy | EconomicalPolicy
) -> Result:
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=True)
    return interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE, repeated=True)


def _random_states(domain: Domain, count: int) -> list[State]:
    rng = np.random.default_rng(0)
    return [
        State(frozenset(fact for fact in facts if rng.random() < rng.choice([0.3, 0.7, 0.9])), start.objects)
        for start in domain.problems
        for facts in [domains.ground_atoms(domain.model.vocabulary, start.objects)]
        for _ in range(count)
    ]


@promised(60)
@given(domains.domains(repeated=True, constants=True))
def test_a_random_domain_is_learned_with_what_happens_when_arguments_are_named_twice(domain: Domain) -> None:
    result = _interrogate(domain, Access.SETTABLE, SettablePolicy())
    assert result.hypotheses.repeated
    assert_sound(result.hypotheses, domain.model)
    assert "budget of" not in result.why
    assert verify(result.transcript, result).holds
    if result.proven:
        states = _random_states(domain, 10)
        assert evaluation.equivalent(result.model, domain.model, states, repeated=True)
        for pal in result.hypotheses.pal_tuples():
            learned = true_mode(result.model, pal)
            assert learned in (true_mode(domain.model, pal), read_mode(domain.model, pal))


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


@thorough(30)
@given(domains.domains(repeated=True))
def test_the_other_policies_conclude_nothing_wrong(domain: Domain) -> None:
    limits = Limits(states=300)
    for access, policy in (
        (Access.SETTABLE, AiaPolicy(limits=limits, states=20, walk_steps=50)),
        (Access.SNAPSHOT, EconomicalPolicy(limits=limits)),
    ):
        result = _interrogate(domain, access, policy)
        assert_sound(result.hypotheses, domain.model)
        assert verify(result.transcript, result).holds
        states = domains.reachable(domain.model, domain.problems, limit=200)
        if result.proven and states is not None:
            assert evaluation.equivalent(result.model, domain.model, states, repeated=True)


def test_an_addition_that_only_undoes_a_deletion_is_found() -> None:
    """move(?from, ?to) that requires and adds at(?to): it shows only where both are one place."""
    vocabulary = Vocabulary("undo", (Predicate("at", ("object",)),))
    at_from, at_to = LiftedAtom("at", (0,)), LiftedAtom("at", (1,))
    header = ActionHeader("move", ("from", "to"), ("object", "object"))
    start = State(
        frozenset([Atom("at", ("a",)), Atom("at", ("b",))]), Objects(dict.fromkeys("abc", "object"), Types())
    )
    nothing: frozenset[LiftedAtom] = frozenset()
    for add in (frozenset([at_to]), nothing):
        schema = ActionSchema(header, frozenset([at_to]), nothing, add, frozenset([at_from]))
        model = Model(vocabulary, (schema,))
        result = _interrogate(Domain(model, (start,)), Access.SETTABLE, SettablePolicy())
        assert result.proven
        assert evaluation.exact(result.model, model)
        plain = Hypotheses(vocabulary, [header])
        assert plain["move"].undoing == 0


@pytest.mark.parametrize("access", Access)
def test_what_no_query_can_attribute_to_one_of_several_effects_is_left_open_and_proven_to_be(
    access: Access,
) -> None:
    """act(?x, ?y) deletes and adds p(?x, ?x, ?x) where both arguments are one object; else nothing shows it."""
    vocabulary = Vocabulary("undone", (Predicate("p", ("object",) * 3),))
    loop, deleted = LiftedAtom("p", (0, 0, 0)), LiftedAtom("p", (0, 0, 1))
    header = ActionHeader("act", ("x", "y"), ("object", "object"))
    model = Model(
        vocabulary,
        (ActionSchema(header, frozenset([loop]), add=frozenset([loop]), delete=frozenset([deleted])),),
    )
    start = State(frozenset([Atom("p", ("a", "a", "a"))]), Objects(dict.fromkeys("ab", "object"), Types()))
    agent = SymbolicAgent(model, [start], access, repeated=True, refuses_surely=True)
    result = api.interrogate(agent, repeated_arguments=True)
    assert result.proven
    assert verify(result.transcript, result).holds
    assert evaluation.equivalent(result.model, model, [start], repeated=True)
    if access is Access.SETTABLE:
        assert evaluation.exact(result.model, model)
