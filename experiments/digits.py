"""Gripper and logistics as ROSAME-I shows them: grids of handwritten digits, each drawn anew in every picture.

A row of the grid is a place (a room, a hand, an airport, the inside of a truck), a digit is a thing, and its column says nothing.
The digits are scikit-learn's: one half of them is in pictures that are labelled, the agent shows the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Scene, Simulator, VisualVocabulary, exclusive
from aam_vision.agents.unreliable import SimulatorDecorator
from aam_vision.envs.grids import grid_boxes, grid_scene
from aam_vision.envs.labelled import LabelledImages, labelled_images
from aam_vision.envs.meaning import Instruction
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.restoring import attributes
from aam_vision.envs.sources import Truths, defined, entries, given, where
from aam_vision.model.domains import load
from aam_vision.model.pddl import Problem
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, Model, Objects, State, Types
from aam_vision.support.errors import UnusableInput

ZOOM: Final = 2  # pixels of a picture for each of a digit's, of which a side has eight
SIDE: Final = 8 * ZOOM
ROBOT: Final = "robot"  # gripper's, which is no object of the domain
SEEN: Final = "seen"  # seen(thing, cell) is perceived; all predicates that change are defined over it


@cache
def handwritten(*, labelled: bool) -> tuple[NDArray[np.uint8], ...]:
    """By digit, images (n, 8, 8) from 0 to 255: those in ``labelled`` pictures, or the agent's; needs scikit-learn (UnusableInput)."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise UnusableInput(
            'scikit-learn, which has the digits, is not installed: pip install "aam-vision[digits]"'
        ) from None
    found, mine = load_digits(), slice(0 if labelled else 1, None, 2)
    images = (found.images[mine] * (255 / 16)).astype(np.uint8)
    return tuple(images[found.target[mine] == digit] for digit in range(10))


@dataclass(frozen=True)
class DigitWorld:
    """A packaged domain of which every state says where some things are.

    Args:
        name: of the domain.
        kinds: the objects with their types.
        reach: where each thing can be; the first thing is shown by the digit 0, and so on.
        facts: what never changes.
        hands: places that hold one thing at most; the domain calls empty ones free.
    """

    name: str
    kinds: Mapping[str, str]
    reach: Mapping[str, tuple[str, ...]]
    facts: frozenset[Atom] = frozenset()
    hands: tuple[str, ...] = ()

    @cached_property
    def truth(self) -> Model:
        return load(self.name)

    @cached_property
    def objects(self) -> Objects:
        return Objects(self.kinds, self.truth.vocabulary.types)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The places, from the top of the grid."""
        return tuple(dict.fromkeys(place for places in self.reach.values() for place in places))

    @cached_property
    def actions(self) -> Mapping[GroundAction, int]:
        """All that can be attempted, with its number."""
        pools = {header.name: map(self.objects.of_type, header.types) for header in self.truth.headers}
        found = [GroundAction(name, objects) for name, pool in pools.items() for objects in product(*pool)]
        return {action: number for number, action in enumerate(found)}

    def atom(self, thing: str, place: str) -> Atom:
        """That a thing is at a place."""
        if thing == ROBOT:
            return Atom("at_robby", (place,))
        inside = "carry" if place in self.hands else "in" if place in self.reach else "at"
        return Atom(inside, (thing, place))

    def state(self, places: tuple[str, ...]) -> State:
        """With the things at these places."""
        true = {self.atom(*pair) for pair in zip(self.reach, places, strict=True)}
        free = {Atom("free", (hand,)) for hand in self.hands if hand not in places}
        return State(self.facts | true | free, self.objects)

    def places(self, state: State) -> tuple[str, ...]:
        """Where the things are in a state."""
        return tuple(
            next(place for place in places if self.atom(thing, place) in state.true)
            for thing, places in self.reach.items()
        )

    def random(self, rng: np.random.Generator, *, carried: bool) -> tuple[str, ...]:
        """Places for the things, hands and the insides of other things among them if they may be ``carried``."""
        found: list[str] = []
        for places in self.reach.values():
            full = {hand for hand in self.hands if hand in found} if carried else {*self.hands, *self.reach}
            found.append(str(rng.choice([place for place in places if place not in full])))
        return tuple(found)

    def problem(self, seed: int) -> Problem:
        """A random one, whose goal says where all that can be carried is wanted."""
        rng = np.random.default_rng([seed, 7])
        start, end = (self.random(rng, carried=False) for _ in range(2))
        carriers = {*self.hands, *self.reach}
        wanted = [thing for thing, places in self.reach.items() if not carriers.isdisjoint(places)]
        goal = {thing: self.atom(thing, place) for thing, place in zip(self.reach, end, strict=True)}
        return Problem(f"{self.name}-{seed}", self.state(start), frozenset(goal[thing] for thing in wanted))


class DigitGrid(gymnasium.Env[int, int]):
    """A world with its picture. An action that cannot be executed changes only the picture."""

    def __init__(self, world: DigitWorld, *, labelled: bool) -> None:
        self.world, self._digits = world, handwritten(labelled=labelled)
        self.action_space = gymnasium.spaces.Discrete(len(world.actions))  # type: ignore[assignment]
        self._actions, self._seed, self.made = tuple(world.actions), 0, 0
        self.places: tuple[str, ...] = ()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self._seed, self.made = seed or 0, 0
        self.places = self.world.random(np.random.default_rng(self._seed), carried=False)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.made += 1
        _, state = self.world.truth.run(self.world.state(self.places), [self._actions[action]])
        self.places = self.world.places(state)
        return 0, 0.0, False, False, {}

    def chance(self) -> np.random.Generator:
        """What draws the present picture, the columns first."""
        rows = [self.world.rows.index(place) for place in self.places]
        return np.random.default_rng([self._seed, self.made, *rows])

    def picture(self, rng: np.random.Generator) -> Frame:
        """(SIDE * rows, SIDE * things, 3)."""
        rows, things = self.world.rows, len(self.places)
        grid = np.zeros((len(rows), SIDE, things, SIDE), np.uint8)
        for digit, column in enumerate(rng.permutation(things)):
            drawn = rng.choice(self._digits[digit])
            grid[rows.index(self.places[digit]), :, column] = drawn.repeat(ZOOM, 0).repeat(ZOOM, 1)
        return grid.reshape(len(rows) * SIDE, -1, 1).repeat(3, 2)

    def render(self) -> Frame:
        """One picture until the next step."""
        return self.picture(self.chance())


class DrawnAnew(SimulatorDecorator):
    """A simulator of digits that are drawn anew at every look."""

    def __init__(self, simulator: Simulator, rng: np.random.Generator) -> None:
        super().__init__(simulator)
        self._rng = rng

    def frame(self) -> Frame:
        grid: DigitGrid = self._simulator.present  # type: ignore[attr-defined]
        return grid.picture(self._rng)


def shown(grid: DigitGrid) -> list[Atom]:
    """In which cells the present picture shows the things."""
    columns = grid.chance().permutation(len(grid.places)).tolist()
    where = zip(grid.world.reach, grid.places, columns, strict=True)
    return [Atom(SEEN, (thing, f"{place}/{column}")) for thing, place, column in where]


def vocabulary(world: DigitWorld) -> VisualVocabulary:
    """The predicates of the domain: those that change are defined by the rows in which the things are seen."""
    declared, looks = world.truth.vocabulary, [f"digit-{number}" for number in range(len(world.reach))]
    static = {atom.predicate for atom in world.facts}

    def told(name: str, scene: Scene, seen: State) -> Truths:
        pairs = [
            {(atom.objects[0], atom.objects[1].partition("/")[0]) for atom in atoms if atom.predicate == SEEN}
            for atoms in (seen.true, seen.unknown)
        ]
        if name == "free":
            full, doubtful = ({place for _, place in some} for some in pairs)
            free = [hand for hand in world.hands if hand not in full]
            true, unknown = (
                [hand for hand in free if (hand in doubtful) is open_] for open_ in (False, True)
            )
            return [Atom(name, (hand,)) for hand in true], [Atom(name, (hand,)) for hand in unknown]
        certain, doubted = (
            {world.atom(*pair) for pair in some if pair[1] in world.reach[pair[0]]} for some in pairs
        )
        known, left = (
            sorted(atom for atom in atoms if atom.predicate == name) for atoms in (certain, doubted - certain)
        )
        return known, left

    def source(name: str) -> Any:
        if name in static:
            return given("the user says so")
        return defined(partial(told, name), "by the rows in which digits are seen")

    return VisualVocabulary(
        f"digits-{world.name}",
        entries(
            world.name,
            declared.predicates,
            {one.name: source(one.name) for one in declared.predicates},
            {f"{SEEN} ?t - thing ?c - cell": where(looks, "its digit is in the cell", auxiliary=True)},
        ),
        declared.types,
        dict.fromkeys(looks, False),
        constraints=tuple(exclusive(*looks)),
    )


def environment(world: DigitWorld, labels: int) -> OwnEnvironment:
    """The world as an environment of one's own, with so many labelled pictures to learn from."""
    things, rows = tuple(world.reach), world.rows
    cells = {
        f"{place}/{column}": (row, column) for row, place in enumerate(rows) for column in range(len(things))
    }
    scene = grid_scene(
        world.objects,
        cells,
        looks={thing: f"digit-{number}" for number, thing in enumerate(things)},
        facts=world.facts,
        spots=Objects({**dict.fromkeys(things, "thing"), **dict.fromkeys(cells, "cell")}, Types({})),
        boxes=grid_boxes(len(rows), len(things)),
    )

    def instruction(header: ActionHeader) -> Instruction:
        def number(*objects: str) -> int:
            return world.actions[GroundAction(header.name, objects)]

        return Instruction(header, number, watch=lambda grid: grid.places, free=header.arity)

    def shake(grid: DigitGrid, rng: np.random.Generator) -> None:
        grid.places = world.random(rng, carried=True)

    def images(*, labelled: bool) -> LabelledImages:
        return labelled_images(
            [partial(DigitGrid, world, labelled=labelled)], lambda grid: scene, shown, shake
        )

    return OwnEnvironment(
        name=f"digits-{world.name}",
        visual=vocabulary(world),
        instructions=tuple(map(instruction, world.truth.headers)),
        make=partial(DigitGrid, world, labelled=False),
        scene=lambda grid: scene,
        seeds=(0, 1, 2),
        pictures=images(labelled=True),
        unseen=images(labelled=False),
        number=labels,
        restore=attributes("places", "made"),
        stops=False,
        truth=lambda: world.truth,
    )


# With ROSAME-I's numbers of objects.

_ROOMS, _HANDS, _AIRPORTS = ("room1", "room2"), ("left", "right"), ("airport1", "airport2")
_PLACES = ("airport1", "location1", "airport2", "location2")
_BALLS, _PACKAGES = ([f"{kind}{number}" for number in range(1, 7)] for kind in ("ball", "package"))
_TRUCKS, _PLANES = ("truck1", "truck2"), ("airplane1", "airplane2")
_NUMBERED = (*_PLACES, "city1", "city2", *_PACKAGES, *_TRUCKS, *_PLANES)

WORLDS: Final = {
    "gripper": DigitWorld(
        "gripper",
        dict.fromkeys(_ROOMS, "room") | dict.fromkeys(_BALLS, "ball") | dict.fromkeys(_HANDS, "gripper"),
        {ROBOT: _ROOMS, **dict.fromkeys(_BALLS, _ROOMS + _HANDS)},
        hands=_HANDS,
    ),
    "logistics": DigitWorld(
        "logistics",
        {name: name[:-1] for name in _NUMBERED},
        dict.fromkeys(_PACKAGES, _PLACES + _TRUCKS + _PLANES)
        | {"truck1": _PLACES[:2], "truck2": _PLACES[2:]}
        | dict.fromkeys(_PLANES, _AIRPORTS),
        frozenset(Atom("in-city", (place, f"city{place[-1]}")) for place in _PLACES),
    ),
}
