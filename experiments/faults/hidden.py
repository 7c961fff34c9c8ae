"""Agents that depend on what no predicate speaks of.

Either their world has a hidden part, which every snapshot brings back, or they become others while they are asked, and
no reset and no snapshot brings the old one back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import NamedTuple

import numpy as np

from aam_vision.query import Access
from aam_vision.strips import Atom, GroundAction, LiftedAtom, State
from experiments.faults.conditional import (
    OFTEN,
    Test,
    Unsuitable,
    some_action,
    some_condition,
    some_effect,
    where,
)
from experiments.faults.world import (
    Consequence,
    Fault,
    FaultyAgent,
    Nature,
    Outcome,
    Setting,
    World,
    lacking,
    refuse,
    with_value,
)

LONG = 30
"""Steps that an agent has to be able to go on for."""


class Counter(Fault):
    """Executed steps of some actions use something up; when it is gone, they have the consequence."""

    def __init__(
        self, setting: Setting, actions: Collection[str], uses: int, consequence: Consequence = refuse
    ) -> None:
        super().__init__(setting, actions, consequence)
        self.uses = uses

    def details(self) -> list[str]:
        return [f"{self.uses} uses"]

    def fresh(self, state: State) -> Hashable:
        return self.uses

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return world.hidden == 0

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Hashable:
        assert isinstance(world.hidden, int), "a number of uses"
        return max(0, world.hidden - (executed and step.name in self.actions))


class EpisodeEnd(Counter):
    """The same for all steps, refused ones included."""

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Hashable:
        return super().remembers(world, step, True)


class Pending(NamedTuple):
    """An effect that has yet to come."""

    atom: Atom
    value: bool


class Delayed(Fault):
    """One effect of an action comes with the next executed step."""

    def __init__(self, setting: Setting, action: str, effect: LiftedAtom) -> None:
        super().__init__(setting, (action,))
        self.effect = effect

    def details(self) -> list[str]:
        return [self.effect.predicate]

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        if state is None:
            return Outcome(False, world)
        touched, pending = world.state.true ^ state.true, None
        if step.name in self.actions:
            atom = self.effect.ground(step.objects)
            if atom in touched:
                pending = Pending(atom, atom in state.true)
                state = with_value(state, atom, atom in world.state.true)
        if isinstance(world.hidden, Pending) and world.hidden.atom not in touched:
            state = with_value(state, *world.hidden)
        return Outcome(True, World(state, pending))


class Stale(Fault):
    """Whether a step can be executed is judged by the state before the last executed step."""

    def fresh(self, state: State) -> Hashable:
        return state

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        assert isinstance(world.hidden, State), "the state before"
        if self.setting.outcome(world.hidden, step) is None:
            return Outcome(False, world)
        after = self.setting.model.schema(step.name).successor(world.state, step.objects)
        return Outcome(True, World(after, world.state))


def hidden_counter(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused after two to five uses."""
    return Counter(setting, (some_action(setting, rng, OFTEN),), int(rng.integers(2, 6)))


def hidden_fuel(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step is refused after 8 to 25 steps."""
    return Counter(setting, tuple(setting.sample), int(rng.integers(8, 26)))


def episode_end(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step is refused after 8 to 25 attempted steps."""
    return EpisodeEnd(setting, tuple(setting.sample), int(rng.integers(8, 26)))


def fault_after_uses(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks an effect from its third to sixth use in an episode on."""
    action = some_action(setting, rng, OFTEN)
    return Counter(setting, (action,), int(rng.integers(2, 6)), lacking(some_effect(setting, action, rng)))


def delayed_effect(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action comes a step later.

    Raises:
        Unsuitable: the agent is soon stuck without the effect, which then never comes.
    """
    action = some_action(setting, rng)
    fault = Delayed(setting, action, some_effect(setting, action, rng))
    agent = FaultyAgent(fault, setting.problems, Access.SNAPSHOT, rng)
    if any(len(agent.walk(start, LONG, rng)) < LONG for start in agent.initial()):
        raise Unsuitable
    return fault


def stale_state(setting: Setting, rng: np.random.Generator) -> Fault:
    """Preconditions are those of the state before the last step."""
    return Stale(setting)


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
