"""Agents that hang on combinations, on what no word says, or on time: they are told of as what they are, or nothing is claimed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from re import search

import numpy as np
import pytest

from aam_vision.interrogation.chance.comparing import Comparison, Count, differences, strata
from aam_vision.interrogation.chance.constancy import Trial
from aam_vision.interrogation.chance.observations import Setting
from aam_vision.interrogation.chance.result import ChanceResult
from aam_vision.interrogation.evidence.transcript import RIGHT_AFTER
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.model.strips import Atom
from tests.profiles import crossed, first, some

from .agents_with_faults import FAULTS, FaultyAgent, false_names, intervals_hold, run

ACCESS = ["settable", "snapshot", "reset"]
TOLD = ["one box", "every ninth step", "breaks", "lamps differ", "spot is taken", "same box again"]
SELDOM = ["every fifth attempt", "lamp", "every seventh"]
AFTER = ["after a refusal", "after undo", "only right after a press", "every second of a box"]


@cache
def learned(name: str, access: str, seed: int) -> tuple[ChanceResult, FaultyAgent]:
    """What a run tells of the agent of this name, and the agent."""
    return run(FAULTS[name], seed, access)


@pytest.mark.nightly
@pytest.mark.parametrize("access", ACCESS)
def test_honest_agents_are_hardly_ever_accused(access: str) -> None:
    """Of the confusion matrix the line of honest agents; the others are the told ones below."""
    told, names, wrong = Counter[str](), 0, 0
    for name, fault in FAULTS.items():
        if fault.kind == "honest":
            result, agent = learned(name, access, 1)
            told[result.status] += 1
            names += false_names(result, fault)
            wrong += result.status == COMPLETE and not intervals_hold(result, agent, fault)
    assert max(told[NOT_STRIPS], names, wrong) <= 1, told


def test_versions_that_no_model_explains_are_tried_until_they_can_be_compared() -> None:
    lamp = FAULTS["lamp"]
    result, _ = learned("lamp", "settable", 1)
    assert result.actions[0].executed == 400, "twice as many as intervals of 10 points take"
    worse, _ = run(replace(lamp, rate=lambda now: max(0.0, lamp.rate(now) - 0.25)), 2, "settable")
    assert result.status == worse.status == NOT_STRIPS
    found = differences(result.actions, worse.actions, independent=True)
    assert [one.one.index.header.name for one in found if one.different] == ["press"]


@pytest.mark.parametrize("access", first(1, ["reset", "settable"]))
def test_of_two_atoms_of_which_one_has_to_hold_both_are_certain(access: str) -> None:
    result, agent = learned("two differ", access, 1)
    press = result.actions[0]
    assert result.status == COMPLETE
    assert {atom.predicate for atom in press.index.select(press.dependence.sure)} == {"wet", "old"}
    assert intervals_hold(result, agent, FAULTS["two differ"])


@pytest.mark.parametrize(
    ("name", "access"),
    [*product(TOLD, ["settable"]), *first(0, product(SELDOM, ["settable"])), *crossed(AFTER, ACCESS)],
)
def test_what_no_word_says_is_told_and_no_atom_is_blamed_for_it(name: str, access: str) -> None:
    result, _ = learned(name, access, 1)
    assert result.status == NOT_STRIPS
    assert FAULTS[name].told in result.why
    assert not false_names(result, FAULTS[name])


@pytest.mark.parametrize("access", first(1, ["settable", "snapshot", "reset"]))
def test_trials_of_a_right_agent_come_late_and_after_each_action(access: str) -> None:
    result, _ = learned("own fact", access, 0)
    assert result.status == COMPLETE
    press = result.actions[0]
    for what in ("a refused step", "undo", "set-wet", "clear-wet"):
        assert press.before[RIGHT_AFTER.format(what)] >= 5
    if access != "reset":
        assert sum(step.when.since >= 16 for step in press.steps.course) >= 4


@pytest.mark.parametrize(
    ("name", "access", "told"),
    [
        ("spells", "settable", FAULTS["spells"].told),
        ("cold start", "reset", "in the first step since"),
        ("tires", "reset", "in the first [48] steps since"),
        *first(1, [("tires", access, "ago the agent was put") for access in ("snapshot", "settable")]),
        *first(1, [(name, "reset", r"lit\(") for name in ("lamp", "lamps differ")]),
    ],
)
def test_what_time_or_facts_out_of_reach_hide_is_mostly_told(name: str, access: str, told: str) -> None:
    """Of the lamps, which no press names, facts are varied where they can only be walked to."""
    results = [learned(name, access, seed)[0] for seed in some(1, range(4))]
    assert all(result.status == NOT_STRIPS for result in results) or name == "tires"
    assert sum(search(told, result.why) is not None for result in results) >= len(results) * 3 / 4


def trials(works: dict[bool, float], taken: float, number: int, seed: int) -> list[Trial]:
    """Trials that work so often where the spot is taken and where it is not."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(number):
        others = frozenset([Atom("on", ("c", "s"))] if rng.random() < taken else [])
        found.append(Trial(0, int(rng.random() < works[bool(others)]), Setting(("a", "s"), others)))
    return found


def test_trials_in_other_situations_are_not_compared() -> None:
    works = {True: 0.1, False: 0.9}
    one, other = trials(works, 0.9, 200, 71020), trials(works, 0.1, 200, 71023)
    splits, labels = strata([*one, *other], 2, 1)
    assert any(split.fact is not None for split in splits)

    def counted(of: list[Trial], own: list[int] | list[str], label: object) -> Count:
        among = [trial.outcome for trial, its in zip(of, own, strict=True) if label in (its, None)]
        return Count(sum(among), len(among))

    pairs = tuple(
        (counted(one, labels[:200], label), counted(other, labels[200:], label))
        for label in sorted(set(labels))
    )
    whole = [counted(made, labels[:200], None) for made in (one, other)]
    assert Comparison(whole[0], whole[1], 1).different
    assert not Comparison(whole[0], whole[1], 1, strata=pairs).different


def test_what_goes_with_the_version_alone_or_with_nothing_is_not_what_trials_have_to_agree_in() -> None:
    """The second version fails more often, and has a block in its hand more often: within each version that makes no difference."""
    one = trials({True: 0.9, False: 0.9}, 0.2, 200, 71022)
    other = trials({True: 0.5, False: 0.5}, 0.8, 200, 71024)
    assert strata([*one, *other], 2, 1)[0]
    assert strata([*one, *other], 2, 1, first=200)[0] == []
    assert strata(other, 2, 1)[0] == []


@pytest.mark.parametrize("name", first(1, ["cold start", "after undo", "every second of a box"]))
def test_trials_of_moments_that_come_again_are_compared(name: str) -> None:
    """Of an agent beside itself nothing differs, of one beside another that never works a press."""
    whole = FAULTS[name]
    one, again = (learned(name, "reset", seed)[0].actions for seed in (0, 1))
    broken = run(replace(whole, rate=lambda now: whole.rate(now) / 8), 71025, "reset")[0].actions
    assert not any(action.different for action in differences(one, again, independent=True))
    found = differences(one, broken, independent=True)
    assert [action.one.index.header.name for action in found if action.different] == ["press"]
    assert any(split.comes_again for one in found for outcome in one.outcomes for split in outcome.matched)
