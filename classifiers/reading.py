"""From probabilities to atoms: a vocabulary laid out over the places of one scene.

Everything that stays the same for a scene (which cells make a place, which atom belongs to which place,
what the user stated) is worked out once in ``SceneIndex``; ``SceneIndex.read`` then turns the answers of
the classifiers to one image, once ``legality`` has settled which of them to believe, into a three-valued
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Completion, Perceived, Percept, Reading, Scene, VisualVocabulary
from aam_vision.classifiers.legality import Legality, Truth
from aam_vision.classifiers.tracking import Places, Sighting, Tracked, confirm, track
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput


@dataclass(frozen=True)
class _Look:
    """One look of a WHERE entry: the things that have it and the places where they may be."""

    name: str
    head: int
    things: tuple[str, ...]
    places: NDArray[np.intp]  # (n,) indices of places
    names: NDArray[np.str_]  # (n,) their names
    atoms: Mapping[str, Mapping[str, Atom]]  # thing -> place -> atom


@dataclass(frozen=True)
class _There:
    """A THERE entry: one atom per place, asked of one head."""

    head: int
    places: NDArray[np.intp]  # (n,) indices of places
    atoms: tuple[Atom, ...]  # n, in the same order
    hidden_by: int | None  # the head of the look that covers the answer
    blind: frozenset[Atom]  # of places without cells


@dataclass(frozen=True)
class _On:
    """An ON entry: one atom per thing, asked of one head at the place of the thing."""

    head: int
    atoms: Mapping[str, Atom]  # thing -> atom
    hidden_by: int | None


class SceneIndex:
    """One scene as the readers of probabilities need it.

    Attributes:
        places: names of the places that have cells on the board, in the scene's order.
        cells: per place, the flat indices of its cells.
        legality: which answers about this scene can be believed.

    Raises:
        UnusableInput: a place lies outside of the board, or an anchor is not a place.
    """

    def __init__(self, vocabulary: VisualVocabulary, scene: Scene) -> None:
        self.scene = scene
        self.vocabulary = vocabulary
        self.places = tuple(place for place, cells in scene.cells.items() if cells)
        self._column = {place: index for index, place in enumerate(self.places)}
        self.cells = tuple(tuple(_flat(scene, place)) for place in self.places)
        for thing, place in scene.anchors.items():
            if place not in self._column:
                raise UnusableInput(
                    f"anchor of {thing}: {place} is no place with cells, name one of the scene"
                )
        self.legality = Legality(vocabulary, scene, self.places)
        self._heads = vocabulary.rows
        self._look_heads = {look: self._heads[head] for look, head in vocabulary.look_heads.items()}
        self._looks: list[_Look] = []
        self._theres: list[_There] = []
        self._ons: list[_On] = []
        self._blind: set[Atom] = set()  # what no image of this scene can ever show
        for entry in vocabulary.perceived:
            if entry.reading is Reading.WHERE:
                self._add_where(entry)
            elif entry.reading is Reading.THERE:
                self._theres.append(self._there(entry))
            else:
                things = self.scene.objects_of(entry).of_type(entry.predicate.types[0])
                atoms = {thing: Atom(entry.predicate.name, (thing,)) for thing in things}
                self._ons.append(_On(self._heads[entry.heads[""]], atoms, self._hiding(entry)))
        self._completion = Completion(vocabulary, scene)

    @cached_property
    def pooling(self) -> NDArray[np.float32]:
        """The matrix that averages cells into places, (cells of the board, places)."""
        matrix = np.zeros((self.scene.rows * self.scene.columns, len(self.cells)), np.float32)
        for place, covered in enumerate(self.cells):
            for cell in covered:
                matrix[cell, place] = 1 / len(covered)
        return matrix

    def read(self, sure: Truth, doubtful: Truth, before: Places | None) -> Percept:
        """The state that one image shows.

        Args:
            sure: (heads, places), where a classifier certainly says yes.
            doubtful: (heads, places), where it cannot say.
            before: places of the things in the image before; None for the first image of a problem.
        """
        true: list[Atom] = []
        unknown: set[Atom] = set(self._blind)
        places: dict[str, str | None] = {}
        refused = False
        for look in self._looks:
            tracked = self._follow(look, sure, doubtful, before)
            refused = refused or bool(tracked.undecided)
            places.update(tracked.places)
            true += [look.atoms[thing][place] for thing, place in tracked.places.items() if place is not None]
            for thing, maybe in tracked.undecided.items():
                atoms = look.atoms[thing]
                unknown.update(atoms.values() if maybe is None else [atoms[place] for place in maybe])
        for there in self._theres:
            yes, unclear = sure[there.head, there.places], doubtful[there.head, there.places]
            if there.hidden_by is not None:
                covered = (sure | doubtful)[there.hidden_by, there.places]
                refused = refused or bool((unclear & ~sure[there.hidden_by, there.places]).any())
                yes, unclear = yes & ~covered, unclear | covered
            else:
                refused = refused or bool(unclear.any())
            true += [there.atoms[i] for i in np.flatnonzero(yes)]
            unknown.update([there.atoms[i] for i in np.flatnonzero(unclear)])
            unknown |= there.blind
        for on in self._ons:
            for thing, atom in on.atoms.items():
                place = places.get(thing)
                if place is None:  # vanished or not told apart: there is nowhere to look
                    unknown.add(atom)
                    continue
                column = self._column[place]
                hidden = on.hidden_by is not None and bool(sure[on.hidden_by, column])
                may_be_hidden = on.hidden_by is not None and bool(doubtful[on.hidden_by, column])
                if doubtful[on.head, column] or hidden or may_be_hidden:
                    unknown.add(atom)
                    refused = refused or not hidden  # the answer is there to be seen
                elif sure[on.head, column]:
                    true.append(atom)
        return Percept(self._completion.state(true, unknown), places, refused)

    def _follow(self, look: _Look, sure: Truth, doubtful: Truth, before: Places | None) -> Tracked:
        seen = [frozenset(look.names[some[look.head, look.places]].tolist()) for some in (sure, doubtful)]
        sighting = Sighting(*seen)
        vanish = self.vocabulary.may_vanish.get(look.name, False)
        if before is None:
            return confirm(look.things, self.scene.anchors, sighting, may_vanish=vanish)
        return track(look.things, before, sighting, may_vanish=vanish, neighbours=self._neighbours)

    def _neighbours(self, one: str, other: str) -> bool:
        """Whether two places have cells side by side."""
        return any(
            abs(row - row2) + abs(column - column2) == 1
            for (row, column), (row2, column2) in product(self.scene.cells[one], self.scene.cells[other])
        )

    def _add_where(self, entry: Perceived) -> None:
        thing_kind, place_kind = entry.predicate.types
        objects, predicate = self.scene.objects_of(entry), entry.predicate.name
        names = [place for place in objects.of_type(place_kind) if place in self._column]
        indices = np.array([self._column[place] for place in names], dtype=np.intp)
        things = objects.of_type(thing_kind)
        for look, head in entry.heads.items():
            alike = tuple(thing for thing in things if self.scene.looks.get(thing) == look)
            atoms = {thing: {place: Atom(predicate, (thing, place)) for place in names} for thing in alike}
            self._looks.append(_Look(look, self._heads[head], alike, indices, np.array(names), atoms))
        for thing in things:
            if self.scene.looks.get(thing) not in entry.heads:
                self._blind.update(Atom(predicate, (thing, place)) for place in objects.of_type(place_kind))

    def _there(self, entry: Perceived) -> _There:
        (kind,) = entry.predicate.types
        predicate = entry.predicate.name
        everywhere = self.scene.objects_of(entry).of_type(kind)
        names = [place for place in everywhere if place in self._column]
        return _There(
            self._heads[entry.heads[""]],
            np.array([self._column[place] for place in names], dtype=np.intp),
            tuple(Atom(predicate, (place,)) for place in names),
            self._hiding(entry),
            frozenset(Atom(predicate, (place,)) for place in everywhere if place not in self._column),
        )

    def _hiding(self, entry: Perceived) -> int | None:
        return None if entry.hidden_by is None else self._look_heads[entry.hidden_by]


def _flat(scene: Scene, place: str) -> Iterator[int]:
    """The cells of a place as row * columns + column."""
    for row, column in scene.cells[place]:
        if not (0 <= row < scene.rows and 0 <= column < scene.columns):
            raise UnusableInput(
                f"place {place} has cell ({row}, {column}) outside of the {scene.rows}x{scene.columns} board"
            )
        yield row * scene.columns + column
