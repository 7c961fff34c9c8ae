"""Where the board lies in an image.

The only thing assumed about a renderer: the board is a grid of square cells, fitted into the image and
centred, with a small margin around it, unless the scene says where its cells are. Nothing here knows sprites, colours, pixel sizes or domains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.resampling import resized
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Scene

MARGIN = 0.05
"""Width of the margin around the fitted board, in cells."""

Box = tuple[int, int, int, int]
"""Top, bottom, left and right edge of a board in an image, in pixels."""


def board_box(height: int, width: int, rows: int, columns: int) -> Box:
    """The pixels covered by a board of ``rows`` x ``columns`` cells in an image of ``height`` x ``width``."""
    cell = min(height / (rows + 2 * MARGIN), width / (columns + 2 * MARGIN))
    top, left = (height - cell * rows) / 2, (width - cell * columns) / 2
    return round(top), round(top + cell * rows), round(left), round(left + cell * columns)


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
        _check_rgb(frame)
    if len({frame.shape for frame in frames}) > 1:
        return np.concatenate([resample_boards([frame], scene, side) for frame in frames])
    if scene.boxes is None:
        return _of_grid(frames, scene.rows, scene.columns, side)
    return _of_boxes(frames, scene, side)


def resample_scene(frame: Frame, scene: Scene, side: int) -> NDArray[np.uint8]:
    """``resample_boards`` of one image: uint8, (3, side * rows, side * columns)."""
    board: NDArray[np.uint8] = resample_boards([frame], scene, side)[0]
    return board


def _of_grid(frames: Sequence[Frame], rows: int, columns: int, side: int) -> NDArray[np.uint8]:
    height, width = frames[0].shape[:2]
    if min(height - 1, width - 1, rows, columns) < 1 or height < rows or width < columns:
        raise UnusableInput(
            f"image of {width}x{height} pixels for a board of {columns}x{rows} cells: render larger images"
        )
    top, bottom, left, right = board_box(height, width, rows, columns)
    pixels = np.stack([frame[top:bottom, left:right] for frame in frames])
    return resized(pixels, side * rows, side * columns)


def _of_boxes(frames: Sequence[Frame], scene: Scene, side: int) -> NDArray[np.uint8]:
    assert scene.boxes is not None
    pixels = np.stack(frames)
    height, width = pixels.shape[1:3]
    boards = np.zeros((len(frames), 3, side * scene.rows, side * scene.columns), np.uint8)
    for (row, column), (top, bottom, left, right) in scene.boxes.items():
        parts = pixels[
            :, round(top * height) : round(bottom * height), round(left * width) : round(right * width)
        ]
        if 0 in parts.shape:
            raise UnusableInput(
                f"image of {width}x{height} pixels: cell ({row}, {column}) has none of them: "
                f"render larger images"
            )
        y, x = side * row, side * column
        boards[:, :, y : y + side, x : x + side] = resized(parts, side, side)
    return boards


def _check_rgb(frame: Frame) -> None:
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != "uint8":
        raise UnusableInput(
            f"frame of shape {frame.shape} and type {frame.dtype}: render RGB images, uint8, (height, width, 3)"
        )
