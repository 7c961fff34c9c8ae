"""A lever needs a charge, and uses it up; a gauge shows it."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Charge(Game):
    boards = (
        ("g######", "#P.C..#", "#.#L#.#", "#...G.#", "#######"),
        ("g#####", "#.L..#", "#C.PG#", "####.#", "######"),
    )
    controls = (*Game.controls, "use")
    heads = ("lever", "charger", "open", "closed", "full", "empty")

    def begin(self) -> None:
        self.open = self.charged = False

    def free(self, cell: Cell) -> bool:
        sign = self.board[cell[0]][cell[1]]
        return sign not in "#g" and (self.open or sign != "G")

    def use(self) -> None:
        if self.at in self.where("C"):
            self.charged = True
        elif self.at in self.where("L") and self.charged:
            self.open, self.charged = not self.open, False

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield "full" if self.charged else "empty", self.where("g")[0]
        yield from (("lever", cell) for cell in self.where("L"))
        yield from (("charger", cell) for cell in self.where("C"))
        yield from (("open" if self.open else "closed", cell) for cell in self.where("G"))


ENVIRONMENT = game(
    Charge,
    marked(
        lever="a lever",
        charger="a charger",
        open="an open gate",
        closed="a closed gate",
        full="the gauge is full",
        empty="the gauge is empty",
    ),
)
