"""Gripper and logistics as ROSAME-I draws them: grids of handwritten digits, every one drawn anew in every picture.

A row of the grid is a place (a room, a hand, an airport, the inside of a truck) and a digit is a thing; its column says nothing.
The digits are scikit-learn's. Half of them are in pictures that are labelled; the agent shows none of these, but the other half.
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

from aam_vision.agents.perception import Frame, Scene, VisualVocabulary, exclusive
from aam_vision.agents.unreliable import SimulatorDecorator
from aam_vision.envs.grids import grid_boxes, grid_scene
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.meaning import Instruction
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.restoring import attributes
from aam_vision.envs.sources import Truths, defined, entries, given, where
from aam_vision.model.domains import load
from aam_vision.model.pddl import Problem
from aam_vision.model.strips import Atom, GroundAction, Model, Objects, State, Types
from aam_vision.support.errors import UnusableInput

SIDE: Final = 16
"""Pixels of a cell: two for each of a digit's."""
ROBOT: Final = "robot"
SEEN: Final = "seen"
"""seen(thing, cell): what classifiers are asked. All predicates but the static ones are defined over it."""


@cache
def handwritten(*, labelled: bool) -> tuple[NDArray[np.uint8], ...]:
    """By digit, pictures of (n, 8, 8), 0 to 255: one half of all for pictures that are labelled, the other for those that are shown.

    Raises:
        UnusableInput: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise UnusableInput(
            f"the digits are scikit-learn's ({error}): pip install 'aam-vision[digits]'"
        ) from None
    found = load_digits()
    mine = slice(0 if labelled else 1, None, 2)  # of every writer, half
    images, digits = (found.images[mine] * (255 / 16)).astype(np.uint8), found.target[mine]
    return tuple(images[digits == digit] for digit in range(10))


@dataclass(frozen=True)
class DigitWorld:
    """A packaged domain whose states are placements of things.

    Args:
        name: of the packaged domain.
        kinds: the objects with their types.
        reach: where each thing can be; the first is shown by the digit 0, and so on.
        facts: what no action changes.
        hands: places that hold one thing at most: ``free`` says which do not.
        wanted: type of the things of which goals speak.
    """

    name: str
    kinds: Mapping[str, str]
    reach: Mapping[str, tuple[str, ...]]
    wanted: str
    facts: frozenset[Atom] = frozenset()
    hands: tuple[str, ...] = ()

    @cached_property
    def model(self) -> Model:
        """The truth."""
        return load(self.name)

    @cached_property
    def objects(self) -> Objects:
        """Of every problem."""
        return Objects(self.kinds, self.model.vocabulary.types)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The places, from above."""
        return tuple(dict.fromkeys(place for places in self.reach.values() for place in places))

    @cached_property
    def actions(self) -> Mapping[GroundAction, int]:
        """All that can be attempted, numbered."""
        found = [
            GroundAction(header.name, objects)
            for header in self.model.headers
            for objects in product(*map(self.objects.of_type, header.types))
        ]
        return {action: number for number, action in enumerate(found)}

    def atom(self, thing: str, place: str) -> Atom:
        """That a thing is at a place, in the words of the domain."""
        if thing == ROBOT:
            return Atom("at_robby", (place,))
        carried = {"gripper": "carry", "truck": "in", "airplane": "in"}
        return Atom(carried.get(self.kinds[place], "at"), (thing, place))

    def state(self, places: tuple[str, ...]) -> State:
        """With the things in order at these places."""
        true = {self.atom(thing, place) for thing, place in zip(self.reach, places, strict=True)}
        free = {Atom("free", (hand,)) for hand in self.hands if hand not in places}
        return State(self.facts | true | free, self.objects)

    def places(self, state: State) -> tuple[str, ...]:
        """Where the things are in a state."""
        return tuple(
            next(place for place in places if self.atom(thing, place) in state.true)
            for thing, places in self.reach.items()
        )

    def random(self, rng: np.random.Generator, *, carried: bool = False) -> tuple[str, ...]:
        """Any places for the things; some inside of others where they may be ``carried``."""
        found: list[str] = []
        for places in self.reach.values():
            fixed = [place for place in places if self.kinds[place] in ("room", "airport", "location")]
            possible = [place for place in places if place not in self.hands or place not in found]
            found.append(str(rng.choice(possible if carried else fixed)))
        return tuple(found)

    def problem(self, seed: int) -> Problem:
        """A random one, whose goal says where all balls, or packages, are wanted."""
        rng = np.random.default_rng([seed, 7])
        end = zip(self.reach, self.random(rng), strict=True)
        goal = frozenset(self.atom(*pair) for pair in end if self.kinds.get(pair[0]) == self.wanted)
        return Problem(f"{self.name}-{seed}", self.state(self.random(rng)), goal)


class DigitGrid(gymnasium.Env[int, int]):
    """A world with its picture; an action that cannot be carried out changes nothing but the picture."""

    def __init__(self, world: DigitWorld, *, labelled: bool) -> None:
        self.world, self._digits = world, handwritten(labelled=labelled)
        self.observation_space = self.action_space = gymnasium.spaces.Discrete(len(world.actions))
        self._actions, self._seed, self.made = tuple(world.actions), 0, 0
        self.places: tuple[str, ...] = ()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        """A random problem."""
        super().reset(seed=seed)
        self._seed, self.made = seed or 0, 0
        self.places = self.world.random(np.random.default_rng(self._seed))
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Attempt an action."""
        name, objects = self._actions[action]
        state, schema = self.world.state(self.places), self.world.model.schema(name)
        self.made += 1
        if schema.applicable(state, objects):
            self.places = self.world.places(schema.successor(state, objects))
        return 0, 0.0, False, False, {}

    def chance(self) -> np.random.Generator:
        """What draws the present picture, columns first: another one after every step."""
        rows = [self.world.rows.index(place) for place in self.places]
        return np.random.default_rng([self._seed, self.made, *rows])

    def picture(self, rng: np.random.Generator) -> Frame:
        """uint8, (rows * SIDE, things * SIDE, 3)."""
        rows, image = self.world.rows, np.zeros((len(self.world.rows), SIDE, len(self.places), SIDE), np.uint8)
        for digit, (place, column) in enumerate(zip(self.places, columns(self, rng), strict=True)):
            image[rows.index(place), :, column] = rng.choice(self._digits[digit]).repeat(2, 0).repeat(2, 1)
        return image.reshape(len(rows) * SIDE, -1)[..., None].repeat(3, 2)

    def render(self) -> Frame:  # type: ignore[override]
        """The same picture until the next step."""
        return self.picture(self.chance())


class DrawnAnew(SimulatorDecorator):
    """A simulator whose digits are drawn anew whenever it is looked at."""

    def __init__(self, simulator: GymnasiumSimulator, rng: np.random.Generator) -> None:
        super().__init__(simulator)
        self._grid, self._rng = simulator, rng

    def frame(self) -> Frame:
        """Another picture of the same situation."""
        picture: Frame = self._grid.present.picture(self._rng)
        return picture


def columns(env: DigitGrid, rng: np.random.Generator) -> list[int]:
    """Where in their rows the things are drawn."""
    found: list[int] = rng.permutation(len(env.places)).tolist()
    return found


def cell(place: str, column: int) -> str:
    """The name of a cell in the row of a place."""
    return f"{place}/{column}"


def shown(env: DigitGrid) -> list[Atom]:
    """In which cells the present picture shows the things."""
    pairs = zip(env.world.reach, env.places, columns(env, env.chance()), strict=True)
    return [Atom(SEEN, (thing, cell(place, column))) for thing, place, column in pairs]


def _told(world: DigitWorld, name: str, scene: Scene, seen: State) -> Truths:
    """The atoms of a predicate that follow from where things are seen."""
    found = [
        {(atom.objects[0], atom.objects[1].partition("/")[0]) for atom in atoms if atom.predicate == SEEN}
        for atoms in (seen.true, seen.unknown)
    ]
    if name == "free":
        taken, perhaps = ({place for _, place in pairs} for pairs in found)
        free = [hand for hand in world.hands if hand not in taken]
        told = [Atom(name, (hand,)) for hand in free]
        return [one for one in told if one.objects[0] not in perhaps], [
            one for one in told if one.objects[0] in perhaps
        ]
    # a doubtful digit may be one of a thing in a row where it can never be
    true, unknown = (
        {world.atom(*pair) for pair in pairs if pair[1] in world.reach[pair[0]]} for pairs in found
    )
    return tuple(  # type: ignore[return-value]
        sorted(atom for atom in atoms if atom.predicate == name) for atoms in (true, unknown - true)
    )


def vocabulary(world: DigitWorld) -> VisualVocabulary:
    """The predicates of the domain, all but the static ones by where things are seen."""
    looks, predicates = [f"digit-{number}" for number in range(len(world.reach))], world.model.vocabulary
    static = {atom.predicate for atom in world.facts}
    sources = {
        one.name: given("the user says so")
        if one.name in static
        else defined(partial(_told, world, one.name), "by the rows in which the digits are")
        for one in predicates.predicates
    }
    seen = {f"{SEEN} ?t - thing ?c - cell": where(looks, "the digit is in the cell", auxiliary=True)}
    made = entries(world.name, predicates.predicates, sources, seen)
    return VisualVocabulary(
        f"digits-{world.name}",
        made,
        predicates.types,
        dict.fromkeys(looks, False),
        constraints=tuple(exclusive(*looks)),
    )


def scene(world: DigitWorld) -> Scene:
    """The grid, the same in every problem."""
    things, rows = tuple(world.reach), world.rows
    cells = {cell(p, c): (row, c) for row, p in enumerate(rows) for c in range(len(things))}
    return grid_scene(
        world.objects,
        cells,
        looks={thing: f"digit-{number}" for number, thing in enumerate(things)},
        facts=world.facts,
        spots=Objects({**dict.fromkeys(things, "thing"), **dict.fromkeys(cells, "cell")}, Types({})),
        boxes=grid_boxes(len(rows), len(things)),
    )


def environment(world: DigitWorld, labels: int) -> OwnEnvironment:
    """The world as an environment of one's own, with so many labelled pictures."""
    pointed_out = scene(world)

    def instruction(header: Any) -> Instruction:
        def number(*objects: str) -> int:
            return world.actions[GroundAction(header.name, objects)]

        return Instruction(header, number, watch=lambda env: env.places, free=header.arity)

    def shake(env: DigitGrid, rng: np.random.Generator) -> None:
        env.places = world.random(rng, carried=True)

    def images(*, labelled: bool) -> Any:
        makers = [partial(DigitGrid, world, labelled=labelled)]
        return labelled_images(makers, lambda env: pointed_out, shown, shake)

    return OwnEnvironment(
        name=f"digits-{world.name}",
        visual=vocabulary(world),
        instructions=tuple(map(instruction, world.model.headers)),
        make=partial(DigitGrid, world, labelled=False),
        scene=lambda env: pointed_out,
        seeds=(0, 1, 2),
        pictures=images(labelled=True),
        unseen=images(labelled=False),
        number=labels,
        restore=attributes("places", "made"),
        stops=False,
        truth=lambda: world.model,
    )


# ROSAME-I's objects.

_ROOMS, _HANDS = ("room1", "room2"), ("left", "right")
_BALLS = tuple(f"ball{number}" for number in range(1, 7))
_AIRPORTS, _PLACES = ("airport1", "airport2"), ("airport1", "location1", "airport2", "location2")
_PACKAGES = tuple(f"package{number}" for number in range(1, 7))
_TRUCKS, _PLANES = ("truck1", "truck2"), ("airplane1", "airplane2")

WORLDS: Final = {
    "gripper": DigitWorld(
        "gripper",
        dict.fromkeys(_ROOMS, "room") | dict.fromkeys(_BALLS, "ball") | dict.fromkeys(_HANDS, "gripper"),
        {ROBOT: _ROOMS, **dict.fromkeys(_BALLS, _ROOMS + _HANDS)},
        "ball",
        hands=_HANDS,
    ),
    "logistics": DigitWorld(
        "logistics",
        {
            **{place: place[:-1] for place in _PLACES},
            **{"city1": "city", "city2": "city"},
            **dict.fromkeys(_PACKAGES, "package"),
            **dict.fromkeys(_TRUCKS, "truck"),
            **dict.fromkeys(_PLANES, "airplane"),
        },
        {
            **dict.fromkeys(_PACKAGES, _PLACES + _TRUCKS + _PLANES),
            "truck1": _PLACES[:2],
            "truck2": _PLACES[2:],
            **dict.fromkeys(_PLANES, _AIRPORTS),
        },
        "package",
        frozenset(Atom("in-city", (place, f"city{place[-1]}")) for place in _PLACES),
    ),
}
