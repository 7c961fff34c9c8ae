"""Intervals hold their promise however often one looks; versions that differ are told apart, and equal ones hardly ever."""

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
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.intervals import (
    Precision,
    concentration,
    evidence,
    frequencies,
    interval,
    precision_of,
    simultaneous,
    unseen,
)
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import EarlierModel, EarlierRun, Prior
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction, Model, State
from aam_vision.report.chance_evaluation import check, exact
from tests.profiles import crossed, first, some, thorough

from .agents import agent, read
from .domains import SLIPPERY

C = concentration(0.05)
PRECISION = Precision(0.05, 0.05, concentration(0.05))
COUNT = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 3))
"""Hits, misses, and trials of which it is not known what came of them."""


@given(tosses=st.integers(0, 2000), share=st.floats(0, 1), within=st.sampled_from([0.02, 0.05, 0.1]))
@thorough(40)
def test_all_that_is_not_contradicted_is_one_interval(tosses: int, share: float, within: float) -> None:
    """Of one outcome beside all others, and of several at once, which have wider ones."""
    hits, c = round(share * tosses), concentration(within)
    (low, high), (wider, widest) = (find(hits, tosses, 0.05, c) for find in (interval, simultaneous))
    assert 0 <= wider <= low + 1e-9 <= hits / max(tosses, 1) + 1e-9
    assert hits / max(tosses, 1) <= high <= widest + 1e-9 <= 1 + 1e-9 or not tosses
    for p in np.linspace(0.001, 0.999, 300):
        against = evidence(float(p), hits, tosses, c)
        assert (against < np.log(20)) == (low <= p <= high)
        assert (against + np.log(p) < np.log(20)) == (wider <= p <= widest)
    mirrored = interval(tosses - hits, tosses, 0.05, c)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_no_trial_tells_nothing_and_the_wanted_width_is_reached() -> None:
    assert interval(0, 0, 0.05, C) == (0.0, 1.0)
    assert unseen(0, 0.05) == pytest.approx(1)
    for hits, trials in ((120, 600), (500, 1000)):
        low, high = interval(hits, trials, 0.05, C)
        assert (high - low) / 2 < 0.05


@pytest.mark.parametrize(
    "shares", [[0.97, 0.03], [0.7, 0.3], [0.5, 0.3, 0.15, 0.05], [0.9, 0.04, 0.03, 0.03]]
)
def test_all_outcomes_are_inside_together_at_all_times_whether_seen_or_not(shares: list[float]) -> None:
    rng = np.random.default_rng(3)
    runs, bound, left, alone = 300, np.log(1 / 0.05), 0, 0
    for _ in range(runs):
        drawn = rng.choice(len(shares), size=250, p=shares)
        against = [
            (evidence(p, int(hits), made, C), p)
            for p, came in zip(shares, (drawn == number for number in range(len(shares))), strict=True)
            for made, hits in enumerate(np.cumsum(came), 1)
        ]
        left += any(one + np.log(p) > bound for one, p in against)
        alone += any(one > bound for one, _ in against[:250])
    assert max(left, alone) / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_unseen_outcomes_are_seldom_likelier_than_is_said_at_any_time() -> None:
    rng = np.random.default_rng(2)
    shares = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05]
    bounds = [unseen(made, 0.05) for made in range(1, 201)]
    assert bounds == sorted(bounds, reverse=True)
    runs, wrong = 400, 0
    for _ in range(runs):
        drawn = rng.choice(len(shares), size=200, p=shares)
        first = [int(np.argmax(drawn == one)) if (drawn == one).any() else 200 for one in range(len(shares))]
        wrong += any(
            share > bounds[made]
            for share, came in zip(shares, first, strict=True)
            for made in range(min(came, 200))
        )
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@given(st.lists(COUNT, min_size=1, max_size=5))
def test_estimates_add_up_to_one_and_lie_within_their_intervals(counts: list[tuple[int, int, int]]) -> None:
    hits, misses, unread = zip(*counts, strict=True)
    found = frequencies(hits, [a + b for a, b in zip(hits, misses, strict=True)], unread, PRECISION)
    assert sum(one.probability for one in found) == pytest.approx(1)
    for one in found:
        assert 0 <= one.low <= one.probability <= one.high <= 1 + 1e-9


def test_an_outcome_that_no_trial_tells_from_the_others_takes_what_they_leave() -> None:
    told, untold = frequencies([90, 0], [100, 0], [0, 0], PRECISION)
    assert told.probability == pytest.approx(0.9, abs=0.15)
    assert told.low <= told.probability <= told.high
    assert untold.probability <= untold.high < 0.25


WITHIN = 0.12
CHANGED = {
    "probability": SLIPPERY.replace("0.7 (and (holding ?b)", "0.3 (and (holding ?b)"),
    "precondition": SLIPPERY.replace("(not (broken ?b))", ""),
}
counts = st.integers(0, 40).flatmap(
    lambda trials: st.builds(Count, st.integers(0, trials), st.just(trials), st.sampled_from([0, 0, 3]))
)


def crossing(p: float, order: str, bound: float) -> float:
    """The probability that the evidence against an equal p ever reaches the bound, if it is looked at after every trial.

    ``order`` names the version of every trial, A or B.
    """
    left, crossed, made = {(0, 0): 1.0}, 0.0, [0, 0]
    for version in order:
        place = "AB".index(version)
        made[place] += 1
        after: dict[tuple[int, int], float] = {}
        for (one, other), share in left.items():
            for more, chance in ((1, p), (0, 1 - p)):
                now = (one + more, other) if place == 0 else (one, other + more)
                after[now] = after.get(now, 0.0) + share * chance
        left = {}
        for hits, share in after.items():
            if against_equality(Count(hits[0], made[0]), Count(hits[1], made[1])) >= bound:
                crossed += share
            else:
                left[hits] = share
    return crossed


@thorough(30)
@given(st.floats(0.02, 0.98), st.sampled_from(["AB" * 10, "A" * 10 + "B" * 10, "ABBB" * 5]))
def test_equal_versions_are_called_different_within_the_error_probability(p: float, order: str) -> None:
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
            one, other = Count(hits, trials), Count(trials - hits, trials)
            pairs = ((one, other), (other, one))
            if any(Comparison(*pair, 1, independent).different for pair in pairs):
                wrong[independent] += comb(trials, hits) / 2**trials
    assert wrong[False] <= ALPHA
    assert wrong[True] > wrong[False]


@thorough(20)
@given(counts, counts, st.booleans(), st.integers(1, 9))
def test_versions_differ_where_their_interval_has_no_zero(
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
    assert among.p_value == pytest.approx(min(1.0, (1 + actions) * found.p_value))
    assert among.limits[0] <= low <= high <= among.limits[1]


@thorough(15)
@given(counts, counts)
def test_trials_that_were_not_read_may_have_come_out_in_any_way(one: Count, other: Count) -> None:
    found, limits = against_equality(one, other), difference_limits(one, other, ALPHA)
    for hits in range(one.lost + 1):
        for others in range(other.lost + 1):
            pairs = ((one, hits), (other, others))
            read = [Count(of.hits + more, of.trials + of.lost) for of, more in pairs]
            assert found <= against_equality(*read) + 1e-9
            low, high = difference_limits(*read, ALPHA)
            assert limits[0] <= low <= high <= limits[1]


def test_claims_are_rejected_with_their_share_of_the_error_probability_and_never_and_always_by_one_trial() -> (
    None
):
    """By the exact probability of every number of hits, for 40 trials looked at once."""
    for p in (0.3, 0.9):
        rejected = [hits for hits in range(41) if exp(-against_claim(p, Count(hits, 40))) <= ALPHA]
        assert 0 < sum(comb(40, hits) * p**hits * (1 - p) ** (40 - hits) for hits in rejected) <= ALPHA * p
    assert against_claim(0.0, Count(1, 50)) == against_claim(1.0, Count(49, 50)) == float("inf")
    assert against_claim(0.0, Count(0, 50)) < against_claim(1.0, Count(50, 50)) == 0


def verified(
    domain: str, seed: int, prior: Prior | None = None, access: Access = Access.SETTABLE
) -> ChanceResult:
    return interrogate(agent(access, seed, domain), np.random.default_rng(seed), Options(WITHIN, prior=prior))


@cache
def known(seed: int = 0, domain: str = SLIPPERY) -> ChanceResult:
    return verified(domain, seed)


def found(domain: str, seed: int = 1) -> dict[str, ActionDifferences]:
    """What differs between the hand that slips and another one."""
    told = differences(known().actions, known(seed, domain).actions, independent=True)
    return {one.one.index.header.name: one for one in told}


def test_equal_versions_are_not_told_apart() -> None:
    widest = []
    for one in (one for seed in some(1, range(1, 4)) for one in found(SLIPPERY, seed).values()):
        assert (one.different, one.certain, one.undecided) == (False, True, 0)
        assert all(out.comparison.limits[0] < 0 < out.comparison.limits[1] for out in one.outcomes)
        widest.append(one.widest or 0.0)
    assert min(widest) > 0.05
    # one may be told within situations that hardly both were in
    assert sorted(widest)[len(widest) // 2] < 0.5


def test_a_changed_precondition_probability_and_outcome_are_told_and_nothing_else() -> None:
    told = found(CHANGED["precondition"])
    (atom,) = told["grab"].atoms
    assert told["grab"].one.index.atom(atom.bit).predicate == "broken"
    assert told["grab"].incompatible
    assert not told["drop"].different
    told = found(CHANGED["probability"])
    assert told["grab"].different
    assert not told["grab"].atoms
    limits = [one.comparison.limits for one in told["grab"].outcomes if one.comparison.different]
    assert any(low <= -0.4 <= high < 0 for low, high in limits)
    assert not told["drop"].different
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


def right(result: ChanceResult, truth: Model) -> bool:
    """Whether nothing that is called certain is wrong, and every interval has the truth."""
    checks = [check(one, truth.schema(one.index.header.name)) for one in result.actions]
    return not any(one.wrong for one in checks) and all(all(one.intervals) for one in checks)


@pytest.mark.parametrize("access", first(1, [Access.RESET, Access.SETTABLE]))
def test_what_still_holds_takes_a_third_of_the_trials_at_most(access: Access) -> None:
    prior, truth = EarlierRun(known().actions, independent=True), read()[0]
    again = verified(SLIPPERY, 1, prior, access)
    assert 3 * again.counts.steps < known().counts.steps
    assert not any(prior.changed(one) for one in again.actions)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert all(one.uncertainty <= 2 * WITHIN for one in again.actions)


@pytest.mark.parametrize(("kind", "changed"), crossed(["model", "run"], CHANGED))
def test_what_has_changed_is_learned_as_if_there_was_nothing_before(kind: str, changed: str) -> None:
    earlier = EarlierRun(known().actions, independent=True)
    prior: Prior = EarlierModel(known().model) if kind == "model" else earlier
    again, truth = verified(CHANGED[changed], 2, prior), read(CHANGED[changed])[0]
    grab, drop = again.actions
    assert prior.changed(grab)
    assert not prior.changed(drop)
    assert exact(again.model, truth)
    assert right(again, truth)
    assert grab.uncertainty <= WITHIN < drop.uncertainty <= 2 * WITHIN


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
    seeds, alarms = some(10, range(20)), 0
    for seed in seeds:
        prior, asked = EarlierModel(truth), agent(Access.SETTABLE, 100 + seed)
        actions = interrogate(asked, np.random.default_rng(seed), Options(0.2, prior=prior)).actions
        narrow = any(one.uncertainty <= 0.2 for one in actions)
        alarms += narrow and any(prior.changed(one) for one in actions)
    assert alarms <= 3 * len(seeds) // 20


def test_the_probabilities_of_a_model_with_conditional_effects_are_claims_for_each_kind_of_trial() -> None:
    turned = SWITCH.replace("0.95", "TURNED").replace("0.1", "0.95").replace("TURNED", "0.1")
    truth, other = (read(domain, OFF)[0] for domain in (SWITCH, turned))
    (push,) = switched(SWITCH, 5)
    assert not EarlierModel(truth).changed(push)
    assert EarlierModel(other).changed(push)
