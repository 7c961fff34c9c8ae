"""Whether pictures and scenes suit classifiers that were trained on others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.camera.plan import Size
from aam_vision.errors import AamWarning, UnusableInput
from aam_vision.perception import Frame, Scene
from aam_vision.pictures import fault

SAME_SHAPE: Final = 0.02
"""How much the ratio of width to height of a picture may differ from that of the pictures learned from."""

SMALLEST: Final = 0.75
"""Least height of a picture, as a share of that of the pictures learned from."""


def check_frame(frame: Frame, trained: Size, name: str) -> None:
    """Refuse what is no picture from a camera like the one that was learned from.

    Raises:
        UnusableInput: it is no RGB image, of other proportions, or too small.
    """
    if (why := fault(frame)) is not None:
        raise UnusableInput(f"a picture is {why}")
    (height, width), (high, wide) = frame.shape[:2], trained
    if abs(width / height * high / wide - 1) > SAME_SHAPE or height < SMALLEST * high:
        raise UnusableInput(
            f"picture of {width}x{height} pixels: the classifiers of {name} were trained on pictures of "
            f"{wide}x{high}; give pictures of these proportions, not much smaller, or train on yours"
        )


def compare_size(frame: Frame, trained: Size, name: str) -> None:
    """Say that a picture is of another size than those learned from.

    Warns:
        AamWarning: it is.
    """
    (height, width), (high, wide) = frame.shape[:2], trained
    if (height, width) != (high, wide):
        line = (
            f"pictures of {width}x{height} pixels: the classifiers of {name} were trained on pictures of {wide}x{high}, "
            f"and how well they read others was not measured"
        )
        warnings.warn(line, AamWarning, stacklevel=3)


def check_things(
    scene: Scene, things: Sequence[str], absent: NDArray[np.bool_], looks: Sequence[str], name: str
) -> None:
    """Refuse a scene that names what its first picture does not show.

    Args:
        scene: with the looks of the things.
        things: those that are to be found.
        absent: (things,), whether the classifiers say for certain that nothing in the picture looks like it.
        looks: that the classifiers know.
        name: of the classifiers.

    Raises:
        UnusableInput: the classifiers do not know the look of a thing, or a thing is absent.
    """
    for thing in things:
        if (look := scene.looks.get(thing, "")) not in looks:
            raise UnusableInput(
                f"{thing}: its look is {look!r}, which the classifiers of {name} do not know; give one of "
                f"{', '.join(looks)}, or train with it"
            )
    told = [
        f"{thing} ({scene.looks[thing]})"
        for thing, is_absent in zip(things, absent, strict=True)
        if is_absent
    ]
    if told:
        raise UnusableInput(
            f"nowhere in the first picture: {', '.join(told)}; name things that show there, seen by the camera "
            f"that the classifiers of {name} were trained on"
        )
