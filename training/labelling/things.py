"""A picture without cells while a person works on its answer: where things are, what is true of them, and what a page shows of it.

A person points at a thing, and its outline is filled in. What can be true of it is one answer each, as at the places of a board
(``sheets``): of the picture as a whole, of a thing, and of a thing with each other one that shows. Everything is filled in as far as it can
be guessed, and what an answer excludes is taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Frame, Mask, Reading, VisualVocabulary
from aam_vision.classifiers.camera.legality import rows_of
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.labelled import Labelled
from aam_vision.model.constraints import Number
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.cutouts import backdrop_of
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from aam_vision.training.labelling.rounds import Answer
from aam_vision.training.labelling.sheets import KEYS, LabelSheets, PictureSheet, Problem, places_in
from aam_vision.training.pictures import answers, broken
from aam_vision.training.regions import Colours, Regions, Spot, middle, outline_path

WHOLE: Final = "the picture"
"""What is asked of the picture as a whole belongs to this place."""

Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class ThingGuess:
    """What a picture probably shows: where things are, which atoms are true, (atoms,), and which of both are not sure."""

    points: Mapping[str, Sequence[Spot]]
    yes: Truth
    unsure: Truth


@dataclass(frozen=True)
class _Said:
    """All that is said about a picture at a time."""

    points: Mapping[str, tuple[Spot, ...]]
    masks: Mapping[str, Mask]
    yes: Truth
    told: Truth
    nothing: tuple[Spot, ...] = ()  # where no thing is


class Questions:
    """What is asked about the pictures of one scene: places (things, and the picture as a whole), heads, and their atoms.

    Attributes:
        places: names.
        heads: name, key and description of each.
        asked: (places, heads), the number of the atom, or -1.
    """

    def __init__(self, atoms: SceneAtoms) -> None:
        self.atoms = atoms
        entries = atoms.vocabulary.read_as(Reading.SHOWN)
        by_arity = sorted(entries, key=lambda one: len(one.predicate.types))
        self.heads: list[Mapping[str, str]] = []
        found: dict[tuple[str, int], int] = {}
        for entry in by_arity:
            name = entry.predicate.name
            own = [
                (number, atom.objects) for number, atom in enumerate(atoms.atoms) if atom.predicate == name
            ]
            for other in atoms.things if len(entry.predicate.types) == 2 else ("",):
                about = [(number, objects) for number, objects in own if not other or objects[1] == other]
                for number, objects in about:
                    found[objects[0] if objects else WHOLE, len(self.heads)] = number
                if about:
                    key = KEYS[len(self.heads) : len(self.heads) + 1]  # none where they end
                    told = {"key": key, "description": f"{name}: {entry.description}"}
                    self.heads.append({"name": f"{name} {other}".strip(), **told})
        whole = [WHOLE] if any(place == WHOLE for place, _ in found) else []
        self.places = [*atoms.things, *whole]
        self.asked = np.full((len(self.places), len(self.heads)), -1, np.intp)
        for (place, head), number in found.items():
            self.asked[self.places.index(place), head] = number
        things = tuple(atoms.scene.objects)
        numbers = [item for item in atoms.vocabulary.constraints if isinstance(item, Number)]
        self.rows = [
            (np.array(row, bool), item.least, item.most)
            for item in numbers
            for row in rows_of(item, things, atoms.atoms)
        ]


class ThingDraft(PictureSheet[_Said]):
    """The answers about one picture without cells.

    Args:
        questions: about its scene.
        frame: the picture.
        regions: what stands out in it.
        guess: what is filled in before anybody has spoken.
        masks: the outlines of things, where they are known already.
    """

    def __init__(
        self,
        questions: Questions,
        frame: Frame,
        regions: Regions,
        guess: ThingGuess,
        masks: Mapping[str, Mask] | None = None,
    ) -> None:
        self._questions, self._atoms, self._frame, self._regions = questions, questions.atoms, frame, regions
        points = {thing: tuple(spots) for thing, spots in guess.points.items()}
        said = _Said(points, masks or regions.grown(points), guess.yes, np.zeros_like(guess.yes))
        self._unsure = guess.unsure
        super().__init__(questions.places, questions.heads, said)

    def point(self, place: int, spot: Spot, *, more: bool) -> None:
        """Say that a thing is there; ``more``: there, too, so that its outline reaches so far."""
        thing = self.places[place]
        if place >= len(self._atoms.things):
            raise ValueError("place")
        before = self._said.points.get(thing, ()) if more else ()
        points = {**self._said.points, thing: (*before, spot)}
        told = self._said.told.copy()
        told[self._atoms.found[place]] = True
        self._grow(replace(self._said, points=points, told=told))

    def take_away(self, spot: Spot) -> None:
        """Say that no thing is there, so that outlines end before it."""
        self._grow(replace(self._said, nothing=(*self._said.nothing, spot)))

    def _grow(self, said: _Said) -> None:
        """Say this, with the outlines that its points lead to."""
        self._say(replace(said, masks=self._regions.grown(said.points, said.nothing)))

    def toggle(self, head: int, places: Sequence[int]) -> None:
        """Say that something is true at places; or that it is not, if it was at all of them. What is excluded then is not true."""
        numbers = [self._questions.asked[place, head] for place in places if head in self.asked(place)]
        if not numbers:
            return
        yes, told = self._said.yes.copy(), self._said.told.copy()
        value = not yes[numbers].all()
        yes[numbers], told[numbers] = value, True
        for number in numbers if value else ():
            for row, _, most in self._questions.rows:
                if not row[number]:
                    continue
                rest = [one for one in np.flatnonzero(row & yes & self._visible()) if one not in numbers]
                rest.sort(key=lambda one: bool(told[one]))
                while rest and (row & yes & self._visible()).sum() > most:
                    yes[rest.pop(0)] = False
        for place in places:
            told[self._of(place)] = True
        self._say(replace(self._said, yes=yes, told=told))

    def clear(self, places: Sequence[int]) -> None:
        """Say that things do not show, or that nothing is true of the picture as a whole."""
        points, yes, told = dict(self._said.points), self._said.yes.copy(), self._said.told.copy()
        for place in places:
            if place < len(self._atoms.things):
                points.pop(self.places[place], None)
                told[self._atoms.found[place]] = True
            else:
                yes[self._of(place)], told[self._of(place)] = False, True
        self._grow(replace(self._said, points=points, yes=yes, told=told))

    def asked(self, place: int) -> list[int]:
        visible, own = self._visible(), self._questions.asked[place]
        return [head for head, number in enumerate(own) if number >= 0 and visible[number]]

    def says(self, head: int, place: int) -> bool:
        return bool(self._said.yes[self._questions.asked[place, head]])

    def labelled(self) -> Labelled:
        """What is said, as a label."""
        (seen,) = (entry.predicate.name for entry in self._atoms.vocabulary.read_as(Reading.FOUND))
        true = {self._atoms.atoms[number] for number in np.flatnonzero(self._said.yes & self._visible())}
        true |= {Atom(seen, (thing,)) for thing in self._said.points}
        nothing = np.zeros(self._frame.shape[:2], bool)
        masks = {thing: self._said.masks.get(thing, nothing) for thing in self._atoms.things}
        return Labelled(self._atoms.scene, frozenset(true), self._frame, masks)

    def problems(self) -> list[Problem]:
        found = []
        for place, thing in enumerate(self._atoms.things):
            if thing in self._said.points and not self._said.masks[thing].any():
                found.append(Problem([place], f"{thing} has no pixel of its own: point at it again"))
        _, off = self._counted()
        for why, numbers in broken(self._atoms, State(self.labelled().true, self._atoms.scene.objects)):
            things = {thing for number in numbers for thing in self._atoms.atoms[number].objects} or {WHOLE}
            places = [place for place, name in enumerate(self.places) if name in things]
            found.append(Problem([place for place in places if place in off] or places, why))
        return found

    def answer(self, what: str) -> Labelled:
        """What is said, once the person says that it is all; UnusableInput if it cannot all be right."""
        if not self._said.points:
            raise UnusableInput("no thing is pointed at: point at those that show, or skip the picture")
        for problem in self.problems():
            raise UnusableInput(problem.why)
        return self.labelled()

    def view(self, frame: Frame) -> dict[str, Any]:
        return {**super().view(frame), "pointing": True}

    def shown(self, place: int, frame: Frame) -> dict[str, Any]:
        name, numbers = self.places[place], self._questions.asked[place]
        shows = name in self._said.points
        doubtful = [numbers[head] for head in self.asked(place)]
        if place < len(self._atoms.things):
            doubtful.append(self._atoms.found[place])
        open_, (short, _) = self._unsure & ~self._said.told, self._counted()
        return {
            "boxes": [],
            "outline": outline_path(self._said.masks[name]) if shows else "",
            "there": shows or name == WHOLE,
            "whole": name == WHOLE,
            "large": True,
            "unsure": bool(open_[doubtful].any()) or place in short,
        }

    def change(self, what: str, facts: dict[str, Any]) -> None:
        """``point`` at a thing or, with ``less``, at none, ``toggle`` a head of places, or ``clear`` them; ValueError if it is none of that."""
        if what != "point":
            return super().change(what, facts)
        places_in(facts, len(self.places))
        if not all(type(facts.get(one)) in (int, float) for one in ("x", "y")):
            raise ValueError(what)
        x, y = float(facts["x"]), float(facts["y"])
        if not (0 <= x <= 1 and 0 <= y <= 1):
            raise ValueError("point")
        height, width = self._frame.shape[:2]
        spot = min(int(y * height), height - 1), min(int(x * width), width - 1)
        if facts.get("less") is True:
            return self.take_away(spot)
        return self.point(facts["places"][-1], spot, more=facts.get("more") is True)

    def _visible(self) -> Truth:
        """(atoms,): those that speak of things that show alone."""
        shows = np.array([thing in self._said.points for thing in self._atoms.things])
        visible: Truth = ~self._atoms.about[~shows].any(0)
        visible[self._atoms.found] = False
        return visible

    def _counted(self) -> tuple[set[int], set[int]]:
        """Things (numbers) of which less is true than must be, and of which it is too much or cannot be.

        Too little is legal where something hidden may be beside them; mostly it was forgotten.
        """
        visible, short, off = self._visible(), set[int](), set[int]()
        for row, least, most in self._questions.rows:
            number = int((row & visible & self._said.yes).sum())
            about = np.flatnonzero(self._atoms.about[:, row].all(1)).tolist()
            things = {one for one in about if self._atoms.things[one] in self._said.points}
            if number < least:
                short |= things
            if number > most or (number < least and visible[row].all()):
                off |= things
        return short, off

    def _of(self, place: int) -> NDArray[np.intp]:
        """The numbers of the atoms that are asked of a place."""
        own: NDArray[np.intp] = self._questions.asked[place]
        return np.extract(own >= 0, own)


class ThingSheets(LabelSheets[CameraPerception, Labelled]):
    """Pictures without cells as a page shows them."""

    def __init__(self, visual: VisualVocabulary, pictures: Sequence[Walked]) -> None:
        super().__init__()
        self._visual, self._pictures = visual, pictures
        self._plan = plan_of(describe(visual))
        self._backdrop = backdrop_of([one.frame for one in pictures])
        self._questions: dict[str, Questions] = {}

    def sheet(self, question: LabelQuestion, former: Answer | None) -> ThingDraft:
        """A picture with the best guess, or with what it was labelled before that was withdrawn."""
        picture = self._pictures[question.number]
        if picture.problem not in self._questions:
            atoms = SceneAtoms(self._visual, self._plan, picture.scene)
            self._questions[picture.problem] = Questions(atoms)
        asked = self._questions[picture.problem]
        looks, masks = picture.scene.looks, None
        colours = Colours()
        for one in self._labels.values():
            outlines = {one.scene.looks[thing]: mask for thing, mask in one.masks.items() if mask.any()}
            colours.add(one.frame, outlines)
        regions = Regions(picture.frame, self._backdrop, colours, looks)
        if isinstance(former, Labelled):
            masks = {thing: mask for thing, mask in former.masks.items() if mask.any()}
            yes = np.array([atom in former.true for atom in asked.atoms.atoms])
            points = {thing: (middle(mask),) for thing, mask in masks.items()}
            guess = ThingGuess(points, yes, np.zeros_like(yes))
        else:
            guess = self._guess(picture, asked.atoms)
        return ThingDraft(asked, picture.frame, regions, guess, masks)

    def _guess(self, picture: Walked, atoms: SceneAtoms) -> ThingGuess:
        """What the classifiers say; before there are any, what is mostly true."""
        if self._perception is None:
            return ThingGuess({}, self._mostly(atoms), np.ones(len(atoms.atoms), bool))
        (found,) = self._perception.answers([picture.frame], picture.scene)
        percept = self._perception.read(found, picture.scene)
        likely = found.probabilities > 0.5
        known, open_ = percept.state.true, percept.state.unknown
        height, width = picture.frame.shape[:2]
        points: dict[str, list[Spot]] = {}
        for thing, look, number in zip(atoms.things, atoms.looks, atoms.found, strict=True):
            if likely[number]:
                x, y = percept.positions.get(thing, found.positions[look])
                points[thing] = [(min(int(y * height), height - 1), min(int(x * width), width - 1))]
        answered = zip(atoms.atoms, likely, strict=True)
        yes = np.array([atom in known or (atom in open_ and bool(one)) for atom, one in answered])
        unsure = np.array([atom in open_ for atom in atoms.atoms])
        unsure[atoms.found] = likely[atoms.found] != [thing in percept.positions for thing in atoms.things]
        return ThingGuess(points, yes, unsure)

    def _mostly(self, atoms: SceneAtoms) -> Truth:
        """(atoms,): whether an atom of this predicate is true in most cases that were labelled."""
        said: dict[int, list[int]] = {}
        for one in self._labels.values():
            own = SceneAtoms(self._visual, self._plan, one.scene)
            given = answers(own, one.state)
            for head, value in zip(own.heads.tolist(), given.tolist(), strict=True):
                if value != NO_LABEL:
                    said.setdefault(head, []).append(value)
        return np.array(
            [bool(said.get(head)) and 2 * sum(said[head]) > len(said[head]) for head in atoms.heads.tolist()]
        )
