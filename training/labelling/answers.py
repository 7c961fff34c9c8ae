"""Simulators that tell what the pictures of walks show, where they know (experiments and demonstrations only)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aam_vision.agents.perception import NO_LABEL
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.board_env import Snapshot
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled, label
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.shown import Shown
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput, reason
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Walked


class SimulatorLabels:
    """What the simulator of a domain tells of its pictures; a ``Labeller``.

    Raises:
        UnusableInput: it tells nothing.
    """

    def __init__(self, domain: ImageDomain, pictures: Sequence[Walked] = ()) -> None:
        self._domain, self._pictures = domain, pictures
        self._simulators: dict[str, Any] = {}
        self._static: dict[str, frozenset[Atom]] = {}
        self._shown: Shown | None = None
        self._labelled: Callable[[Any], Labelled] | None = None
        own = domain if isinstance(domain, OwnEnvironment) else None
        if own is not None and own.visual.cellless:
            self._labelled = own.labelled
            if self._labelled is None:
                raise UnusableInput(
                    f"the simulator of {domain.name} does not tell what its pictures show: give the environment a "
                    f"function `labelled`, or learn with python -m aam_vision.training.train"
                )
        elif own is not None and own.shown is not None:
            self._shown = Shown(domain.name, domain.visual, own.shown)
        elif not isinstance(domain, BoardDomain):
            raise UnusableInput(f"the simulator of {domain.name} tells no states: label its pictures by hand")

    def learned(self, perception: object) -> None:
        """Nothing: a simulator needs no help to answer."""

    def _present(self, picture: Walked) -> Any:
        """The environment as it was when a picture was taken."""
        if picture.problem not in self._simulators:
            split, number = picture.problem.rsplit("/", 1)
            self._simulators[picture.problem] = self._domain.simulator((split, int(number)))
        self._simulators[picture.problem].restore(picture.token)
        return self._simulators[picture.problem].present

    def label(self, picture: Walked) -> State:
        """The state in which a picture was taken: of perceived predicates at least."""
        if self._shown is not None:
            true = self._shown.atoms(self._present(picture), picture.scene)
            return State(true, picture.scene.objects)
        assert isinstance(picture.token, Snapshot)
        assert isinstance(self._domain, BoardDomain)
        if picture.problem not in self._static:
            split, number = picture.problem.rsplit("/", 1)
            world = self._domain.world(self._domain.load(split, int(number)))
            self._static[picture.problem] = world.static
        return State(self._static[picture.problem] | picture.token.dynamic, picture.scene.objects)

    def answer(
        self, question: LabelQuestion, *, tested: bool = False, missing: int = 0
    ) -> State | Labelled | bool | None:
        """What a picture shows, of one without cells also where; or whether an atom is true in it, None if that is hidden."""
        picture = self._pictures[question.number]
        if self._labelled is not None:
            present = self._present(picture)
            try:
                return Labelled(*self._labelled(present))
            except Exception as error:  # the function is the user's: anything may go wrong
                raise UnusableInput(
                    f"environment {self._domain.name}: labelled raised {reason(error)}; correct it"
                ) from error
        state = self.label(picture)
        if not isinstance(question, AskedAtom):
            return state
        places = tuple(place for place, cells in picture.scene.cells.items() if cells)
        value = int(label(self._domain.visual, picture.scene, places, state)[question.head, question.place])
        return None if value == NO_LABEL else value == 1
