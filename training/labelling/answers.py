"""Who says what a picture shows: a person, or a simulator that knows (experiments and demonstrations only)."""

from __future__ import annotations

from typing import Protocol

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.board_env import Snapshot
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.strips import Atom, State
from aam_vision.training.labelling.walks import Walked


class Labeller(Protocol):
    """Tells what pictures show."""

    def label(self, picture: Walked, *, tested: bool = False) -> State:
        """The perceived atoms that are true in a picture.

        Args:
            picture: any.
            tested: whether the answer is compared with what the classifiers read.
        """
        ...

    def learned(self, perception: BoardPerception) -> None:
        """Take note of classifiers that were trained on the answers so far."""
        ...


class SimulatorLabels:
    """The simulator's own states as labels.

    Args:
        domain: a board domain.

    Raises:
        UnusableInput: it is none, and its simulator tells no states.
    """

    def __init__(self, domain: ImageDomain) -> None:
        if not isinstance(domain, BoardDomain):
            raise UnusableInput(f"the simulator of {domain.name} tells no states: label its pictures by hand")
        self._domain = domain
        self._static: dict[str, frozenset[Atom]] = {}

    def label(self, picture: Walked, *, tested: bool = False) -> State:
        """The whole state in which a picture was taken."""
        assert isinstance(picture.token, Snapshot)
        if picture.problem not in self._static:
            split, number = picture.problem.rsplit("/", 1)
            self._static[picture.problem] = self._domain.world(self._domain.load(split, int(number))).static
        return State(self._static[picture.problem] | picture.token.dynamic, picture.scene.objects)

    def learned(self, perception: BoardPerception) -> None:
        """Nothing: a simulator needs no help to answer."""
