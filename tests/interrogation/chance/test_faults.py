"""Agents that hang on combinations, on what no word says, or on time: they are told of as what they are, or nothing is claimed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from re import search

import numpy as np
import pytest

from aam_vision.interrogation.chance.comparing import Comparison, Count, differences, strata
from aam_vision.interrogation.chance.constancy import Trial
from aam_vision.interrogation.chance.interrogating import ChanceResult
from aam_vision.interrogation.chance.observations import Setting
from aam_vision.interrogation.evidence.transcript import RIGHT_AFTER
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.model.strips import Atom
from tests.profiles import crossed, first, some

from .agents_with_faults import FAULTS, Fault, FaultyAgent
from .measure import false_names, intervals_hold, run


def fault(name: str) -> Fault:
    return next(one for one in FAULTS if one.name == name)


@cache
def learned(name: str, access: str, seed: int) -> tuple[ChanceResult, FaultyAgent]:
    """What a run tells of the agent of this name, and the agent."""
    return run(fault(name), seed, access, 0.1, 4000)


def test_versions_that_no_model_explains_are_tried_until_they_can_be_compared() -> None:
    lamp = fault("lamp")
    result, _ = learned("lamp", "settable", 1)
    assert result.actions[0].executed == 400, "twice as many as intervals of 10 points take"
    worse, _ = run(replace(lamp, rate=lambda now: max(0.0, lamp.rate(now) - 0.25)), 2, "settable", 0.1, 4000)
    assert result.status == worse.status == NOT_STRIPS
    found = differences(result.actions, worse.actions, independent=True)
    assert [one.one.index.header.name for one in found if one.different] == ["press"]


@pytest.mark.parametrize("access", first(1, ["reset", "settable"]))
def test_of_two_atoms_of_which_one_has_to_hold_both_are_certain(access: str) -> None:
    result, agent = learned("two differ", access, 1)
    press = result.actions[0]
    assert result.status == COMPLETE
    assert {atom.predicate for atom in press.index.select(press.dependence.sure)} == {"wet", "old"}
    assert intervals_hold(result, agent, fault("two differ"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lamp", "differs with lit("),
        ("lamps differ", "differs with exactly one of lit("),
        ("one box", "depends on which object ?x is"),
        ("spot is taken", "differs with on("),
        ("same box again", "whether the step of it before named the same ?x"),
        ("every seventh", "goes in cycles of 7 steps"),
        ("every ninth step", "goes in cycles of 9 steps of all actions"),
        ("every fifth attempt", "goes in cycles of 5 steps of all actions, refused ones included"),
    ],
)
def test_what_no_word_says_is_told_and_no_atom_is_blamed_for_it(name: str, told: str) -> None:
    result, _ = learned(name, "settable", 1)
    assert result.status == NOT_STRIPS
    assert told in result.why
    assert not false_names(result, fault(name))


def test_spells_are_told_by_what_came_before() -> None:
    results = [learned("spells", "settable", seed)[0] for seed in range(4)]
    assert all(result.status == NOT_STRIPS for result in results)
    assert sum("depends on what" in result.why for result in results) >= 3


@pytest.mark.parametrize(
    ("case", "access"),
    crossed(
        [
            ("after a refusal", "refused"),
            ("after undo", "depends on whether it came right after undo"),
            ("only right after a press", ""),
            ("every second of a box", "goes in cycles of 2 steps of it with the same objects"),
        ],
        ["settable", "snapshot", "reset"],
    ),
)
def test_what_another_step_or_a_refusal_leaves_behind_is_told(case: tuple[str, str], access: str) -> None:
    name, told = case
    result, _ = learned(name, access, 1)
    assert result.status == NOT_STRIPS
    assert told in result.why


def test_trials_of_a_right_agent_come_right_after_refusals_and_each_other_action() -> None:
    for access in some(1, ("reset", "settable", "snapshot")):
        result, _ = learned("own fact", access, 0)
        assert result.status == COMPLETE
        before = result.actions[0].before
        for what in ("a refused step", "undo", "set-wet", "clear-wet"):
            assert before[RIGHT_AFTER.format(what)] >= 5


@pytest.mark.parametrize(("name", "steps"), [("cold start", "step"), ("tires", "[48] steps")])
def test_what_hangs_on_how_long_the_agent_was_under_way_is_told(name: str, steps: str) -> None:
    results = [learned(name, "reset", seed)[0] for seed in some(2, range(4))]
    assert all(result.status == NOT_STRIPS for result in results)
    told = sum(search(f"in the first {steps} since", result.why) is not None for result in results)
    assert told >= 3 / 4 * len(results)


def test_what_tires_is_told_where_no_trial_needs_a_step_before_it() -> None:
    accesses = ("settable", "snapshot")
    results = [learned("tires", access, seed)[0] for access in accesses for seed in some(2, range(4))]
    assert sum("ago the agent was put" in result.why for result in results) >= 5 / 8 * len(results)
    honest = [learned("own fact", access, seed)[0] for access in accesses for seed in some(1, range(2))]
    late = [step.when.since >= 16 for result in honest for step in result.actions[0].steps.course]
    assert sum(late) >= 4 * len(honest)


@pytest.mark.parametrize("name", first(1, ["lamp", "lamps differ"]))
def test_facts_that_a_press_does_not_name_are_varied_where_it_can_only_be_walked_to_them(name: str) -> None:
    results = [learned(name, "reset", seed)[0] for seed in some(3, range(5))]
    told = sum(result.status == NOT_STRIPS and "lit(" in result.why for result in results)
    assert told >= 4 / 5 * len(results)


def made(rng: np.random.Generator, taken: float, trials: int) -> list[Trial]:
    """Trials that work 90% of the time, and 10% of the time where the spot is taken."""
    found = []
    for _ in range(trials):
        others = frozenset([Atom("on", ("c", "s"))] if rng.random() < taken else [])
        found.append(Trial(0, int(rng.random() < (0.1 if others else 0.9)), Setting(("a", "s"), others)))
    return found


def test_trials_in_other_situations_are_not_compared() -> None:
    rng = np.random.default_rng(71020)
    one, other = made(rng, 0.9, 200), made(rng, 0.1, 200)
    splits, labels = strata([*one, *other], 2, 1)
    assert any(split.fact is not None for split in splits)
    pairs = []
    for label in sorted(set(labels)):
        counts = []
        for trials, own in ((one, labels[:200]), (other, labels[200:])):
            among = [trial.outcome for trial, its in zip(trials, own, strict=True) if its == label]
            counts.append(Count(sum(among), len(among)))
        pairs.append((counts[0], counts[1]))
    whole = [Count(sum(trial.outcome for trial in trials), 200) for trials in (one, other)]
    assert Comparison(whole[0], whole[1], 1).different
    assert not Comparison(whole[0], whole[1], 1, strata=tuple(pairs)).different


def test_what_goes_with_the_version_alone_is_not_what_trials_have_to_agree_in() -> None:
    """The second version fails more often, and has a block in its hand more often: within each version that makes no difference."""
    rng = np.random.default_rng(71022)
    trials = []
    for held, works in ((0.2, 0.9), (0.8, 0.5)):
        for _ in range(200):
            others = frozenset([Atom("on", ("c", "s"))] if rng.random() < held else [])
            trials.append(Trial(0, int(rng.random() < works), Setting(("a", "s"), others)))
    assert strata(trials, 2, 1)[0]
    assert strata(trials, 2, 1, first=200)[0] == []


def test_where_nothing_matters_trials_are_compared_as_they_are() -> None:
    rng = np.random.default_rng(71021)
    trials = [Trial(0, int(rng.random() < 0.5), Setting(("ab"[int(rng.integers(2))],))) for _ in range(200)]
    assert strata(trials, 2, 1)[0] == []


@pytest.mark.parametrize("name", ["after undo", "cold start", "every second of a box"])
def test_of_agents_that_hang_on_moments_that_come_again_the_trials_of_such_moments_are_compared(
    name: str,
) -> None:
    """Of an agent beside itself nothing differs, of one beside another that never works a press."""
    whole = fault(name)
    one, again = (learned(name, "reset", seed)[0].actions for seed in (71023, 71024))
    worse = replace(whole, rate=lambda now: whole.rate(now) / 8)
    broken = run(worse, 71025, "reset", 0.1, 4000)[0].actions
    assert not any(action.different for action in differences(one, again, independent=True))
    found = differences(one, broken, independent=True)
    assert [action.one.index.header.name for action in found if action.different] == ["press"]
    assert any(
        split.comes_again for action in found for outcome in action.outcomes for split in outcome.matched
    )
