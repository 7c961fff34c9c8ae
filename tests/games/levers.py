"""A lever opens a gate, and closes it."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Levers(Game):
    boards = (
        ("#######", "#P..G.#", "#.L.#.#", "#######"),
        ("######", "#.L..#", "##G###", "#..P.#", "######"),
    )
    controls = (*Game.controls, "pull")
    heads = ("lever", "open", "closed")

    def begin(self) -> None:
        self.open = len(self.board) == 5  # one problem begins with an open gate

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and (self.open or cell not in self.where("G"))

    def pull(self) -> None:
        if self.at in self.where("L"):
            self.open = not self.open

    def marks(self) -> Iterator[tuple[str, Cell]]:
        for cell in self.where("L"):
            yield "lever", cell
        for cell in self.where("G"):
            yield "open" if self.open else "closed", cell


ENVIRONMENT = game(Levers, marked(lever="a lever", open="an open gate", closed="a closed gate"))
