"""The places of many pictures, which of them look alike, and the labelled looks that are saved with weights.

A place of one cell has a *look* (``classifiers.looks``). Places of which other classifiers are asked (a room of one cell, and
the cell) have looks of their own, however alike they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Frame, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.legality import Probabilities, Truth
from aam_vision.classifiers.looks import (
    EDGE,
    LabelledLooks,
    Looks,
    cells_of,
    distances,
    distances_in_sizes,
    in_sizes,
)
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.recognition import Recognition
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.image_domain import ImageDomain, Problem
from aam_vision.envs.labelled import Labels, label
from aam_vision.envs.own import SPLIT, OwnEnvironment
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.boards import Example
from aam_vision.training.labels import possible

MOST: Final = 400
"""Pictures of a pool: more of them show rarer things, and take longer to be compared."""

ROUGH: Final = 4
"""Parts of a cell's side by which looks are compared roughly: more of them tell more apart."""

COARSE: Final = 24
"""Steps of their colours: larger ones tell less apart."""

NO_LOOK: Final = -1
"""Of a place with several cells."""


@dataclass(frozen=True)
class PooledPicture:
    """A picture with the looks of its places.

    Args:
        picture: as it was taken.
        index: of its scene.
        pixels: its board, (3, side * rows, side * columns).
        looks: (places,), numbers of looks, ``NO_LOOK`` for places with several cells.
    """

    picture: Walked
    index: SceneIndex
    pixels: NDArray[np.uint8]
    looks: NDArray[np.intp]

    def example(self, labels: Labels, pixels: NDArray[np.uint8] | None = None) -> Example:
        """The board with labels (heads, places), to learn from; or another one of its shape."""
        pooling = torch.from_numpy(self.index.pooling)
        board = self.pixels if pixels is None else pixels
        return Example(torch.from_numpy(board), pooling, torch.from_numpy(labels))

    def labels(self, state: State) -> Labels:
        """(heads, places): what a state says about it."""
        return label(self.index.vocabulary, self.picture.scene, self.index.places, state)

    def read(self, perception: BoardPerception) -> tuple[Probabilities, Truth, Truth]:
        """(heads, places) each: how likely every answer is, those that are sure, and where the classifiers cannot say."""
        (probabilities,) = perception.probabilities([self.picture.frame], self.picture.scene)
        return probabilities, *self.index.legality.settle(probabilities, *perception.thresholds)


class Pool:
    """Pictures, their looks, and the distances of all looks.

    Places that look the same to the pixel, and of which the same classifiers are asked, are one *site*; the first of all sites are
    the looks, in their order, the others are places of several cells.

    Attributes:
        walked: the pictures as they were taken.
        pictures: and with their looks.
        looks: (looks, 3, side + 2, side + 2).
        distances: (looks, looks), infinite where other classifiers are asked.
        asked: per site, what tells which classifiers are asked of such places.
        cells: per site the looks of its cells.
        of: per picture the sites of its places.
        members: per site the places that belong to it.
    """

    def __init__(self, vocabulary: VisualVocabulary, pictures: Sequence[Walked], side: int) -> None:
        numbers: dict[tuple[bytes, bytes], int] = {}
        rooms: dict[tuple[bytes, bytes], int] = {}
        indices: dict[str, SceneIndex] = {}
        self.walked = pictures
        self.pictures: list[PooledPicture] = []
        several: list[NDArray[np.intp]] = []
        for picture in pictures:
            if picture.problem not in indices:
                indices[picture.problem] = SceneIndex(vocabulary, picture.scene)
            index = indices[picture.problem]
            pixels = resample_scene(picture.frame, picture.scene, side)
            looks, own = np.full((2, len(index.places)), NO_LOOK, np.intp)
            for place, cells in enumerate(cells_of(pixels, index.cells, side)):
                key = index.legality.asked[:, place].tobytes(), cells.tobytes()
                if len(cells) == 1:
                    looks[place] = numbers.setdefault(key, len(numbers))
                else:
                    own[place] = rooms.setdefault(key, len(rooms))
            self.pictures.append(PooledPicture(picture, index, pixels, looks))
            several.append(own)
        every, shape = [*numbers, *rooms], (-1, 3, side + 2, side + 2)
        self.asked = [kind for kind, _ in every]
        self.cells: list[Looks] = [np.frombuffer(look, np.uint8).reshape(shape) for _, look in every]
        self.looks: Looks = np.array(self.cells[: len(numbers)], np.uint8).reshape(shape)
        kinds = np.array(self.asked[: len(numbers)])
        away = distances(self.looks, self.looks)
        self.distances = np.where(kinds[:, None] == kinds, away, np.float32(np.inf))
        self.of = [
            np.where(own == NO_LOOK, one.looks, own + len(numbers))
            for one, own in zip(self.pictures, several, strict=True)
        ]
        self.members: list[list[Place]] = [[] for _ in self.asked]
        for number, sites in enumerate(self.of):
            for place, site in enumerate(sites.tolist()):
                self.members[site].append((number, place))

    def cells_at(self, number: int, place: int) -> Looks:
        """The looks of the cells of a place of a picture."""
        return self.cells[int(self.of[number][place])]

    def is_asked(self, site: int) -> bool:
        """Whether any classifier is asked of a site."""
        return any(self.asked[site])


def rarest(pictures: Sequence[Walked], side: int, most: int = MOST) -> list[Walked]:
    """The pictures with the rarest looks, in their order; all, if there are no more than ``most``.

    Looks are compared roughly: what is seen in few pictures of a problem comes first.
    """
    if len(pictures) <= most:
        return list(pictures)
    shown: list[set[tuple[str, bytes]]] = []
    for picture in pictures:
        board = resample_scene(picture.frame, picture.scene, side)
        part = side // ROUGH
        rough = board.reshape(3, picture.scene.rows, ROUGH, part, picture.scene.columns, ROUGH, part)
        means = (rough.mean((3, 6)) // COARSE).astype(np.uint8).transpose(1, 3, 0, 2, 4)
        shown.append({(picture.problem, cell.tobytes()) for row in means for cell in row})
    seen = Counter(look for looks in shown for look in looks)
    worth = np.array([sum(1 / seen[look] for look in sorted(looks)) for looks in shown])
    return [pictures[number] for number in sorted(np.argsort(-worth, kind="stable")[:most].tolist())]


class KnownLooks:
    """The looks of a pool whose labels are known, by answers or because they look like one that was answered."""

    def __init__(self, pool: Pool, heads: int) -> None:
        self._pool = pool
        self._heads = heads
        self.sites: dict[int, Labels] = {}
        """The labels (heads,) of answered sites, by number."""
        self.answers: dict[int, Labels] = {}
        """The labels (heads, places) of answered pictures, by number."""

    def answer(self, number: int, labels: Labels) -> None:
        """Take in the labels (heads, places) of a picture."""
        self.answers[number] = labels
        for place, look in enumerate(self._pool.pictures[number].looks):
            if look != NO_LOOK:
                self.sites.setdefault(int(look), labels[:, place])

    def follow(self, recognition: Recognition) -> tuple[Labels, list[Labels]]:
        """What must be labelled how, as far as that follows from looks; ``NO_LABEL`` where it does not.

        Returns:
            The labels of all looks, (looks, heads), and those of all pictures, (heads, places) each.
        """
        pool = self._pool
        sites: Labels = np.full((len(pool.asked), self._heads), NO_LABEL, np.int8)
        asked = np.array([np.frombuffer(kind, bool) for kind in pool.asked]).reshape(-1, self._heads)
        recognised = enumerate(recognition.labels(pool.cells, asked.T))
        known = {site: found for site, found in recognised if found is not None} | self.sites
        for site, labels in known.items():
            sites[site] = labels
        pictures = [self.answers.get(number, sites[own].T) for number, own in enumerate(pool.of)]
        return sites[: len(pool.looks)], pictures


# Pictures to label: of situations that the agent came to on walks, never of states that were put together.


STEPS: Final = 800
"""Steps in every problem: more of them come to rarer situations, and take longer."""

SHORTER: Final = 4
"""So many times fewer steps are walked in a further problem, of which there are many: what differs between them is seen soon."""

RETURN: Final = 0.1
"""Probability, after each step, of going back to an earlier situation: without it a walk ends where nothing can be undone."""


@dataclass(frozen=True)
class Walked:
    """A picture of a situation on a walk.

    Args:
        problem: name of the problem, ``SPLIT/NUMBER``.
        scene: of the problem.
        frame: the picture.
        token: the simulator's snapshot of the situation.
    """

    problem: str
    scene: Scene
    frame: Frame
    token: object


FURTHER: Final = 20
"""Problems besides those that are interrogated, where problems are made by a seed: more show how layouts differ, and take time.
Of four places at which something can be in a problem, twenty problems miss one with a probability of 1%, five with 77%."""

FIRST_SEED: Final = 100_000
"""Of these, far from the seeds that are interrogated or held out."""


SCENES: Final = 25
"""Problems besides those that are interrogated, where pictures have no cells: more of them show more looks, and take time."""

SCENE_STEPS: Final = 40
"""Steps in each of these."""


def walked_problems(domain: ImageDomain, further: int = FURTHER) -> tuple[Problem, ...]:
    """The problems in which an agent may walk for pictures: those for training, then those that are interrogated.

    Problems of a user's own environment are made by seeds, so that there are always further ones.
    """
    if isinstance(domain, BoardDomain):
        return domain.walked
    made = range(FIRST_SEED, FIRST_SEED + further) if isinstance(domain, OwnEnvironment) else ()
    return (*domain.interrogated, *((SPLIT, seed) for seed in made))


def walk(
    domain: ImageDomain,
    problems: Sequence[Problem],
    rng: np.random.Generator,
    steps: int = STEPS,
    shorter: int = SHORTER,
) -> list[Walked]:
    """The different pictures of random walks, in the order in which they were seen.

    Each problem is walked in by itself, in ``steps`` that its agent chooses; in further ones ``shorter`` times fewer.
    """
    found: list[Walked] = []
    for split, seed in problems:
        further = isinstance(domain, OwnEnvironment) and seed >= FIRST_SEED
        simulator = domain.simulator((split, seed))
        simulator.start()
        seen: dict[bytes, object] = {}
        for _ in range(ceil(steps / shorter) if further else steps):
            frame = simulator.frame()
            if (content := frame.tobytes()) not in seen:
                seen[content] = token = simulator.snapshot()
                found.append(Walked(f"{split}/{seed}", simulator.scene, frame.copy(), token))
            choice = None if rng.random() < RETURN else simulator.choose(rng)
            if choice is None:
                simulator.restore(list(seen.values())[int(rng.integers(len(seen)))])
            else:
                simulator.instruct(*choice)
    return found


def walked(domain: ImageDomain, seed: int, steps: int | None = None) -> list[Walked]:
    """Pictures to label, of walks of so many steps in every problem; None: of as many as are usual.

    Where pictures have no cells, walks are short, in many scenes: in each of them most things stay as they are.
    """
    rng = np.random.default_rng([seed, 81])
    if domain.visual.cellless:
        return walk(domain, walked_problems(domain, SCENES), rng, steps or SCENE_STEPS, 1)
    return rarest(walk(domain, walked_problems(domain), rng, steps or STEPS), CELL_PIXELS)


# Single answers about the places of many pictures, and what follows from them.
#
# An answer about one place of a site is an answer about all. Constraints and the numbers of things give further answers: who knows where the player is knows
# where it is not.


Place = tuple[int, int]
"""The number of a picture in its pool, and of a place in it."""


@dataclass(frozen=True)
class LabelQuestion:
    """What is asked: all that the picture of a number shows."""

    number: int


@dataclass(frozen=True)
class AskedAtom(LabelQuestion):
    """Whether the picture shows something at a place."""

    place: int
    head: int


class SiteAnswers:
    """What is known of sites by single answers.

    Attributes:
        wholes: the labels (heads,) of the sites of which all are known, in the order in which they were.
        left_out: sites about which nobody can tell.
    """

    def __init__(self, pool: Pool, heads: int) -> None:
        self.pool = pool
        self._known: Labels = np.full((len(pool.asked), heads), NO_LABEL, np.int8)
        self.wholes: dict[int, Labels] = {}
        self.left_out: set[int] = set()

    def is_open(self, site: int) -> bool:
        """Whether a site is to be asked about: a classifier is asked of it, and it is neither known nor left out."""
        return self.pool.is_asked(site) and site not in self.wholes and site not in self.left_out

    def add(self, atom: AskedAtom, *, yes: bool) -> None:
        """Take in an answer, and what follows from it; UnusableInput if it contradicts others; nothing is taken in then."""
        before = self._known.copy(), dict(self.wholes)
        try:
            self._say(int(self.pool.of[atom.number][atom.place]), atom.head, int(yes))
        except UnusableInput:
            self._known, self.wholes = before
            raise

    def check(self, atom: AskedAtom, *, yes: bool) -> None:
        """Refuse an answer that contradicts others.

        Raises:
            UnusableInput: it does.
        """
        before = self._known.copy(), dict(self.wholes)
        self.add(atom, yes=yes)
        self._known, self.wholes = before

    def possible(self, site: int) -> Labels:
        """(n, heads): all that a site may show."""
        number, place = self.pool.members[site][0]
        return possible(self.pool.pictures[number].index, place, self._known[site])

    def labels(self, number: int, *, whole: bool = False) -> Labels:
        """(heads, places): what is known of a picture.

        Args:
            number: of the picture.
            whole: of places of which everything is known alone.
        """
        sites = self.pool.of[number]
        found: Labels = np.full((self._known.shape[1], len(sites)), NO_LABEL, np.int8)
        for place, site in enumerate(sites.tolist()):
            labels = self.wholes.get(site)
            if labels is not None:
                found[:, place] = labels
            elif not whole:
                found[:, place] = self._known[site]
        return found

    def _say(self, site: int, head: int, value: int) -> None:
        """Note one label, and all that follows."""
        todo = [(site, head, value)]
        while todo:
            site, head, value = todo.pop()
            if self._known[site, head] == value:
                continue
            self._known[site, head] = value
            left = self.possible(site)
            if not len(left):
                raise UnusableInput(
                    "it contradicts earlier answers about places that look the same; undo, or correct it"
                )
            if len(left) == 1:
                self.wholes[site] = left[0]
            certain = (left == left[0]).all(0) & (left[0] != NO_LABEL)
            new = np.flatnonzero(certain & (self._known[site] != left[0]))
            todo += [(site, int(other), int(left[0][other])) for other in new]
            if value == 1:
                for number in dict.fromkeys(number for number, _ in self.pool.members[site]):
                    todo += self._counted(number, head)

    def _counted(self, number: int, head: int) -> list[tuple[int, int, int]]:
        """The labels no that follow in a picture once all things of a look are found."""
        found: list[tuple[int, int, int]] = []
        index, sites = self.pool.pictures[number].index, self.pool.of[number]
        for count in index.legality.counts:
            if count.head != head:
                continue
            here = index.legality.asked[head]
            yes = here & (self._known[sites, head] == 1)
            if yes.sum() > count.number:
                raise UnusableInput(
                    "then a picture shows more such things than there are, by earlier answers about places that look the "
                    "same; undo, or correct it"
                )
            if yes.sum() == count.number:
                rest = np.flatnonzero(here & ~yes & (self._known[sites, head] == NO_LABEL))
                found += [(int(site), head, 0) for site in dict.fromkeys(sites[rest].tolist())]
        return found


# The labelled looks that are saved with weights: made of labelled pictures, with how far what is alike may be apart.


SLACK: Final = 1.2
"""Boards that were not labelled may differ so many times more than labelled ones do from each other: a larger one refuses less."""

LEAST: Final = 3.0
"""No limit is smaller: a larger one refuses less where all boards are drawn alike."""

USUAL: Final = 0.75
"""What was labelled on boards of too few shapes gets the limit below which this share of the others lie: a larger one refuses less."""

ENOUGH: Final = 3
"""Shapes of boards that tell how much equal things differ: more of them are less likely to be drawn alike, and need more labels."""

SAME: Final = 1.0
"""Places with equal labels that are nearer to each other than this are kept once: a larger one keeps fewer, and refuses more."""

MOST_LEARNED: Final = 500
"""Different places of boards that were learned from: more of them take longer to be compared, and are hardly drawn by a program."""


@dataclass(frozen=True)
class _Place:
    """A labelled place: the looks of its cells, which classifiers are asked, what was answered, and the shape of the board."""

    cells: Looks
    asked: NDArray[np.bool_]
    labels: NDArray[np.int8]
    shape: str


def labelled_looks(pool: Pool, answers: Mapping[int, Labels]) -> LabelledLooks:
    """What answers say about looks."""
    found = []
    for number, labels in answers.items():
        one = pool.pictures[number]
        asked, scene = one.index.legality.asked, one.picture.scene
        shape = f"{scene.rows}x{scene.columns} in {one.picture.frame.shape}"
        for place in np.flatnonzero((labels != NO_LABEL).any(0)).tolist():
            found.append(_Place(pool.cells_at(number, place), asked[:, place], labels[:, place], shape))
    return _looks_of(found)


def learned_looks(data: Iterable[Example]) -> LabelledLooks | None:
    """What boards that were learned from say about looks; None if these are too many: what was drawn by a program has few."""
    found: dict[tuple[str, bytes, bytes, bytes], _Place] = {}
    for board in data:
        assert board.asked is not None, "drawn for this training"
        pixels, labels, pooling = board.pixels.numpy(), board.labels.numpy(), board.pooling.numpy()
        side = round((pixels[0].size / len(pooling)) ** 0.5)
        every = cells_of(pixels, map(np.flatnonzero, pooling.T), side)
        for place in np.flatnonzero((labels != NO_LABEL).any(0)).tolist():
            one = _Place(every[place], board.asked[:, place], labels[:, place], str(pixels.shape))
            inner = one.cells[..., EDGE:-EDGE, EDGE:-EDGE]  # all that comparisons see of it in its own size
            key = one.shape, one.asked.tobytes(), one.labels.tobytes(), inner.tobytes()
            found.setdefault(key, one)
        if len(found) > MOST_LEARNED:
            return None
    return _looks_of(found.values())


def _looks_of(labelled: Iterable[_Place]) -> LabelledLooks:
    """What labelled places say about looks."""
    groups: dict[tuple[bytes, bytes], dict[tuple[str, bytes], _Place]] = {}
    for found in labelled:
        own = groups.setdefault((found.asked.tobytes(), found.labels.tobytes()), {})
        own.setdefault((found.shape, found.cells.tobytes()), found)
    single = {kind for kind, places in groups.items() if all(len(one.cells) == 1 for one in places.values())}
    apart = {kind: _apart([*places.values()]) for kind, places in groups.items() if kind in single}
    known = [most for most, _ in apart.values() if most]
    usual = float(np.quantile(known, USUAL, method="higher")) if known else 0.0
    kept, limits = [], []
    for kind, places in groups.items():
        different = _different([*places.values()])
        # cells that are in no other board's rooms would make the most too large, and two shapes may be drawn alike
        most, shapes = apart.get(kind, (0.0, 0))
        kept += different
        limits += [max(LEAST, SLACK * (most if shapes >= ENOUGH else max(most, usual)))] * len(different)
    return _near_enough(kept, np.array(limits, np.float32))


def _near_enough(places: Sequence[_Place], limits: NDArray[np.float32]) -> LabelledLooks:
    """Places with their limits, none of one cell with a limit beyond half the way to one that is labelled otherwise.

    One look stands for all that are nearly the same.
    """
    every, own = np.unique(np.concatenate([place.cells for place in places]), axis=0, return_inverse=True)
    near = distances(every, every) < SAME
    stands = np.full(len(every), -1, np.intp)
    for look in range(len(every)):
        if stands[look] < 0:
            stands[near[look] & (stands < 0)] = look
            stands[look] = look
    used, numbers = np.unique(stands, return_inverse=True)
    looks, cells = every[used], numbers[own.reshape(-1)].astype(np.int32)
    sizes = [len(place.cells) for place in places]
    asked, labels = np.array([place.asked for place in places]), np.array([place.labels for place in places])
    away, first = distances_in_sizes(looks, in_sizes(looks)), np.cumsum([0, *sizes[:-1]])
    single = np.array(sizes) == 1
    for place in np.flatnonzero(single):
        others = single & (asked == asked[place]).all(1) & (labels != labels[place]).any(1)
        half = away[cells[first[place]], cells[first[others]]].min(initial=np.inf) / 2
        limits[place] = min(limits[place], max(LEAST, half))
    number = np.repeat(np.arange(len(places), dtype=np.int32), sizes)
    return LabelledLooks(looks, cells, number, asked, labels, limits)


def _apart(places: Sequence[_Place]) -> tuple[float, int]:
    """How far cells of places with equal labels are from those on boards of other shapes, and the number of shapes.

    Boards of one shape are drawn alike: what differs there is another thing. It is the most of all cells of the distance to the
    nearest one of the median shape: every board lacks some looks. 0 if there is one shape only.
    """
    cells = np.concatenate([place.cells for place in places])
    shapes = np.repeat([place.shape for place in places], [len(place.cells) for place in places])
    names = dict.fromkeys(shapes.tolist())
    if len(names) < 2:
        return 0.0, 1
    unique: dict[str, Looks] = {name: np.unique(cells[shapes == name], axis=0) for name in names}
    sized = {name: in_sizes(looks) for name, looks in unique.items()}
    most = 0.0
    for name, looks in unique.items():
        near = [distances_in_sizes(looks, sized[other]).min(1) for other in names if other != name]
        most = max(most, float(np.sort(near, axis=0)[(len(near) - 1) // 2].max()))
    return most, len(names)


def _different(places: Sequence[_Place]) -> list[_Place]:
    """Places with equal labels, without those that are nearly the same."""
    cells = np.concatenate([place.cells for place in places])
    looks, own = np.unique(cells, axis=0, return_inverse=True)
    own, ends = own.reshape(-1), np.cumsum([len(place.cells) for place in places])
    away = distances_in_sizes(looks, in_sizes(looks))
    rows = np.split(own, ends[:-1])
    kept: list[int] = []
    for number, mine in enumerate(rows):
        near = (away[np.ix_(mine, rows[other])] for other in kept)
        if not any(max(part.min(1).max(), part.min(0).max()) < SAME for part in near):
            kept.append(number)
    return [places[number] for number in kept]
