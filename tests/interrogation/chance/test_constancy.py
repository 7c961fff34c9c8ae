"""Whether outcomes come equally often in all trials: what changes, lasts or hangs on an object is named, and chance hardly ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.constancy import Split, Trial, apart, difference, drift
from aam_vision.interrogation.chance.interrogating import Options, interrogate
from aam_vision.interrogation.chance.intervals import Precision, concentration
from aam_vision.interrogation.chance.observations import Setting
from aam_vision.interrogation.evidence.transcript import Moment
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, Effects, GroundAction, State
from tests.profiles import thorough

from .agents import read

PRECISION = Precision(0.05, 0.1, concentration(0.1))


def by(trials: list[Trial], atoms: int = 0) -> Split | None:
    found = difference(trials, 2, atoms, PRECISION, unexplained=bool(atoms))
    return None if found is None or not found.sure else found.by


def test_what_takes_turns_depends_on_the_trial_before() -> None:
    assert by([Trial(0, number % 2) for number in range(100)]) == Split(after=(1, 0))


def test_what_lasts_for_a_while_depends_on_the_trial_before() -> None:
    rng = np.random.default_rng(71001)
    state, trials = 0, []
    for _ in range(300):
        state ^= int(rng.random() < 0.1)
        trials.append(Trial(0, int(rng.random() < (0.1, 0.9)[state])))
    assert by(trials) == Split(after=(1, 0))


def test_an_object_is_named_where_it_makes_the_difference() -> None:
    rng = np.random.default_rng(71002)
    trials = []
    for _ in range(400):
        block = "abc"[rng.integers(3)]
        trials.append(Trial(0, int(rng.random() < (0.3 if block == "b" else 0.9)), Setting((block, "h"))))
    assert by(trials) == Split(named=(0, "b"))


def test_what_came_right_before_is_told_where_it_makes_the_difference() -> None:
    rng = np.random.default_rng(71013)
    trials = []
    for _ in range(300):
        before = (("it came right after undo",), ("it came right after press",), ())[int(rng.integers(3))]
        works = rng.random() < (0.4 if before and "undo" in before[0] else 0.9)
        trials.append(Trial(0, int(works), when=Moment(before=before)))
    assert by(trials) == Split(before="it came right after undo")


@pytest.mark.parametrize("length", [3, 7, 12, 20])
def test_a_cycle_is_told_with_its_length(length: int) -> None:
    rng = np.random.default_rng(71007)
    found = by([Trial(0, int(number % length > 0 and rng.random() < 0.9)) for number in range(40 * length)])
    assert found is not None
    assert found.phase == (length, 0)


def test_a_cycle_counts_steps_that_are_no_trials() -> None:
    rng = np.random.default_rng(71008)
    course = [int(number % 5 > 0 and rng.random() < 0.9) for number in range(600)]
    shown = [number for number in range(600) if rng.random() < 0.5]
    trials = [Trial(0, course[number], None, number) for number in shown]
    found = difference(trials, 2, 1, PRECISION, [one if rng.random() < 0.5 else -1 for one in course])
    assert found is not None
    assert found.by.phase == (5, 0)


def test_practice_is_told_as_a_change_and_the_last_trials_tell_how_often_it_works_now() -> None:
    rng = np.random.default_rng(71009)
    trials = [Trial(0, int(rng.random() < 0.3 + 0.6 * min(1, number / 300))) for number in range(500)]
    found = difference(trials, 2, 1, PRECISION)
    assert found is not None
    assert found.sure
    assert found.since == found.by.first
    assert found.since is not None


def test_practice_that_is_not_sure_yet_is_doubted_and_what_stays_the_same_is_not_for_long() -> None:
    """200 trials, at which intervals of +-.1 are narrow enough: the later half works 8 points more often than all of them."""
    rng = np.random.default_rng(71012)

    def doubted(first: float, last: float, number: int) -> int:
        runs = [rng.random(number) < np.linspace(first, last, number) for _ in range(200)]
        return sum(drift([Trial(0, int(one)) for one in run], 2, PRECISION) is not None for run in runs)

    assert doubted(0.4, 0.73, 200) > 150
    assert doubted(0.5, 0.5, 200) < 40
    assert doubted(0.5, 0.5, 400) < 5


@thorough(20)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_rate_outside_of_the_interval_that_an_atom_or_an_object_goes_with_is_doubted(
    seed: int, named: bool
) -> None:
    """Of 200 trials, at which intervals of +-.1 are narrow enough, the half with it comes to the outcome .3 more often, or as often."""
    rng = np.random.default_rng(seed)

    def doubted(more: float, number: int) -> int:
        count = 0
        for _ in range(10):
            half = rng.random(number) < 0.5
            came = rng.random(number) < 0.55 + more * half
            trials = [
                Trial(0, int(one), Setting(("ab"[int(cell)],)))
                if named
                else Trial(int(cell), int(one), Setting(("a",)))
                for one, cell in zip(came, half, strict=True)
            ]
            found = apart(trials, 2, 1, PRECISION)
            assert found is None or not found.sure
            assert found is None or (found.by.named if named else found.by.atom) is not None
            assert apart(trials, 2, 1, PRECISION, objects=False) is None or not named
            count += found is not None
        return count

    assert doubted(0.3, 200) >= 7
    assert doubted(0.0, 200) <= 7
    assert doubted(0.0, 600) <= 1


def test_what_all_trials_have_in_common_or_nearly_is_not_doubted() -> None:
    assert apart([Trial(1, number % 2) for number in range(40)], 2, 1, PRECISION) is None
    rare = [Trial(int(number < 15), int(number < 15)) for number in range(200)]
    assert apart(rare, 2, 1, PRECISION) is None


def test_a_fact_that_the_action_does_not_name_is_told() -> None:
    rng = np.random.default_rng(71010)
    trials = []
    for _ in range(300):
        taken = rng.random() < 0.5
        others = frozenset([Atom("on", ("c", "s"))] if taken else [])
        trials.append(Trial(0, int(rng.random() < (0.2 if taken else 0.9)), Setting(("a", "s"), others)))
    found = by(trials)
    assert found is not None
    assert found.fact in ("on(c, s)", "on(another, #1)")


def test_what_goes_with_an_atom_is_left_to_cases() -> None:
    """Objects that are always in the same state differ as these states do: that is no matter of the objects."""
    rng = np.random.default_rng(71011)
    trials = []
    for _ in range(400):
        block = int(rng.integers(2))
        trials.append(Trial(block, int(rng.random() < (0.2, 0.8)[block]), Setting(("ab"[block],))))
    assert difference(trials, 2, 1, PRECISION) is None


def test_what_depends_on_an_atom_is_not_said_to_change_because_the_atom_did() -> None:
    rng = np.random.default_rng(71003)
    trials = [Trial(held, int(rng.random() < (0.2, 0.8)[held])) for held in [0] * 150 + [1] * 150]
    assert by(trials, atoms=1) == Split(atom=0)


def test_chance_alone_is_hardly_ever_accused() -> None:
    rng = np.random.default_rng(71004)
    accused = 0
    for _ in range(150):
        blocks = rng.integers(3, size=200)
        outcomes = rng.random(200) < 0.4
        trials = [
            Trial(0, int(one), Setting(("abc"[block],))) for one, block in zip(outcomes, blocks, strict=True)
        ]
        accused += by(trials) is not None
    assert accused <= 4  # one in a hundred at most


class Hidden(SymbolicAgent):
    """A hand that grabs as often as something says that its states do not show: the number of the attempt, or the object."""

    def __init__(self, often: Callable[[int, str], float]) -> None:
        model, initial = read()
        chance = np.random.default_rng(71005)
        super().__init__(model, [initial], Access.RESET, refuses_surely=True, chance=chance)
        self._often, self._attempts = often, 0

    def after(self, state: State, action: GroundAction) -> State:
        if action.name != "grab":
            return super().after(state, action)
        self._attempts += 1
        works = self.chance.random() < self._often(self._attempts, action.objects[0])
        grabbed = self._model.schema("grab").outcomes[0].effects
        return (grabbed if works else Effects()).applied(state, action.objects)


@pytest.mark.parametrize(
    ("often", "told"),
    [
        (lambda attempt, block: attempt % 2, "goes in cycles of 2 steps"),
        (lambda attempt, block: 0.9 if block == "a" else 0.3, "depends on which object ?b is"),
        (lambda attempt, block: 0.9 if attempt < 60 else 0.3, "has changed"),
    ],
)
def test_what_the_states_do_not_show_is_named_and_nothing_is_called_complete(often: Any, told: str) -> None:
    result = interrogate(Hidden(often), np.random.default_rng(71006), Options(0.1, max_steps=1500))
    assert result.status == NOT_STRIPS
    assert told in result.why
