"""A coin buys a hammer, which breaks a crack in the wall; the hammer can be sold again."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Shop(Game):
    boards = (
        ("h######", "#P.cX.#", "#.#.###", "#...S.#", "#######"),
        ("h#####", "#cS..#", "#.#P.#", "#..X.#", "######"),
    )
    controls = (*Game.controls, "take", "trade", "strike")
    heads = ("coin", "shop", "crack", "rich", "armed")

    def begin(self) -> None:
        self.coins, self.cracks, self.holds = set(self.where("c")), set(self.where("X")), ""

    def free(self, cell: Cell) -> bool:
        sign = self.board[cell[0]][cell[1]]
        return sign not in "#h" and cell not in self.cracks

    def take(self) -> None:
        if self.at in self.coins and not self.holds:
            self.coins, self.holds = self.coins - {self.at}, "rich"

    def trade(self) -> None:
        if self.at in self.where("S") and self.holds:
            self.holds = "armed" if self.holds == "rich" else "rich"

    def strike(self) -> None:
        """Break the crack to the right."""
        if self.holds == "armed":
            self.cracks = self.cracks - {self.beside("right")}

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("coin", cell) for cell in sorted(self.coins))
        yield from (("crack", cell) for cell in sorted(self.cracks))
        yield from (("shop", cell) for cell in self.where("S"))
        if self.holds:
            yield self.holds, self.where("h")[0]


ENVIRONMENT = game(
    Shop,
    marked(coin="a coin", shop="the shop", crack="a crack", rich="a coin in hand", armed="a hammer in hand"),
)
