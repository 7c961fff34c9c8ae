"""Who waits on a belt is carried to the right; a switch stops the belts and starts them."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Conveyor(Game):
    boards = (
        ("l######", "#P.bb.#", "#.#.#.#", "#Sb...#", "#######"),
        ("l#####", "#.bb.#", "#.#.P#", "#S..b#", "######"),
    )
    controls = (*Game.controls, "wait", "switch")
    heads = ("belt", "knob", "running", "still")

    def begin(self) -> None:
        self.runs = True

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and cell not in self.where("l")

    def wait(self) -> None:
        if self.runs and self.at in self.where("b"):
            self.go("right")

    def switch(self) -> None:
        if self.at in self.where("S"):
            self.runs = not self.runs

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield "running" if self.runs else "still", self.where("l")[0]
        yield from (("belt", cell) for cell in self.where("b"))
        yield from (("knob", cell) for cell in self.where("S"))


ENVIRONMENT = game(
    Conveyor,
    marked(
        belt="a belt",
        knob="a switch",
        running="the lamp shines: belts run",
        still="the lamp is out: belts stand still",
    ),
)
