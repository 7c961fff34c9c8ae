"""Pictures in, symbolic states out: the ``Perception`` of scenes without cells.

A picture goes through one network (all classifiers, all looks at once); the answers about the things of the scene are
settled jointly by ``legality``. What speaks of a thing that is not surely found is unknown, unless everything else that
is seen leaves only one possibility.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import dist
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Completion, Frame, Percept, Point, Scene, VisualVocabulary
from aam_vision.classifiers.architecture import Weights
from aam_vision.classifiers.backends import Running, probabilities_of
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.plan import CameraPlan, SceneAtoms, Size, plan_of, seen_size
from aam_vision.classifiers.store import BACKDROP, Card, image_test, read, untaught
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.support.pictures import fault
from aam_vision.support.recent import PerObject, Recent, digest_of

if TYPE_CHECKING:
    from torch import Tensor

    from aam_vision.classifiers.camera.backdrop import Sight
    from aam_vision.classifiers.camera.network import Raw

BATCH = 16
"""Pictures that go through the network together: more of them do not fit the processor's caches."""

SCENES = 256
"""Scenes that are kept worked out."""

MOST: Final = 0.25
"""Share of a picture that nothing explains, from which on the whole is strange: no part of it is named, and nothing is believed of it."""
MOVED: Final = "most of it, by which the camera has moved, or it is another one"
"""What is strange where it is more than a thing could be."""


class Answers(NamedTuple):
    """What the classifiers say about one picture of a scene.

    Attributes:
        probabilities: (atoms,), of the atoms of the scene; one half where nothing can be asked.
        positions: (looks, 2), where each look is, as shares of width and height; where looks are shared, each thing.
        told: which of the things that share a look are told apart.
        cells: of the picture, see ``backdrop``; None where it is not compared.
        twice: (looks,), which looks show in two places; where looks are shared, which things. None where that is not known.
    """

    probabilities: NDArray[np.float32]
    positions: NDArray[np.float32]
    told: Told | None = None
    cells: NDArray[np.uint8] | None = None
    twice: NDArray[np.bool_] | None = None


class _Indexed(NamedTuple):
    """A scene, worked out."""

    sightings: Sightings
    atoms: SceneAtoms
    legality: SceneLegality
    completion: Completion


class CameraPerception:
    """Reads pictures of one vocabulary with one set of weights; see ``aam_vision.agents.perception.Perception``.

    Args:
        vocabulary: what the user says about pictures.
        weights: of a network trained for this vocabulary, or for one of which it is a part.
        card: its temperatures and thresholds, and the size of the pictures that were learned from.
        remembered: pictures whose answers are kept.
        backend: what runs the network, see ``network.Runner``.

    Raises:
        UnusableInput: the weights are not those of such a network, or the backend cannot be used.
    """

    def __init__(
        self,
        vocabulary: VisualVocabulary,
        weights: Weights,
        card: Card,
        *,
        remembered: int = 4096,
        backend: str = "torch",
    ) -> None:
        from aam_vision.classifiers.camera.backdrop import REACH, Backdrop
        from aam_vision.classifiers.camera.network import Runner

        self.vocabulary = vocabulary
        self.card = card
        self.image_test = image_test(card)
        self._plan = plan_of(card.vocabulary)
        self._trained = picture_of(card)
        heads = vocabulary.cell_heads()
        self._temperatures = np.array([card.temperatures[head] for head in heads], np.float32)
        self._thresholds = np.array([card.thresholds[head] for head in heads], np.float32)  # (heads, 2)
        self._thresholds[[untaught(card, head) for head in heads]] = -1, 2  # no answer is below or above
        self._remembered = remembered
        self._memory: Recent[tuple[bytes, tuple[int, ...]], Raw] = Recent(remembered)
        self._indexed: PerObject[Scene, _Indexed] = PerObject(self._worked_out, SCENES)
        self._compared, self._tinted = False, False
        looks, self._backdrop = len(self._plan.looks), None
        reach = np.full((looks, 2), REACH, np.float32)
        if (known := card.figures.get(BACKDROP)) is not None:
            self._backdrop = Backdrop.of_card(known, looks, seen_size(*self._trained), card.name)
            reach = self._backdrop.reach
        self._network = Runner(self._plan, weights, self._trained, reach, self._untinted, backend)

    @classmethod
    def load(
        cls, vocabulary: VisualVocabulary, name: str, folder: Path | None = None, **how: Unpack[Running]
    ) -> CameraPerception:
        """With the weights called ``name`` in ``folder``, or the shipped ones.

        Raises:
            UnusableInput: there are none, or they cannot be used for this vocabulary.
        """
        weights, card = read(vocabulary, name, folder, part=True)
        return cls(vocabulary, weights, card, **how)

    def look(self, frame: Frame, scene: Scene) -> Percept:
        """Read the first picture of a problem; ``scene.points`` tells things of one look apart.

        Warns:
            AamWarning: the picture is of another size than those learned from.

        Raises:
            UnusableInput: the classifiers do not know the look of a thing; or a thing is nowhere in the picture.
        """
        answers = self._about(self._recall(frame, scene), scene, None)
        atoms = self._indexed(scene).atoms
        low = self._thresholds[atoms.heads[atoms.found], 0]
        absent = (answers.probabilities[atoms.found] < low) & atoms.askable[atoms.found]
        percept, name = self.read(answers, scene), self.card.name
        for thing in atoms.things:
            if (look := scene.looks.get(thing, "")) not in self._plan.looks:
                raise UnusableInput(
                    f"{thing}: its look is {look!r}, which the classifiers of {name} do not know; give one of "
                    f"{', '.join(self._plan.looks)}, or train with it"
                )
        told = [
            f"{thing} ({scene.looks[thing]})"
            for thing, is_absent in zip(atoms.things, absent, strict=True)
            if is_absent  # nothing in the picture looks like it, for certain
        ]
        if told:
            seen = f" (there is {', '.join(percept.unlike)})" if percept.unlike else ""
            raise UnusableInput(
                f"nowhere in the first picture: {', '.join(told)}{seen}; name things that show there, seen by the camera "
                f"that the classifiers of {name} were trained on"
            )
        (height, width), (high, wide) = frame.shape[:2], self._trained
        if not self._compared and (height, width) != (high, wide):
            line = (
                f"pictures of {width}x{height} pixels: the classifiers of {name} were trained on pictures of {wide}x{high}, "
                f"and how well they read others was not measured"
            )
            warnings.warn(line, AamWarning, stacklevel=2)
        self._compared = True
        return percept

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        """Read the next picture after ``before``; things of one look are followed from there."""
        return self.read(self._about(self._recall(frame, scene), scene, before.positions), scene)

    def read_many(self, frames: Sequence[Frame], scene: Scene) -> list[Percept]:
        """Read pictures of one scene that have nothing to do with each other, in batches."""
        return [self.read(one, scene) for one in self.answers(frames, scene)]

    def answers(self, frames: Sequence[Frame], scene: Scene) -> list[Answers]:
        """What the classifiers say about pictures; see ``Answers``.

        Raises:
            UnusableInput: a frame is no RGB image, or its proportions are not those of the pictures learned from.
        """
        for frame in frames:
            check_frame(frame, self._trained, self.card.name)
        sightings = self._indexed(scene).sightings
        if sightings.shared:
            raw = [self._network.peaks(frame, sightings.numbers) for frame in frames]
        else:
            starts = range(0, len(frames), BATCH)
            raw = [one for start in starts for one in self._network(frames[start : start + BATCH])]
        return [self._about(one, scene, None) for one in raw]

    def read(self, answers: Answers, scene: Scene) -> Percept:
        """The state that the answers about one picture amount to; see ``answers``."""
        probabilities, positions, told, cells, twice = answers
        _, atoms, legality, completion = self._indexed(scene)
        low, high = self._thresholds[atoms.heads].T
        found = (probabilities > np.maximum(high, SIGHTED))[atoms.found] & atoms.askable[atoms.found]
        # hidden by nature, not for want of a better picture
        lost = (probabilities < low)[atoms.found]
        if told is not None:
            unclear = self._unclear(told, positions, scene)
            found, lost = found & ~unclear, lost | unclear
        doubled = np.zeros_like(found) if twice is None else found & twice[atoms.looks]
        strange: list[NDArray[np.bool_]] = []
        if self._backdrop is not None and cells is not None:
            looks = [
                self._plan.looks.index(scene.looks[thing]) if there else -1
                for thing, there in zip(atoms.things, ~lost & (atoms.looks >= 0), strict=True)
            ]
            sights = [
                (look, _point(positions[place])) for look, place in zip(looks, atoms.looks, strict=True)
            ]
            more = () if told is None else told.sights
            strange = self._backdrop.unexplained(cells, [*(one for one in sights if one[0] >= 0), *more])
            covered = [any(self._backdrop.touches(part, one) for part in strange) for one in sights]
            found = found & ~np.array(covered, bool)
        found = found & ~doubled
        blind = atoms.blind(found)
        mostly = sum(part.mean() for part in strange) > MOST
        if mostly:  # who knows what is seen there
            found, blind, told = np.zeros_like(found), np.ones_like(blind), None
        sure, doubtful = legality.settle(probabilities, low, high, blind)
        hidden = atoms.blind(~lost)
        decided = ([atoms.atoms[number] for number in np.flatnonzero(some)] for some in (sure, doubtful))
        state = completion.state(*decided)
        where = {
            thing: (float(positions[look, 0]), float(positions[look, 1]))
            for thing, look, there in zip(atoms.things, atoms.looks, found, strict=True)
            if there
        }
        if told is not None:
            where |= told.places
        refused = bool((doubtful if strange else doubtful & ~hidden).any())
        missing = [thing for thing, there in zip(atoms.things, found, strict=True) if not there]
        again = [
            f"another thing that looks like {atoms.things[number]}" for number in np.flatnonzero(doubled)
        ]
        unlike = [MOVED] if mostly else self._named(strange, missing)
        return Percept(state, {}, refused, where, (*unlike, *again))

    def _untinted(self, pictures: Tensor) -> Tensor:
        """Pictures as the network sees them, under a light of the colour that it had in those learned from.

        Warns:
            AamWarning: it has another, in the first picture that is so.
        """
        if self._backdrop is None:
            return pictures
        plain, tints = self._backdrop.untinted(pictures)
        (told,) = np.nonzero((tints != 1).any(1))
        if len(told) and not self._tinted:
            self._tinted = True
            red, green, blue = (f"{tint - 1:+.0%}" for tint in tints[told[0]])
            line = (
                f"most of what is seen has another colour than in the pictures that the classifiers of {self.card.name} learned "
                f"from (red {red}, green {green}, blue {blue}): it is taken out as that of the light before pictures are read"
            )
            warnings.warn(line, AamWarning, stacklevel=2)
        return plain

    def _named(self, strange: Sequence[NDArray[np.bool_]], missing: Sequence[str]) -> Iterator[str]:
        """What is strange in a picture, in words; ``missing``: things of which nothing is said."""
        for part in strange:
            down, across = (
                (places.mean() + 0.5) / size
                for places, size in zip(np.nonzero(part), part.shape, strict=True)
            )
            row, column = round(down * self._trained[0]), round(across * self._trained[1])
            yield f"something at row {row}, column {column} that is none of the known things"
        if strange and missing:
            yield f"{', '.join(missing)} may be hidden"

    def _unclear(self, told: Told, positions: NDArray[np.float32], scene: Scene) -> NDArray[np.bool_]:
        """(things,): those that are not told apart, and those beside them."""
        sightings, atoms, _, _ = self._indexed(scene)
        doubtful = dict(zip(sightings.things, told.doubtful, strict=True))
        each = zip(atoms.things, atoms.looks, strict=True)
        return np.array([look < 0 or doubtful[thing] or told.beside(positions[look]) for thing, look in each])

    def probabilities(self, frames: Sequence[Frame], scene: Scene) -> NDArray[np.float32]:
        """The classifiers' answers about the atoms of a scene: (pictures, atoms), in the order of ``SceneAtoms``."""
        found = [one.probabilities for one in self.answers(frames, scene)]
        return np.array(found, np.float32).reshape(len(frames), len(self._indexed(scene).atoms.atoms))

    def _about(self, raw: Raw, scene: Scene, before: Mapping[str, Point] | None) -> Answers:
        """The answers about a scene; ``before``: where things were in the picture before, if there was one."""
        logits, positions, _, twice = raw
        sightings, atoms, _, _ = self._indexed(scene)
        told = None
        if sightings.shared:
            heads, card = sightings.searched, self.card
            warm = np.array([card.temperatures[head] for head in heads], np.float32)
            low, high = np.array([card.thresholds[head] for head in heads], np.float32).T
            seen = probabilities_of(logits[: len(heads)] / warm)
            told = sightings.tell(seen > np.maximum(high, SIGHTED), seen >= low, positions, before)
            logits = sightings.chosen(logits, told.rows)
            positions, twice = positions[told.rows], twice[told.rows]
        own = probabilities_of(logits[atoms.answers] / self._temperatures[atoms.heads])
        own = np.where(atoms.askable, own, 0.5).astype(np.float32)
        return Answers(own, positions, told, raw.cells, twice)

    def _recall(self, frame: Frame, scene: Scene) -> Raw:
        """The network's answers to one picture, from memory if it was seen before."""
        check_frame(frame, self._trained, self.card.name)
        sightings = self._indexed(scene).sightings
        numbers = sightings.numbers if sightings.shared else ()
        if not self._remembered:
            return self._answered(frame, numbers)
        key = (digest_of(frame), numbers)
        return self._memory.of(key, lambda: self._answered(frame, numbers))

    def _answered(self, frame: Frame, numbers: tuple[int, ...]) -> Raw:
        """The network's answers to one picture; ``numbers`` of peaks where looks are shared."""
        return self._network.peaks(frame, numbers) if numbers else self._network([frame])[0]

    def _worked_out(self, scene: Scene) -> _Indexed:
        sightings = Sightings(self._plan, scene)
        plan, known_as = self._plan, None
        if sightings.shared:
            plan, known_as = sightings.plan, {thing: thing for thing in sightings.things}
        atoms = SceneAtoms(self.vocabulary, plan, scene, known_as)
        legality = SceneLegality(self.vocabulary.constraints, tuple(scene.objects), atoms.atoms)
        return _Indexed(sightings, atoms, legality, Completion(self.vocabulary, scene))


def picture_of(card: Card) -> Size:
    """Height and width of the pictures that were learned from.

    Raises:
        UnusableInput: the card does not say it.
    """
    if card.picture is None:
        raise UnusableInput(
            f"the card of {card.name} does not say which pictures were learned from; train again"
        )
    return card.picture


# Whether pictures and scenes suit classifiers that were trained on others.


SAME_SHAPE: Final = 0.02
"""How much the ratio of width to height of a picture may differ from that of the pictures learned from."""

SMALLEST: Final = 0.75
"""Least height of a picture, as a share of that of the pictures learned from."""


def check_frame(frame: Frame, trained: Size, name: str) -> None:
    """Refuse what is no picture from a camera like the one that was learned from.

    Raises:
        UnusableInput: it is no RGB image, of other proportions, or too small.
    """
    if (why := fault(frame)) is not None:
        raise UnusableInput(f"a picture is {why}")
    (height, width), (high, wide) = frame.shape[:2], trained
    if abs(width / height * high / wide - 1) > SAME_SHAPE or height < SMALLEST * high:
        raise UnusableInput(
            f"picture of {width}x{height} pixels: the classifiers of {name} were trained on pictures of "
            f"{wide}x{high}; give pictures of these proportions, not much smaller, or train on yours"
        )


# Things that look the same, found apart in one picture and followed to the next.
#
# The map of a look that several things share has several peaks. Each peak with what is nearest to it is a *sighting*, about
# which the network answers as it would about the only thing of that look. Which sighting is which thing is followed, never
# guessed (as ``classifiers.tracking`` does on boards): a sighting where one thing was, and no other, is that thing; a single
# thing and a single sighting that are left belong together. In the first picture the scene says where things are. Unless
# there are as many sightings as things, two of them may be one: then nothing is believed about any thing of that look, and
# from there on they are not told apart any more, for a sighting where one was may be another that was not seen.


SIGHTED: Final = 0.9
"""Probability that a thing is there, at least: one that is not may be read as part of a pile, or things be taken for each other."""

SAME_PLACE: Final = 0.05
"""How far apart the places of a thing that stayed may be found, as a share of the picture's width and height."""

POINTED: Final = 0.08
"""The same between where the user points and where a thing is found: not always in its middle."""

BESIDE: Final = 0.2
"""How far apart things are at most that touch, as a share of the picture's width and height."""

CLEARLY: Final = 2.0
"""How many times farther, in squares, all are in the second best way to pair them with where the user points."""

MATCHED_AT_MOST: Final = 6
"""More things of one look than this are not paired all at once: the ways are gone through."""


@dataclass(frozen=True)
class Told:
    """Which sighting each thing is.

    Attributes:
        rows: per thing, the number of its sighting; of things that are not told apart, that of any.
        doubtful: per thing, whether it is not told apart.
        places: things that share a look and were followed, and where they are.
        unclear: sightings of things that are not told apart: what is beside them may be read wrongly.
        sights: all sightings of looks that things share.
    """

    rows: NDArray[np.intp]
    doubtful: NDArray[np.bool_]
    places: Mapping[str, Point] = field(default_factory=dict)
    unclear: tuple[Point, ...] = ()
    sights: tuple[Sight, ...] = ()

    def beside(self, position: NDArray[np.float32]) -> bool:
        """Whether something at a position may be read wrongly."""
        return any(dist(_point(position), spot) < BESIDE for spot in self.unclear)


class Sightings:
    """The things of a scene, and the sightings that a picture of it may have.

    Attributes:
        numbers: how many sightings of each look of the plan are searched: one, or one more than there are things.
        searched: the classifier that each sighting is found by.
        plan: the same classifiers with the things of the scene as looks, in the order of ``things``.
        things: the things whose look the plan knows.
    """

    def __init__(self, plan: CameraPlan, scene: Scene) -> None:
        owners: list[list[str]] = [[] for _ in plan.looks]
        for thing, look in scene.looks.items():
            if look in plan.looks:
                owners[plan.looks.index(look)].append(thing)
        self.numbers = tuple(1 if len(own) < 2 else len(own) + 1 for own in owners)
        self.searched = tuple(
            head for head, number in zip(plan.found, self.numbers, strict=True) for _ in range(number)
        )
        begins = np.cumsum([0, *self.numbers])
        self._shared = [
            (look, own, range(begins[look], begins[look + 1]))
            for look, own in enumerate(owners)
            if len(own) > 1
        ]
        self.things = tuple(thing for own in owners for thing in own)
        self._rows = np.array([begins[look] for look, own in enumerate(owners) for _ in own], np.intp)
        found = tuple(plan.found[look] for look, own in enumerate(owners) for _ in own)
        self.plan = replace(plan, looks=self.things, found=found)
        self._points = scene.points

    @property
    def shared(self) -> bool:
        """Whether any look is shared."""
        return bool(self._shared)

    def tell(
        self,
        found: NDArray[np.bool_],
        possible: NDArray[np.bool_],
        positions: NDArray[np.float32],
        before: Mapping[str, Point] | None,
    ) -> Told:
        """Say which sighting is which thing.

        Args:
            found: (sightings,) whether each is surely there.
            possible: (sightings,) whether it may be.
            positions: (sightings, 2).
            before: where things were in the picture before; None for the first picture.
        """
        rows, doubtful = self._rows.copy(), np.zeros(len(self.things), bool)
        places: dict[str, Point] = {}
        unclear: list[Point] = []
        sights: list[Sight] = []
        for look, things, searched in self._shared:
            sights += [(look, _point(positions[row])) for row in searched if possible[row]]
            seen = [row for row in searched if found[row]]
            sure = len(seen) == len(things) and all(found[row] for row in searched if possible[row])
            spots = {row: _point(positions[row]) for row in seen}
            told = self._told(things, spots, before) if sure else {}
            places.update({thing: spots[row] for thing, row in told.items()})
            if before is None and not sure:  # the user says where they are, whatever the picture shows
                places.update({thing: self._points[thing] for thing in things if thing in self._points})
            for thing in things:
                number = self.things.index(thing)
                rows[number] = told.get(thing, searched[0])
                doubtful[number] = thing not in told
            lost = [thing for thing in things if thing not in told]
            if lost:
                earlier = self._points if before is None else before
                unclear += [_point(positions[row]) for row in searched if possible[row]]
                unclear += [earlier[thing] for thing in lost if thing in earlier]
        return Told(rows, doubtful, places, tuple(unclear), tuple(sights))

    def _told(
        self, things: list[str], seen: Mapping[int, Point], before: Mapping[str, Point] | None
    ) -> dict[str, int]:
        """The sightings of the things that are told apart, of as many as there are things."""
        if before is None:
            told = _paired(things, self._points, seen)
            return _matched(things, self._points, seen, POINTED) if told is None else told
        if any(thing not in before for thing in things):
            return {}  # the one that was not seen may be where another one was, and that one elsewhere
        return _matched(things, before, seen, SAME_PLACE)

    def chosen(self, logits: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """The answers about these sightings, in the order of ``plan``, from those about all sightings."""
        plan, sightings = self.plan, sum(self.numbers)
        sizes = (sightings, len(plan.alone), sightings * len(plan.single), sightings**2 * len(plan.pairs))
        found, alone, single, pairs = np.split(logits, np.cumsum(sizes)[:-1])
        single = single.reshape(sightings, len(plan.single))[rows]
        pairs = pairs.reshape(sightings, sightings, len(plan.pairs))[np.ix_(rows, rows)]
        return np.concatenate([found[rows], alone, single.ravel(), pairs.ravel()])


def _paired(
    things: list[str], points: Mapping[str, Point], seen: Mapping[int, Point]
) -> dict[str, int] | None:
    """The sightings of all things by where the user points, if one way to pair them is clearly the best; else None."""
    if not len(things) == len(seen) <= MATCHED_AT_MOST or any(thing not in points for thing in things):
        return None
    far = np.array([[dist(points[thing], place) for place in seen.values()] for thing in things])
    each = np.arange(len(things))
    ways = sorted((float((far[each, list(way)] ** 2).sum()), way) for way in permutations(range(len(things))))
    (least, best), (second, _) = ways[:2]
    if second < CLEARLY * least or (far[each, list(best)] > POINTED).any():
        return None
    return {thing: list(seen)[column] for thing, column in zip(things, best, strict=True)}


def _matched(
    things: list[str], earlier: Mapping[str, Point], seen: Mapping[int, Point], reach: float
) -> dict[str, int]:
    """The sightings of the things that are told apart."""
    near = {
        thing: [row for row, place in seen.items() if dist(place, earlier[thing]) < reach]
        for thing in things
        if thing in earlier
    }
    claims = [row for rows in near.values() for row in rows]
    told = {thing: rows[0] for thing, rows in near.items() if len(rows) == 1 and claims.count(rows[0]) == 1}
    missing = [thing for thing in things if thing not in told]
    left = [row for row in seen if row not in told.values()]
    if len(missing) == 1 and len(left) == 1:
        told[missing[0]] = left[0]
    return told


def _point(position: NDArray[np.float32]) -> Point:
    return float(position[0]), float(position[1])
