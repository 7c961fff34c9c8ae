"""From one pad one jumps to the other, as long as that one is lit; a knob lights it and puts it out."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Teleporters(Game):
    boards = (
        ("#######", "#P.T#.#", "#.S.#.#", "#####T#", "#######"),
        ("######", "#T.#.#", "#.S#T#", "#P.###", "######"),
    )
    controls = (*Game.controls, "jump", "turn")
    heads = ("lit", "dark", "knob")

    def begin(self) -> None:
        self.lit = False

    def jump(self) -> None:
        if self.lit and self.at in self.where("T"):
            self.at = next(cell for cell in self.where("T") if cell != self.at)

    def turn(self) -> None:
        if self.at in self.where("S"):
            self.lit = not self.lit

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("lit" if self.lit else "dark", cell) for cell in self.where("T"))
        yield from (("knob", cell) for cell in self.where("S"))


ENVIRONMENT = game(Teleporters, marked(lit="a lit pad", dark="a dark pad", knob="a knob"))
