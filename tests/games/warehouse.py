"""A lever toggles a gate when the player is charged and carries nothing; of two crates, one can be carried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aam_vision.agents.perception import Scene
from aam_vision.envs.grids import STEPS, board_scene
from aam_vision.envs.sources import nowhere, of_look, where

from .grid import TYPES, Cell, Game, game, marked, name

CRATES = {"red-crate": "red", "grey-crate": "grey"}


class Warehouse(Game):
    boards = (
        ("######", "#PrC.#", "#..L.#", "##G###", "#..k.#", "######"),
        ("######", "#.L.P#", "#C.r.#", "##G###", "#k...#", "######"),
    )
    controls = (*Game.controls, "grab", "use")
    heads = ("lever", "charger", "open", "closed", "charged", "bare", "lies")

    def begin(self) -> None:
        self.open = self.charged = False
        self.crates: dict[str, Cell | None] = {
            "red-crate": self.where("r")[0],
            "grey-crate": self.where("k")[0],
        }

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and (self.open or cell not in self.where("G"))

    def grab(self) -> None:
        """Take the red crate, or put it down where nothing lies."""
        if self.crates["red-crate"] is None and self.at not in self.crates.values():
            self.crates["red-crate"] = self.at
        elif self.crates["red-crate"] == self.at:
            self.crates["red-crate"] = None

    def use(self) -> None:
        if self.at in self.where("C"):
            self.charged = True
        elif self.at in self.where("L") and self.charged and self.crates["red-crate"] is not None:
            self.open = not self.open

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("lever", cell) for cell in self.where("L"))
        yield from (("charger", cell) for cell in self.where("C"))
        yield from (("open" if self.open else "closed", cell) for cell in self.where("G"))
        yield from (("bare", cell) for cell in self.where("PrC.LGk") if cell not in self.crates.values())
        if self.charged:
            yield "charged", self.at

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from super().facts()
        yield from (("lies", (crate, name(cell))) for crate, cell in self.crates.items() if cell is not None)


def scene(env: Any) -> Scene:
    kinds = {**dict.fromkeys(STEPS, "direction"), **dict.fromkeys(CRATES, "crate")}
    return board_scene(len(env.board), len(env.board[0]), KINDS, kinds, looks=CRATES)


KINDS = {**TYPES, "crate": "object"}
WORDS = marked(
    lever="a lever",
    charger="a charger",
    open="an open gate",
    closed="a closed gate",
    charged="the player glows",
    bare="no crate lies there",
)
THINGS = {
    "lies ?x - crate ?c - cell": where(("red", "grey"), "a crate lies there"),
    "carried ?x - crate": nowhere("lies", "it lies nowhere"),
    "loaded": nowhere("lies", "some crate lies nowhere"),
    "red ?x - crate": of_look("red", "a red crate"),
}
ENVIRONMENT = game(Warehouse, {**WORDS, **THINGS}, types=KINDS, scene=scene)
