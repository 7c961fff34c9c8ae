"""From a red spot one lights a beacon far away, from a blue spot one puts it out; while it shines, a gate is open."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Signals(Game):
    boards = (
        ("#######", "#P.r.B#", "#.#.###", "#b..G.#", "#######"),
        ("######", "#.r#B#", "#.P.##", "#b.G.#", "######"),
    )
    controls = (*Game.controls, "signal")
    heads = ("red", "blue", "shining", "out", "gate", "barred")

    def begin(self) -> None:
        self.shining = False

    def free(self, cell: Cell) -> bool:
        sign = self.board[cell[0]][cell[1]]
        return sign not in "#B" and (self.shining or sign != "G")

    def signal(self) -> None:
        if self.at in self.where("r"):
            self.shining = True
        elif self.at in self.where("b"):
            self.shining = False

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("red", cell) for cell in self.where("r"))
        yield from (("blue", cell) for cell in self.where("b"))
        yield from (("shining" if self.shining else "out", cell) for cell in self.where("B"))
        yield from (("gate", cell) for cell in self.where("G"))
        yield from (("barred", cell) for cell in self.where("G") if not self.shining)


ENVIRONMENT = game(
    Signals,
    marked(
        red="a red spot",
        blue="a blue spot",
        shining="the beacon shines",
        out="the beacon is out",
        gate="a gate, open or shut",
        barred="a shut gate",
    ),
)
