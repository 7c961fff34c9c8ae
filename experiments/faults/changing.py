"""Agents that become others while they are asked; no reset and no snapshot brings the old one back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aam_vision.query import Access
from aam_vision.strips import GroundAction
from experiments.faults.choices import OFTEN, Test, some_action, some_condition, some_effect, where
from experiments.faults.world import Consequence, Fault, Nature, Setting, World, lacking, refuse

HONEST_STEPS = {
    "gripper": {"trajectory": 11, "reset": 40, "snapshot": 36, "settable": 45},
    "blocksworld": {"trajectory": 30, "reset": 78, "snapshot": 73, "settable": 73},
    "miconic": {"trajectory": 23, "reset": 78, "snapshot": 75, "settable": 77},
    "logistics": {"trajectory": 22, "reset": 60, "snapshot": 54, "settable": 60},
}
"""The fewest steps of an interrogation of the honest agent, by domain and access (docs/results/trust.md)."""
PORTIONS = (0.3, 0.6)
"""The agent changes after a portion of them between these."""


class Changing(Fault):
    """One action has the consequence from some moment of the process on, where a test of the state comes true."""

    def __init__(
        self,
        setting: Setting,
        action: str,
        since: Callable[[Nature], bool],
        consequence: Consequence,
        test: Test = lambda state, step: True,
    ) -> None:
        super().__init__(setting, (action,), consequence)
        self.since = since
        self.test = test

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return self.since(nature) and self.test(world.state, step)


def fault_after_process_uses(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks an effect from its third to fifth use in the process on."""
    action, most = some_action(setting, rng, OFTEN), int(rng.integers(2, 5))
    effect = some_effect(setting, action, rng)
    return Changing(setting, action, lambda nature: nature.uses[action] >= most, lacking(effect))


def drift_of_effect(setting: Setting, rng: np.random.Generator, access: Access) -> Fault:
    """One action loses an effect in the course of an interrogation."""
    action = some_action(setting, rng)
    return Changing(setting, action, _later(setting, rng, access), lacking(some_effect(setting, action, rng)))


def drift_of_precondition(setting: Setting, rng: np.random.Generator, access: Access) -> Fault:
    """One action gets a further precondition in the course of an interrogation."""
    action, condition = some_condition(setting, "own", rng)
    test = where(condition, bool(rng.integers(2)))
    return Changing(setting, action, _later(setting, rng, access), refuse, test)


def _later(setting: Setting, rng: np.random.Generator, access: Access) -> Callable[[Nature], bool]:
    least = HONEST_STEPS[setting.domain][access.value]
    moment = int(rng.uniform(*PORTIONS) * least)
    return lambda nature: nature.clock >= moment
