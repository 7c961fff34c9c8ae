"""The data set of a domain made of cells: labelled boards, of which those of one shape fit in one batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aam_vision.agents.perception import Frame, Scene, VisualVocabulary
from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.model.strips import State
from aam_vision.training.labels import NO_LABEL, label

Batch = tuple[Tensor, Tensor, Tensor]
"""Boards (N, 3, h, w) float32, pooling (N, cells, places) float32, labels (N, heads, places) int8."""


@dataclass(frozen=True)
class Example:
    """One labelled board: pixels (3, h, w) uint8, pooling (cells, places), labels (heads, places) int8.

    ``asked`` says which classifiers are asked of which places, (heads, places); None where nobody needs it.
    """

    pixels: Tensor
    pooling: Tensor
    labels: Tensor
    asked: NDArray[np.bool_] | None = None


def examples(
    vocabulary: VisualVocabulary, scene: Scene, pairs: Iterable[tuple[State, Frame]], side: int
) -> Iterator[Example]:
    """Labelled boards of one scene from its states and their images, with cells of ``side`` pixels."""
    index = SceneIndex(vocabulary, scene)
    pooling = torch.from_numpy(index.pooling())
    for state, frame in pairs:
        labels = torch.from_numpy(label(vocabulary, scene, index.places, state))
        pixels = torch.from_numpy(resample_scene(frame, scene, side))
        yield Example(pixels, pooling, labels, index.legality.asked)


def fingerprint(data: Sequence[Example]) -> str:
    """The sha256 of all boards and labels, in order."""
    digest = hashlib.sha256()
    for example in data:
        for tensor in (example.pixels, example.labels):
            digest.update(repr(tuple(tensor.shape)).encode())
            digest.update(tensor.contiguous().numpy().data)
    return digest.hexdigest()


def positives(heads: Sequence[str], data: Sequence[Example]) -> dict[str, int]:
    """For every classifier the places of all boards where yes is right."""
    counts = sum((example.labels == 1).sum(1) for example in data)
    return (
        dict.fromkeys(heads, 0)
        if not isinstance(counts, Tensor)
        else dict(zip(heads, counts.tolist(), strict=True))
    )


def collate(group: Sequence[Example]) -> Batch:
    """A batch of boards of one shape; missing places are padded and get no label."""
    places = max(example.labels.shape[1] for example in group)
    cells, heads = group[0].pooling.shape[0], group[0].labels.shape[0]
    pooling = torch.zeros(len(group), cells, places)
    labels = torch.full((len(group), heads, places), NO_LABEL, dtype=torch.int8)
    for number, example in enumerate(group):
        pooling[number, :, : example.pooling.shape[1]] = example.pooling
        labels[number, :, : example.labels.shape[1]] = example.labels
    boards = torch.stack([example.pixels for example in group]).float().div_(255)
    return boards, pooling, labels


OUTSIDE: Final = -1
"""Stands for pixels beyond the edge of a board, where there are none: a look of its own."""


def place_looks(
    board: NDArray[np.uint8], side: int, cells: Sequence[Sequence[int]], border: int
) -> list[bytes]:
    """Per place its look: the pixels that the answer about it can depend on, in bytes.

    The networks for boards see a cell and about a quarter of a cell around it. Two places with the same pixels there get the same
    answer, whatever the weights.

    Args:
        board: (3, side * rows, side * columns).
        side: of a cell, in pixels.
        cells: per place, its cells as row * columns + column.
        border: pixels around a cell that count.
    """
    around = ((0, 0), (border, border), (border, border))
    padded, size = np.pad(board.astype(np.int16), around, constant_values=OUTSIDE), side + 2 * border
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
    chosen = windows[:, ::side, ::side]  # (3, rows, columns, size, size)
    each = [patch.tobytes() for patch in chosen.transpose(1, 2, 0, 3, 4).reshape(-1, 3, size, size)]
    return [b"".join(each[cell] for cell in covered) for covered in cells]
