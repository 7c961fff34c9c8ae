"""A ready-made world: an environment like a user's own, whose classifiers are shipped with the toolkit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.envs.labelled import LabelledImages


@dataclass(frozen=True)
class ReadyWorld(ControlledEnvironment):
    """A world of ours; it goes on after the end of an episode, which is a matter of rewards."""

    stops: bool = False

    def classifiers(self, given: Path | None) -> Path | None:  # type: ignore[override]  # those shipped
        """The given folder of weights; None for those shipped with the toolkit."""
        return given

    def own_images(self) -> LabelledImages | None:
        """None: a world is not trained on its own problems."""
        return None
