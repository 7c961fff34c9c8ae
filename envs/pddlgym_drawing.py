"""PDDLGym's drawing code, without what it does to a user's pyplot, and with the Pillow it expects.

PDDLGym draws with pyplot, whose backend may be a window system, names a Pillow constant that version 10
dropped, and reduces its pictures in a way that version 13 changed. While it draws, it is lent figures of its
own and the Pillow it was written for; nothing global changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_bridge import entities_of, literal_of, pddlgym
from aam_vision.strips import Atom


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
        """Nothing to do: nobody else knows the figure."""


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
def drawing() -> Iterator[Any]:
    """PDDLGym's ``rendering.utils`` with Agg figures, default styles and the Pillow it expects."""
    import matplotlib.style
    from PIL import Image

    utils = pddlgym().rendering.utils
    own = utils.plt, utils.Image
    utils.plt = _Figures()
    utils.Image = SimpleNamespace(fromarray=_Drawn, ANTIALIAS=Image.Resampling.LANCZOS)
    try:
        with matplotlib.style.context("default"):
            yield utils
    finally:
        utils.plt, utils.Image = own


def sprites(domain: str, cell: Any) -> tuple[NDArray[Any], ...]:
    """The pictures that PDDLGym stacks in a cell of its ``build_layout``, lowest first."""
    return tuple(_renderer(domain).get_token_images(cell))


def reference_frame(layout: Layout, atoms: Iterable[Atom]) -> NDArray[np.uint8]:
    """PDDLGym's own picture of a state, uint8 (H, W, 3): slow, the standard that `rendering` meets."""
    entities = entities_of(layout)
    literals = {literal_of(layout.domain, entities, atom) for atom in atoms}
    with drawing():
        frame: NDArray[np.uint8] = _renderer(layout.domain).render(literals)
    return frame[..., :3]


def _renderer(domain: str) -> Any:
    return getattr(pddlgym().rendering, domain)
