"""Honest agents that are seen wrongly."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from aam_vision.agents.unreliable import distinct_atoms
from aam_vision.strips import Atom, GroundAction, Objects, State
from experiments.faults.conditional import Unsuitable
from experiments.faults.world import Fault, Nature, Setting, World, with_value

LOOK_RATE = 0.03
"""The probability that something is wrong with one look."""


class Seen(Fault):
    """The base: nothing is wrong but what is seen."""

    only_seen = noisy = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._atoms: dict[Objects, list[Atom]] = {}

    def atoms(self, objects: Objects) -> list[Atom]:
        """All atoms that name no object twice, in a fixed order."""
        if objects not in self._atoms:
            self._atoms[objects] = distinct_atoms(self.setting.model.vocabulary, objects)
        return self._atoms[objects]


class MisreadLook(Seen):
    """One atom is misread in a few looks."""

    def see(self, world: World, nature: Nature) -> State:
        if nature.rng.random() >= LOOK_RATE:
            return world.state
        atoms = self.atoms(world.state.objects)
        atom = atoms[int(nature.rng.integers(len(atoms)))]
        return with_value(world.state, atom, atom not in world.state.true)


class Confused(Seen):
    """Two objects of one type are taken for each other in a few looks."""

    def see(self, world: World, nature: Nature) -> State:
        if nature.rng.random() >= LOOK_RATE:
            return world.state
        objects = world.state.objects
        kinds = [kind for kind in dict.fromkeys(objects.values()) if len(objects.of_type(kind)) > 1]
        names = objects.of_type(kinds[int(nature.rng.integers(len(kinds)))])
        one, other = (names[int(number)] for number in nature.rng.permutation(len(names))[:2])
        turned = {one: other, other: one}
        true = {Atom(p, tuple(turned.get(name, name) for name in row)) for p, row in world.state.true}
        return replace(world.state, true=frozenset(true))


class MisreadStates(Seen):
    """Some states are misread in the same way at every look: by a classifier, not by a camera.

    Args:
        setting: the domain.
        seed: of the choice of states and atoms.
        states: the share of states that are misread.
        atoms: the share of their atoms; None for one atom.
    """

    def __init__(self, setting: Setting, seed: int, states: float, atoms: float | None = None) -> None:
        super().__init__(setting)
        self.seed, self.states, self.share = seed, states, atoms
        self._read: dict[State, State] = {}

    def see(self, world: World, nature: Nature) -> State:
        if world.state not in self._read:
            self._read[world.state] = self._seen(world.state)
        return self._read[world.state]

    def _seen(self, state: State) -> State:
        text = "\n".join(map(str, sorted(state.true)))
        digest = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        rng = np.random.default_rng([self.seed, digest])
        if rng.random() >= self.states:
            return state
        atoms = self.atoms(state.objects)
        if self.share is None:
            wrong = {atoms[int(rng.integers(len(atoms)))]}
        else:
            wrong = {atoms[int(number)] for number in np.flatnonzero(rng.random(len(atoms)) < self.share)}
        return replace(state, true=state.true ^ wrong)


class Lagging(Seen):
    """The image is that before the last executed step."""

    def fresh(self, state: State) -> Hashable:
        return state

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Hashable:
        return world.state if executed else world.hidden

    def see(self, world: World, nature: Nature) -> State:
        assert isinstance(world.hidden, State), "the state before"
        return world.hidden


def misread_look(setting: Setting, rng: np.random.Generator) -> Fault:
    """One atom is misread in three looks of a hundred."""
    return MisreadLook(setting)


def confused_objects(setting: Setting, rng: np.random.Generator) -> Fault:
    """Two objects are taken for each other in three looks of a hundred."""
    return Confused(setting)


def misread_states(setting: Setting, rng: np.random.Generator) -> Fault:
    """One atom of two to ten states of a hundred is misread at every look.

    Raises:
        Unsuitable: none of the states of the sample is among them.
    """
    fault = MisreadStates(setting, int(rng.integers(2**31)), float(rng.uniform(0.02, 0.1)))
    met = {after for steps in setting.sample.values() for _, _, after in steps}
    nature = Nature(rng)
    if all(fault.see(World(state), nature) == state for state in met):
        raise Unsuitable
    return fault


def lagging_image(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every image shows the state before the last executed step."""
    return Lagging(setting)
