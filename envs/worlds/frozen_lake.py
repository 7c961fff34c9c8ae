"""Gymnasium's Frozen Lake without slipping: what its pictures show, and where the walker can be told to go.

Who falls into a hole is not seen any more and can do nothing; who stands on the goal stays there. The first problem is the map
``4x4``, the second ``8x8``; the others are random maps.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from gymnasium.envs.toy_text.frozen_lake import MAPS, FrozenLakeEnv, generate_random_map

from aam_vision.agents.perception import Never, Scene
from aam_vision.envs.control_names import control
from aam_vision.envs.controlled import ReadyWorld
from aam_vision.envs.grids import STEPS, board_scene, grid_boxes, neighbours
from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.meaning import instruction, intended_model
from aam_vision.envs.restoring import attributes
from aam_vision.envs.sources import adjacent, there, vocabulary
from aam_vision.model.strips import Atom, Model

TYPES: Final = {"cell": "object", "direction": "object"}
ACTIONS: Final = {"left": 0, "down": 1, "right": 2, "up": 3}
NAMED: Final = ("4x4", "8x8")
"""The problems whose maps Gymnasium names."""
SIZES: Final = (4, 5, 6, 7)
"""Of random maps."""
SOLID: Final = (0.5, 0.9)
"""The share of their cells that is no hole lies between these."""
TAUGHT: Final = 300
"""Labelled images to train on."""

VOCABULARY: Final = vocabulary(
    "frozenlake",
    TYPES,
    {
        "at ?c - cell": there("walker", "the walker stands there"),
        "hole ?c - cell": there("hole", "a hole in the ice"),
        "goal ?c - cell": there("goal", "a flag, behind the walker, too"),
        "next ?a ?b - cell ?d - direction": adjacent("the next cell in that direction"),
    },
    constraints=(Never(("walker", "hole")), Never(("goal", "hole"))),
)


class Lake(FrozenLakeEnv):
    """The lake; the seed of a reset makes the map."""

    def __init__(self) -> None:
        super().__init__(render_mode="rgb_array", is_slippery=False)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Make the map of a problem, and stand at its start."""
        seed = 0 if seed is None else seed
        if seed < len(NAMED):
            lake = MAPS[NAMED[seed]]
        else:
            rng = np.random.default_rng(seed)
            lake = generate_random_map(
                SIZES[int(rng.integers(len(SIZES)))], float(rng.uniform(*SOLID)), int(rng.integers(2**31))
            )
        super().__init__(render_mode="rgb_array", desc=lake, is_slippery=False)
        found: tuple[int, dict[str, Any]] = super().reset(seed=seed, options=options)
        return found


def cell(place: int, columns: int) -> str:
    """The name of a cell that Gymnasium counts row by row."""
    return f"cell-{place // columns}-{place % columns}"


def scene(lake: Any) -> Scene:
    """The board of a problem."""
    rows, columns = lake.nrow, lake.ncol
    kinds = dict.fromkeys(STEPS, "direction")
    return board_scene(rows, columns, TYPES, kinds, boxes=grid_boxes(rows, columns))


def shown(lake: Any) -> list[Atom]:
    """The atoms of perceived predicates that are true."""
    letters = b"".join(lake.desc.ravel())
    found = [
        Atom(name, (cell(place, lake.ncol),))
        for name, letter in (("hole", b"H"), ("goal", b"G"))
        for place, own in enumerate(letters)
        if own == letter[0]
    ]
    if letters[lake.s] != ord("H"):
        found.append(Atom("at", (cell(lake.s, lake.ncol),)))
    return found


def shake(lake: Any, rng: np.random.Generator) -> None:
    """Put the walker anywhere."""
    lake.s = int(rng.integers(lake.nrow * lake.ncol))


def _fallen(lake: Any) -> bool:
    return bool(lake.desc.ravel()[lake.s] == b"H")


def _ahead(lake: Any) -> list[tuple[str, str, str]]:
    """Every neighbour of where the walker is seen."""
    cells = {divmod(place, lake.ncol): cell(place, lake.ncol) for place in range(lake.nrow * lake.ncol)}
    here = cell(lake.s, lake.ncol)
    return [step for step in neighbours(cells) if step[0] == here and not _fallen(lake)]


def _watch(lake: Any) -> tuple[int, bool]:
    return int(lake.s), _fallen(lake)


def _to(start: str, end: str, direction: str) -> int:
    return ACTIONS[direction]


STEP: Final = "?from ?to - cell ?d - direction"
INSTRUCTIONS: Final = (
    instruction(f"move {STEP}", _to, _ahead, _watch, lambda old, new: old[0] != new[0] and not new[1]),
    instruction(f"fall {STEP}", _to, _ahead, _watch, lambda old, new: old[0] != new[0] and new[1]),
)
CONTROLS: Final = tuple(control(name, action) for name, action in ACTIONS.items())
"""The environment's own actions."""


def intended() -> Model:
    """The model of a walker who stays on the goal."""
    needs = "at from, next from to d, -goal from"
    move, fall = (f"{needs}, -hole to", "at to, -at from"), (f"{needs}, hole to", "-at from")
    return intended_model(VOCABULARY.vocabulary(), INSTRUCTIONS, move, fall)


def world() -> ReadyWorld:
    """The lake."""
    return ReadyWorld(
        name="frozenlake",
        visual=VOCABULARY,
        instructions=INSTRUCTIONS,
        make=Lake,
        scene=scene,
        seeds=(0, 1, 2),
        pictures=labelled_images([Lake], scene, shown, shake),
        number=TAUGHT,
        round_steps=500,
        restore=attributes("s", "lastaction"),
        truth=intended,
        controls=CONTROLS,
        shown=shown,
        shake=shake,
    )
