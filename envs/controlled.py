"""An environment of a user's own by its controls: it brings the environment and the vocabulary, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aam_vision.agents.perception import Scene, VisualVocabulary
from aam_vision.envs.labelled import LabelledImages
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.restoring import Env
from aam_vision.model.strips import Atom


@dataclass(frozen=True)
class ControlledEnvironment(OwnEnvironment):
    """An environment of which the controls are known, and perhaps no instruction.

    Arguments as of ``OwnEnvironment``.
    """


@dataclass(frozen=True)
class ReadyWorld(ControlledEnvironment):
    """A world of ours, with classifiers shipped; it goes on after the end of an episode, which is a matter of rewards."""

    stops: bool = False

    def classifiers(self, given: Path | None) -> Path | None:
        """The given folder of weights; None for those shipped with the toolkit."""
        return given

    def stand_in(self) -> None:
        """None: there are classifiers."""

    def own_images(self) -> LabelledImages | None:
        """None: a world is not trained on its own problems."""
        return None


def bare_environment(
    name: str,
    visual: VisualVocabulary,
    make: Callable[[], Env],
    scene: Callable[[Any], Scene],
    shown: Callable[[Any], Iterable[Atom]],
    *,
    seeds: tuple[int, ...] = (0, 1, 2),
    **more: Any,
) -> ControlledEnvironment:
    """A user's environment of which nothing is known but its controls, and the vocabulary in which it is seen.

    Args:
        name: of the environment and of its weights.
        visual: the vocabulary, with the source of every predicate's truth.
        make: makes the Gymnasium environment, with a ``Discrete`` action space and ``render_mode="rgb_array"``.
        scene: what the user points out about a problem: a function of ``env.unwrapped``, just reset.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true. It labels images.
        seeds: the problems that are interrogated together, by the seeds of their resets.
        more: the other fields of ``OwnEnvironment``, such as ``controls``, ``restore``, ``shake`` and ``held_out``.
    """
    return ControlledEnvironment(name, visual, (), make, scene, seeds, shown=shown, **more)
