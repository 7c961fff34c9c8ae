"""Whether outcomes come equally often in all trials: what changes, lasts or hangs on an object is named, and chance hardly ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.chance import ChanceAgent
from aam_vision.chance.constancy import Split, Trial, difference
from aam_vision.chance.frequency import Precision
from aam_vision.chance.interrogating import Options, interrogate
from aam_vision.chance.intervals import concentration
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.outcomes import Effects
from aam_vision.query import Access
from aam_vision.strips import GroundAction, State

from .agents import read

PRECISION = Precision(0.05, 0.1, concentration(0.1))


def by(trials: list[Trial], atoms: int = 0) -> Split | None:
    found = difference(trials, 2, atoms, PRECISION)
    return None if found is None else found.by


def test_what_takes_turns_depends_on_the_trial_before() -> None:
    assert by([Trial(0, number % 2) for number in range(100)]) == Split(after=0)


def test_what_lasts_for_a_while_depends_on_the_trial_before() -> None:
    rng = np.random.default_rng(71001)
    state, trials = 0, []
    for _ in range(300):
        state ^= int(rng.random() < 0.1)
        trials.append(Trial(0, int(rng.random() < (0.1, 0.9)[state])))
    assert by(trials) == Split(after=0)


def test_an_object_is_named_where_it_makes_the_difference() -> None:
    rng = np.random.default_rng(71002)
    trials = []
    for _ in range(400):
        block = "abc"[rng.integers(3)]
        trials.append(Trial(0, int(rng.random() < (0.3 if block == "b" else 0.9)), (block, "h")))
    assert by(trials) == Split(named=(0, "b"))


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
        trials = [Trial(0, int(one), ("abc"[block],)) for one, block in zip(outcomes, blocks, strict=True)]
        accused += by(trials) is not None
    assert accused <= 4  # one in a hundred at most


class Hidden(ChanceAgent):
    """A hand that grabs as often as something says that its states do not show: the number of the attempt, or the object."""

    def __init__(self, often: Callable[[int, str], float]) -> None:
        model, initial = read()
        super().__init__(model, [initial], np.random.default_rng(71005), Access.RESET)
        self._often, self._attempts = often, 0

    def _drawn(self, state: State, action: GroundAction) -> State:
        if action.name != "grab":
            return super()._drawn(state, action)
        self._attempts += 1
        works = self._rng.random() < self._often(self._attempts, action.objects[0])
        grabbed = self._model.schema("grab").outcomes[0].effects
        return (grabbed if works else Effects()).applied(state, action.objects)


@pytest.mark.parametrize(
    ("often", "told"),
    [
        (lambda attempt, block: attempt % 2, "depends on what the trial before came to"),
        (lambda attempt, block: 0.9 if block == "a" else 0.3, "depends on which object ?b is"),
        (lambda attempt, block: 0.9 if attempt < 60 else 0.3, "has changed"),
    ],
)
def test_what_the_states_do_not_show_is_named_and_nothing_is_called_complete(often: Any, told: str) -> None:
    result = interrogate(Hidden(often), np.random.default_rng(71006), Options(0.1, max_steps=1500))
    assert result.status == NOT_STRIPS
    assert told in result.why
