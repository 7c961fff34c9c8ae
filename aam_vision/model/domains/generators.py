"""Problems of any size for every packaged domain, reproducible from a random generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import TypeVar

import numpy as np

from aam_vision.model.domains.registry import known, load
from aam_vision.model.pddl import Problem
from aam_vision.model.strips import Atom, Objects, State, Types
from aam_vision.support.errors import UnusableInput


def generate(name: str, size: int, rng: np.random.Generator) -> Problem:
    """A problem of a packaged domain whose goal does not hold yet.

    Args:
        name: one of ``DOMAINS``.
        size: 1, 2, 3 and so on; a larger one means more objects. From 1 on every action of the domain is
            executable in some reachable state.
        rng: the source of everything random.

    Raises:
        UnusableInput: there is no domain of that name, or the size is below 1.
    """
    types = load(known(name)).vocabulary.types
    if size < 1:
        raise UnusableInput(f"a {name} problem of size {size} cannot be generated; sizes start at 1")
    while True:
        draft = Draft(rng)
        _GENERATORS[name](draft, size)
        problem = draft.problem(f"{name}-{size}", types)
        if not problem.goal <= problem.initial.true:  # the goal of a small problem may hold by chance
            return problem


# Patience: freecell.


_SUITS = {"clubs": "black", "diamonds": "red", "hearts": "red", "spades": "black"}
_CELLS = 4
_MOST_COLUMNS = 8


def freecell(draft: Draft, size: int) -> None:
    """Four suits of one value more than the size, dealt at random; all are wanted at home."""
    top = 1 + size
    columns = min(4 + size, _MOST_COLUMNS)
    numbers = draft.add("num", (f"n{i}" for i in range(max(top, columns, _CELLS) + 1)))
    for low, high in pairwise(numbers):
        draft.holds("successor", high, low)
    suits = draft.add("suit", _SUITS)
    cards = {(suit, value): f"{suit}-{value}" for suit, value in product(suits, range(top + 1))}
    draft.add("card", cards.values())
    for (suit, value), card in cards.items():
        draft.holds("suit", card, suit)
        draft.holds("value", card, numbers[value])
        for other in suits:
            if 0 < value < top and _SUITS[suit] != _SUITS[other]:
                draft.holds("canstack", card, cards[other, value + 1])
    for suit in suits:
        draft.holds("home", cards[suit, 0])
        draft.wants("home", cards[suit, top])

    deck = draft.shuffled([card for (_, value), card in cards.items() if value])
    piles = draft.count(3, columns)
    for number in range(piles):
        pile = deck[number::piles]
        draft.holds("bottomcol", pile[0])
        draft.holds("clear", pile[-1])
        for below, above in pairwise(pile):
            draft.holds("on", above, below)
    draft.holds("cellspace", numbers[_CELLS])
    draft.holds("colspace", numbers[columns - piles])


# Things that stand on or behind one another: blocksworld, parking, termes.


def blocksworld(draft: Draft, size: int) -> None:
    """Random towers that are to become other random towers; the hand is empty."""
    blocks = draft.number("block", 2 + size, "b")
    for tower in _towers(draft, blocks):
        draft.holds("ontable", tower[0])
        draft.holds("clear", tower[-1])
        for below, above in pairwise(tower):
            draft.holds("on", above, below)
    draft.holds("handempty")
    for tower in _towers(draft, blocks):
        for below, above in pairwise(tower):
            draft.wants("on", above, below)
        if len(tower) == 1:
            draft.wants("ontable", tower[0])


def _towers(draft: Draft, blocks: list[str]) -> list[list[str]]:
    towers: list[list[str]] = []
    for block in draft.shuffled(blocks):
        if towers and draft.count(0, 2):
            draft.one(towers).append(block)
        else:
            towers.append([block])
    return towers


def parking(draft: Draft, size: int) -> None:
    """All curbs but one are taken, by two cars each except for one car alone; the goal is another order.

    The competition's problems have one car more. There a car alone at a curb and a free curb never come
    together, so that none of them can execute ``move-curb-to-curb``.
    """
    curbs = draft.number("curb", 2 + size)
    cars = draft.number("car", 2 * (len(curbs) - 1) - 1)
    free = draft.one(curbs)
    draft.holds("curb_clear", free)
    for curb, *pair in _parked(draft, [curb for curb in curbs if curb != free], cars):
        draft.holds("at_curb", pair[0])
        draft.holds("at_curb_num", pair[0], curb)
        draft.holds("car_clear", pair[-1])
        if len(pair) > 1:
            draft.holds("behind_car", pair[1], pair[0])
    for curb, *pair in _parked(draft, draft.shuffled(curbs)[1:], cars):
        draft.wants("at_curb_num", pair[0], curb)
        if len(pair) > 1:
            draft.wants("behind_car", pair[1], pair[0])


def _parked(draft: Draft, curbs: list[str], cars: list[str]) -> list[list[str]]:
    """Every curb with its one or two cars, the car at the curb first."""
    order = draft.shuffled(cars)
    return [[curb, *order[i :: len(curbs)]] for i, curb in enumerate(draft.shuffled(curbs))]


def termes(draft: Draft, size: int) -> None:
    """An empty grid with a robot at its depot; a few towers are wanted, apart from one another.

    A tower of two blocks needs a ramp of one block beside it, which is taken away again at the end; higher
    ones are not asked for, so that every goal can be reached on every grid.
    """
    width, depth, top = 2 + size, 1 + size, 1 + size
    heights = draft.add("numb", (f"n{i}" for i in range(top + 1)))
    for low, high in pairwise(heights):
        draft.holds("succ", high, low)
    cells = list(product(range(width), range(depth)))
    names = dict(zip(cells, draft.add("position", (f"pos-{x}-{y}" for x, y in cells)), strict=True))
    for x, y in cells:
        for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if beside in names:
                draft.holds("neighbor", names[x, y], names[beside])
        draft.holds("height", names[x, y], heights[0])
    depot = draft.one(cells)
    draft.holds("is_depot", names[depot])
    draft.holds("at", names[depot])
    towers: list[tuple[int, int]] = []
    for cell in draft.shuffled(cells):
        apart = all(abs(cell[0] - x) + abs(cell[1] - y) > 2 for x, y in towers)
        if cell != depot and apart and len(towers) < size:
            towers.append(cell)
    for cell in cells:
        draft.wants("height", names[cell], heights[draft.count(1, 2) if cell in towers else 0])
    draft.wants("has_block", value=False)


# Drinks: barman.


def barman(draft: Draft, size: int) -> None:
    """Clean, empty vessels on the table; the goal is a different drink in every shot glass but one.

    Every cocktail has two different parts and the shaker two steps, enough for both of them.
    """
    shaker = draft.number("shaker", 1)[0]
    hands = draft.add("hand", ["left", "right"])
    shots = draft.number("shot", 2 + size)
    ingredients = draft.number("ingredient", 1 + size)
    cocktails = draft.number("cocktail", size)
    levels = draft.add("level", ["l0", "l1", "l2"])
    for ingredient, dispenser in zip(ingredients, draft.number("dispenser", len(ingredients)), strict=True):
        draft.holds("dispenses", dispenser, ingredient)
    for cocktail in cocktails:
        first, second = draft.shuffled(ingredients)[:2]
        draft.holds("cocktail-part1", cocktail, first)
        draft.holds("cocktail-part2", cocktail, second)
    for vessel in (shaker, *shots):
        for predicate in ("ontable", "clean", "empty"):
            draft.holds(predicate, vessel)
    for hand in hands:
        draft.holds("handempty", hand)
    draft.holds("shaker-empty-level", shaker, levels[0])
    draft.holds("shaker-level", shaker, levels[0])
    for low, high in pairwise(levels):
        draft.holds("next", low, high)
    drinks = [*cocktails, *draft.shuffled(ingredients)]
    for shot, drink in zip(shots[:-1], drinks, strict=False):
        draft.wants("contains", shot, drink)


# Machines that look at things far away and tell of them: satellite, rovers.


def satellite(draft: Draft, size: int) -> None:
    """Satellites with two or three instruments each; images are wanted in modes that some instrument has."""
    satellites = draft.number("satellite", 1 + size // 2)
    directions = draft.number("direction", 3 + size)
    modes = draft.number("mode", 1 + size)
    instruments: list[str] = []
    for number, machine in enumerate(satellites, 1):
        draft.holds("power_avail", machine)
        draft.holds("pointing", machine, draft.one(directions))
        aboard = draft.add("instrument", (f"instrument{number}-{i + 1}" for i in range(draft.count(2, 3))))
        for instrument in aboard:
            draft.holds("on_board", instrument, machine)
            draft.holds("calibration_target", instrument, draft.one(directions))
            draft.holds("supports", instrument, draft.one(modes))
        instruments += aboard
    for mode in modes:
        draft.holds("supports", draft.one(instruments), mode)
    for direction in draft.some(directions):
        draft.wants("have_image", direction, draft.one(modes))
    if draft.count(0, 1):
        draft.wants("pointing", draft.one(satellites), draft.one(directions))


def rovers(draft: Draft, size: int) -> None:
    """Rovers on a network of waypoints; the first can do everything and go anywhere, so goals are reachable.

    The lander stands where at least two waypoints see it: an analysis of one can be sent from the other.
    """
    machines = draft.number("rover", 1 + size // 2)
    waypoints = draft.number("waypoint", 3 + size)
    objectives = draft.number("objective", 1 + size)
    modes = draft.add("mode", ["colour", "high_res", "low_res"])
    cameras = draft.number("camera", len(machines) - 1 + size)
    tree, edges = _network(draft, waypoints)
    for one, other in edges:
        draft.holds("visible", one, other)
        draft.holds("visible", other, one)

    degree = {w: sum(w in edge for edge in edges) for w in waypoints}
    site = draft.one([w for w in waypoints if degree[w] >= 2])
    lander = draft.number("lander", 1)[0]
    draft.holds("at_lander", lander, site)
    draft.holds("channel_free", lander)

    for number, rover in enumerate(machines, 1):
        first = rover == machines[0]
        draft.holds("available", rover)
        draft.holds("at", rover, draft.one(waypoints))
        store = draft.add("store", [f"store{number}"])[0]
        draft.holds("store_of", store, rover)
        draft.holds("empty", store)
        for ability in draft.some(["soil_analysis", "rock_analysis", "imaging"], 3 if first else 1):
            draft.holds(f"equipped_for_{ability}", rover)
        for one, other in edges if first else tree:
            draft.holds("can_traverse", rover, one, other)
            draft.holds("can_traverse", rover, other, one)

    for objective in objectives:
        for waypoint in draft.some(waypoints):
            draft.holds("visible_from", objective, waypoint)
    for camera in cameras:
        first = camera == cameras[0]
        draft.holds("on_board", camera, machines[0] if first else draft.one(machines))
        draft.holds("calibration_target", camera, draft.one(objectives))
        for mode in draft.some(modes):
            draft.holds("supports", camera, mode)
            if first:
                draft.wants("communicated_image_data", draft.one(objectives), mode)
    away = [w for w in waypoints if w != site]
    for matter in ("soil", "rock"):
        for waypoint in draft.some(away):
            draft.holds(f"at_{matter}_sample", waypoint)
            draft.wants(f"communicated_{matter}_data", waypoint)


def _network(draft: Draft, nodes: list[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """A random tree over the nodes, and the same with some more edges."""
    order = draft.shuffled(nodes)
    tree = [(draft.one(order[:i]), order[i]) for i in range(1, len(order))]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    more = [pair for pair in draft.shuffled(pairs) if pair not in set(tree)]
    return tree, tree + more[: len(nodes) // 2]


# Things that are brought from one place to another: gripper, miconic, logistics.


def gripper(draft: Draft, size: int) -> None:
    """Balls spread over rooms, a robot with two hands; every ball is wanted in another room."""
    rooms = draft.number("room", 2 + size // 2)
    balls = draft.number("ball", 1 + size)
    for hand in draft.add("gripper", ["left", "right"]):
        draft.holds("free", hand)
    draft.holds("at_robby", draft.one(rooms))
    for ball in balls:
        room = draft.one(rooms)
        draft.holds("at", ball, room)
        draft.wants("at", ball, draft.one(rooms, but=room))


def miconic(draft: Draft, size: int) -> None:
    """One lift, passengers that wait at a floor and want to another; all are to be served.

    As in the competition's problems ``not_boarded`` and ``not_served`` are not used: no action keeps them true.
    """
    floors = draft.number("floor", 2 + size)
    for i, low in enumerate(floors):
        for high in floors[i + 1 :]:
            draft.holds("above", low, high)  # as the actions read it: the second is the higher one
    draft.holds("lift_at", draft.one(floors))
    for passenger in draft.number("passenger", 1 + size):
        origin = draft.one(floors)
        draft.holds("origin", passenger, origin)
        draft.holds("destin", passenger, draft.one(floors, but=origin))
        draft.wants("served", passenger)


def logistics(draft: Draft, size: int) -> None:
    """Cities with an airport and other places, a truck in each, planes; packages want to other places."""
    cities = draft.number("city", 1 + size)
    places: list[str] = []
    airports: list[str] = []
    for number, city in enumerate(cities, 1):
        local = draft.add("airport", [f"airport{number}"])
        airports += local
        local += draft.add("location", (f"location{number}-{i + 1}" for i in range(1 + size // 2)))
        for place in local:
            draft.holds("in-city", place, city)
        draft.holds("at", draft.add("truck", [f"truck{number}"])[0], draft.one(local))
        places += local
    for airplane in draft.number("airplane", 1 + size // 3):
        draft.holds("at", airplane, draft.one(airports))
    for package in draft.number("package", 1 + size):
        place = draft.one(places)
        draft.holds("at", package, place)
        draft.wants("at", package, draft.one(places, but=place))


# A problem in the making: objects, facts and wishes collected by a generator.


T = TypeVar("T")


class Draft:
    """Collects what a problem consists of; everything random comes from one generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._kinds: dict[str, str] = {}
        self._true: set[Atom] = set()
        self._goal: set[Atom] = set()
        self._goal_false: set[Atom] = set()

    def add(self, kind: str, names: Iterable[str]) -> list[str]:
        """Add objects of a type; returns their names."""
        names = list(names)
        self._kinds.update(dict.fromkeys(names, kind))
        return names

    def number(self, kind: str, count: int, prefix: str = "") -> list[str]:
        """Add so many objects of a type, named by the prefix (or the type) and a number from 1."""
        return self.add(kind, (f"{prefix or kind}{i + 1}" for i in range(count)))

    def holds(self, predicate: str, *objects: str) -> None:
        """State a fact of the initial state."""
        self._true.add(Atom(predicate, objects))

    def wants(self, predicate: str, *objects: str, value: bool = True) -> None:
        """State a part of the goal: an atom that shall be true, or false."""
        (self._goal if value else self._goal_false).add(Atom(predicate, objects))

    def one(self, choices: Sequence[T], *, but: T | None = None) -> T:
        """One of the choices at random, other than ``but``."""
        options = [choice for choice in choices if choice != but]
        return options[int(self._rng.integers(len(options)))]

    def some(self, choices: Sequence[T], least: int = 1) -> list[T]:
        """A random subset of at least so many choices, in random order."""
        return self.shuffled(choices)[: self.count(least, len(choices))]

    def shuffled(self, choices: Sequence[T]) -> list[T]:
        """All choices in random order."""
        return [choices[int(i)] for i in self._rng.permutation(len(choices))]

    def count(self, least: int, most: int) -> int:
        """A random number between the two, both included."""
        return int(self._rng.integers(least, most + 1))

    def problem(self, name: str, types: Types) -> Problem:
        """The finished problem."""
        state = State(frozenset(self._true), Objects(self._kinds, types))
        return Problem(name, state, frozenset(self._goal), frozenset(self._goal_false))


_GENERATORS: Mapping[str, Callable[[Draft, int], None]] = {
    "gripper": gripper,
    "blocksworld": blocksworld,
    "miconic": miconic,
    "parking": parking,
    "logistics": logistics,
    "satellite": satellite,
    "termes": termes,
    "rovers": rovers,
    "barman": barman,
    "freecell": freecell,
}
