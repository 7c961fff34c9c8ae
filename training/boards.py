"""The data set of a domain made of cells: the states that classifiers learn from, drawn and labelled.

Boards of one shape fit in one batch.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as dump_tensors
from torch import Tensor

import aam_vision
from aam_vision.agents.perception import NO_LABEL, Frame, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.store import describe
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import label
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labels import check_legal

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
    pooling = torch.from_numpy(index.pooling)
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


def lessons(
    domain: ImageDomain,
    rng: np.random.Generator,
    side: int = CELL_PIXELS,
    *,
    fewer: int = 1,
    workers: int = 1,
) -> list[Example]:
    """Labelled boards to learn from, in random order.

    Args:
        domain: the environment.
        rng: the source of all chance.
        side: of a cell, in pixels of the boards.
        fewer: divides the number of boards, to try things out.
        workers: processes that share the drawing, which takes most of the time and no chance: the boards are
            the same for any number.

    Raises:
        UnusableInput: code of the user's raises, or a label of theirs describes no legal board.
    """
    wanted = []
    for number, pictures in enumerate(domain.lessons(rng, fewer), start=1):
        check(domain, pictures, number)
        wanted.append(pictures)
    data = _drawn(domain.visual, wanted, side, workers)
    return [data[number] for number in rng.permutation(len(data))]


def check(domain: ImageDomain, pictures: Pictures, number: int) -> None:
    """Labels from a user's code must describe legal boards, which perfect classifiers could read.

    Raises:
        UnusableInput: one does not; ``number`` says which.
    """
    if not pictures.checked:
        index = SceneIndex(domain.visual, pictures.scene)
        for state in pictures.states:
            try:
                check_legal(domain.visual, index, state)
            except UnusableInput as error:
                raise UnusableInput(f"environment {domain.name}, labelled image {number}: {error}") from error


def _drawn(visual: VisualVocabulary, wanted: Sequence[Pictures], side: int, workers: int) -> list[Example]:
    """The boards of all states, in order; those of one shape in one process, which sets up drawing it once."""
    if workers == 1:
        return [board for pictures in wanted for board in _boards(visual, pictures, side)]
    from joblib import Parallel, delayed

    shapes: dict[tuple[int, int], list[int]] = {}
    for number, pictures in enumerate(wanted):
        shapes.setdefault((pictures.scene.rows, pictures.scene.columns), []).append(number)
    jobs = sorted(shapes.values(), key=len, reverse=True)
    drawn = Parallel(n_jobs=workers)(
        delayed(lambda own: [_boards(visual, one, side) for one in own])([wanted[number] for number in job])
        for job in jobs
    )
    boards = dict(zip(chain(*jobs), chain(*drawn), strict=True))
    return [board for number in range(len(wanted)) for board in boards[number]]


def _boards(visual: VisualVocabulary, pictures: Pictures, side: int) -> list[Example]:
    """The labelled boards of some states of a scene."""
    pairs = ((state, pictures.draw(state)) for state in pictures.states)
    return list(examples(visual, pictures.scene, pairs, side))


# Data sets kept on disk between trainings, by the hash of all that they depend on.
#
# An entry is a file ``KEY.boards``: the sha256 of the rest, then safetensors. The key is made of the code that draws and labels
# boards, the versions of the libraries below it, the vocabulary, the seed, the numbers of boards, and sample pictures, which
# tell one theme from another. What is damaged is made anew, never trusted.


MOST_BYTES: Final = 1_000_000_000
"""All entries together; those that were not used for longest go first."""

_LIBRARIES = ("matplotlib", "numpy", "pddlgym", "pillow", "torch")
_SOURCES = ("envs/*.py", "classifiers/*.py", "training/boards.py", "training/labels.py")
_PARTS = ("pixels", "pooling", "labels")
_DIGEST = 64  # characters of a sha256


def user_cache() -> Path:
    """Where the data sets of a user are kept, unless they say otherwise."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aam-vision"


def key(domain: ImageDomain, seed: int, side: int, fewer: int) -> str | None:
    """The name of the data set that ``lessons`` makes of these; None if it cannot be told from another."""
    depends = domain.depends_on()
    if depends is None:
        return None
    libraries: dict[str, str | None] = dict.fromkeys(_LIBRARIES)
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            libraries[library] = version(library)
    code, root = hashlib.sha256(), Path(aam_vision.__file__).parent
    # of what draws, cuts out and labels boards
    for path in (path for pattern in _SOURCES for path in sorted(root.glob(pattern))):
        code.update(path.name.encode() + b"\0" + path.read_bytes())
    facts: dict[str, Any] = {
        **depends,
        "domain": domain.name,
        "vocabulary": describe(domain.visual),
        "seed": seed,
        "side": side,
        "fewer": fewer,
        "libraries": libraries,
        "code": code.hexdigest(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def remembered(folder: Path, name: str | None, make: Callable[[], list[Example]]) -> list[Example]:
    """The data set of that name, if it has any, from the cache; or a new one, which is then kept if the folder allows it."""
    if name is None:
        return make()
    file = folder / f"{name}.boards"
    known = _read(file)
    if known is not None:
        with suppress(OSError):
            os.utime(file)  # used just now
        return known
    made = make()
    with suppress(OSError):  # a full disk costs time, not the training
        _write(file, made)
    return made


def _read(file: Path) -> list[Example] | None:
    """The examples of an entry; None if there is none, or a damaged one."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    digest, body = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    try:
        tensors = parse_tensors(body)
        number = len(tensors) // len(_PARTS)
        return [Example(*(tensors[f"{part}.{i}"] for part in _PARTS)) for i in range(number)]
    except (SafetensorError, KeyError):
        return None


def _write(file: Path, examples: list[Example]) -> None:
    tensors: dict[str, torch.Tensor] = {}
    for i, example in enumerate(examples):
        for part in _PARTS:
            # a copy, because safetensors takes no tensors that share memory
            tensors[f"{part}.{i}"] = getattr(example, part).clone(memory_format=torch.contiguous_format)
    body = dump_tensors(tensors)
    if len(body) > MOST_BYTES:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    _make_room(file.parent, MOST_BYTES - len(body))
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(hashlib.sha256(body).hexdigest().encode() + body)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _make_room(folder: Path, most: int) -> None:
    """Remove the entries that were not used for longest, until no more than ``most`` bytes are left."""
    entries = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob("*.boards"))
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= most:
            return
        path.unlink(missing_ok=True)
        total -= size
