"""Agents that the same step from the same snapshot does not always bring to the same place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from aam_vision.strips import ActionHeader, ActionSchema, GroundAction, LiftedAtom, Model
from experiments.faults.conditional import one_of, some_action, some_effect
from experiments.faults.world import (
    Consequence,
    Fault,
    Nature,
    Outcome,
    Setting,
    World,
    lacking,
    nothing,
    refuse,
)

NO_OP_RATE = 0.2
SWAP_RATE = 0.3


class Chance(Fault):
    """Some actions have the consequence with a probability."""

    def __init__(
        self, setting: Setting, actions: Collection[str], rate: float, consequence: Consequence, noisy: bool
    ) -> None:
        super().__init__(setting, actions, consequence)
        self.rate = rate
        self.noisy = noisy

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        assert self.rate is not None, "a probability"
        return bool(nature.rng.random() < self.rate)


class Swapped(Chance):
    """With a probability, one action is attempted with two of its arguments exchanged."""

    places: tuple[int, int]

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        if step.name in self.actions and self.strikes(world, step, nature):
            step = GroundAction(step.name, exchanged(step.objects, *self.places))
        state = self.setting.outcome(world.state, step)
        return Outcome(state is not None, world if state is None else World(state))


def silent_no_op(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is executed and changes nothing, one time in five."""
    return Chance(setting, (some_action(setting, rng),), NO_OP_RATE, nothing, noisy=True)


def random_refusal(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step is refused with a probability between 5% and 20%."""
    return Chance(setting, tuple(setting.sample), float(rng.uniform(0.05, 0.2)), refuse, noisy=True)


def random_outcome(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks one of its effects with a probability between 20% and 50%."""
    action = some_action(setting, rng)
    consequence = lacking(some_effect(setting, action, rng))
    return Chance(setting, (action,), float(rng.uniform(0.2, 0.5)), consequence, noisy=False)


def swapped_sometimes(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is attempted with two arguments of one type exchanged, three times in ten."""
    action, places = some_pair(setting, rng)
    fault = Swapped(setting, (action,), SWAP_RATE, refuse, noisy=True)
    fault.places = places
    return fault


def swapped_always(setting: Setting, rng: np.random.Generator) -> Fault:
    """No fault: an honest agent that takes two arguments of one action in the other order."""
    action, places = some_pair(setting, rng)
    schemas = [
        exchanged_schema(schema, *places) if schema.header.name == action else schema
        for schema in setting.model.actions
    ]
    return Fault(setting.with_model(Model(setting.model.vocabulary, tuple(schemas))))


def some_pair(setting: Setting, rng: np.random.Generator) -> tuple[str, tuple[int, int]]:
    """An action with two parameters of one type, and their places."""
    pairs = [
        (header.name, (first, second))
        for header in setting.model.headers
        for second in range(header.arity)
        for first in range(second)
        if header.types[first] == header.types[second] and setting.sample[header.name]
    ]
    return one_of(pairs, rng)


def exchanged(objects: tuple[str, ...], first: int, second: int) -> tuple[str, ...]:
    """The same with two of them exchanged."""
    swapped = list(objects)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return tuple(swapped)


def exchanged_schema(schema: ActionSchema, first: int, second: int) -> ActionSchema:
    """The schema of the action that takes two of its arguments in the other order."""
    other = {first: second, second: first}

    def turned(atoms: frozenset[LiftedAtom]) -> frozenset[LiftedAtom]:
        return frozenset(
            replaced(
                atom, tuple(other.get(one, one) if isinstance(one, int) else one for one in atom.arguments)
            )
            for atom in atoms
        )

    header: ActionHeader = schema.header
    return replace(
        schema,
        header=header,
        positive=turned(schema.positive),
        negative=turned(schema.negative),
        add=turned(schema.add),
        delete=turned(schema.delete),
    )


def replaced(atom: LiftedAtom, arguments: tuple[int | str, ...]) -> LiftedAtom:
    """The same predicate with other arguments."""
    return LiftedAtom(atom.predicate, arguments)
