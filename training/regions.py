"""Regions of a picture that show things, grown from points at them: each is what stands out from the backdrop around its points.

Where things touch, regions meet at the edges between them (marker-controlled watershed: Meyer and Beucher, 1990). A shadow does not stand
out: it is the backdrop, in all colours equally darker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Mask

PLAIN: Final = 12
"""Of 255: how much a pixel differs from the backdrop at most, in its most different colour, where nothing stands out: more than a sensor's
noise."""

DARKEST: Final = 0.25
"""Brightness of a shadow at least, as a share of the backdrop's."""

TINT: Final = 0.12
"""How much the colours of a shadow differ in that share: more takes grey things for shadows."""

AREA: Final = 300 * 300
"""Pixels of a picture at most; of larger ones every so manieth is looked at."""

NEAR: Final = 6
"""Pixels from a point to what stands out, at most: nobody points exactly."""

Spot = tuple[int, int]
"""Row and column of a pixel."""


class Regions:
    """The regions of one picture.

    Args:
        frame: the picture.
        backdrop: what its camera sees apart from the things.
    """

    def __init__(self, frame: Frame, backdrop: Frame) -> None:
        from scipy.ndimage import binary_opening
        from skimage.filters import sobel

        self._size: Spot = (frame.shape[0], frame.shape[1])
        self._every = int(np.ceil(np.sqrt(frame.shape[0] * frame.shape[1] / AREA)))
        seen, behind = (one[:: self._every, :: self._every].astype(np.float32) for one in (frame, backdrop))
        shares = (seen + 4) / (behind + 4)
        bright, tint = shares.mean(2), np.ptp(shares, axis=2)
        shadow = (bright < 1.02) & (bright > DARKEST) & (tint < TINT * np.maximum(bright, 0.5))
        apart = (np.abs(seen - behind).max(2) > PLAIN) & ~shadow
        self._stands_out: Mask = binary_opening(apart)
        self._edges: NDArray[np.float32] = np.sqrt(sum(sobel(seen[..., one]) ** 2 for one in range(3)))

    def grown(self, points: Mapping[str, Sequence[Spot]]) -> dict[str, Mask]:
        """Which pixels show each thing that somebody points at, (height, width)."""
        from skimage.segmentation import watershed

        markers = np.zeros(self._stands_out.shape, np.int32)
        for number, spots in enumerate(points.values(), start=1):
            for row, column in spots:
                down, across = self._nearest(row // self._every, column // self._every)
                markers[max(down - 1, 0) : down + 2, max(across - 1, 0) : across + 2] = number
        found = watershed(self._edges, markers, mask=self._stands_out | (markers > 0))
        whole = found.repeat(self._every, 0).repeat(self._every, 1)[: self._size[0], : self._size[1]]
        return {thing: whole == number for number, thing in enumerate(points, start=1)}

    def _nearest(self, row: int, column: int) -> Spot:
        """The nearest pixel that stands out, if it is near; else the pixel itself."""
        if self._stands_out[row, column]:
            return row, column
        top, left = max(row - NEAR, 0), max(column - NEAR, 0)
        spots = np.argwhere(self._stands_out[top : row + NEAR + 1, left : column + NEAR + 1])
        spots += np.array([top, left])
        if not len(spots):
            return row, column
        down, across = spots[np.abs(spots - (row, column)).sum(1).argmin()].tolist()
        return down, across


def middle(mask: Mask) -> Spot:
    """The pixel of a region that is farthest from its edge."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(row), int(column)


def outline_path(mask: Mask) -> str:
    """The edges of a region as an SVG path, in shares of the picture's width and height."""
    from skimage.measure import approximate_polygon, find_contours

    height, width = mask.shape
    path = ""
    for contour in find_contours(np.pad(mask, 1).astype(float), 0.5):
        corners = (approximate_polygon(contour, 0.7) - 0.5) / (
            height,
            width,
        )  # a pixel's middle is at half of it
        path += "M" + "L".join(f"{across:.4f} {down:.4f}" for down, across in corners.clip(0, 1)) + "Z"
    return path
