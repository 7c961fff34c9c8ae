"""Who says what a picture shows: a person, or a simulator that knows (experiments and demonstrations only)."""

from __future__ import annotations

from typing import Any, Protocol

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.board_env import Snapshot
from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.shown import Shown
from aam_vision.errors import UnusableInput, reason
from aam_vision.simulator import Simulator
from aam_vision.strips import Atom, State
from aam_vision.training.labelling.pool import AskedAtom, Pool, Walked
from aam_vision.training.labels import NO_LABEL, label


class Labeller(Protocol):
    """Tells what pictures show."""

    def label(self, picture: Walked, *, tested: bool = False) -> State | None:
        """The perceived atoms that are true in a picture; None if nobody can tell.

        Args:
            picture: any.
            tested: whether the answer is compared with what the classifiers read.
        """
        ...

    def learned(self, perception: BoardPerception) -> None:
        """Take note of classifiers that were trained on the answers so far."""
        ...


class PictureLabeller(Protocol):
    """Tells what pictures without cells show."""

    def label_picture(self, picture: Walked) -> Labelled:
        """The perceived atoms that are true in a picture, which things show, and which pixels show each of them."""
        ...


class SimulatorLabels:
    """The simulator's own states as labels.

    Args:
        domain: a board domain, or an environment with a function that tells its states.

    Raises:
        UnusableInput: it is none, and its simulator tells no states.
    """

    def __init__(self, domain: ImageDomain) -> None:
        if isinstance(domain, BoardDomain):
            self._told: _BoardStates | _ShownStates = _BoardStates(domain)
        elif isinstance(domain, ControlledEnvironment) and domain.shown is not None:
            self._told = _ShownStates(domain)
        else:
            raise UnusableInput(f"the simulator of {domain.name} tells no states: label its pictures by hand")

    def label(self, picture: Walked, *, tested: bool = False) -> State:
        """The state in which a picture was taken: of perceived predicates at least."""
        return self._told.state(picture)

    def learned(self, perception: BoardPerception) -> None:
        """Nothing: a simulator needs no help to answer."""


class SimulatorAtoms(SimulatorLabels):
    """Single atoms of the simulator's own states.

    Args:
        domain: as for ``SimulatorLabels``.
        pool: the pictures that are asked about.
    """

    def __init__(self, domain: ImageDomain, pool: Pool) -> None:
        super().__init__(domain)
        self._visual, self._pool = domain.visual, pool

    def atom(self, atom: AskedAtom, *, tested: bool = False) -> bool | None:
        """Whether a picture shows something at a place; None if it is hidden."""
        one = self._pool.pictures[atom.number]
        labels = label(self._visual, one.picture.scene, one.index.places, self.label(one.picture))
        value = int(labels[atom.head, atom.place])
        return None if value == NO_LABEL else value == 1


class _BoardStates:
    """The states of a board domain."""

    def __init__(self, domain: BoardDomain) -> None:
        self._domain = domain
        self._static: dict[str, frozenset[Atom]] = {}

    def state(self, picture: Walked) -> State:
        assert isinstance(picture.token, Snapshot)
        if picture.problem not in self._static:
            split, number = picture.problem.rsplit("/", 1)
            self._static[picture.problem] = self._domain.world(self._domain.load(split, int(number))).static
        return State(self._static[picture.problem] | picture.token.dynamic, picture.scene.objects)


class _ShownStates:
    """The states that a function of an environment tells, once the environment is brought back to them."""

    def __init__(self, domain: ControlledEnvironment) -> None:
        assert domain.shown is not None
        self._domain, self._shown = domain, Shown(domain.name, domain.visual, domain.shown)
        self._simulators: dict[str, GymnasiumSimulator] = {}

    def state(self, picture: Walked) -> State:
        if picture.problem not in self._simulators:
            split, number = picture.problem.rsplit("/", 1)
            self._simulators[picture.problem] = self._domain.simulator((split, int(number)))
        simulator = self._simulators[picture.problem]
        simulator.restore(picture.token)
        return State(self._shown.atoms(simulator.present, picture.scene), picture.scene.objects)


class SimulatorPictures:
    """What the simulator tells of its pictures without cells.

    Args:
        domain: an environment with a function ``labelled``.

    Raises:
        UnusableInput: it has none.
    """

    def __init__(self, domain: ImageDomain) -> None:
        labelled = domain.labelled if isinstance(domain, ControlledEnvironment) else None
        if labelled is None:
            raise UnusableInput(
                f"the simulator of {domain.name} does not tell what its pictures show: give the environment a "
                f"function `labelled`, or learn with python -m aam_vision.training.train"
            )
        self._domain, self._labelled = domain, labelled
        self._simulators: dict[str, Simulator] = {}

    def label_picture(self, picture: Walked) -> Labelled:
        """As of ``PictureLabeller``."""
        if picture.problem not in self._simulators:
            split, number = picture.problem.rsplit("/", 1)
            self._simulators[picture.problem] = self._domain.simulator((split, int(number)))
        simulator: Any = self._simulators[picture.problem]
        simulator.restore(picture.token)
        try:
            return Labelled(*self._labelled(simulator.present))
        except Exception as error:  # the function is the user's: anything may go wrong
            raise UnusableInput(
                f"environment {self._domain.name}: labelled raised {reason(error)}; correct it"
            ) from error
