"""Where the board lies in an image.

The only thing assumed about a renderer: the board is a grid of square cells, fitted into the image and
centred, with a small margin around it, unless the scene says where its cells are. Nothing here knows sprites, colours, pixel sizes or domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Scene, board_box, cell_edges
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import fault
from aam_vision.support.resampling import resized

SAME_SCALE: Final = 1.25
"""How many times as large or small cells may be as those learned from: larger where margins around boards differ."""


def resample_boards(frames: Sequence[Frame], scene: Scene, side: int) -> NDArray[np.uint8]:
    """The boards of images of one scene, cut out and resampled to ``side`` pixels a cell.

    Images of one size go through together. The cells are squares of a grid, or
    the boxes of the scene, put together cell by cell.

    Args:
        frames: uint8, (height, width, 3) each, RGB; one at least.
        scene: says how many cells there are, and where if not in a grid.
        side: of a resampled cell, in pixels.

    Returns:
        uint8, (N, 3, side * rows, side * columns).

    Raises:
        UnusableInput: a frame is not an RGB image, or too small for the scene.
    """
    for frame in frames:
        if (why := fault(frame)) is not None:
            raise UnusableInput(f"a picture is {why}")
    if len({frame.shape for frame in frames}) > 1:
        return np.concatenate([resample_boards([frame], scene, side) for frame in frames])
    height, width = frames[0].shape[:2]
    if scene.boxes is not None:
        pixels = np.stack(frames)
        boards = np.zeros((len(frames), 3, side * scene.rows, side * scene.columns), np.uint8)
        edges = cell_edges(frames[0], scene, "a picture has")
        for (row, column), (top, bottom, left, right) in edges.items():
            y, x = side * row, side * column
            cells = resized(pixels[:, top:bottom, left:right], side, side)
            boards[:, :, y : y + side, x : x + side] = cells
        return boards
    rows, columns = scene.rows, scene.columns
    if min(height - 1, width - 1, rows, columns) < 1 or height < rows or width < columns:
        raise UnusableInput(
            f"image of {width}x{height} pixels for a board of {columns}x{rows} cells: render larger images"
        )
    top, bottom, left, right = board_box(height, width, rows, columns)
    board = np.stack([frame[top:bottom, left:right] for frame in frames])
    return resized(board, side * rows, side * columns)


def resample_scene(frame: Frame, scene: Scene, side: int) -> NDArray[np.uint8]:
    """``resample_boards`` of one image: uint8, (3, side * rows, side * columns)."""
    board: NDArray[np.uint8] = resample_boards([frame], scene, side)[0]
    return board


def check_scale(frame: Frame, scene: Scene, learned: Sequence[Sequence[float]], name: str) -> None:
    """Refuse a picture whose cells have another size than those that classifiers learned from.

    Args:
        frame: the picture.
        scene: says how many cells it has.
        learned: least and greatest height of a cell, and least and greatest width, in pixels.
        name: of the classifiers.

    Raises:
        UnusableInput: they have.
    """
    for side, cells, (least, most) in zip(frame.shape, (scene.rows, scene.columns), learned, strict=False):
        if not least / SAME_SCALE <= side / cells <= most * SAME_SCALE:
            raise UnusableInput(
                f"picture of {frame.shape[1]}x{frame.shape[0]} pixels for a board of {scene.columns}x{scene.rows} cells: the "
                f"classifiers of {name} learned from cells of {learned[1][0]:g}x{learned[0][0]:g}; draw the whole board as they "
                "saw it, or train on such pictures"
            )
