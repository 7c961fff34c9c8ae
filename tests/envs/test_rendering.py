"""Composited frames are PDDLGym's own, pixel for pixel, whatever the shape of the board."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from aam_vision.envs import rendering, sheet
from aam_vision.envs.pddlgym_drawing import FigureSheet, reference_frame
from aam_vision.envs.registry import board_domain
from aam_vision.envs.rendering import OverlappingTiles
from aam_vision.envs.sheet import SpriteStacks
from aam_vision.support.resampling import lanczos, reduce_part
from tests.envs.conftest import ALL, load
from tests.processes import fresh
from tests.profiles import first, some
from tests.refusals import told_by


@pytest.mark.parametrize(("name", "split", "index"), first(9, sorted(ALL, key=lambda one: one[2])))
def test_frames_of_every_problem_are_pddlgyms(name: str, split: str, index: int, rng: Any) -> None:
    layout = load(name, split, index)
    picture = board_domain(name).drawing(layout)
    for atoms in (layout.initial, next(board_domain(layout.domain).states(layout, rng)).true):
        assert np.array_equal(picture.frame(atoms), reference_frame(layout, atoms))


SHAPES = {
    "sokoban": [(5, 12), (11, 7), (12, 12), (5, 5)],
    "doors": [(6, 6), (7, 9), (9, 7)],
    "maze": [(14, 13), (5, 12), (12, 5), (5, 5)],
}


@pytest.mark.parametrize("name", SHAPES)
def test_frames_of_synthetic_boards_are_pddlgyms(name: str, rng: np.random.Generator) -> None:
    for shape in some(2, SHAPES[name]):
        layout = next(board_domain(name).random_layouts([shape], rng))
        picture = board_domain(name).drawing(layout)
        state = next(board_domain(layout.domain).states(layout, rng))
        frame = picture.frame(state.true)
        assert frame.shape == picture.shape
        assert np.array_equal(frame, reference_frame(layout, state.true))


def test_a_frame_does_not_depend_on_the_frames_before(rng: np.random.Generator) -> None:
    layout = load("doors", "test", 5)
    picture = board_domain("doors").drawing(layout)
    states = [state.true for state in islice(board_domain(layout.domain).states(layout, rng), 30)]
    first = [picture.frame(atoms) for atoms in states]
    for i in rng.permutation(len(states)):
        assert np.array_equal(picture.frame(states[i]), first[i])
    assert len({frame.tobytes() for frame in first}) > 10


def test_a_frame_is_the_callers_own() -> None:
    layout = load("sokoban", "train", 0)
    picture = board_domain("sokoban").drawing(layout)
    frame = picture.frame(layout.initial)
    frame[:] = 0
    assert picture.frame(layout.initial).any()


def test_a_board_with_overlapping_sprites_is_refused(rng: np.random.Generator) -> None:
    layout = next(board_domain("doors").random_layouts([(3, 3)], rng))
    told_by(lambda: board_domain("doors").drawing(layout).frame(layout.initial), "3x3 board is too small")


@pytest.mark.parametrize("size", [900, 1050, 1350])
def test_parts_are_reduced_as_pillow_reduces_the_whole(size: int, rng: np.random.Generator) -> None:
    source = rng.integers(0, 256, (size, size, 3), np.uint8)
    reduced = int(size * 0.25)
    whole = np.asarray(Image.fromarray(source).resize((reduced, reduced), Image.Resampling.LANCZOS))
    axis = lanczos(size, reduced)
    for rows, columns in [((0, 40), (reduced - 30, reduced)), ((91, 140), (3, 50))]:
        (y0, y1), (x0, x1) = axis.window(*rows), axis.window(*columns)
        (part,) = reduce_part(source[None, y0:y1, x0:x1], axis, axis, rows, columns)
        assert np.array_equal(part.transpose(1, 2, 0), whole[slice(*rows), slice(*columns)])


def test_blocks_have_the_colours_of_a_fresh_process(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from aam_vision.envs.pddlgym_domains import Literals, load_layout, pddlgym\n"
        "layout = load_layout('blocks', 'train', 3)\n"
        "literals = set(map(Literals(layout).of, layout.initial))\n"
        "np.save(sys.argv[1], pddlgym().rendering.blocks.render(literals)[..., :3])"
    )
    target = tmp_path / "picture.npy"
    assert fresh(code, target).returncode == 0
    for other in (1, 4):  # what was drawn before makes no difference
        layout = load("blocks", "test", other)
        board_domain("blocks").drawing(layout).frame(layout.initial)
    layout = load("blocks", "train", 3)
    assert np.array_equal(board_domain("blocks").drawing(layout).frame(layout.initial), np.load(target))


def test_sprites_that_let_others_show_through_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    glass = SpriteStacks(lambda cell: [np.full((40, 40, 4), 0.5)])
    monkeypatch.setattr("aam_vision.envs.pddlgym_drawing.stacks", lambda domain: glass)
    codes = np.full((3, 3), glass.code(0), np.uint8)
    told_by(lambda: OverlappingTiles("slidetile", 3, 3).frame(codes), "shows what is below it")


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
