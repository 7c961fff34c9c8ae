"""What the pictures have in common that a network learned from, to notice those of another camera.

Of every picture a coarse version is taken that light, shadows and contrast leave as it is: ratios of colours, and how light each
part is beside its neighbours. What stays the same from picture to picture is what the camera sees apart from the things.
``likeness`` is the correlation with the mean of them, from -1 to 1.
"""

from __future__ import annotations

import warnings
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate, pad

from aam_vision.agents.perception import Frame
from aam_vision.support.errors import AamWarning, UnusableInput

COARSE: Final = 24
"""Height and width of the coarse version."""
NEIGHBOURS: Final = 2
"""How far neighbours are away at most, in parts of the coarse version."""
DARK: Final = 24
"""Added to all values, 0 to 255: what is dark has no ratios that could be told from noise."""
MARGIN: Final = 0.05
"""How much less than any picture learned from another one may be alike."""

_LEVELS = 127  # of a signed byte


def typical(pictures: Tensor) -> Mapping[str, Any]:
    """What pictures, uint8 (N, 3, height, width), have in common, for the card: the mean and the least likeness to it.

    The mean is one signed byte a value, in base64, as a likeness does not depend on its scale and cards are shipped.
    """
    coarse = _coarse(pictures)
    mean = coarse.mean(0)
    levels = np.round(mean * (_LEVELS / max(float(np.abs(mean).max()), 1e-9))).astype(np.int8)
    least = round(float(_likeness(coarse, levels).min()), 3)
    return {"mean": b64encode(levels.tobytes()).decode("ascii"), "least": least}


def compare_camera(frame: Frame, known: Mapping[str, Any] | None, name: str) -> None:
    """Say that a picture is unlike all that were learned from.

    Raises:
        UnusableInput: the card says something else.

    Warns:
        AamWarning: it is.
    """
    if known is None:
        return
    mean, least = _told(known, name)
    picture = torch.from_numpy(np.ascontiguousarray(frame)).permute(2, 0, 1)[None]
    likeness = float(_likeness(_coarse(picture), mean)[0])
    if likeness < least - MARGIN:
        line = (
            f"the first picture is unlike all that the classifiers of {name} were trained on (likeness {likeness:.2f}, "
            f"of those at least {least:.2f}): is it of another camera?"
        )
        warnings.warn(line, AamWarning, stacklevel=3)


def _told(known: Mapping[str, Any], name: str) -> tuple[NDArray[np.int8], float]:
    """The mean and the least likeness that a card tells."""
    try:
        mean, least = np.frombuffer(b64decode(known["mean"], validate=True), np.int8), float(known["least"])
    except (KeyError, TypeError, ValueError):
        mean, least = np.zeros(0, np.int8), 0.0
    if len(mean) != 3 * COARSE**2:
        raise UnusableInput(
            f"the card of {name} is damaged where it says what pictures have in common; train again"
        )
    return mean, least


def _coarse(pictures: Tensor) -> NDArray[np.float32]:
    """(N, 3 * COARSE ** 2)."""
    small = (interpolate(pictures.float(), (COARSE, COARSE), mode="area") + DARK).log()
    grey = small.mean(1, keepdim=True)
    colours = small[:, :2] - grey
    near = pad(grey, (NEIGHBOURS,) * 4, mode="replicate")
    beside = grey - avg_pool2d(near, 2 * NEIGHBOURS + 1, stride=1)
    found: NDArray[np.float32] = (
        torch.cat([colours - colours.mean((2, 3), keepdim=True), beside], 1).flatten(1).numpy()
    )
    return found


def _likeness(coarse: NDArray[np.float32], mean: NDArray[np.int8]) -> NDArray[np.float32]:
    """(N,): the correlation of each with the mean."""
    common = np.asarray(mean, np.float32)
    both = np.linalg.norm(coarse, axis=1) * np.linalg.norm(common) + 1e-6
    found: NDArray[np.float32] = coarse @ common / both
    return found
