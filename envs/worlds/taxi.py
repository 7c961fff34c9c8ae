"""Gymnasium's Taxi: what its pictures show, and what the driver can be told.

A taxi drives on a board of five by five cells with walls, picks a passenger up at one of four stands and sets them down at
one. A passenger who waits under the taxi cannot be seen; who is nowhere else, nor aboard, waits there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.envs.toy_text.taxi import CELL_SIZE, GRID_ORIGIN, WINDOW_SIZE, TaxiEnv

from aam_vision.agents.perception import Exactly, Scene
from aam_vision.envs.control_names import control
from aam_vision.envs.controlled import ReadyWorld
from aam_vision.envs.grids import board_scene, grid_boxes, neighbours
from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.meaning import instruction, intended_model
from aam_vision.envs.restoring import attributes
from aam_vision.envs.sources import always, defined, on, there, vocabulary, where
from aam_vision.model.strips import Atom, Model, State

TYPES = {"cell": "object", "stand": "cell", "taxi": "object", "direction": "object"}
DIRECTIONS = {"south": (1, 0), "north": (-1, 0), "east": (0, 1), "west": (0, -1)}
"""In the order of the environment's actions: changes of row and column."""
PICK_UP, DROP_OFF = 4, 5
STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
CAB = "cab"
STATES, ORIENTATIONS = 500, 4
TAUGHT: Final = 400
"""Labelled images to train on."""
SHOWN = np.random.default_rng(0).permutation(STATES * ORIENTATIONS)
"""All pictures there are, in random order: those of even place may be trained on, the others never are."""


def cell(place: tuple[int, int]) -> str:
    """The name of a cell."""
    return f"cell-{place[0]}-{place[1]}"


CELLS = {(row, column): cell((row, column)) for row in range(5) for column in range(5)}


def _roads() -> Iterator[tuple[str, str, str]]:
    """Cells that a street connects, by the environment's own map."""
    walls = np.asarray(TaxiEnv().desc, dtype="U1")
    for row in range(5):
        for column in range(5):
            for name, (down, right) in DIRECTIONS.items():
                wall = walls[1 + row, 2 * column + 1 + right]
                if 0 <= row + down < 5 and 0 <= column + right < 5 and (down or wall == ":"):
                    yield cell((row, column)), cell((row + down, column + right)), name


ROADS = tuple(_roads())


def _waiting(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    values = {place: seen.value(Atom("seen", (place,))) for place in scene.objects.of_type("stand")}
    aboard = seen.value(Atom("occupied", (CAB,)))
    found = [place for place, value in values.items() if value]
    hidden = [place for place, value in values.items() if value is None]
    if not found and aboard is False and len(hidden) == 1:
        found = hidden
    unknown = [] if found or aboard else hidden
    return [Atom("waiting", (place,)) for place in found], [Atom("waiting", (place,)) for place in unknown]


VOCABULARY = vocabulary(
    "taxi",
    TYPES,
    {
        "at ?t - taxi ?c - cell": where(["taxi"], "the taxi is there"),
        "occupied ?t - taxi": on("full", "the taxi with its light on"),
        "destination ?s - stand": there("destination", "a stand with a frame"),
        "seen ?s - stand": there("passenger", "a figure", hidden_by="taxi", auxiliary=True),
        "waiting ?s - stand": defined(_waiting, "a figure stands there, or nowhere else and not aboard"),
        "road ?a ?b - cell ?d - direction": always(ROADS, "a street leads there"),
    },
    constraints=(Exactly("taxi", 1), Exactly("destination", 1)),
)


def scene(taxi: Any) -> Scene:
    """The board, always the same."""
    kinds = {cell(place): "stand" for place in STANDS} | {
        CAB: "taxi",
        **dict.fromkeys(DIRECTIONS, "direction"),
    }
    (width, height), (left, top), (across, down) = WINDOW_SIZE, GRID_ORIGIN, CELL_SIZE
    box = top / height, (top + 5 * down) / height, left / width, (left + 5 * across) / width
    boxes = grid_boxes(5, 5, box)
    return board_scene(5, 5, TYPES, kinds, looks={CAB: "taxi"}, boxes=boxes)


def true_atoms(taxi: Any) -> list[Atom]:
    """What is true at present of all that changes."""
    row, column, passenger, destination = taxi.decode(taxi.s)
    found = [Atom("at", (CAB, cell((row, column)))), Atom("destination", (cell(STANDS[destination]),))]
    aboard = passenger == len(STANDS)
    return [*found, Atom("occupied", (CAB,)) if aboard else Atom("waiting", (cell(STANDS[passenger]),))]


def true_state(taxi: Any) -> State:
    """The symbolic state of the environment, for evaluation."""
    return State(frozenset([*true_atoms(taxi), *(Atom("road", road) for road in ROADS)]), scene(taxi).objects)


def labels(taxi: Any) -> list[Atom]:
    """The atoms of perceived predicates that its image shows."""
    here = cell(taxi.decode(taxi.s)[:2])
    atoms = [Atom("seen", atom.objects) if atom.predicate == "waiting" else atom for atom in true_atoms(taxi)]
    return [atom for atom in atoms if atom != Atom("seen", (here,))]


def _at(taxi: Any) -> tuple[int, int]:
    row, column, _, _ = taxi.decode(taxi.s)
    return row, column


def _ahead(taxi: Any) -> list[tuple[str, str, str, str]]:
    """Every neighbour on the board, whether a wall is between or not."""
    here = cell(_at(taxi))
    return [(CAB, *step) for step in neighbours(CELLS, DIRECTIONS) if step[0] == here]


def _here(taxi: Any) -> tuple[str, str]:
    return CAB, cell(_at(taxi))


def watch(taxi: Any) -> int:
    """Anything but the taxi's direction, which changes when it drives against a wall, too."""
    return int(taxi.s)


INSTRUCTIONS = (
    instruction(
        "move ?t - taxi ?from ?to - cell ?d - direction",
        lambda taxi, start, end, direction: list(DIRECTIONS).index(direction),
        _ahead,
        watch,
    ),
    instruction("pick-up ?t - taxi ?s - stand", PICK_UP, _here, watch),
    instruction("drop-off ?t - taxi ?s - stand", DROP_OFF, _here, watch),
)


def intended() -> Model:
    """The model of a driver who knows no end of an episode, and has fuel."""
    return intended_model(
        VOCABULARY.vocabulary(),
        INSTRUCTIONS,
        ("at t from, road from to d", "at t to, -at t from"),
        ("at t s, waiting s", "occupied t, -waiting s"),
        ("at t s, occupied t", "waiting s, -occupied t"),
    )


token, put = attributes("s", "lastaction", "taxi_orientation")


class Turning(TaxiEnv):
    """Turns the taxi when it drives, and not when it is drawn.

    Gymnasium's turns it in ``render``, by the last action alone: a picture depends on which situations before it were drawn.
    """

    def step(self, action: int) -> Any:
        """Drive, pick up or drop off."""
        found = super().step(action)  # type: ignore[no-untyped-call]
        if action < len(DIRECTIONS):
            self.taxi_orientation = action
        return found


def make() -> gymnasium.Env[Any, Any]:
    """The environment, without the limit of its steps."""
    return Turning(render_mode="rgb_array")


def shake_among(places: np.ndarray) -> Callable[[Any, np.random.Generator], None]:
    """Brings a taxi into one of some of the states of ``SHOWN``."""

    def shake(taxi: Any, rng: np.random.Generator) -> None:
        taxi.s, taxi.taxi_orientation = (
            int(part) for part in divmod(SHOWN[rng.choice(places)], ORIENTATIONS)
        )
        taxi.lastaction = None

    return shake


CONTROLS: Final = (
    *(control(name, number) for number, name in enumerate(DIRECTIONS)),
    control("pick-up", PICK_UP),
    control("drop-off", DROP_OFF),
)
"""The environment's own actions."""


def world() -> ReadyWorld:
    """The taxi; it drives on after the end of an episode."""
    taught, unseen = (shake_among(np.arange(first, len(SHOWN), 2)) for first in (0, 1))
    return ReadyWorld(
        name="taxi",
        visual=VOCABULARY,
        instructions=INSTRUCTIONS,
        make=make,
        scene=scene,
        seeds=(0, 1, 2),
        pictures=labelled_images([make], scene, labels, taught),
        number=TAUGHT,
        round_steps=800,
        unseen=labelled_images([make], scene, labels, unseen),
        restore=(token, put),
        truth=intended,
        controls=CONTROLS,
        shown=labels,
        shake=unseen,
    )
