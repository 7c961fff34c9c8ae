"""A pawn on a line of cells: a simulator that notes what it is told, and a perception that reads its images.

An image is one pixel: the cell of the pawn, whether the image is blurred, and a number that tells images apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np

from aam_vision.agents.perception import Frame, Percept, Scene
from aam_vision.model import strips
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, Objects, Predicate, State, Types

LENGTH = 6
TYPES = Types({"cell": "object"})
CELLS = {f"cell-{number}": ((0, number),) for number in range(LENGTH)}
OBJECTS = Objects(dict.fromkeys(CELLS, "cell"), TYPES)
SCENE = Scene(OBJECTS, 1, LENGTH, CELLS, looks={"pawn": "pawn"}, anchors={"pawn": "cell-0"})
VOCABULARY = strips.Vocabulary("line", (Predicate("at", ("cell",)), Predicate("was", ("cell",))), TYPES)
HEADERS = (strips.ActionHeader("left"), strips.ActionHeader("right"))
LEFT, RIGHT = GroundAction("left", ()), GroundAction("right", ())


class Line:
    """The simulator. ``told`` has the calls of ``start``, ``snapshot`` and ``restore``."""

    def __init__(self, first: int = 0, blurred: int = 0, still: bool = False) -> None:
        self.scene = SCENE
        self.told: list[str] = []
        self.shown = 0
        """How many images were asked for."""
        self.broken = False
        """Whether it does nothing any more."""
        self._first = self.at = first
        self._blurred, self._blur, self._still = blurred, 0, still

    def start(self) -> None:
        self.told.append("start")
        self._arrive(self._first)

    def snapshot(self) -> object:
        self.told.append("snapshot")
        return self.at

    def restore(self, snapshot: object) -> None:
        self.told.append("restore")
        assert isinstance(snapshot, int)
        self._arrive(snapshot)

    def frame(self) -> Frame:
        self.shown += 1
        self._blur = max(0, self._blur - 1)
        number = 0 if self._still else self.shown % 256
        return np.array([[[self.at, self._blur, number]]], np.uint8)

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        there = self.at + {"left": -1, "right": 1}[name]
        if self.broken or objects != () or not 0 <= there < LENGTH:
            return False
        self._arrive(there)
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """To the right, and nothing at the end of the line."""
        return ("right", ()) if self.at < LENGTH - 1 else None

    def _arrive(self, there: int) -> None:
        """The first images of a place are blurred, so many of them."""
        self.at, self._blur = there, self._blurred + 1


class Reader:
    """The perception. ``was`` says where the pawn was in the image before."""

    def __init__(self) -> None:
        self.slow = 0.0
        """CPU seconds that the next image takes."""

    def look(self, frame: Frame, scene: Scene) -> Percept:
        return self._read(frame, None)

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        assert scene is SCENE
        assert before.state.objects == OBJECTS
        return self._read(frame, before.places["pawn"])

    def _read(self, frame: Frame, before: str | None) -> Percept:
        begun, self.slow, seconds = process_time(), 0.0, self.slow
        while process_time() - begun < seconds:
            pass
        at, blur, _ = (int(part) for part in frame[0, 0])
        place = f"cell-{at}"
        return Percept(seen(at, before), {"pawn": place}, refused=blur > 0)


def seen(at: int, before: str | int | None) -> State:
    """What an image shows."""
    was = f"cell-{before}" if isinstance(before, int) else before
    true = {Atom("at", (f"cell-{at}",))} | ({Atom("was", (was,))} if was else set())
    return State(frozenset(true), OBJECTS)


def cell_of(situation: Situation) -> int:
    """Where the pawn is seen in a situation."""
    (name,) = (atom.objects[0] for atom in situation.state.true if atom.predicate == "at")
    return int(name.removeprefix("cell-"))


def course(start: int, plan: tuple[GroundAction, ...]) -> Iterator[int]:
    """The cells that the pawn gets to, as long as it can."""
    for step in plan:
        start += 1 if step == RIGHT else -1
        if not 0 <= start < LENGTH:
            return
        yield start
