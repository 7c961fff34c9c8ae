"""Where the board lies in an image.

The only thing assumed about a renderer: the board is a grid of square cells, fitted into the image and
centred, with a small margin around it, unless the scene says where its cells are. Nothing here knows sprites, colours, pixel sizes or domains.
"""

from __future__ import annotations

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


def resample_board(frame: Frame, rows: int, columns: int) -> Tensor:
    """The board cut out of an image and resampled to ``CELL_PIXELS`` a cell.

    Args:
        frame: uint8, (height, width, 3), RGB.
        rows: rows of the board.
        columns: columns of the board.

    Returns:
        uint8, (3, CELL_PIXELS * rows, CELL_PIXELS * columns).

    Raises:
        UnusableInput: the frame is no RGB image, or smaller than one pixel a cell.
    """
    _check_rgb(frame)
    height, width = frame.shape[:2]
    if min(height - 1, width - 1, rows, columns) < 1 or height < rows or width < columns:
        raise UnusableInput(
            f"image of {width}x{height} pixels for a board of {columns}x{rows} cells: render larger images"
        )
    top, bottom, left, right = board_box(height, width, rows, columns)
    pixels = torch.as_tensor(frame[top:bottom, left:right].copy()).permute(2, 0, 1)
    size = (CELL_PIXELS * rows, CELL_PIXELS * columns)
    return interpolate(pixels[None], size=size, mode="bilinear", antialias=True)[0]


def resample_scene(frame: Frame, scene: Scene) -> Tensor:
    """The board of a scene: ``resample_board``, or its boxes cut out and put together cell by cell.

    Raises:
        UnusableInput: the frame is no RGB image, or too small for the scene.
    """
    if scene.boxes is None:
        return resample_board(frame, scene.rows, scene.columns)
    _check_rgb(frame)
    pixels = torch.as_tensor(frame.copy()).permute(2, 0, 1)[None]
    height, width = frame.shape[:2]
    board = torch.zeros(3, CELL_PIXELS * scene.rows, CELL_PIXELS * scene.columns, dtype=torch.uint8)
    for (row, column), (top, bottom, left, right) in scene.boxes.items():
        part = pixels[
            :, :, round(top * height) : round(bottom * height), round(left * width) : round(right * width)
        ]
        if 0 in part.shape:
            raise UnusableInput(
                f"image of {width}x{height} pixels: cell ({row}, {column}) has none of them: "
                f"render larger images"
            )
        y, x = CELL_PIXELS * row, CELL_PIXELS * column
        cell = interpolate(part, size=(CELL_PIXELS, CELL_PIXELS), mode="bilinear", antialias=True)[0]
        board[:, y : y + CELL_PIXELS, x : x + CELL_PIXELS] = cell
    return board


def board_tensor(frame: Frame, rows: int, columns: int) -> Tensor:
    """``resample_board`` as float32 between 0 and 1: the networks' input."""
    return resample_board(frame, rows, columns).float().div_(255)


def _check_rgb(frame: Frame) -> None:
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != "uint8":
        raise UnusableInput(
            f"frame of shape {frame.shape} and type {frame.dtype}: render RGB images, uint8, (height, width, 3)"
        )
