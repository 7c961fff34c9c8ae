"""Regions of a picture that show things, grown from points at them: each is what stands out from the backdrop around its points.

Where somebody points at what does not stand out, because it is there in most pictures, its region is what has the colour of the point.

Where things touch, regions meet at the edges between them (marker-controlled watershed: Meyer and Beucher, 1990); what has the colours of one
of them, by what was outlined before, is its from the start. A shadow does not stand out: it is the backdrop, in all colours equally darker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
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

STEP: Final = 32
"""Of 255: colours so near to each other are taken for the same. A larger step tells less apart, a smaller one needs more labels."""

AROUND: Final = 5
"""Side of the square, in pixels, over which the colours around a pixel are taken together: patterns have several."""

CLEARLY: Final = 3.0
"""So many times likelier than for any other thing is a pixel's colour for the thing that it belongs to."""

NEAR: Final = 6
"""Pixels from a point to what stands out, at most: nobody points exactly."""

ALIKE: Final = 20
"""Of 255: how much a pixel may differ from the point of its region, in its most different colour, where nothing stands out. A larger value
runs over edges, a smaller one takes more points."""

MOST: Final = 0.25
"""Share of a picture that such a region covers at most: more of it is the table."""

Spot = tuple[int, int]
"""Row and column of a pixel."""


class Colours:
    """How often things of every look show each colour, by outlines."""

    def __init__(self) -> None:
        self._shown: dict[str, NDArray[np.float64]] = {}

    def add(self, frame: Frame, masks: Mapping[str, Mask]) -> None:
        """Take in the outlines of things in a picture, by their looks."""
        colours = _colours(frame)
        for look, mask in masks.items():
            shown = np.bincount(colours[mask], minlength=(256 // STEP) ** 3).astype(float)
            self._shown[look] = self._shown.get(look, 0) + shown

    def clearly(self, frame: Frame, looks: Sequence[str]) -> NDArray[np.intp]:
        """(height, width): which of some looks each pixel clearly has, as against the others; -1 where that cannot be said."""
        from scipy.ndimage import uniform_filter

        colours, none = _colours(frame), np.full(frame.shape[:2], -1, np.intp)
        if len(looks) < 2 or not all(look in self._shown for look in looks):
            return none
        shares = [self._shown[look] / max(self._shown[look].sum(), 1) for look in looks]
        likely = np.stack([uniform_filter(share[colours], AROUND) for share in shares]) + 1e-4
        second, first = np.sort(likely, axis=0)[-2:]
        return np.where(first > CLEARLY * second, likely.argmax(0), none)


def _colours(frame: Frame) -> NDArray[np.intp]:
    """(height, width): the number of each pixel's colour."""
    red, green, blue = np.moveaxis(frame.astype(np.intp) // STEP, 2, 0)
    number: NDArray[np.intp] = (red * (256 // STEP) + green) * (256 // STEP) + blue
    return number


class Regions:
    """The regions of one picture.

    Args:
        frame: the picture.
        backdrop: what its camera sees apart from the things.
        colours: of the things, as far as they are known.
        looks: of the things.
    """

    def __init__(
        self,
        frame: Frame,
        backdrop: Frame,
        colours: Colours | None = None,
        looks: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        from scipy.ndimage import binary_opening
        from skimage.filters import sobel

        self._size: Spot = (frame.shape[0], frame.shape[1])
        self._every = int(np.ceil(np.sqrt(frame.shape[0] * frame.shape[1] / AREA)))
        self._frame = frame[:: self._every, :: self._every]
        self._colours, self._looks = colours or Colours(), looks
        seen, behind = (one[:: self._every, :: self._every].astype(np.float32) for one in (frame, backdrop))
        shares = (seen + 4) / (behind + 4)
        bright, tint = shares.mean(2), np.ptp(shares, axis=2)
        shadow = (bright < 1.02) & (bright > DARKEST) & (tint < TINT * np.maximum(bright, 0.5))
        apart = (np.abs(seen - behind).max(2) > PLAIN) & ~shadow
        self._stands_out: Mask = binary_opening(apart)
        self._edges: NDArray[np.float32] = np.sqrt(sum(sobel(seen[..., one]) ** 2 for one in range(3)))

    def grown(self, points: Mapping[str, Sequence[Spot]], nothing: Sequence[Spot] = ()) -> dict[str, Mask]:
        """Which pixels show each thing that somebody points at, (height, width); ``nothing``: points at what shows none of them."""
        from scipy.ndimage import label
        from skimage.segmentation import watershed

        spots, plain = np.zeros((2, *self._stands_out.shape), np.int32)
        for number, own in ((len(points) + 1, nothing), *enumerate(points.values(), start=1)):
            for row, column in own:
                down, across = self._nearest(row // self._every, column // self._every)
                spots[max(down - 1, 0) : down + 2, max(across - 1, 0) : across + 2] = number
                if not self._stands_out[down, across]:
                    plain[self._alike(down, across)] = number
        markers = np.where(spots > 0, spots, plain)
        clearly = self._colours.clearly(self._frame, [self._looks.get(thing, "") for thing in points])
        for number in range(1, len(points) + 1):
            # what has a thing's colours, and hangs together with where it is
            pointed = spots == number
            parts, _ = label(pointed | ((clearly == number - 1) & self._stands_out & (spots == 0)))
            markers[np.isin(parts, np.unique(parts[pointed])) & (markers == 0)] = number
        found = watershed(self._edges, markers, mask=self._stands_out | (markers > 0))
        whole = found.repeat(self._every, 0).repeat(self._every, 1)[: self._size[0], : self._size[1]]
        return {thing: whole == number for number, thing in enumerate(points, start=1)}

    def _alike(self, row: int, column: int) -> Mask:
        """What hangs together with a pixel and has its colour, and does not stand out; nothing if that is the table."""
        from scipy.ndimage import label

        differs = np.abs(self._frame.astype(np.int16) - self._frame[row, column]).max(2)
        parts, _ = label((differs <= ALIKE) & ~self._stands_out)
        found: Mask = parts == parts[row, column]
        return found if found.mean() <= MOST else np.zeros_like(found)

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
        # a pixel's middle is at half of it
        corners = (approximate_polygon(contour, 0.7) - 0.5) / (height, width)
        path += "M" + "L".join(f"{across:.4f} {down:.4f}" for down, across in corners.clip(0, 1)) + "Z"
    return path
