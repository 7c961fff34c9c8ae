"""On ice one slides one cell further, unless a wall is there."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Ice(Game):
    boards = (
        ("#######", "#P.i..#", "#.#.#i#", "#.i...#", "#######"),
        ("######", "#.i..#", "#i.#.#", "#..iP#", "######"),
    )
    heads = ("ice",)

    def go(self, way: str) -> None:
        super().go(way)
        if self.at in self.where("i"):
            super().go(way)

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("ice", cell) for cell in self.where("i"))


ENVIRONMENT = game(Ice, marked(ice="ice"))
