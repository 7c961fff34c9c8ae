"""Doors that let through to the right only; a way around leads back."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Oneway(Game):
    boards = (
        ("#######", "#P.>..#", "#.##>.#", "#.....#", "#######"),
        ("######", "#..>.#", "#.#P.#", "#.>..#", "#....#", "######"),
    )
    heads = ("door",)

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and cell not in self.where(">")

    def right(self) -> None:
        if self.beside("right") in self.where(">"):
            self.at = self.beside("right")
        else:
            self.go("right")

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("door", cell) for cell in self.where(">"))


ENVIRONMENT = game(Oneway, marked(door="a door that lets through to the right"))
