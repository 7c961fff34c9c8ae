"""The true states of a user's environment, as a function of theirs tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from aam_vision.agents.perception import (
    Completion,
    Frame,
    Percept,
    Reading,
    Scene,
    Simulator,
    VisualVocabulary,
)
from aam_vision.agents.unreliable import SimulatorDecorator
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import RAISED, UnusableInput, reason


@dataclass(frozen=True)
class Shown:
    """What a user's function tells of an environment, checked."""

    name: str
    visual: VisualVocabulary
    shown: Callable[[Any], Iterable[Atom]]
    called: str = "shown"
    """What the function is called, for messages."""

    def state(self, env: Any, scene: Scene) -> State:
        """The state of ``env.unwrapped``; ``scene`` is that of its problem.

        Raises:
            UnusableInput: the function raises, or gives anything but atoms of perceived predicates.
        """
        true = self.atoms(env, scene)
        whole = Completion(self.visual, scene).state(self._sighted(true, scene), self._hidden(true, scene))
        return State(whole.true, scene.objects)

    def atoms(self, env: Any, scene: Scene) -> frozenset[Atom]:
        """The atoms that the function gives; UnusableInput as of ``state``."""
        perceived = {entry.predicate.name: entry for entry in self.visual.perceived}
        try:
            true = frozenset(Atom(*atom) for atom in self.shown(env))
            for atom in true:
                entry = perceived.get(atom.predicate)
                if entry is None:
                    raise ValueError(f"gave {atom}: its predicate is not perceived")
                known = scene.objects_of(entry)
                if len(atom.objects) != entry.predicate.arity or not all(
                    one in known for one in atom.objects
                ):
                    raise ValueError(f"gave {atom}: not {entry.predicate.arity} objects of the scene")
        except RAISED as error:  # the function is the user's: anything may go wrong
            raise UnusableInput(
                f"environment {self.name}: {self.called} raised {reason(error)}; correct it"
            ) from error
        return true

    def _sighted(self, true: frozenset[Atom], scene: Scene) -> frozenset[Atom]:
        """What is true, with the auxiliary atoms; all things show in a picture, unless the function says which do."""
        sighted = self.visual.sighted(scene, true)
        for entry in self.visual.read_as(Reading.FOUND):
            name = entry.predicate.name
            if not any(atom.predicate == name for atom in sighted):
                found = (thing for thing, look in scene.looks.items() if look in entry.heads)
                sighted |= {Atom(name, (thing,)) for thing in found}
        return sighted

    def _hidden(self, true: frozenset[Atom], scene: Scene) -> Iterator[Atom]:
        """The atoms that a thing covers in the image."""
        places = {entry.predicate.name for entry in self.visual.read_as(Reading.WHERE)}
        for entry in self.visual.perceived:
            for atom in true:
                if atom.predicate in places and scene.looks[atom.objects[0]] == entry.hidden_by:
                    yield Atom(entry.predicate.name, atom.objects[1:])


# States as the user's own function tells them, in place of what classifiers read off images.


class Told:
    """A perception (``perception.Perception``) that looks into the simulator whose image was taken last."""

    def __init__(self, state: Callable[[Any, Scene], State]) -> None:
        self._state = state
        self.seen: GymnasiumSimulator | None = None
        """The simulator whose image was taken last."""

    def of(self, simulator: GymnasiumSimulator) -> Simulator:
        """A simulator whose images are looked at with this perception."""
        return _Watched(simulator, self)

    def look(self, frame: Frame, scene: Scene) -> Percept:
        """The state of the simulator whose image was taken last."""
        assert self.seen is not None, "an image was taken"
        return Percept(self._state(self.seen.present, scene), {})

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        """The same: names of things do not have to be followed."""
        return self.look(frame, scene)


class _Watched(SimulatorDecorator):
    """A simulator whose images are taken note of."""

    def __init__(self, simulator: GymnasiumSimulator, told: Told) -> None:
        super().__init__(simulator)
        self._told, self._watched = told, simulator

    def frame(self) -> Frame:
        self._told.seen = self._watched
        return super().frame()
