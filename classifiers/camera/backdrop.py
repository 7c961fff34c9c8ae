"""What is not the scene: parts of a picture that are neither the backdrop nor anything that was found there.

The backdrop is what a camera sees apart from the things: the median of the pictures learned from. A *cell* of a picture, ``CELL``
pixels wide as the network sees it, is explained by the backdrop if its colour is that of some cell near it, under the light of this picture
and no darker than in a shadow; or by a thing that was found nearby, if its look has that colour. How far cells around a place are from what
explains them is compared with the same in the pictures learned from, and with the farthest in pictures that teach nothing: in none of
these is anything unknown.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate, max_pool2d

from aam_vision.agents.perception import Point
from aam_vision.classifiers.camera.plan import Size
from aam_vision.support.errors import UnusableInput
from aam_vision.support.recent import Recent

CELL: Final = 2
"""Pixels across and down of a cell, in a picture as the network sees it."""
DARK: Final = 8
"""Added to all colours, 0 to 255: what is dark has no ratios that could be told from noise."""
DARKEST: Final = 0.01
"""The least that a colour is said to have of its usual brightness."""
CLIPPED: Final = 250
"""A colour from here on may have been brighter."""
NEAR: Final = 4
"""How far away the part of the backdrop may be that a cell shows, in cells: what the camera may be turned or moved by."""
FAR: Final = 0.5
"""The largest distance that counts, in logarithms of colours: one cell alone is no thing."""
EDGE: Final = 1
"""Cells around one that are as far from everything known, or it is at an edge, which mixes colours."""
AROUND: Final = 2
"""The same of the square over which distances are averaged."""
TONES: Final = 8
"""Colours by which a look is known."""
RARE: Final = 0.01
"""Share of what is learned from, at most, that is left out as too odd: of the cells of a look, of pictures."""
PATCH: Final = 4
"""Cells across and down over which pictures learned from are taken together."""
LIGHTS_KEPT: Final = 64
"""Lights of pictures of which it is kept what the backdrop looks like."""
LIGHTS: Final = (1.0, 0.6, 1.4)
"""Lights under which no picture is strange: all colours are multiplied by one of these."""
TINTED: Final = 0.05
"""How much brighter than all together one colour is, as a logarithm, before a light is said to have another colour."""
MOST_TINTED: Final = 0.5
"""The same up to which it may be the light: what has still another colour is something else, such as a cloth over the table."""
MARGIN: Final = 1.25
"""How much farther than in almost any picture known to be of the scene alone something has to be."""

WHOLLY: Final = 0.95
"""Share of a cell that shows a thing which has its colour."""
SOME: Final = 0.2
"""The same of a thing of which so little shows that it is just found."""
REACH: Final = 0.12
"""How far from where a thing is found it may show where outlines are not known, as a share of width and height."""
BESIDE: Final = 2.0
"""So many times farther another thing may be that is beside it, or on it."""

_LEVELS: Final = 255

Colours = NDArray[np.float32]
Sight = tuple[int, Point]
"""A look that was found, by its number, and where."""


@dataclass(frozen=True)
class Backdrop:
    """What was learned from pictures of one camera.

    Attributes:
        colours: of every ``SHRUNK`` pixels, (3, h, w), 0 to 255.
        tones: (looks, TONES, 3), the colours of things of each look; NaN where no outlines were known.
        reach: (looks, 2), how far from where a thing is found it may show, as shares of width and height.
        darkest: how dark a shadow is at least: a logarithm.
        usual: how far from everything known places of the pictures learned from are at most, (h', w').
        most: how much farther other places may be.
    """

    colours: Colours
    tones: Colours
    reach: Colours
    darkest: float
    usual: Colours
    most: float = 0.0

    def strangeness(self, cells: NDArray[np.uint8], found: Iterable[Sight]) -> Colours:
        """How far places are from everything known, (h, w), above what is usual there.

        Args:
            cells: (3, h, w), see ``cells_of``.
            found: what was found, and where.
        """
        seen, (_, height, width) = cells.astype(np.float32), cells.shape
        across, down = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5)[:, None] / height
        beside = [
            (look, (abs(across - x) <= self.reach[look, 0]) & (abs(down - y) <= self.reach[look, 1]))
            for look, (x, y) in found
        ]
        free = ~np.logical_or.reduce([there for _, there in beside] + [np.zeros((height, width), bool)])
        gain = tuple(_gain(one, own, free) for one, own in zip(seen, self._behind, strict=True))
        low, high = self._expected.of(gain, lambda: self._expect(gain))
        colours = _ratios(seen)
        far = np.sqrt((np.maximum(np.maximum(colours - high, low - colours), 0) ** 2).sum(0))
        for look, there in beside:
            tones = _ratios(_lit(self.tones[look].T, gain))
            away = ((colours[:, there, None] - tones[:, None]) ** 2).sum(0).min(1)
            far[there] = np.fmin(far[there], np.nan_to_num(np.sqrt(away)))
        inner = -_widened(-far.clip(max=FAR)[None], EDGE)
        around = avg_pool2d(torch.from_numpy(inner), 2 * AROUND + 1, 1, AROUND, count_include_pad=False)
        return around[0].numpy() - self._usual

    def untinted(self, pictures: Tensor) -> tuple[Tensor, Colours]:
        """Pictures under a light of the colour that it has in the backdrop; what is as bright as can be stays so.

        Args:
            pictures: as the network sees them, (N, 3, height, width), from 0 to 1.

        Returns:
            The pictures, and how much brighter red, green and blue were than all together: (N, 3), ones where about as usual, and where
            so much that it is not the light.
        """
        tints = np.stack([self._tint(cells.astype(np.float32)) for cells in cells_of(pictures)])
        if (tints == 1).all():
            return pictures, tints
        plain = (pictures / torch.from_numpy(tints)[:, :, None, None]).clamp(max=1)
        return torch.where(pictures * _LEVELS < CLIPPED, plain, pictures), tints

    def _tint(self, seen: Colours) -> Colours:
        anywhere = np.ones(seen.shape[1:], bool)
        gains = [_gain(one, own, anywhere) for one, own in zip(seen, self._behind, strict=True)]
        tint = np.log(np.maximum(gains, DARKEST), dtype=np.float32)
        tint -= tint.mean()
        return np.exp(tint) if TINTED < np.abs(tint).max() <= MOST_TINTED else np.ones_like(tint)

    @cached_property
    def _behind(self) -> Colours:
        """The colours of the backdrop, cell by cell."""
        return _sized(self.colours, 2)

    @cached_property
    def _usual(self) -> Colours:
        usual: Colours = _sized(self.usual[None], PATCH)[0]
        return usual

    @cached_property
    def _expected(self) -> Recent[tuple[float, ...], tuple[Colours, Colours]]:
        return Recent(LIGHTS_KEPT)

    def _expect(self, gain: tuple[float, ...]) -> tuple[Colours, Colours]:
        """The least and the greatest ratios that the backdrop has around every cell, in a light."""
        expected = _ratios(_lit(self._behind, gain))
        low = -_widened(-expected, NEAR)
        low[2] += self.darkest
        return low, _widened(expected, NEAR)

    def unexplained(self, cells: NDArray[np.uint8], found: Iterable[Sight]) -> list[NDArray[np.bool_]]:
        """The parts of a picture that nothing explains, (h, w) each, the largest first; see ``strangeness``."""
        from scipy.ndimage import label

        parts, number = label(self.strangeness(cells, found) > self.most, np.ones((3, 3)))
        return sorted((parts == one + 1 for one in range(number)), key=lambda part: -int(part.sum()))

    def touches(self, part: NDArray[np.bool_], sight: Sight) -> bool:
        """Whether a part of a picture may cover some of a thing, or what is beside it."""
        look, (x, y) = sight
        rows, columns = np.nonzero(part)
        height, width = part.shape
        across, down = np.abs((columns + 0.5) / width - x), np.abs((rows + 0.5) / height - y)
        wide, high = BESIDE * self.reach[look]
        return bool(((across <= wide) & (down <= high)).any())

    def facts(self) -> dict[str, Any]:
        """The same for a card."""
        known = not np.isnan(self.tones).any()
        return {
            "colours": _packed(self.colours),
            "tones": _packed(self.tones) if known else "",
            "reach": _packed(np.ceil(self.reach * _LEVELS)),
            "usual": _packed(np.ceil(self.usual / FAR * _LEVELS)),
            "darkest": round(self.darkest, 3),
            "most": round(self.most, 4),
        }

    @classmethod
    def of_card(cls, facts: Mapping[str, Any], looks: int, seen: Size, name: str) -> Backdrop:
        """What ``facts`` gave for a card that may be anybody's; ``seen``: height and width of pictures as the network sees them.

        Raises:
            UnusableInput: it is something else.
        """
        try:
            colours = _unpacked(facts["colours"], 3, *(side // (2 * CELL) for side in seen))
            shape = looks, TONES, 3
            unknown = np.full(shape, np.nan, np.float32)
            tones = _unpacked(facts["tones"], *shape) if facts["tones"] else unknown
            reach = _unpacked(facts["reach"], looks, 2, unit=1 / _LEVELS)
            usual = _unpacked(facts["usual"], *(side // (PATCH * CELL) for side in seen), unit=FAR / _LEVELS)
            darkest, most = float(facts["darkest"]), float(facts["most"])
            if not (np.isfinite(darkest) and np.isfinite(most)):
                raise ValueError
        except (KeyError, TypeError, ValueError, OverflowError):
            raise UnusableInput(
                f"the card of {name} is damaged where it says what pictures have in common; train again"
            ) from None
        return cls(colours, tones, reach, darkest, usual, most)


def cells_of(pictures: Tensor) -> NDArray[np.uint8]:
    """Pictures as the network sees them, (N, 3, height, width), from 0 to 1, as cells: (N, 3, h, w)."""
    return (avg_pool2d(pictures.float(), CELL) * 255).round().to(torch.uint8).numpy()


def learned(cells: NDArray[np.uint8], shows: Colours) -> Backdrop:
    """What pictures have in common; the most that may be strange is not known yet.

    Args:
        cells: (N, 3, h, w), see ``cells_of``.
        shows: (N, looks, h, w), how much of every cell shows a thing of each look; NaN where that is not known.
    """
    number, looks, height, width = shows.shape
    colours = avg_pool2d(torch.from_numpy(np.median(cells, 0).astype(np.float32))[None], 2)[0].numpy().round()
    tones = np.full((looks, TONES, 3), np.nan, np.float32)
    reach = np.full((looks, 2), REACH, np.float32)
    known = not np.isnan(shows).any()
    sights: list[list[Sight]] = [[] for _ in range(number)]
    across, down = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    for look in range(looks if known else 0):
        far = []
        for picture in np.flatnonzero(shows[:, look].max((1, 2)) > SOME):
            share = shows[picture, look]
            place = float(across @ share.sum(0) / share.sum()), float(down @ share.sum(1) / share.sum())
            sights[picture].append((look, place))
            rows, columns = np.nonzero(share > SOME)
            far.append((np.abs(across[columns] - place[0]).max(), np.abs(down[rows] - place[1]).max()))
        if not far:
            continue
        reach[look] = np.quantile(far, 1 - RARE, axis=0) + 1 / np.array([width, height])
        wholly = shows[:, look] >= min(WHOLLY, shows[:, look].max())
        tones[look] = _tones(cells.transpose(0, 2, 3, 1)[wholly].astype(np.float32))
    tones = np.nan_to_num(tones) if known else tones  # a look that nothing has is not found either
    dark = _ratios(_sized(colours, 2))[2]
    nothing = shows.sum(1) < 0.01 if known else np.zeros((number, height, width), bool)
    darker = [
        (_ratios(one.astype(np.float32))[2] - dark)[bare] for one, bare in zip(cells, nothing, strict=True)
    ]
    darkest = float(np.quantile(np.concatenate([np.zeros(1, np.float32), *darker]), RARE / 10))
    nowhere = np.zeros((height // PATCH, width // PATCH), np.float32)
    found = Backdrop(colours, tones, reach, darkest, nowhere)
    strange = np.stack([found.strangeness(one, own) for one, own in zip(cells, sights, strict=True)])
    common = torch.from_numpy(np.quantile(strange, 1 - RARE, axis=0).astype(np.float32))
    return replace(found, usual=max_pool2d(common[None], PATCH)[0].numpy())


def _tones(cells: Colours) -> Colours:
    """Colours, (TONES, 3), near to which all but few cells, (n, 3), are: each is far from those before it."""
    ratios = np.log(cells + DARK)
    chosen = [ratios.mean(0)]
    for _ in range(TONES - 1):
        away = np.min([np.linalg.norm(ratios - one, axis=1) for one in chosen], axis=0)
        chosen.append(ratios[np.argsort(away, kind="stable")[int((1 - RARE) * (len(away) - 1))]])
    tones: Colours = np.exp(np.stack(chosen)) - DARK
    return tones


def _gain(seen: Colours, behind: Colours, free: NDArray[np.bool_]) -> float:
    """How much brighter a colour is than in the backdrop, over cells where no thing was found and that are not as bright as can be.

    In steps of a hundredth, so that the same light gives the same.
    """
    told = free & (seen < CLIPPED)
    told = told if told.any() else np.ones_like(free)
    return round(float(np.median((seen[told] + 1) / (behind[told] + 1))), 2)


def _lit(colours: Colours, gain: tuple[float, ...]) -> Colours:
    """Colours, (3, ...), under a light."""
    factors = np.array(gain, np.float32).reshape(3, *[1] * (colours.ndim - 1))
    lit: Colours = np.minimum(colours * factors, _LEVELS)
    return lit


def _ratios(colours: Colours) -> Colours:
    """Red and blue beside green, and how light it all is, as logarithms: (3, ...)."""
    red, green, blue = np.log(colours + DARK)
    return np.stack([red - green, blue - green, (red + green + blue) / 3])


def _widened(values: Colours, by: int) -> Colours:
    """The largest of every place and those around it: (C, h, w)."""
    return max_pool2d(torch.from_numpy(values)[None], 2 * by + 1, 1, by)[0].numpy()


def _sized(values: Colours, times: int) -> Colours:
    """(C, h, w), so many times as large."""
    return interpolate(torch.from_numpy(values)[None], scale_factor=times, mode="bilinear")[0].numpy()


def _packed(values: Colours) -> str:
    """A byte for each value, 0 to 255, in base64: cards are shipped."""
    return b64encode(values.clip(0, _LEVELS).round().astype(np.uint8).tobytes()).decode("ascii")


def _unpacked(text: str, *shape: int, unit: float = 1.0) -> Colours:
    values = np.frombuffer(b64decode(text, validate=True), np.uint8).reshape(shape)
    return values.astype(np.float32) * np.float32(unit)
