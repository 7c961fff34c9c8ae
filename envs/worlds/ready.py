"""A ready-made world: an environment like a user's own, whose classifiers are shipped with the toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.envs.meaning import Instruction, instruction
from aam_vision.envs.own import OwnEnvironment
from aam_vision.strips import Atom


@dataclass(frozen=True)
class ReadyWorld(OwnEnvironment):
    """A world of ours.

    Args:
        controls: the environment's own actions as instructions without a condition.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true; None if not known.
        shake: brings ``env.unwrapped`` into a random legal state.
    """

    controls: tuple[Instruction, ...] = ()
    shown: Callable[[Any], Iterable[Atom]] | None = None
    shake: Callable[[Any, np.random.Generator], None] | None = None

    def classifiers(self, given: Path | None) -> Path | None:  # type: ignore[override]  # those shipped
        """The given folder of weights; None for those shipped with the toolkit."""
        return given


def controls(actions: Mapping[str, Any]) -> tuple[Instruction, ...]:
    """Actions of an environment, by name, as instructions that can always be given and are always carried out."""
    return tuple(
        instruction(name, action, lambda env: (), executed=lambda before, after: True)
        for name, action in actions.items()
    )
