"""What the pictures have in common that a network learned from, to notice those of another camera.

Of every picture a coarse version is taken that light, shadows and contrast leave as it is: ratios of colours, and how light each
part is beside its neighbours. What stays the same from picture to picture is what the camera sees apart from the things.
``likeness`` is the correlation with the mean of them, from -1 to 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate, pad

from aam_vision.errors import AamWarning
from aam_vision.perception import Frame

COARSE: Final = 24
"""Height and width of the coarse version."""
NEIGHBOURS: Final = 2
"""How far neighbours are away at most, in parts of the coarse version."""
DARK: Final = 24
"""Added to all values, 0 to 255: what is dark has no ratios that could be told from noise."""
MARGIN: Final = 0.05
"""How much less than any picture learned from another one may be alike."""


def typical(pictures: Tensor) -> Mapping[str, Any]:
    """What pictures, uint8 (N, 3, height, width), have in common, for the card: the mean and the least likeness to it."""
    coarse = _coarse(pictures)
    mean = np.round(coarse.mean(0), 3)
    return {"mean": mean.tolist(), "least": round(float(_likeness(coarse, mean).min()), 3)}


def compare_camera(frame: Frame, known: Mapping[str, Any] | None, name: str) -> None:
    """Say that a picture is unlike all that were learned from.

    Args:
        frame: the picture.
        known: what ``typical`` says; None if the card does not have it.
        name: of the classifiers.

    Warns:
        AamWarning: it is.
    """
    if known is None:
        return
    picture = torch.from_numpy(np.ascontiguousarray(frame)).permute(2, 0, 1)[None]
    likeness = float(_likeness(_coarse(picture), known["mean"])[0])
    if likeness < known["least"] - MARGIN:
        line = (
            f"the first picture is unlike all that the classifiers of {name} were trained on (likeness {likeness:.2f}, "
            f"of those at least {known['least']:.2f}): is it of another camera?"
        )
        warnings.warn(line, AamWarning, stacklevel=3)


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


def _likeness(
    coarse: NDArray[np.float32], mean: Sequence[float] | NDArray[np.float32]
) -> NDArray[np.float32]:
    """(N,): the correlation of each with the mean."""
    common = np.asarray(mean, np.float32)
    both = np.linalg.norm(coarse, axis=1) * np.linalg.norm(common) + 1e-6
    found: NDArray[np.float32] = coarse @ common / both
    return found
