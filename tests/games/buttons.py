"""A gate is open while both buttons are pressed; a button that is pressed again comes out."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Buttons(Game):
    boards = (
        ("######", "#B.PB#", "#.#.##", "#..G.#", "######"),
        ("######", "#P.B##", "#..#G#", "#B...#", "######"),
    )
    controls = (*Game.controls, "press")
    heads = ("button", "pressed", "open", "closed")

    def begin(self) -> None:
        self.pressed: set[Cell] = set()

    @property
    def open(self) -> bool:
        return self.pressed == set(self.where("B"))

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and (self.open or cell not in self.where("G"))

    def press(self) -> None:
        if self.at in self.where("B"):
            self.pressed ^= {self.at}

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("pressed" if cell in self.pressed else "button", cell) for cell in self.where("B"))
        yield from (("open" if self.open else "closed", cell) for cell in self.where("G"))


ENVIRONMENT = game(
    Buttons,
    marked(
        button="a button that is out", pressed="a pressed button", open="an open gate", closed="a closed gate"
    ),
)
