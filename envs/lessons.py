"""Labelled images of a user's own as pictures to learn from, or to be examined on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np

from aam_vision.envs.depiction import Depiction
from aam_vision.envs.image_domain import Pictures
from aam_vision.envs.labelled import LabelledImages, distinct
from aam_vision.errors import UnusableInput, reason
from aam_vision.perception import VisualVocabulary
from aam_vision.strips import State

T = TypeVar("T")


def pictures_of(
    name: str,
    visual: VisualVocabulary,
    source: LabelledImages | None,
    number: int,
    rng: np.random.Generator,
) -> Iterator[Pictures]:
    """Different images of a source, at most so many.

    Args:
        name: of the environment, for messages.
        visual: its vocabulary.
        source: labelled images at random.
        number: of images.
        rng: what the source draws from.

    Raises:
        UnusableInput: there are none, or the source raises; or images are none, or do not show what their labels say.

    Warns:
        AamWarning: no image can show what some labels say.
    """
    found = 0
    depiction = Depiction(f"environment {name}", visual)
    try:
        for one in distinct(source, number, rng, depiction) if source else ():
            found += 1
            state = State(one.true, one.scene.objects, one.unknown)
            yield Pictures(
                one.scene,
                (state,),
                _Always(one.frame),
                complete=False,
                checked=False,
                masks=_Always(one.masks),
            )
    except UnusableInput as error:
        raise error if name in str(error) else UnusableInput(f"environment {name}: {error}") from error
    except Exception as error:
        raise UnusableInput(
            f"environment {name}: its labelled images raised {reason(error)}; correct them"
        ) from error
    if not found:
        raise UnusableInput(f"environment {name}: gives no labelled images; yield some")
    depiction.warn()


class _Always(Generic[T]):
    """What belongs to the only state of a labelled image."""

    def __init__(self, kept: T) -> None:
        self._kept = kept

    def __call__(self, state: State) -> T:
        return self._kept
