"""Coins are counted; the gate takes two of them and opens."""

from __future__ import annotations

from collections.abc import Iterator

from aam_vision.agents.perception import Scene
from aam_vision.envs.grids import STEPS, board_scene
from aam_vision.envs.sources import always, somewhere

from .grid import TYPES, Cell, Game, game, marked, name

NUMBERS = ("none", "one", "two")
KINDS = {**TYPES, "number": "object"}


class Counter(Game):
    boards = (
        ("n#####", "#P.c.#", "#c.K##", "##.G.#", "######"),
        ("n######", "#.cK..#", "#P#.#G#", "#..c..#", "#######"),
    )
    controls = (*Game.controls, "take", "pay")
    heads = ("coin", "till", "open", "closed", *(f"purse-{number}" for number in NUMBERS))

    def begin(self) -> None:
        self.coins, self.purse, self.open = self.where("c"), 0, False

    def free(self, cell: Cell) -> bool:
        sign = self.board[cell[0]][cell[1]]
        return sign not in "#n" and (self.open or sign != "G")

    def take(self) -> None:
        if self.at in self.coins:
            self.coins = [cell for cell in self.coins if cell != self.at]
            self.purse += 1

    def pay(self) -> None:
        if self.at in self.where("K") and self.purse == 2:
            self.purse, self.open = 0, True

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("coin", cell) for cell in self.coins)
        yield from (("till", cell) for cell in self.where("K"))
        yield from (("open" if self.open else "closed", cell) for cell in self.where("G"))

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from super().facts()
        yield f"purse-{NUMBERS[self.purse]}", (name(self.where("n")[0]),)


def scene(env: Counter) -> Scene:
    kinds = {**dict.fromkeys(STEPS, "direction"), **dict.fromkeys(NUMBERS, "number")}
    return board_scene(len(env.board), len(env.board[0]), KINDS, kinds)


WORDS = {
    **marked(coin="a coin", till="where one pays", open="an open gate", closed="a closed gate"),
    "purse ?n - number": somewhere(NUMBERS, "cell", "the purse shows {}"),
    "more ?n ?m - number": always([("none", "one"), ("one", "two")], "one more"),
}
ENVIRONMENT = game(Counter, WORDS, types=KINDS, scene=scene)
