"""Labelled images of a user's own environment: where they come from, and which of them are used."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Frame, Mask, Reading, Scene, VisualVocabulary, cell_edges
from aam_vision.envs.gymnasium_simulator import check_size, copied, rendered, size_text
from aam_vision.envs.restoring import Env
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import AamWarning, UnusableInput

LONGEST_WALK: Final = 200
"""Steps of a random walk at most: longer walks show rare sights more often, and take longer."""

FROM_RARE: Final = 0.5
"""Share of walks that begin in a situation of the rarest kind seen so far."""
COMMON: Final = 0.05
"""Share of the situations of common kinds that are shown."""

EARLY: Final = 100
"""Images after which it is tried for the first time whether they show what their labels say: later is surer, and takes longer."""
DRAWS: Final = 20
"""Images drawn per wanted one before a source is taken to have no more distinct ones."""


class Labelled(NamedTuple):
    """An image to learn from: its scene, the atoms of perceived predicates that are true, and the image.

    Attributes:
        masks: which pixels show a thing, for those things of which it is known: (height, width). Only what learns from
            pictures without cells uses it.
        unknown: atoms about which either answer is right.
    """

    scene: Scene
    true: frozenset[Atom]
    frame: Frame
    masks: Mapping[str, Mask] = MappingProxyType({})
    unknown: frozenset[Atom] = frozenset()

    @property
    def state(self) -> State:
        """What is true and what is open."""
        return State(self.true, self.scene.objects, self.unknown)


LabelledImages = Callable[[np.random.Generator], Iterator[Labelled]]
"""A source of labelled images at random, without end."""


def random_walk(env: Any, rng: np.random.Generator) -> None:
    """Take up to ``LONGEST_WALK`` random actions."""
    env.action_space.seed(int(rng.integers(2**31)))
    for _ in range(int(rng.integers(LONGEST_WALK + 1))):
        env.step(env.action_space.sample())


def labelled_images(
    makers: Sequence[Callable[[], Env]],
    scene: Callable[[Any], Scene],
    true: Callable[[Any], Iterable[Atom]],
    shake: Callable[[Any, np.random.Generator], None] = random_walk,
    masks: Callable[[Any], Mapping[str, Mask]] | None = None,
) -> LabelledImages:
    """Images of environments that are reset with random seeds and then brought into a random state.

    Args:
        makers: each makes an environment; every image is of a random one.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped``: the atoms of perceived predicates that its image shows.
        shake: brings ``env.unwrapped`` into a random state. A random walk shows rare sights seldom: where things
            can be put anywhere, do so.
        masks: a function of ``env.unwrapped``: which pixels show each thing; see ``Labelled``. None: that is not known.
    """

    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        envs = [make() for make in makers]
        while True:
            env = envs[int(rng.integers(len(envs)))]
            env.reset(seed=int(rng.integers(2**31)))
            board = scene(env.unwrapped)
            shake(env.unwrapped, rng)
            image = rendered(env)
            where = {} if masks is None else masks(env.unwrapped)
            yield Labelled(board, frozenset(true(env.unwrapped)), image, where)

    return images


Kind = frozenset[frozenset[str]]
"""Sets of predicates that are true of one object."""


def explored_images(
    make: Callable[[], Env],
    scene: Callable[[Any], Scene],
    true: Callable[[Any, Scene], frozenset[Atom]],
    act: Callable[[Env, Scene, np.random.Generator], bool],
    *,
    copied: bool,
) -> LabelledImages:
    """Images of random walks, those of rare kinds of situations as often as the others.

    Two situations are of one kind if the same predicates are true together of some object in them (the arrow in an open door,
    pointing right). Some walks go on from a situation of a rare kind, so that what lies behind it (the open door, once the
    key was found) is seen, too.

    Args:
        make: makes the environment.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped`` and its scene: the atoms of perceived predicates that its image shows.
        act: gives the environment a random control; whether the episode has ended for good.
        copied: whether copies of the environment can be kept, to go on from.
    """

    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        seen: Counter[Kind] = Counter()
        kept: dict[Kind, tuple[Env, Scene]] = {}
        env = make()
        while True:
            if kept and rng.random() < FROM_RARE:
                start, board = kept[min(kept, key=seen.__getitem__)]
                env = deepcopy(start)
            else:
                env.reset(seed=int(rng.integers(2**31)))
                board = scene(env.unwrapped)
            ended = False
            for step in range(LONGEST_WALK):
                atoms = true(env.unwrapped, board)
                kind = _kind(atoms)
                rare = seen[kind] * len(seen) <= seen.total()
                if step == 0 or rare or rng.random() < COMMON:
                    seen[kind] += 1
                    if copied and rare and not ended:
                        kept[kind] = deepcopy(env), board
                    yield Labelled(board, atoms, rendered(env))
                if ended:
                    break
                ended = act(env, board, rng)

    return images


def _kind(true: frozenset[Atom]) -> Kind:
    together: dict[str, set[str]] = defaultdict(set)
    for predicate, objects in true:
        for name in objects or ("",):
            together[name].add(predicate)
    return frozenset(frozenset(predicates) for predicates in together.values())


def distinct(
    source: LabelledImages, number: int, rng: np.random.Generator, depiction: Depiction
) -> Iterator[Labelled]:
    """Up to ``number`` different images of a source; ``depiction`` takes note of every one that is drawn.

    Raises:
        UnusableInput: one is no image, or they do not show what their labels say.
    """
    seen: set[bytes] = set()
    images = iter(source(rng))
    for drawn in range(DRAWS * number):
        labelled = next(images, None)
        if labelled is None or len(seen) == number:
            break
        one = Labelled(*labelled)  # the user's code may yield plain tuples
        one = one._replace(true=frozenset(one.true), frame=copied(one.frame, "a labelled picture is"))
        if not one.unknown:
            depiction.saw(one.frame, one.scene, one.true)
        if drawn == EARLY:
            depiction.check()
        if (content := one.frame.tobytes()) not in seen:
            seen.add(content)
            yield one
    depiction.check()


# Whether pictures show what is told of them, at the cells where the scene says.
#
# No perception can tell apart what is the same to the pixel. So pictures are compared with each other: where a place looks the
# same whether something is said to be there or not, the picture does not show it - there.


UNSEEN: Final = 0.25
"""Share of the places with something that look as without it from which on the cells are taken to lie elsewhere, if it is
so for every classifier. A smaller one refuses environments in which one thing hides another."""


class Depiction:
    """Pictures of one environment, with what is told of them."""

    def __init__(self, name: str, visual: VisualVocabulary) -> None:
        self._name, self._visual, self._heads = name, visual, visual.cell_heads()
        self._places: dict[tuple[str, bytes], NDArray[np.int64]] = defaultdict(self._none)
        """(place, its pixels) -> (2, heads): how often it was without what a classifier finds, and with it."""
        self._pictures: dict[bytes, Labels] = {}
        self._told: set[frozenset[Atom]] = set()
        self._last: tuple[Frame, Scene, Labels] | None = None
        self._varying = np.zeros(len(self._heads), bool)
        """Classifiers whose answers change within a problem: others may be right in pictures that never change."""
        self._hidden: dict[str, str] = {}
        """Classifiers about which two answers were told of one and the same picture, each with a place."""

    def _none(self) -> NDArray[np.int64]:
        return np.zeros((2, len(self._heads)), np.int64)

    def saw(self, frame: Frame, scene: Scene, true: frozenset[Atom]) -> None:
        """Take note of a picture, and of the perceived atoms that are true in it.

        Raises:
            UnusableInput: a cell of the scene has no pixels.
        """
        whose = f"{self._name}: a picture has"
        edges = cell_edges(frame, scene, whose)
        seen = tuple(place for place, cells in scene.cells.items() if cells)
        labels: Labels = np.zeros((len(self._heads), 0), np.int8)  # of pictures without cells
        if seen:
            labels = label(self._visual, scene, seen, State(true, scene.objects))
        if self._last is not None and self._last[1] is scene:
            check_size(frame, self._last[0].shape, whose)
            self._varying |= (self._last[2] != labels).any(1)
        self._told.add(true)
        self._last = frame, scene, labels
        content = frame.tobytes() + repr((frame.shape, seen)).encode()
        before = self._pictures.setdefault(_digest(content), labels)
        if before is not labels and (before == labels).all():
            return
        differ = (before != labels) & (before != NO_LABEL) & (labels != NO_LABEL)
        for head, column in np.argwhere(differ).tolist():
            self._hidden.setdefault(self._heads[head], seen[column])
        answers = np.stack([labels == 0, labels == 1])
        for column, place in enumerate(seen):
            shown = [edges[cell] for cell in scene.cells[place] if cell in edges]
            look = b"".join(frame[top:bottom, left:right].tobytes() for top, bottom, left, right in shown)
            self._places[place, _digest(look)] += answers[..., column]

    def check(self) -> None:
        """Refuse pictures that do not show what is told of them.

        Raises:
            UnusableInput: nothing is drawn, pictures do not follow what happens, or cells lie elsewhere.
        """
        if self._last is None or len(self._told) < 2:
            return
        frame, scene, _ = self._last
        if len(self._pictures) == 1:
            colour = (frame == frame[0, 0]).all()
            raise UnusableInput(
                f"{self._name}: {len(self._told)} different situations have the same picture"
                f"{', of one colour' if colour else ''}; draw the whole board in its present state whenever render() is called"
            )
        without: dict[str, NDArray[np.int64]] = defaultdict(self._none)
        for (place, _), counts in self._places.items():
            without[place] += counts
        compared, alike = np.zeros((2, len(self._heads)), np.int64)
        for (place, _), (no, yes) in self._places.items():
            compared += yes * (without[place][0] > 0)
            alike += yes * (no > 0)
        known = (compared > 0) & (self._varying | ~self._varying.any())
        if known.any() and (alike[known] >= UNSEEN * compared[known]).all():
            worst = int(np.argmax(alike * known))
            raise UnusableInput(
                f"{self._name}: in pictures of {size_text(frame)}, cells of the board of {scene.columns}x{scene.rows} look the "
                f"same with and without {self._heads[worst]} ({alike[worst]} of {compared[worst]}); draw the whole board "
                "in its present state, fitted into the picture and centred, or say in the scene where its cells are (boxes)"
            )

    def warn(self) -> None:
        """Name what no picture can show.

        Warns:
            AamWarning: two answers were told of one and the same picture.
        """
        for head, place in self._hidden.items():
            line = (
                f"{self._name}: the same picture is said to be with and without {head} at {place}: no picture shows it; draw "
                "it, or leave the word out"
            )
            warnings.warn(line, AamWarning, stacklevel=2)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


# The right answer of every classifier about a board: labels made from a symbolic state.
#
# The symbolic state comes from the simulator, for training, checks and evaluation only. A label is given per
# classifier and place; whatever the image cannot show (an answer covered by a thing, a room without
# cells) gets none, so that nothing is learned about it.


Labels = NDArray[np.int8]
"""(heads, places): 1, 0 or ``NO_LABEL``."""


def label(vocabulary: VisualVocabulary, scene: Scene, places: tuple[str, ...], state: State) -> Labels:
    """The labels of one image of ``scene`` in ``state``, over the places that have cells.

    Returns:
        int8, (heads, places): 1 where the classifier should say yes, 0 for no, ``NO_LABEL`` elsewhere.
    """
    rows = vocabulary.rows
    columns = {place: index for index, place in enumerate(places)}
    labels: Labels = np.full((len(rows), len(places)), NO_LABEL, dtype=np.int8)
    where = things_at(vocabulary, scene, state)
    true = vocabulary.sighted(scene, state.true)
    for entry in vocabulary.perceived:
        kinds, name, objects = entry.predicate.types, entry.predicate.name, scene.objects_of(entry)
        hiding = {place for thing, place in where.items() if scene.looks[thing] == entry.hidden_by}
        if entry.reading is Reading.WHERE:
            candidates = [columns[place] for place in objects.of_type(kinds[1]) if place in columns]
            for look, head in entry.heads.items():
                labels[rows[head], candidates] = 0
                for thing, place in where.items():
                    if scene.looks[thing] == look and Atom(name, (thing, place)) in true:
                        labels[rows[head], columns[place]] = 1
        elif entry.reading is Reading.THERE:
            for place in objects.of_type(kinds[0]):
                if place in columns and place not in hiding:
                    labels[rows[entry.heads[""]], columns[place]] = Atom(name, (place,)) in true
        else:
            for thing in objects.of_type(kinds[0]):
                place_of = where.get(thing)
                if place_of is not None and place_of not in hiding:
                    labels[rows[entry.heads[""]], columns[place_of]] = Atom(name, (thing,)) in true
    return labels


def things_at(vocabulary: VisualVocabulary, scene: Scene, state: State) -> Mapping[str, str]:
    """Where every thing with a look is, by the atoms of the WHERE predicates."""
    names = {entry.predicate.name for entry in vocabulary.read_as(Reading.WHERE)}
    return {
        atom.objects[0]: atom.objects[1]
        for atom in vocabulary.sighted(scene, state.true)
        if atom.predicate in names and atom.objects[0] in scene.looks
    }
