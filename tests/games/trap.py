"""Who steps on a trap is caught and cannot walk until they struggle; the trap is sprung then."""

from __future__ import annotations

from collections.abc import Iterator

from .grid import Cell, Game, game, marked


class Trap(Game):
    boards = (
        ("######", "#P.t.#", "#.#..#", "#.t..#", "######"),
        ("######", "#.t..#", "#..#t#", "#t.P.#", "######"),
    )
    controls = (*Game.controls, "struggle", "arm")
    heads = ("trap", "sprung", "caught")

    def begin(self) -> None:
        self.traps, self.caught = set(self.where("t")), False

    def go(self, way: str) -> None:
        if self.caught:
            return
        super().go(way)
        self.caught = self.at in self.traps

    def struggle(self) -> None:
        if self.caught:
            self.caught = False
            self.traps -= {self.at}

    def arm(self) -> None:
        """Arm a sprung trap under one's feet: one is caught in it."""
        if self.at in self.where("t") and self.at not in self.traps:
            self.traps |= {self.at}
            self.caught = True

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("trap" if cell in self.traps else "sprung", cell) for cell in self.where("t"))
        if self.caught:
            yield "caught", self.at


ENVIRONMENT = game(Trap, marked(trap="a trap", sprung="a sprung trap", caught="the player is caught"))
