"""Where the board lies: squares, fitted, centred."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import interpolate

from aam_vision.agents.perception import Scene, board_box
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_boards, resample_scene
from aam_vision.model.strips import Objects, Types
from aam_vision.support.resampling import resized
from tests.refusals import told_by


def _board(rows, columns, **options):
    return Scene(Objects({}, Types()), rows, columns, {}, **options)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(100, 700), st.integers(100, 700))
def test_the_board_is_square_celled_centred_and_inside(rows, columns, height, width):
    top, bottom, left, right = board_box(height, width, rows, columns)
    assert 0 <= top < bottom <= height
    assert 0 <= left < right <= width
    assert abs(top - (height - bottom)) <= 1
    assert abs(left - (width - right)) <= 1
    assert abs((bottom - top) / rows - (right - left) / columns) <= 1 / rows + 1 / columns


@pytest.mark.parametrize(("side", "around"), [(40, 2), (44, 0), (22, 0), (88, 0)])
def test_every_cell_lands_in_its_own_square_and_the_size_of_the_image_hardly_matters(side, around):
    codes = np.random.default_rng(0).integers(0, 2, (3, 5)) * 255
    picture = np.pad(np.kron(codes, np.ones((side, side))), around, constant_values=255).astype(np.uint8)
    board = resample_scene(np.repeat(picture[..., None], 3, axis=2), _board(3, 5), CELL_PIXELS)
    assert board.shape == (3, CELL_PIXELS * 3, CELL_PIXELS * 5)
    half = CELL_PIXELS // 2
    assert np.allclose(board[:, half::CELL_PIXELS, half::CELL_PIXELS], codes[None], atol=3 - 2 * (side == 40))


def test_what_is_no_image_of_a_board_is_refused_in_one_line():
    for shape, kind in (((100, 100), "u1"), ((100, 100, 4), "u1"), ((100, 100, 3), "f4"), ((3, 3, 3), "u1")):
        told_by(partial(resample_scene, np.zeros(shape, kind), _board(5, 5), CELL_PIXELS))


@pytest.mark.parametrize("boxes", [None, {(0, 1): (0.1, 0.5, 0.2, 0.7), (2, 0): (0.0, 1.0, 0.3, 0.4)}])
def test_images_in_a_batch_are_cut_as_if_alone_whatever_their_sizes(boxes):
    rng = np.random.default_rng(0)
    scene = _board(3, 4, boxes=boxes)
    frames = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for size in [(90, 110)] * 3 + [(64, 64)]]
    for chosen in (frames[:3], frames):
        alone = np.stack([resample_scene(frame, scene, CELL_PIXELS) for frame in chosen])
        assert np.array_equal(resample_boards(chosen, scene, CELL_PIXELS), alone)


@given(st.data())
def test_images_are_reduced_to_the_bit_as_torch_does_it(data):
    high, wide = data.draw(st.integers(1, 400)), data.draw(st.integers(1, 400))
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    images = rng.integers(0, 256, (2, high, wide, 3), dtype=np.uint8)
    size = (CELL_PIXELS * rows, CELL_PIXELS * columns)
    theirs = interpolate(
        torch.from_numpy(images).permute(0, 3, 1, 2), size=size, mode="bilinear", antialias=True
    )
    assert np.array_equal(resized(images, *size), theirs.numpy())
