"""Pictures that are drawn whole instead of cell by cell, once for each of the latest states.

Where the picture is made of rectangles (Hanoi, Blocks), PDDLGym's own renderer draws it in about 15 ms.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aam_vision.agents.perception import Frame
from aam_vision.model.strips import Atom

if TYPE_CHECKING:
    from aam_vision.envs.board import Layout

KEPT = 2048
"""Frames that are kept for one problem: more cost memory, fewer are drawn again. The least recently used goes first."""


class WholePictures:
    """Draws the states of one problem; see ``aam_vision.envs.board.Drawing``.

    Args:
        layout: the problem.
        draw: makes the picture of all the atoms of a state.
        keep: how many frames to keep.
    """

    def __init__(self, layout: Layout, draw: Callable[[frozenset[Atom]], Frame], *, keep: int = KEPT) -> None:
        from aam_vision.envs.pddlgym_domains import changing_predicates, static_atoms

        self._layout, self._draw, self._keep = layout, draw, keep
        self._changing = changing_predicates(layout.domain)
        self._static = static_atoms(layout)
        self._frames: OrderedDict[frozenset[Atom], Frame] = OrderedDict()

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """The shape of every frame of the problem."""
        height, width, channels = self.frame(self._layout.initial).shape
        return height, width, channels

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""
        state = frozenset(atom for atom in atoms if atom.predicate in self._changing)
        known = self._frames.get(state)
        if known is None:
            known = self._frames[state] = self._draw(state | self._static)
            if len(self._frames) > self._keep:
                self._frames.popitem(last=False)
        else:
            self._frames.move_to_end(state)
        return known.copy()


def drawn_by_pddlgym(layout: Layout) -> WholePictures:
    """The pictures of a problem, each drawn by PDDLGym itself."""
    palette: dict[str, Any] = {}

    def draw(atoms: frozenset[Atom]) -> Frame:
        from aam_vision.envs.pddlgym_drawing import reference_frame

        return reference_frame(layout, atoms, palette)

    return WholePictures(layout, draw)
