"""What outcomes depend on: atoms, objects, what came before, or time; what is said surely is right, and chance is hardly ever accused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.chance.checking import unsettled_dependence
from aam_vision.interrogation.chance.conditions import (
    MOST,
    Dependence,
    dependence,
    tried_in_vain,
    worth_trying,
)
from aam_vision.interrogation.chance.constancy import Split, Trial, apart, difference, drift
from aam_vision.interrogation.chance.graph import StateGraph, StepTable
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.intervals import Precision, concentration
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import (
    Change,
    Observations,
    Setting,
    change,
    evident,
    explain,
    holds,
)
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.evidence.transcript import Moment
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, State
from aam_vision.report.chance_evaluation import check
from tests.domains import all_bindings
from tests.profiles import first, thorough

from .agents import agent, read

ATOMS = 4
PRECISION = Precision(0.05, 0.05, concentration(0.05))
WIDE = Precision(0.05, 0.1, concentration(0.1))
PUSHING = """(define (domain pushing)
  (:requirements :strips :typing :negative-preconditions :conditional-effects :probabilistic-effects)
  (:types thing)
  (:predicates (high ?x - thing) (done ?x - thing))
  (:action push :parameters (?x - thing)
    :effect (and (when (high ?x) (probabilistic 0.9 (done ?x))) (when (not (high ?x)) (probabilistic 0.4 (done ?x)))))
  (:action lift :parameters (?x - thing) :precondition (not (high ?x)) :effect (high ?x))
  (:action undo :parameters (?x - thing) :precondition (done ?x) :effect (not (done ?x))))
"""
TWO_THINGS = "(define (problem p) (:domain pushing) (:objects a b - thing) (:init (high a)) (:goal (done a)))"
HIGH, DONE = 1, 2


def steps(
    probability: dict[int, float], depends: int, made: int, seed: int, atoms: int = ATOMS
) -> Observations:
    """Steps in random contexts; the first atom is deleted, as often as the values of some atoms say."""
    rng, found = np.random.default_rng(seed), Observations()
    for _ in range(made):
        held = int(rng.integers(1 << atoms)) | 1
        found.add(held, held & ~1 if rng.random() < probability[held & depends] else held)
    return found


def made(counts: dict[int, dict[int, int]]) -> Observations:
    """Steps by what held before and after, so many of each."""
    found = Observations()
    for held, afters in counts.items():
        for now, times in afters.items():
            for _ in range(times):
                found.add(held, now)
    return found


def judged(found: Observations, atoms: int = ATOMS) -> Dependence:
    return dependence(found, (1 << atoms) - 1, PRECISION)


@pytest.mark.parametrize("seed", range(5))
def test_one_atom_is_found_and_is_sure_and_a_conjunction_makes_three_cases(seed: int) -> None:
    told = judged(steps({0: 0.1, 0b10: 0.8}, 0b10, 400, seed))
    assert told.atoms == told.sure == 0b10
    assert not told.others
    assert {case.positive for case in told.cases} == {0, 0b10}
    told = judged(steps({0: 0.0, 0b10: 0.0, 0b100: 0.0, 0b110: 0.9}, 0b110, 300, seed))
    assert told.atoms == 0b110
    assert len(told.cases) == 3
    assert all(sum(holds(case, held) for case in told.cases) == 1 for held in range(1 << ATOMS))


@pytest.mark.parametrize("number", [MOST, MOST + 1])
def test_as_many_atoms_are_found_as_there_may_be(number: int) -> None:
    """Most of them have to be true."""
    depends, atoms = (1 << number + 1) - 2, number + 2
    often = {held: 0.95 if held.bit_count() > number // 2 else 0.05 for held in range(0, depends + 1, 2)}
    told = judged(steps(often, depends, 6000, 0, atoms), atoms)
    assert told.differing
    assert told.unexplained is (number > MOST)
    assert told.atoms == (depends if number == MOST else 0)


def test_cases_are_not_merged_where_two_of_their_atoms_seem_to_differ_together() -> None:
    """Most of three have to hold; where the first does not hold, both others did in few trials."""
    tried = {
        0b111: (37, 11),
        0b011: (96, 7),
        0b101: (202, 18),
        0b001: (106, 210),
        0: (15, 57),
        0b100: (62, 122),
        0b010: (15, 30),
        0b110: (11, 1),
    }
    found = made({held << 1 | 1: {held << 1: a, held << 1 | 1: b} for held, (a, b) in tried.items()})
    told = judged(found)
    assert told.atoms == told.sure == 0b1110
    assert any(holds(case, 0b1100) and not holds(case, 0b0100) for case in told.cases)


def test_like_atoms_are_not_told_apart_own_ones_found_and_small_differences_suspected() -> None:
    told = judged(made({0b001: {0b001: 100}, 0b111: {0b110: 100}}))
    assert {told.atoms, *told.others} == {0b010, 0b100}
    assert not told.sure
    told = judged(made({0: {1: 30}, 1: {0: 30}}))
    assert told.atoms == told.sure == 1
    seen = [judged(steps({0: 0.3, 0b10: 0.6}, 0b10, made, 1)) for made in (40, 100, 140, 180, 220, 640)]
    assert not seen[0].atoms
    assert any(told.suspected & 0b10 and not told.atoms for told in seen)
    assert seen[-1].atoms == 0b10


def test_where_nothing_depends_on_anything_nothing_is_said_to() -> None:
    wrong = 0
    for seed in range(100):
        told = judged(found := steps({0: 0.3}, 0, 200, seed))
        wrong += bool(told.atoms or told.differing or evident(found, ATOMS, PRECISION))
    assert wrong <= 1


@pytest.mark.parametrize(
    ("tried", "worth"),
    [
        ({0: {DONE: 5}, DONE: {DONE: 3}}, {HIGH, HIGH | DONE}),  # where nothing was tried yet
        # nothing varies in the one pair
        ({DONE: {DONE: 60}, DONE | HIGH: {DONE | HIGH: 60}, 0: {0: 9, DONE: 4}, HIGH: {HIGH: 1, HIGH | DONE: 9}}, {0, HIGH}),
        ({0: {0: 60}, HIGH: {HIGH: 3}}, {HIGH}),
        ({HIGH: {HIGH: 60}, 0: {0: 3}}, {0}),  # what was tried seldom
    ],
)  # fmt: skip
def test_contexts_with_few_trials_are_tried(tried: dict[int, dict[int, int]], worth: set[int]) -> None:
    steps = made(tried)
    assert {held for _, held in worth_trying(steps, NOTHING, HIGH)} == worth
    assert not tried_in_vain(steps, NOTHING, HIGH)


@pytest.mark.parametrize(("often", "seldom"), [(0, HIGH), (HIGH, 0)])
def test_what_was_tried_seldom_is_tried_again_where_it_was_tried(often: int, seldom: int) -> None:
    apart = Observations()
    for held, times in ((often, 60), (seldom, 3)):
        for _ in range(times):
            apart.add(held, held, Setting((), frozenset({Atom("other", (str(held),))})))
    worth = worth_trying(apart, NOTHING, HIGH)
    assert {held for setting, held in worth if (setting, held) in apart.situations} == {seldom}


def pushing() -> tuple[ActionKnowledge, State]:
    """Nothing is known of the push yet, nor is anything high or done."""
    truth, initial = read(PUSHING, TWO_THINGS)
    index = AtomIndex(truth.vocabulary, truth.schema("push").header)
    return ActionKnowledge(index, WIDE), replace(initial, true=frozenset())


def test_what_never_came_where_it_was_tried_is_expected_less_and_less() -> None:
    known, bare = pushing()
    initial, one, other = (
        replace(bare, true=frozenset({Atom("high", ("a",)), *(Atom("done", (name,)) for name in done)}))
        for done in ("", "a", "b")
    )
    for after in (initial, one):
        known.was_executed(initial, ("a",), after)
    adds = next(number for number, one in enumerate(known.outcomes) if one.adds)
    low = known.index.values(initial, ("b",))[0]
    expected = [known.chance_of(low, adds)]
    for _ in range(20):
        known.was_executed(initial, ("b",), initial)
        expected.append(known.chance_of(low, adds))
    assert expected[0] == 0.5
    assert expected == sorted(expected, reverse=True)
    assert expected[-1] < 0.02
    known.was_executed(initial, ("b",), other)
    assert known.chance_of(low, adds) == known.frequencies[adds].probability


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_a_difference_is_settled(seed: int) -> None:
    truth, _ = read(PUSHING, TWO_THINGS)
    pusher = agent(Access.SETTABLE, seed, PUSHING, TWO_THINGS)
    result = interrogate(pusher, np.random.default_rng(seed), Options(0.1))
    assert result.status == COMPLETE
    found, wanted = (
        {case.positive | case.negative for case in model.schema("push").cases}
        for model in (result.model, truth)
    )
    assert found == wanted
    for action in result.actions:
        assert action.certain
        assert all(check(action, truth.schema(action.index.header.name)).intervals)


def test_what_could_not_be_settled_is_said() -> None:
    action, bare = pushing()
    for turn in range(400):
        for below, share in (({Atom("high", ("a",))}, 232), (set[Atom](), 168)):
            done = {Atom("done", ("a",))} if turn * share // 400 != (turn + 1) * share // 400 else set[Atom]()
            ends = (replace(bare, true=frozenset(true)) for true in (below, below | done))
            action.was_executed(next(ends), ("a",), next(ends))
    action.reconsider()
    assert not action.certain
    assert unsettled_dependence([action]) == (
        "whether what push does depends on high(?x) was not settled by the trials given to that"
    )


# The outcomes that are found explain every change, are as few as can be, and are sure only where they were all shown.

EVERYTHING = (1 << ATOMS) - 1


def drawn(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Some outcomes: what each adds and deletes."""
    found = set()
    for _ in range(int(rng.integers(1, 4))):
        adds = int(rng.integers(1 << ATOMS))
        found.add((adds, int(rng.integers(1 << ATOMS)) & ~adds))
    return sorted(found)


def seen(outcomes: list[tuple[int, int]], before: int) -> list[Change]:
    """What a situation shows if every outcome comes about in it."""
    return [change(before, (before | adds) & ~deletes, EVERYTHING) for adds, deletes in outcomes]


def shows(one: Change, adds: int, deletes: int) -> bool:
    """Whether what is said of an outcome agrees with one."""
    return not (
        one.adds & ~adds or one.deletes & ~deletes or one.adds_not & adds or one.deletes_not & deletes
    )


def test_every_change_is_shown_by_as_few_outcomes_as_there_are_and_what_is_sure_is_right() -> None:
    several = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        outcomes = drawn(rng)
        changes = [one for before in rng.integers(1 << ATOMS, size=6) for one in seen(outcomes, int(before))]
        found = explain(changes)
        assert all(any(one.shows(shown) for one in found.outcomes) for shown in changes)
        assert len(found.outcomes) <= len(outcomes)
        if found.sure:
            several += len(found.outcomes) > 1
            assert all(any(shows(one, *outcome) for outcome in outcomes) for one in found.outcomes)
    assert several > 20


@pytest.mark.parametrize(
    ("outcomes", "befores", "sure"),
    [
        ([(0b0001, 0b0100), (0b0011, 0b0100), (0, 0)], [0b0100], True),  # one situation reveals all
        ([(0b11, 0)], [0b01, 0b10], None),  # it adds two atoms, of which one held at first
        ([(0b1, 0), (0, 0b1)], [0, 1], False),  # no situation shows them together
    ],
)
def test_outcomes_are_sure_where_all_were_shown(
    outcomes: list[tuple[int, int]], befores: list[int], sure: bool | None
) -> None:
    told = explain([one for before in befores for one in seen(outcomes, before)])
    assert sorted((one.adds, one.deletes) for one in told.outcomes) == sorted(outcomes)
    assert sure in (None, told.sure)


def test_what_never_changes_anything_adds_nothing() -> None:
    (one,) = explain([change(0b01, 0b01, EVERYTHING), change(0b10, 0b10, EVERYTHING)]).outcomes
    assert (one.adds, one.deletes, one.adds_not) == (0, 0, EVERYTHING)


# The steps of situations: all of them, whatever was forgotten in between, and none kept that no graph has.


def _table() -> tuple[StepTable, tuple[ActionKnowledge, ...], State]:
    model, initial = read()
    indices = [AtomIndex(model.vocabulary, header) for header in model.headers]
    actions = tuple(ActionKnowledge(index, PRECISION) for index in indices)
    return StepTable(actions), actions, initial


def test_every_choice_of_arguments_is_a_step_and_what_no_graph_has_is_forgotten() -> None:
    table, actions, state = _table()
    steps, distinct = list(table.all(state)), table.distinct(state)
    assert [(one.action, one.objects) for one in steps] == [
        (number, row)
        for number, action in enumerate(actions)
        for row in all_bindings(action.index.header, state.objects)
    ]
    assert all(step.held == actions[step.action].index.values(state, step.objects)[0] for step in steps)
    kinds = {(step.action, step.held) for step in steps}
    assert {(step.action, step.held) for step in distinct} == kinds
    assert len(distinct) == len(kinds)
    table, actions, state = _table()
    other = State(frozenset(), state.objects)
    steps, kept, forgotten = list(table.all(other)), table.distinct(state), table.distinct(other)
    assert other not in StateGraph(actions, table, [state]).number
    assert table.distinct(state) is kept
    assert table.distinct(other) is not forgotten
    assert list(table.all(other)) == steps


Draw = Callable[[int, np.random.Generator], Trial]


def works(rng: np.random.Generator, rate: float, *more: Any, held: int = 0, **named: Any) -> Trial:
    """A trial that comes out in one of two ways, as often as a rate says."""
    return Trial(held, int(rng.random() < rate), *more, **named)


def trials_of(draw: Draw, number: int, seed: int) -> list[Trial]:
    rng = np.random.default_rng(seed)
    return [draw(one, rng) for one in range(number)]


def by(trials: list[Trial], atoms: int = 0) -> Split | None:
    found = difference(trials, 2, atoms, WIDE, unexplained=bool(atoms))
    return None if found is None or not found.sure else found.by


def an_object(number: int, rng: np.random.Generator) -> Trial:
    block = "abc"[rng.integers(3)]
    return works(rng, 0.3 if block == "b" else 0.9, Setting((block, "h")))


def what_came_before(number: int, rng: np.random.Generator) -> Trial:
    before = (("it came right after undo",), ("it came right after press",), ())[int(rng.integers(3))]
    return works(rng, 0.4 if before and "undo" in before[0] else 0.9, when=Moment(before=before))


def an_atom(number: int, rng: np.random.Generator) -> Trial:
    """It is no change with time that the atom has changed."""
    return works(rng, (0.2, 0.8)[number >= 150], held=int(number >= 150))


def spells() -> Draw:
    now = [0]

    def draw(number: int, rng: np.random.Generator) -> Trial:
        now[0] ^= int(rng.random() < 0.1)
        return works(rng, (0.1, 0.9)[now[0]])

    return draw


@pytest.mark.parametrize(
    ("draw", "number", "atoms", "split"),
    [
        (lambda number, rng: Trial(0, number % 2), 100, 0, Split(after=(1, 0))),
        (spells(), 300, 0, Split(after=(1, 0))),
        (an_object, 400, 0, Split(named=(0, "b"))),
        (what_came_before, 300, 0, Split(before="it came right after undo")),
        (an_atom, 300, 1, Split(atom=0)),
    ],
)
def test_what_makes_the_difference_is_named(draw: Draw, number: int, atoms: int, split: Split) -> None:
    assert by(trials_of(draw, number, 71001), atoms) == split


@pytest.mark.parametrize("length", [3, 7, 12, 20])
def test_a_cycle_is_told_with_its_length(length: int) -> None:
    found = by(trials_of(lambda number, rng: works(rng, 0.9 * (number % length > 0)), 40 * length, 71007))
    assert found.phase == (length, 0)


def test_a_cycle_counts_steps_that_are_no_trials() -> None:
    rng = np.random.default_rng(71008)
    course = [works(rng, 0.9 * (number % 5 > 0)).outcome for number in range(600)]
    trials = [Trial(0, one, None, number) for number, one in enumerate(course) if rng.random() < 0.5]
    found = difference(trials, 2, 1, WIDE, [one if rng.random() < 0.5 else -1 for one in course])
    assert found.by.phase == (5, 0)


def test_practice_is_told_as_a_change_and_the_last_trials_tell_how_often_it_works_now() -> None:
    trials = trials_of(lambda number, rng: works(rng, 0.3 + 0.6 * min(1, number / 300)), 500, 71009)
    found = difference(trials, 2, 1, WIDE)
    assert found.sure
    assert found.since == found.by.first
    assert found.since is not None


def test_practice_that_is_not_sure_yet_is_doubted_and_what_stays_the_same_is_not_for_long() -> None:
    """200 trials, at which intervals of +-.1 are narrow enough: the later half works 8 points more often than all of them."""
    rng = np.random.default_rng(71012)

    def doubted(first: float, last: float, number: int) -> int:
        runs = [rng.random(number) < np.linspace(first, last, number) for _ in range(200)]
        return sum(drift([Trial(0, int(one)) for one in run], 2, WIDE) is not None for run in runs)

    assert doubted(0.4, 0.73, 200) > 150
    assert doubted(0.5, 0.5, 200) < 40
    assert doubted(0.5, 0.5, 400) < 5


@thorough(20)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_rate_that_differs_with_an_atom_or_object_is_doubted(seed: int, named: bool) -> None:
    """Of 200 trials, at which intervals of +-.1 are narrow enough, the half with it comes to the outcome .3 more often, or as often."""
    rng = np.random.default_rng(seed)

    def doubted(more: float, number: int) -> int:
        count = 0
        for _ in range(10):
            half = rng.random(number) < 0.5
            came = rng.random(number) < 0.55 + more * half
            cells = [(0, "ab"[int(cell)]) if named else (int(cell), "a") for cell in half]
            trials = [
                Trial(held, int(one), Setting((name,))) for one, (held, name) in zip(came, cells, strict=True)
            ]
            found = apart(trials, 2, 1, WIDE)
            assert apart(trials, 2, 1, WIDE, objects=False) is None or not named
            if found is not None:
                assert not found.sure
                assert (found.by.named if named else found.by.atom) is not None
            count += found is not None
        return count

    assert doubted(0.3, 200) >= 7
    assert doubted(0.0, 200) <= 7
    assert doubted(0.0, 600) <= 1


def test_what_all_trials_have_in_common_or_nearly_is_not_doubted() -> None:
    assert apart([Trial(1, number % 2) for number in range(40)], 2, 1, WIDE) is None
    rare = [Trial(int(number < 15), int(number < 15)) for number in range(200)]
    assert apart(rare, 2, 1, WIDE) is None


def test_what_goes_with_an_atom_is_left_to_cases() -> None:
    """Objects that are always in the same state differ as these states do: that is no matter of the objects."""

    def draw(number: int, rng: np.random.Generator) -> Trial:
        block = int(rng.integers(2))
        return works(rng, (0.2, 0.8)[block], Setting(("ab"[block],)), held=block)

    assert difference(trials_of(draw, 400, 71011), 2, 1, WIDE) is None


def test_chance_alone_is_hardly_ever_accused() -> None:
    def draw(number: int, rng: np.random.Generator) -> Trial:
        return works(rng, 0.4, Setting(("abc"[rng.integers(3)],)))

    accused = [by(trials_of(draw, 200, seed)) is not None for seed in range(75)]
    assert sum(accused) <= 2  # one in a hundred at most
