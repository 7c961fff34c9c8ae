"""A sheet has the pixels of PDDLGym's figure, wherever a sprite lies on it, whatever the shape of the board."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.envs import rendering, sheet
from aam_vision.envs.pddlgym_domains import pddlgym
from aam_vision.envs.pddlgym_drawing import FigureSheet
from aam_vision.envs.sheet import Sheet

SPRITES = {"sokoban": ("PLAYER", "STONE"), "doors": ("PLAYER", "KEY"), "maze": ("PERSON", "WALL")}


@pytest.mark.parametrize("shape", [(7, 7), (6, 12), (11, 7), (8, 4), (3, 5), (14, 13)])
def test_an_empty_sheet_is_pddlgyms_and_things_lie_where_its_axes_put_them(shape: tuple[int, int]) -> None:
    drawn, figure = Sheet(*shape), FigureSheet(*shape)
    assert np.array_equal(drawn.background(), figure.background())
    for row, column in np.ndindex(*shape):
        assert drawn.at(column + 0.5, row + 0.5) == figure.at(column + 0.5, row + 0.5)


@pytest.mark.parametrize("domain", SPRITES)
@pytest.mark.parametrize("shape", [(7, 7), (6, 12), (9, 10), (12, 4)])
def test_sprites_have_the_pixels_of_pddlgyms_artists(
    domain: str, shape: tuple[int, int], rng: np.random.Generator
) -> None:
    renderer = getattr(pddlgym().rendering, domain)
    drawn, figure = Sheet(*shape), FigureSheet(*shape)
    ours, theirs = drawn.background(), figure.background()
    for name in SPRITES[domain] * 3:
        sprite = renderer.TOKEN_IMAGES[getattr(renderer, name)]
        row, column = (int(rng.integers(size)) for size in shape)
        drawn.draw(ours, sprite, row, column)
        figure.draw(theirs, sprite, row, column)
    assert np.array_equal(ours, theirs)


SPRITE = np.linspace(0, 1, 200 * 200 * 4, dtype=np.float32).reshape(200, 200, 4)


def test_where_matplotlib_lacks_the_function_figures_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise ImportError("not here")

    codes = np.zeros((5, 6), np.uint8)
    pictures = []
    for lacking in (False, True):
        if lacking:
            monkeypatch.setattr(sheet, "_resampler", none)
        board = rendering.BoardRenderer("sokoban", 5, 6)
        assert isinstance(board._paper, FigureSheet) == lacking
        monkeypatch.setattr(board, "_stack", lambda code: (SPRITE,))
        pictures.append(board.frame(codes))
    assert np.array_equal(*pictures)
