"""The contract of an image domain: PDDLGym's board domains and users' own environments both keep it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from aam_vision.agents.perception import Frame, Mask, Percept, Scene, Simulator, VisualVocabulary
from aam_vision.model.strips import ActionHeader, GroundAction, Model, State

if TYPE_CHECKING:
    from aam_vision.envs.shown import Told

Problem = tuple[str, int]
"""A group of problems and a number in it: ``("train", 0)`` of PDDLGym's, ``("seed", 3)`` of a user's own."""


@dataclass(frozen=True)
class Pictures:
    """States of one scene with what draws them: labelled images to learn from, or to be examined on.

    Attributes:
        scene: what the user points out about the problem.
        states: the labels: at least the perceived atoms that are true.
        draw: makes the image of a state.
        complete: whether a state also holds what is defined and given.
        checked: whether the labels are right by construction; those of a user's own code may be wrong.
        masks: which pixels of the image of a state show each thing, for those things of which it is known.
    """

    scene: Scene
    states: Sequence[State]
    draw: Callable[[State], Frame]
    complete: bool = True
    checked: bool = True
    masks: Callable[[State], Mapping[str, Mask]] = lambda state: {}


WALK: Final = 40
"""Controls of one of the walks on which held-out pairs are met."""


class NativeStep(NamedTuple):
    """What a control does in a state: the simulator's own answer."""

    before: State
    control: GroundAction
    after: State


class ImageDomain(Protocol):
    """A domain seen in images, as the command, training and evaluation need to know it."""

    @property
    def name(self) -> str:
        """Of the domain and of its weights."""

    @property
    def visual(self) -> VisualVocabulary:
        """The predicates, each with the source of its truth."""

    @property
    def round_steps(self) -> int:
        """Training steps after which its classifiers are examined; they go on in such rounds until they read all."""

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions."""

    @property
    def interrogated(self) -> tuple[Problem, ...]:
        """The problems that are interrogated together."""

    @property
    def control_headers(self) -> tuple[ActionHeader, ...]:
        """The controls of the environment."""

    def simulator(
        self, problem: Problem, *, controls: bool = False, chance: np.random.Generator | None = None
    ) -> Simulator:
        """A problem, ready to be instructed, or to be given controls; UnusableInput if there is none.

        ``chance``: what all its chance is drawn from, whatever state is gone back to; None: it has none.
        """

    def stand_in(self) -> Told | None:
        """What tells the states where there are no classifiers; None where there are."""

    @property
    def truth(self) -> Callable[[], Model] | None:
        """Gives the true or intended model, for evaluation only; None if it is not known."""

    @property
    def chance_truth(self) -> Callable[[], Model] | None:
        """The same with outcomes, where it has chance."""

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """What controls do on problems that are not interrogated, for evaluation only."""

    def held_out_states(self, look: Callable[[Frame, Scene], Percept]) -> list[State]:
        """Initial states of problems that are not interrogated, for evaluation only; ``look`` reads their images."""

    def classifiers(self, given: Path | None) -> Path | None:
        """The folder of the weights, by default the domain's own; None for those shipped with the toolkit."""

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem by its name, for images that were labelled by hand; UnusableInput if it has none."""

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> Iterable[Pictures]:
        """The images that classifiers learn from; ``fewer`` divides the number of images."""

    def examinations(self, states: int, seed: int) -> Mapping[str, Iterable[Pictures]]:
        """Group -> about ``states`` states to evaluate classifiers on."""

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """Up to ``number`` states of one board, of that shape (rows, columns) if the domain can choose."""

    def depends_on(self) -> Mapping[str, Any] | None:
        """All that the lessons depend on besides code and seed; None if that cannot be told."""
