"""A user's concepts of images, and the roles that turn an image into a state.

A *vocabulary entry* says where the truth of a predicate comes from: ``Perceived`` (classifiers),
``Defined`` (a function of names or of perceived atoms, as the user would define it) or ``Given`` (facts
stated by the user). A ``Scene`` describes one problem, and constraints say what no board shows. None of this says
anything about an action. The protocol ``Perception`` is implemented by ``classifiers``,
``Simulator`` (what shows itself in images) by ``envs`` and by programs that show images (``agents.shown``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aam_vision.model.constraints import Constraint as Constraint
from aam_vision.model.constraints import Exactly as Exactly
from aam_vision.model.constraints import Never as Never
from aam_vision.model.constraints import comes_as as comes_as
from aam_vision.model.constraints import exclusive as exclusive
from aam_vision.model.strips import Atom, GroundAction, Objects, Predicate, State, Types, Vocabulary
from aam_vision.support.errors import UnusableInput, reason

Frame = NDArray[np.uint8]
"""An image as rendered: uint8, (height, width, 3), RGB."""

Mask = NDArray[np.bool_]
"""Which pixels of an image show a thing: (height, width)."""

Cell = tuple[int, int]
"""Row and column of a board, both from 0, row 0 at the top of the image."""

Box = tuple[float, float, float, float]
"""Top, bottom, left and right edge of a part of an image, as shares of its height and width."""

MARGIN = 0.05
"""Width of the margin around a fitted board, in cells."""

NO_LABEL: Final = -1
"""The label of a classifier at a place about which nothing is said."""

Point = tuple[float, float]
"""A place in an image: across from the left and down from the top, as shares of its width and height."""


class Provenance(Enum):
    """Where the truth of a predicate comes from."""

    PERCEIVED = "perceived"
    DEFINED = "defined"
    GIVEN = "given"


class Reading(Enum):
    """How a perceived predicate is read off the board; or off the picture, where there are no cells."""

    WHERE = "where"
    """p(thing, place): the thing's look is searched on the board and its identity followed."""
    THERE = "there"
    """p(place): asked of the cells that the place covers (one for a location, many for a room)."""
    ON = "on"
    """p(thing): asked of the cell where the thing is."""
    FOUND = "found"
    """p(thing), auxiliary, of scenes without cells: the thing's look is found in the picture, whatever else it shows."""
    SHOWN = "shown"
    """p(), p(thing) or p(one, other), of scenes without cells: asked of the picture, about the things found in it."""


@dataclass(frozen=True)
class Perceived:
    """A predicate whose truth is seen.

    ``heads`` gives the classifier to ask: for ``WHERE`` one per look (look -> head), otherwise a single
    entry ``{"": head}`` (``FOUND`` as ``WHERE``). ``hidden_by`` names a look that covers the answer: where such a thing stands, the
    atom is unknown. An ``auxiliary`` predicate does not belong to the vocabulary: it only says what is seen where
    (``seen-at(b, column-2-level-1)``), for others to be defined over. It speaks of ``Scene.spots``. ``kinds`` gives the type of things of a
    look, where it is not that of the predicate.
    """

    predicate: Predicate
    reading: Reading
    heads: Mapping[str, str]
    description: str
    hidden_by: str | None = None
    auxiliary: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance = field(default=Provenance.PERCEIVED, init=False)


@dataclass(frozen=True)
class Scene:
    """The user's description of one problem: the board, names of places and things.

    ``cells`` gives the cells that a place covers; ``looks`` the look of every movable thing;
    ``anchors`` where each thing is in the first image, so that equal-looking things have names;
    ``facts`` the ground atoms of given predicates.

    Where places are not objects of the problem (the levels of a pile), ``spots`` holds the things and places
    that auxiliary predicates speak of. Where the cells are not the squares of one fitted grid, ``boxes``
    says where each of them is in the image; a cell without a box shows nothing.

    A scene ``of_things`` has no places at all: things are found in the picture by their looks. There ``points`` says of
    things that share a look where they are in the first image: across from the left and down from the top, as shares of
    its width and height.
    """

    objects: Objects
    rows: int
    columns: int
    cells: Mapping[str, tuple[Cell, ...]]
    looks: Mapping[str, str] = field(default_factory=dict)
    anchors: Mapping[str, str] = field(default_factory=dict)
    facts: frozenset[Atom] = frozenset()
    spots: Objects | None = None
    boxes: Mapping[Cell, Box] | None = None
    points: Mapping[str, Point] = field(default_factory=dict)

    @classmethod
    def of_things(
        cls,
        objects: Objects,
        looks: Mapping[str, str],
        facts: Iterable[Atom] = (),
        points: Mapping[str, Point] | None = None,
    ) -> Scene:
        """A scene without cells."""
        return cls(objects, 0, 0, {}, looks, facts=frozenset(facts), points=points or {})

    def objects_of(self, entry: Perceived) -> Objects:
        """The things and places that a perceived predicate speaks of."""
        return self.spots if entry.auxiliary and self.spots is not None else self.objects


def board_box(height: int, width: int, rows: int, columns: int) -> tuple[int, int, int, int]:
    """The pixels (top, bottom, left, right) of a board of ``rows`` x ``columns`` cells in an image of ``height`` x ``width``."""
    cell = min(height / (rows + 2 * MARGIN), width / (columns + 2 * MARGIN))
    top, left = (height - cell * rows) / 2, (width - cell * columns) / 2
    return round(top), round(top + cell * rows), round(left), round(left + cell * columns)


def cell_boxes(height: int, width: int, scene: Scene) -> Mapping[Cell, Box]:
    """The part of an image of that size, in pixels, that each cell takes up; cells that are nowhere have none."""
    if scene.boxes is not None:
        return scene.boxes
    top, bottom, left, right = board_box(height, width, scene.rows, scene.columns)
    down = (np.linspace(top, bottom, scene.rows + 1) / height).tolist()
    across = (np.linspace(left, right, scene.columns + 1) / width).tolist()
    cells = product(range(scene.rows), range(scene.columns))
    return {(row, column): (*down[row : row + 2], *across[column : column + 2]) for row, column in cells}


def cell_edges(frame: Frame, scene: Scene, whose: str) -> dict[Cell, tuple[int, int, int, int]]:
    """Top, bottom, left and right edge of every cell in an image, in pixels.

    Raises:
        UnusableInput: a cell has no pixels; the message begins with ``whose``.
    """
    height, width = frame.shape[:2]
    edges = {}
    for cell, (upper, lower, first, last) in cell_boxes(height, width, scene).items():
        pixels = round(upper * height), round(lower * height), round(first * width), round(last * width)
        edges[cell] = pixels
        if not frame[pixels[0] : pixels[1], pixels[2] : pixels[3]].size:
            raise UnusableInput(
                f"{whose} {width}x{height} pixels, in which cell {cell} of {scene.columns}x{scene.rows} has none; "
                "draw a larger picture, or correct the scene"
            )
    return edges


def no_sights(scene: Scene, true: frozenset[Atom]) -> Iterable[Atom]:
    """The auxiliary atoms of a vocabulary without auxiliary predicates: none."""
    return ()


@dataclass(frozen=True)
class Defined:
    """A predicate the user defines over names and perceived atoms.

    ``define(scene, seen)`` returns the atoms that are true and those that are unknown, given the state
    ``seen`` made of the perceived predicates (``seen.value(atom)`` is True, False or None).
    """

    predicate: Predicate
    define: Callable[[Scene, State], tuple[Iterable[Atom], Iterable[Atom]]]
    description: str
    over_all: bool = False
    """Whether ``seen`` has the given facts, too, and what is defined by the entries before it."""
    provenance: Provenance = field(default=Provenance.DEFINED, init=False)

    def atoms(self, scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
        """The atoms that ``define`` returns, true and unknown.

        Raises:
            UnusableInput: it raises, or gives anything but atoms of the predicate.
        """
        name, arity = self.predicate.name, self.predicate.arity
        try:
            true, unknown = ([*atoms] for atoms in self.define(scene, seen))
            for predicate, objects in (*true, *unknown):
                if predicate != name or len(objects) != arity:
                    raise ValueError(f"gave {predicate}{objects!r}")
        except Exception as error:  # the function is the user's: anything may go wrong
            raise UnusableInput(
                f"vocabulary, predicate {name}: its function raised {reason(error)}; it is to return "
                f"two lists of atoms {name} with {arity} objects"
            ) from error
        return true, unknown


@dataclass(frozen=True)
class Given:
    """A predicate whose facts the user states for each problem."""

    predicate: Predicate
    description: str
    provenance: Provenance = field(default=Provenance.GIVEN, init=False)


Entry = Perceived | Defined | Given


@dataclass(frozen=True)
class VisualVocabulary:
    """The vocabulary of an image domain: every predicate with the source of its truth.

    ``may_vanish`` gives, per look, whether things of that look can vanish from the board (a key that
    is picked up) or are always there (player, stones). It is knowledge of things, not of actions.
    ``sights`` gives the auxiliary atoms of a state: the labels that classifiers are trained on.
    ``constraints`` say what no board shows; answers that break them are not believed.
    """

    name: str
    entries: tuple[Entry, ...]
    types: Types
    may_vanish: Mapping[str, bool] = field(default_factory=dict)
    sights: Callable[[Scene, frozenset[Atom]], Iterable[Atom]] = no_sights
    constraints: tuple[Constraint, ...] = ()

    def sighted(self, scene: Scene, true: frozenset[Atom]) -> frozenset[Atom]:
        """True atoms, and the auxiliary ones that ``sights`` makes of them.

        Raises:
            UnusableInput: that function raises.
        """
        try:
            return true.union(self.sights(scene, true))
        except Exception as error:
            raise UnusableInput(
                f"vocabulary {self.name}: sights raised {reason(error)}; correct it"
            ) from error

    def vocabulary(self) -> Vocabulary:
        """The bare vocabulary, as the interrogation engine sees it."""
        return Vocabulary(self.name, tuple(entry.predicate for entry in self.stated), self.types)

    @property
    def stated(self) -> tuple[Entry, ...]:
        """The entries whose predicates make up the vocabulary: all but the auxiliary ones."""
        return tuple(e for e in self.entries if not (isinstance(e, Perceived) and e.auxiliary))

    @property
    def cellless(self) -> bool:
        """Whether its images are pictures without cells.

        Raises:
            UnusableInput: some entries are read off cells, others off pictures without cells.
        """
        kinds = {e.reading in (Reading.FOUND, Reading.SHOWN) for e in self.perceived}
        if len(kinds) > 1:
            raise UnusableInput(
                f"vocabulary {self.name}: some predicates are read off cells, others off pictures without "
                f"cells; read all in one way"
            )
        return True in kinds

    @cached_property
    def perceived(self) -> tuple[Perceived, ...]:
        """The entries whose truth is seen, the auxiliary ones among them."""
        return tuple(entry for entry in self.entries if isinstance(entry, Perceived))

    def read_as(self, reading: Reading) -> list[Perceived]:
        """Those of them that are read in this way."""
        return [entry for entry in self.perceived if entry.reading is reading]

    @property
    def given(self) -> list[Given]:
        """The entries whose facts the user states."""
        return [entry for entry in self.entries if isinstance(entry, Given)]

    def cell_heads(self) -> tuple[str, ...]:
        """Names of all classifiers, in order of first mention."""
        return tuple(self.rows)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number of every classifier among ``cell_heads``."""
        heads = dict.fromkeys(head for entry in self.perceived for head in entry.heads.values())
        return {head: row for row, head in enumerate(heads)}

    @property
    def look_heads(self) -> dict[str, str]:
        """Look -> the classifier by which things of it are searched on the board."""
        return {look: head for entry in self.read_as(Reading.WHERE) for look, head in entry.heads.items()}


class Completion:
    """Makes states of one scene: what was perceived, with what the user defined over it and what the user stated."""

    def __init__(self, vocabulary: VisualVocabulary, scene: Scene) -> None:
        self._scene = scene
        given = {entry.predicate.name for entry in vocabulary.given}
        self._given = frozenset(atom for atom in scene.facts if atom.predicate in given)
        self._defined = [entry for entry in vocabulary.entries if isinstance(entry, Defined)]
        self._auxiliary = {entry.predicate.name for entry in vocabulary.perceived if entry.auxiliary}

    def state(self, true: Iterable[Atom], unknown: Iterable[Atom]) -> State:
        """The state in which these perceived atoms are true and unknown; all other perceived ones are false.

        Raises:
            UnusableInput: a function of the user's raises.
        """
        true, unknown = list(true), set(unknown)
        objects = self._scene.objects
        seen = State(frozenset(true), objects, frozenset(unknown))
        for entry in self._defined:
            if entry.over_all:
                seen = State(self._given.union(true), objects, frozenset(unknown))
            holds, open_ = entry.atoms(self._scene, seen)
            true += holds
            unknown.update(open_)
        if self._auxiliary:
            true = [atom for atom in true if atom.predicate not in self._auxiliary]
            unknown = {atom for atom in unknown if atom.predicate not in self._auxiliary}
        return State(self._given.union(true), objects, frozenset(unknown))


@dataclass(frozen=True)
class Percept:
    """A perceived situation: its state, and where every movable thing was followed to.

    ``places`` maps thing -> place, or None once the thing has vanished; a thing whose place could not
    be told apart is missing from it. ``refused``: something that this image could have shown is unknown,
    so that another image of the same situation may tell more. ``positions``, of scenes without cells, maps things that
    were found to where. ``unlike`` names the places that look unlike everything that classifiers learned from, so that
    something about them is unknown.
    """

    state: State
    places: Mapping[str, str | None]
    refused: bool = False
    positions: Mapping[str, Point] = field(default_factory=dict)
    unlike: tuple[str, ...] = ()


class ImageTest(NamedTuple):
    """How classifiers did in their test: unseen images read exactly, of so many, and those with a mistake; of others something was left open."""

    exact: int
    images: int
    misread: int = 0

    @property
    def passed(self) -> bool:
        """Whether they read all of them."""
        return 0 < self.images <= self.exact

    def __str__(self) -> str:
        return f"the classifiers read {self.exact} of {self.images} unseen images exactly"


class Perception(Protocol):
    """Images in, states out, with the identity of look-alikes followed from image to image."""

    def look(self, frame: Frame, scene: Scene) -> Percept:
        """Read the first image of a problem; names come from ``scene.anchors``."""

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        """Read the next image after ``before``."""


class Simulator(Protocol):
    """A simulator that takes instructions in the user's names and shows itself in images only."""

    @property
    def scene(self) -> Scene: ...

    def start(self) -> None:
        """Go to the initial state of the problem."""

    def snapshot(self) -> object:
        """A token of the present state, for ``restore``."""

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken."""

    def frame(self) -> Frame:
        """The present image."""

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one ground instruction; False, and no change, when the agent cannot."""

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The instruction the agent would carry out next on its own; None when it can do nothing."""


@runtime_checkable
class Recalling(Protocol):
    """A simulator that has to know what its problem begins with, though an earlier process has seen that."""

    def recall(self, state: State) -> None:
        """Its problem begins with this state."""


@runtime_checkable
class Foreseeing(Protocol):
    """A simulator that can make use of knowing what it will be asked next."""

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        """It will be brought back to the snapshot and given the plans; only the last step of each may be refused."""

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        """It will be brought back to the snapshot and choose so many steps, with a generator in the same state."""
