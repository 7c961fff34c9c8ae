"""Whether equal versions are ever called different, computed exactly; and what the intervals of differences promise.

Two versions of an agent, each interrogated: what is said to differ does, and nothing else is.
"""

from __future__ import annotations

from functools import cache
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.comparing import (
    ALPHA,
    ActionDifferences,
    Comparison,
    Count,
    against_claim,
    against_equality,
    difference_limits,
    differences,
)
from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, interrogate
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import EarlierModel, EarlierRun, Prior
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction, Model, State
from aam_vision.report.chance_evaluation import check, exact
from tests.profiles import crossed, first, thorough

from .agents import agent, read
from .domains import SLIPPERY

counts = st.integers(0, 40).flatmap(
    lambda trials: st.builds(Count, st.integers(0, trials), st.just(trials), st.sampled_from([0, 0, 3]))
)


def crossing(p: float, order: str, bound: float) -> float:
    """The probability that the evidence against an equal p ever reaches the bound, if it is looked at after every trial.

    ``order`` names the version of every trial, A or B.
    """
    left = {(0, 0): 1.0}
    crossed, made = 0.0, [0, 0]
    for version in order:
        place = "AB".index(version)
        made[place] += 1
        after: dict[tuple[int, int], float] = {}
        for hits, share in left.items():
            for more, chance in ((1, p), (0, 1 - p)):
                now = (hits[0] + more, hits[1]) if place == 0 else (hits[0], hits[1] + more)
                after[now] = after.get(now, 0.0) + share * chance
        left = {}
        for hits, share in after.items():
            if against_equality(Count(hits[0], made[0]), Count(hits[1], made[1])) >= bound:
                crossed += share
            else:
                left[hits] = share
    return crossed


@thorough(30)
@given(st.floats(0.02, 0.98), st.sampled_from(["AB" * 12, "A" * 12 + "B" * 12, "ABBB" * 6]))
def test_equal_versions_are_called_different_with_at_most_their_share_of_the_error_probability(
    p: float, order: str
) -> None:
    assert crossing(p, order, log(1 / 0.2)) <= 0.2 * p
    assert crossing(p, order, log(1 / ALPHA)) <= ALPHA * p


def test_the_test_has_power() -> None:
    assert crossing(0.5, "AB" * 12, log(1 / 0.2)) > 0.0
    assert Comparison(Count(90, 100), Count(70, 100), 1).p_value < 0.1
    assert Comparison(Count(180, 200), Count(140, 200), 1).different
    assert not Comparison(Count(180, 200), Count(170, 200), 1).different


def test_chance_of_one_seed_may_be_opposite_and_is_allowed_for() -> None:
    """With one seed a heads in one version may be a tails in the other: with p = 1/2, hits are n - h where they are h."""
    trials, wrong = 60, {True: 0.0, False: 0.0}
    for hits in range(trials + 1):
        for independent in wrong:
            found = [
                Comparison(Count(a, trials), Count(trials - a, trials), 1, independent)
                for a in (hits, trials - hits)
            ]
            if any(one.different for one in found):
                wrong[independent] += comb(trials, hits) / 2**trials
    assert wrong[False] <= ALPHA
    assert wrong[True] > wrong[False]


@thorough(20)
@given(counts, counts, st.booleans(), st.integers(1, 9))
def test_versions_differ_where_the_interval_of_the_difference_has_no_zero(
    one: Count, other: Count, independent: bool, actions: int
) -> None:
    """The versions may be named in either order, and more comparisons make each less sure."""
    found = Comparison(one, other, 1, independent)
    low, high = found.limits
    assert -1 <= low <= other.share - one.share <= high <= 1 or 0 in (one.trials, other.trials)
    if found.different:
        assert low > -0.003 or high < 0.003  # limits are rounded outwards to the grid
    elif one.trials and other.trials:
        assert low <= 0 <= high
    turned, among = Comparison(other, one, 1, independent), Comparison(one, other, 1 + actions, independent)
    assert turned.limits == pytest.approx((-high, -low), abs=1e-9)
    assert against_equality(one, other) == pytest.approx(against_equality(other, one), abs=1e-9)
    assert among.p_value >= found.p_value
    assert among.limits[0] <= low <= high <= among.limits[1]


@thorough(15)
@given(counts, counts)
def test_trials_that_were_not_read_may_have_come_out_in_any_way(one: Count, other: Count) -> None:
    found, limits = against_equality(one, other), difference_limits(one, other, ALPHA)
    for hits in range(one.lost + 1):
        for others in range(other.lost + 1):
            read = (
                Count(one.hits + hits, one.trials + one.lost),
                Count(other.hits + others, other.trials + other.lost),
            )
            assert found <= against_equality(*read) + 1e-9
            low, high = difference_limits(*read, ALPHA)
            assert limits[0] <= low <= high <= limits[1]


@pytest.mark.parametrize("p", [0.3, 0.9])
def test_a_claim_that_is_right_is_rejected_with_its_share_of_the_error_probability(p: float) -> None:
    """By the exact probability of every number of hits, for 40 trials looked at once."""
    wrong = sum(
        comb(40, hits) * p**hits * (1 - p) ** (40 - hits)
        for hits in range(41)
        if exp(-against_claim(p, Count(hits, 40))) <= ALPHA
    )
    assert wrong <= ALPHA * p


def test_a_claim_of_never_or_always_is_refuted_by_one_trial() -> None:
    assert against_claim(0.0, Count(1, 50)) == against_claim(1.0, Count(49, 50)) == float("inf")
    assert against_claim(0.0, Count(0, 50)) < 0
    assert against_claim(1.0, Count(50, 50)) == 0


@cache
def known(seed: int, domain: str = SLIPPERY) -> tuple[ActionKnowledge, ...]:
    asked = agent(Access.SETTABLE, seed, domain)
    return interrogate(asked, np.random.default_rng(seed), Options(within=0.1)).actions


def found(domain: str, seed: int = 1) -> dict[str, ActionDifferences]:
    """What differs between the hand that slips and another one."""
    told = differences(known(0), known(seed, domain), independent=True)
    return {one.one.index.header.name: one for one in told}


def test_equal_versions_are_not_told_apart() -> None:
    widest = []
    for one in (one for seed in range(1, 4) for one in found(SLIPPERY, seed).values()):
        assert not one.different
        assert one.certain
        assert one.undecided == 0
        assert all(
            outcome.comparison.limits[0] < 0 < outcome.comparison.limits[1] for outcome in one.outcomes
        )
        assert one.widest is not None
        widest.append(one.widest)
    assert min(widest) > 0.05
    assert (
        sorted(widest)[len(widest) // 2] < 0.5
    )  # one may be told within situations that hardly both were in


def test_a_precondition_that_is_gone_is_proven_to_be() -> None:
    told = found(SLIPPERY.replace("(not (broken ?b))", ""))
    (atom,) = told["grab"].atoms
    assert told["grab"].one.index.atom(atom.bit).predicate == "broken"
    assert told["grab"].incompatible
    assert not told["drop"].different


def test_a_probability_that_is_another_is_told_with_an_interval_that_has_the_difference() -> None:
    told = found(SLIPPERY.replace("0.7 (and (holding ?b)", "0.2 (and (holding ?b)"))
    assert told["grab"].different
    assert not told["grab"].atoms
    limits = [one.comparison.limits for one in told["grab"].outcomes if one.comparison.different]
    assert any(low <= -0.5 <= high < 0 for low, high in limits)
    assert not told["drop"].different


def test_an_outcome_that_is_gone_is_told_with_its_probability() -> None:
    told = found(SLIPPERY.replace("(probabilistic 0.3 (broken ?b))", ""))
    gone = [one.comparison for one in told["drop"].outcomes if not one.comparison.other.hits]
    assert [one.limits[0] <= -0.3 <= one.limits[1] for one in gone] == [True]


@pytest.mark.parametrize("times", [1, 120])
def test_where_outcomes_are_not_certain_trials_of_the_same_kind_are_compared(times: int) -> None:
    """An outcome adds p where it holds always, the other deletes it: no situation shows both."""
    domain = """(define (domain d) (:requirements :strips :probabilistic-effects)
      (:predicates (p) (q))
      (:action go :parameters () :precondition (p) :effect (probabilistic CHANCE (q) REST (not (q)))))"""
    problem = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))"
    told = []
    for share in ("0.9", "0.2"):
        text = domain.replace("CHANCE", share).replace("REST", str(round(1 - float(share), 1)))
        asked = agent(Access.TRAJECTORY, 3, text, problem)
        told.append(interrogate(asked, np.random.default_rng(3), Options(max_steps=times)).actions)
    (one,) = differences(*told, independent=True)
    assert one.different is (times == 120)


SWITCH = """(define (domain switch)
  (:requirements :strips :typing :conditional-effects :probabilistic-effects)
  (:predicates (low) (high))
  (:action push :parameters () :precondition ()
    :effect (and (when (not (low)) (probabilistic 0.95 (high)))
                 (when (low) (probabilistic 0.1 (high))))))"""
OFF = "(define (problem p) (:domain switch) (:init) (:goal (high)))"


def switched(domain: str, seed: int, times: int = 150) -> list[ActionKnowledge]:
    """What so many pushes with the switch high up and low down tell, where the light is out."""
    model, off = read(domain, OFF)
    low = State(frozenset([Atom("low", ())]), off.objects)
    known = ActionKnowledge(AtomIndex(model.vocabulary, model.headers[0]), precision_of(0.1))
    asked = SymbolicAgent(model, [off], refuses_surely=True, chance=np.random.default_rng(seed))
    for _ in range(times):
        for state in (off, low):
            answer = asked.ask(Query(Situation(state, state), (GroundAction("push", ()),)))
            known.was_executed(state, (), answer.final.state)
    known.reconsider()
    return [known]


def test_conditional_effects_are_compared_case_by_case() -> None:
    one, same = switched(SWITCH, 0), switched(SWITCH, 1)
    other = switched(SWITCH.replace("(probabilistic 0.1", "(probabilistic 0.5"), 2)
    (equal,) = differences(one, same, independent=True)
    assert not equal.different
    assert {len(equal.outcomes), len(equal.one.cases)} == {4, 2}
    (found,) = differences(one, other, independent=True)
    assert found.different
    for outcome in found.outcomes:
        low, high = outcome.comparison.limits
        more = 0.4 if outcome.condition.positive else 0.0
        assert low <= (more if outcome.adds else -more) <= high
        assert outcome.comparison.different is bool(outcome.condition.positive)


def test_versions_with_other_cases_are_compared_by_kinds_of_trials() -> None:
    always = SWITCH.replace("(probabilistic 0.1", "(probabilistic 0.95")
    (found,) = differences(switched(SWITCH, 0), switched(always, 1), independent=True)
    assert not found.certain
    assert found.different
    told = {one.kind for one in found.outcomes if one.comparison.different}
    low = next(bit for bit, atom in enumerate(found.one.index.atoms) if atom.predicate == "low")
    assert all(kind is not None and kind >> low & 1 for kind in told)


# Verifying what was learned earlier: with a quarter of the trials where nothing has changed, and nothing believed.

WITHIN = 0.08
CHANGED = {
    "probability": SLIPPERY.replace("0.7 (and (holding ?b)", "0.3 (and (holding ?b)"),
    "precondition": SLIPPERY.replace("(not (broken ?b))", ""),
}


def verified(
    domain: str, seed: int, prior: Prior | None = None, access: Access = Access.SETTABLE
) -> ChanceResult:
    return interrogate(agent(access, seed, domain), np.random.default_rng(seed), Options(WITHIN, prior=prior))


@pytest.fixture(scope="module")
def before() -> ChanceResult:
    return verified(SLIPPERY, 0)


def right(result: ChanceResult, truth: Model) -> bool:
    """Whether nothing that is called certain is wrong, and every interval has the truth."""
    checks = [check(one, truth.schema(one.index.header.name)) for one in result.actions]
    return not any(one.wrong for one in checks) and all(all(one.intervals) for one in checks)


@pytest.mark.parametrize("access", first(1, [Access.RESET, Access.SETTABLE]))
def test_what_still_holds_takes_a_third_of_the_trials_at_most(before: ChanceResult, access: Access) -> None:
    prior = EarlierRun(before.actions, independent=True)
    again, *others = (verified(SLIPPERY, seed, prior, access) for seed in range(1, 4))
    truth = read()[0]
    assert sum(one.counts.steps for one in (again, *others)) < before.counts.steps
    assert not any(prior.changed(one) for one in again.actions)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert all(one.uncertainty <= 2 * WITHIN for one in again.actions)


@pytest.mark.parametrize(("kind", "changed"), crossed(["model", "run"], CHANGED))
def test_what_has_changed_is_learned_as_if_there_was_nothing_before(
    before: ChanceResult, kind: str, changed: str
) -> None:
    domain = CHANGED[changed]
    prior: Prior = EarlierModel(before.model)
    if kind == "run":
        prior = EarlierRun(before.actions, independent=True)
    again, truth = verified(domain, 2, prior), read(domain)[0]
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
    again, truth = verified(SLIPPERY, 3, prior), read()[0]
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
    verified = interrogate(
        agent(Access.SETTABLE, 5, domain, problem), np.random.default_rng(5), Options(0.1, max_steps=200)
    )
    assert not EarlierModel(truth).changed(verified.actions[0])
    assert EarlierModel(other).changed(verified.actions[0])
