"""PDDLGym's drawing code, without what it does to a user's pyplot, and with the Pillow it expects.

PDDLGym draws with pyplot, whose backend may be a window system, names a Pillow constant that version 10
dropped, and reduces its pictures in a way that version 13 changed. While it draws, it is lent figures of its
own and the Pillow it was written for; nothing global changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_domains import Literals, pddlgym
from aam_vision.envs.sheet import DPI, Pixels, SpriteStacks
from aam_vision.model.strips import Atom


class _Figures:
    """The four names PDDLGym's drawing takes from pyplot, without pyplot's figures and backends."""

    def __init__(self) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        self.NullFormatter, self.NullLocator = NullFormatter, NullLocator

    def figure(self, **options: Any) -> Any:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(**options)
        FigureCanvasAgg(figure)
        return figure

    def close(self, figure: Any) -> None:
        """Do nothing: nothing else refers to the figure."""


class _Drawn:
    """A drawn picture that Pillow reduces by columns, then by rows, whatever its version.

    Pillow 13 begins with the rows of a picture more than twice as high as wide. As bytes are rounded and
    clipped in between, such pictures of older versions differ from it by up to 14 of 255.
    """

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        from PIL import Image

        self._image = Image.fromarray(pixels)
        self.size = self._image.size

    def resize(self, size: tuple[int, int], method: Any) -> Any:
        """The picture in another (width, height)."""
        return self._image.resize((size[0], self.size[1]), method).resize(size, method)


@contextmanager
def _lent(owner: Any, **attributes: Any) -> Iterator[None]:
    """Give something other attributes for a while."""
    own = {name: getattr(owner, name) for name in attributes}
    for name, value in attributes.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in own.items():
            setattr(owner, name, value)


@contextmanager
def drawing() -> Iterator[Any]:
    """PDDLGym's ``rendering.utils`` with Agg figures, default styles and the Pillow it expects."""
    import matplotlib.style
    from PIL import Image

    utils = pddlgym().rendering.utils
    pillow = SimpleNamespace(fromarray=_Drawn, ANTIALIAS=Image.Resampling.LANCZOS)
    with _lent(utils, plt=_Figures(), Image=pillow), matplotlib.style.context("default"):
        yield utils


class FigureSheet:
    """PDDLGym's figure of an empty board; see `aam_vision.envs.sheet.Sheet`."""

    def __init__(self, rows: int, columns: int) -> None:
        with drawing() as utils:
            self._figure, self._axes = utils.initialize_figure(rows, columns)
            self._figure.set_dpi(DPI)
            self._figure.canvas.draw()
        self._canvas: Pixels = np.asarray(self._figure.canvas.buffer_rgba())
        self._background = self._canvas[..., :3].copy()
        self._size = rows, columns

    def at(self, x: float, y: float) -> tuple[float, float]:
        across, up = self._axes.transData.transform((x, y))
        return float(across), float(up)

    def background(self) -> Pixels:
        return self._background.copy()

    def draw(self, canvas: Pixels, sprite: NDArray[np.float32], row: int, column: int) -> None:
        self._canvas[..., :3] = canvas
        with drawing() as utils:
            box = utils.draw_token(sprite, row, column, self._axes, *self._size)
            self._axes.draw_artist(box)
            box.remove()
        canvas[...] = self._canvas[..., :3]


@cache
def stacks(domain: str) -> SpriteStacks:
    """The codes of a domain's stacks of sprites."""
    return SpriteStacks(_renderer(domain).get_token_images)


def cells(domain: str, literals: Iterable[Any]) -> NDArray[Any]:
    """The drawings PDDLGym would make in every cell of a state, (rows, columns, ...), caught before it is drawn."""
    renderer, caught = _renderer(domain), []
    with _lent(renderer, render_from_layout=lambda found, *_, **__: caught.append(found)):
        renderer.render(literals)
    (found,) = caught
    return np.asarray(found)


def reference_frame(
    layout: Layout, atoms: Iterable[Atom], palette: dict[str, Any] | None = None
) -> NDArray[np.uint8]:
    """PDDLGym's own picture of a state, uint8 (H, W, 3): slow, the standard that `rendering` meets.

    PDDLGym gives blocks their colours as it first draws them, so that they depend on all that was drawn before.
    Here they are those of a process whose first picture is that of the problem's initial state. They are
    kept in ``palette`` if one is passed in.
    """
    literals = Literals(layout)
    renderer = _renderer(layout.domain)
    palette = {} if palette is None else palette
    own: dict[str, Any] = {"plt": _Figures()} if hasattr(renderer, "plt") else {}
    if coloured := hasattr(renderer, _COLOURS):
        # PDDLGym begins with the seed 0
        own |= {_COLOURS: palette, _CHANCE: type(getattr(renderer, _CHANCE))(0)}
    with drawing(), _lent(renderer, **own):
        if coloured and not palette:
            renderer.render(set(map(literals.of, layout.initial)))
        frame: NDArray[np.uint8] = renderer.render(set(map(literals.of, atoms)))
    return frame[..., :3].copy()


_COLOURS, _CHANCE = "_block_name_to_color", "_rng"
"""Attributes that PDDLGym's renderer of blocks keeps between pictures."""


def _renderer(domain: str) -> Any:
    return getattr(pddlgym().rendering, domain)


@contextmanager
def crosses_on_top(domain: str) -> Iterator[None]:
    """Have the crosses on destroyed blocks drawn over the blocks: PDDLGym draws the blocks over them."""
    renderer = _renderer(domain)
    own = renderer.draw_blocks

    def draw(axes: Any, *arguments: Any) -> None:
        own(axes, *arguments)
        for cross in axes.collections:
            cross.set_zorder(2)

    with _lent(renderer, draw_blocks=draw):
        yield
