"""Where the board lies in an image.

The only thing assumed about a renderer: the board is a grid of square cells, fitted into the image and
centred, with a small margin around it, unless the scene says where its cells are. Nothing here knows sprites, colours, pixel sizes or domains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Scene

CELL_PIXELS = 16
"""Side of a cell, in pixels, once the board has been resampled."""

MARGIN = 0.05
"""Width of the margin around the fitted board, in cells."""

Box = tuple[int, int, int, int]
"""Top, bottom, left and right edge of a board in an image, in pixels."""


def board_box(height: int, width: int, rows: int, columns: int) -> Box:
    """The pixels covered by a board of ``rows`` x ``columns`` cells in an image of ``height`` x ``width``."""
    cell = min(height / (rows + 2 * MARGIN), width / (columns + 2 * MARGIN))
    top, left = (height - cell * rows) / 2, (width - cell * columns) / 2
    return round(top), round(top + cell * rows), round(left), round(left + cell * columns)


def resample_boards(frames: Sequence[Frame], scene: Scene) -> Tensor:
    """The boards of images of one scene, cut out and resampled to ``CELL_PIXELS`` a cell.

    Images of one size go through together, which takes two thirds of the time. The cells are squares of a grid, or
    the boxes of the scene, put together cell by cell.

    Args:
        frames: uint8, (height, width, 3) each, RGB; one at least.
        scene: says how many cells there are, and where if not in a grid.

    Returns:
        uint8, (N, 3, CELL_PIXELS * rows, CELL_PIXELS * columns).

    Raises:
        UnusableInput: a frame is no RGB image, or too small for the scene.
    """
    for frame in frames:
        _check_rgb(frame)
    if len({frame.shape for frame in frames}) > 1:
        return torch.cat([resample_boards([frame], scene) for frame in frames])
    return _of_grid(frames, scene.rows, scene.columns) if scene.boxes is None else _of_boxes(frames, scene)


def resample_scene(frame: Frame, scene: Scene) -> Tensor:
    """``resample_boards`` of one image: uint8, (3, CELL_PIXELS * rows, CELL_PIXELS * columns)."""
    return resample_boards([frame], scene)[0]


def _of_grid(frames: Sequence[Frame], rows: int, columns: int) -> Tensor:
    height, width = frames[0].shape[:2]
    if min(height - 1, width - 1, rows, columns) < 1 or height < rows or width < columns:
        raise UnusableInput(
            f"image of {width}x{height} pixels for a board of {columns}x{rows} cells: render larger images"
        )
    top, bottom, left, right = board_box(height, width, rows, columns)
    pixels = _pixels([frame[top:bottom, left:right] for frame in frames])
    size = (CELL_PIXELS * rows, CELL_PIXELS * columns)
    return interpolate(pixels, size=size, mode="bilinear", antialias=True)


def _of_boxes(frames: Sequence[Frame], scene: Scene) -> Tensor:
    assert scene.boxes is not None
    pixels = _pixels(frames)
    height, width = pixels.shape[2:]
    size = (len(frames), 3, CELL_PIXELS * scene.rows, CELL_PIXELS * scene.columns)
    boards = torch.zeros(size, dtype=torch.uint8)
    for (row, column), (top, bottom, left, right) in scene.boxes.items():
        parts = pixels[
            :, :, round(top * height) : round(bottom * height), round(left * width) : round(right * width)
        ]
        if 0 in parts.shape:
            raise UnusableInput(
                f"image of {width}x{height} pixels: cell ({row}, {column}) has none of them: "
                f"render larger images"
            )
        y, x = CELL_PIXELS * row, CELL_PIXELS * column
        cells = interpolate(parts, size=(CELL_PIXELS, CELL_PIXELS), mode="bilinear", antialias=True)
        boards[:, :, y : y + CELL_PIXELS, x : x + CELL_PIXELS] = cells
    return boards


def _pixels(frames: Sequence[Frame]) -> Tensor:
    """Images of one size as a tensor: uint8, (N, 3, height, width)."""
    return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)


def _check_rgb(frame: Frame) -> None:
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != "uint8":
        raise UnusableInput(
            f"frame of shape {frame.shape} and type {frame.dtype}: render RGB images, uint8, (height, width, 3)"
        )
