"""Verifying what was learned earlier: with a quarter of the trials where nothing has changed, and nothing believed."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, interrogate
from aam_vision.interrogation.chance.prior import EarlierModel, EarlierRun, Prior
from aam_vision.model.query import Access
from aam_vision.model.strips import Model
from aam_vision.report.chance_evaluation import check, exact

from .agents import agent, read
from .domains import SLIPPERY

WITHIN = 0.08
CAREFUL = SLIPPERY.replace("(not (broken ?b))", "")
WORSE = SLIPPERY.replace("0.7 (and (holding ?b)", "0.3 (and (holding ?b)")


def asked(
    domain: str, seed: int, prior: Prior | None = None, access: Access = Access.SETTABLE
) -> ChanceResult:
    return interrogate(agent(access, seed, domain), np.random.default_rng(seed), Options(WITHIN, prior=prior))


@pytest.fixture(scope="module")
def before() -> ChanceResult:
    return asked(SLIPPERY, 0)


def right(result: ChanceResult, truth: Model) -> bool:
    """Whether nothing that is called certain is wrong, and every interval has the truth."""
    checks = [check(one, truth.schema(one.index.header.name)) for one in result.actions]
    return not any(one.wrong for one in checks) and all(all(one.intervals) for one in checks)


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.RESET])
def test_what_still_holds_takes_a_third_of_the_trials_at_most(before: ChanceResult, access: Access) -> None:
    prior = EarlierRun(before.actions, independent=True)
    again, *others = (asked(SLIPPERY, seed, prior, access) for seed in range(1, 4))
    truth = read()[0]
    assert sum(one.counts.steps for one in (again, *others)) < before.counts.steps
    assert not any(prior.changed(one) for one in again.actions)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert all(one.uncertainty <= 2 * WITHIN for one in again.actions)


@pytest.mark.parametrize("kind", ["run", "model"])
@pytest.mark.parametrize("domain", [CAREFUL, WORSE], ids=["precondition", "probability"])
def test_what_has_changed_is_learned_as_if_there_was_nothing_before(
    before: ChanceResult, kind: str, domain: str
) -> None:
    prior: Prior = EarlierModel(before.model)
    if kind == "run":
        prior = EarlierRun(before.actions, independent=True)
    again, truth = asked(domain, 2, prior), read(domain)[0]
    grab, drop = again.actions
    assert prior.changed(grab)
    assert not prior.changed(drop)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert grab.uncertainty <= WITHIN
    assert WITHIN < drop.uncertainty <= 2 * WITHIN


def test_a_model_that_is_all_wrong_makes_nothing_wrong() -> None:
    """The earlier model is that of another agent altogether: it only costs steps."""
    upside_down = read(
        SLIPPERY.replace("(and (grab ?b ?h) (free ?h) (not (broken ?b)))", "(and (grab ?b ?h) (broken ?b))")
        .replace("0.7 (and (holding ?b) (not (free ?h)))", "0.2 (free ?h)")
        .replace(":precondition (holding ?b)", ":precondition (not (holding ?b))")
    )[0]
    prior = EarlierModel(upside_down)
    again, truth = asked(SLIPPERY, 3, prior), read()[0]
    assert all(prior.changed(one) for one in again.actions)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert list(prior.atoms(again.actions[1]))
    assert any(claim.wrong and claim.probability == 0 for claim in prior.claims(again.actions[0]))


def test_the_right_model_makes_no_false_alarm_but_in_its_share() -> None:
    """Looked at whenever there are a few more trials, as while it is verified."""
    truth = read()[0]
    alarms = 0
    for seed in range(20):
        prior = EarlierModel(truth)
        found = interrogate(
            agent(Access.SETTABLE, 100 + seed), np.random.default_rng(seed), Options(0.2, prior=prior)
        )
        alarms += any(one.uncertainty <= 0.2 for one in found.actions) and any(
            prior.changed(one) for one in found.actions
        )
    assert alarms <= 3


def test_the_probabilities_of_a_model_with_conditional_effects_are_claims_for_each_kind_of_trial() -> None:
    domain = """(define (domain switch)
      (:requirements :strips :typing :conditional-effects :probabilistic-effects)
      (:predicates (low) (high))
      (:action push :parameters () :precondition ()
        :effect (and (when (not (low)) (probabilistic 0.9 (high)))
                     (when (low) (probabilistic 0.2 (high))))))"""
    problem = "(define (problem p) (:domain switch) (:init) (:goal (high)))"
    truth, _ = read(domain, problem)
    other, _ = read(
        domain.replace("0.9", "0.2").replace("(low) (probabilistic 0.2", "(low) (probabilistic 0.9"), problem
    )
    asked = interrogate(
        agent(Access.SETTABLE, 5, domain, problem), np.random.default_rng(5), Options(0.1, max_steps=200)
    )
    assert not EarlierModel(truth).changed(asked.actions[0])
    assert EarlierModel(other).changed(asked.actions[0])
