"""A person who puts the world back where the robot cannot: told what to set up, and waited for until the camera shows it.

No question is asked before the classifiers read what they read in the first picture, twice in a row. So what a person does wrong is told
to them, if a picture shows it, and is not taken for something that the robot did.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial
from time import sleep

import numpy as np

from aam_vision.agents.perception import Frame, Percept, Perception, Scene
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import AgentFailed
from aam_vision.support.wording import some

_EVERY = 2.0
"""Seconds from look to look."""
_LOOKS = 450
"""Looks until nobody seems to be there, 15 minutes in all."""
_GAP = 8
"""Pixels between the picture that is wanted and the one that is seen."""


class SetUp:
    """What a problem begins with, and how a person is asked to set it up again.

    Args:
        perception: reads the pictures.
        scene: of the problem.
        shown: the predicates that a person can see; what is defined by them is not told.
        wait: called between two looks.
        looks: how many there are until nobody seems to be there.
    """

    def __init__(
        self,
        perception: Perception,
        scene: Scene,
        shown: Collection[str],
        wait: Callable[[], object] = lambda: sleep(_EVERY),
        looks: int = _LOOKS,
    ) -> None:
        self.tell: Callable[[str], object] = partial(print, file=sys.stderr, flush=True)
        """Called with a line for the person."""
        self.show: Callable[[Frame], str] | None = None
        """Shows the picture that is wanted beside the one that is seen; returns where it is found."""
        self.begun = False
        """Whether it is known what to set up."""
        self._perception, self._scene, self._shown = perception, scene, frozenset(shown)
        self._wait, self._looks = wait, looks
        self._wanted = State(frozenset(), scene.objects)
        self._first: Frame | None = None
        self._told = False
        """Whether anything was told."""

    def begins(self, look: Callable[[], Frame]) -> Frame:
        """The first picture that can be read, twice in a row, uint8 (height, width, 3): this is what is set up from now on.

        Raises:
            AgentFailed: there is none.
        """
        before = told = None
        for frame, percept in self._looked(look):
            if not percept.refused and percept.state == before:
                self.recall(percept.state)
                self._first = frame
                return frame
            if percept.refused and told is None:
                told = some([*map(str, self._visible(percept.state.unknown))], 6)
                self.tell(f"take away what hides the beginning: it cannot be read whether {told}")
            before = None if percept.refused else percept.state
        raise AgentFailed(f"no first picture can be read, twice in a row{f': {told}' if told else ''}")

    def recall(self, state: State) -> None:
        """The same, where an earlier process has seen that picture."""
        self._wanted, self.begun = state, True

    def again(self, look: Callable[[], Frame]) -> Frame:
        """Have it set up; ``look`` gives the present picture. Returns the last one.

        Raises:
            AgentFailed: nobody does it.
        """
        before, moved = None, True
        for frame, percept in self._looked(look):
            seen = percept.state
            moved = moved or seen != before
            if self._is_wanted(seen):
                if before is not None and self._is_wanted(before):
                    return frame
            elif before is None or (seen == before and moved):  # not while things are moved
                self._ask(seen, frame)
                moved = False
            before = seen
        raise AgentFailed(f"nobody has set up what the first picture shows: {self._differs(seen)}")

    def _looked(self, look: Callable[[], Frame]) -> Iterator[tuple[Frame, Percept]]:
        """Pictures with what is read in them, until nobody seems to be there."""
        for _ in range(self._looks):
            frame = look()
            yield frame, self._perception.look(frame, self._scene)
            self._wait()

    def _is_wanted(self, seen: State) -> bool:
        hidden = self._wanted.unknown
        return seen.unknown <= hidden and seen.true - hidden == self._wanted.true - hidden

    def _ask(self, seen: State, frame: Frame) -> None:
        text = f"set up again what the first picture shows: {self._differs(seen)}"
        if self.show is not None:
            gap = np.full((len(frame), _GAP, 3), 255, np.uint8)
            wanted = [] if self._first is None else [self._first, gap]  # an earlier process had it
            place = self.show(np.hstack([*wanted, frame]))
            if not self._told:
                self.tell(f"{place} shows {'what is wanted, and ' if wanted else ''}what is seen")
        self._told = True
        self.tell(text)

    def _differs(self, seen: State) -> str:
        """What has to become true, what must not stay so, and what cannot be read, in a line."""
        wanted = self._wanted
        told = {
            "wanted is": wanted.true - seen.true - seen.unknown,
            "not": seen.true - wanted.true - wanted.unknown,
            "it cannot be read whether": seen.unknown - wanted.unknown,
        }
        return "; ".join(
            f"{what} {some([*map(str, atoms)], 6)}"
            for what, found in told.items()
            if (atoms := self._visible(found))
        )

    def _visible(self, atoms: Collection[Atom]) -> list[Atom]:
        """Those that a person can see, or all if there are none."""
        return sorted([one for one in atoms if one.predicate in self._shown] or atoms, key=str)
