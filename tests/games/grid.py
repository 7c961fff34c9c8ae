"""What all games share: a player that walks on a board of cells, pictures that show every word, and the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

from aam_vision.agents.perception import Constraint, Exactly, Scene
from aam_vision.envs.controlled import ControlledEnvironment, bare_environment
from aam_vision.envs.grids import STEPS, board_scene
from aam_vision.envs.sources import Source, adjacent, there, vocabulary
from aam_vision.model.strips import Atom

Cell = tuple[int, int]
TYPES = {"cell": "object", "direction": "object"}
WALKING: dict[str, Source] = {
    "at ?c - cell": there("player", "the player is there"),
    "free ?c - cell": there("free", "one can stand there"),
    "next ?a ?b - cell ?d - direction": adjacent("the next cell in that direction"),
}
DOT = 4
"""Width of what shows one word in a cell, in pixels."""


def name(cell: Cell) -> str:
    """The name of a cell."""
    return f"cell-{cell[0]}-{cell[1]}"


def laid_out(*boards: str) -> tuple[tuple[str, ...], ...]:
    """Boards by their lines, which a space divides."""
    return tuple(tuple(board.split()) for board in boards)


class Game(gymnasium.Env[Any, Any]):
    """A board of characters: ``#`` is a wall, ``P`` where the player begins; a seed chooses one of several boards."""

    metadata = {"render_modes": ["rgb_array"]}
    render_mode = "rgb_array"
    observation_space = gymnasium.spaces.Discrete(1)
    boards: tuple[tuple[str, ...], ...]
    controls: tuple[str, ...] = ("up", "down", "left", "right")
    words: dict[str, str] = {}
    """The game's own words of cells, each with what it means."""
    heads: tuple[str, ...] = ()
    """The classifiers of the game's own words, for its pictures, if they are not the words."""
    signs: dict[str, str] = {}
    """Words that are always true of the cells of a character."""
    solid = "#"
    """Where nobody can stand."""
    open = True
    """Whether one can stand in a gate, ``G``."""

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(len(self.controls))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.board = self.boards[(seed or 0) % len(self.boards)]
        self.at = self.where("P")[0]
        self.begin()
        return 0, {}

    def begin(self) -> None:
        """Set what a game has beside the player."""

    def where(self, signs: str) -> list[Cell]:
        """The cells of these characters."""
        board = [(row, column) for row in range(len(self.board)) for column in range(len(self.board[0]))]
        return [cell for cell in board if self.board[cell[0]][cell[1]] in signs]

    def free(self, cell: Cell) -> bool:
        """Whether one can stand there."""
        sign = self.board[cell[0]][cell[1]]
        return sign not in self.solid and (self.open or sign != "G")

    def beside(self, way: str) -> Cell:
        """The next cell in a direction."""
        return self.at[0] + STEPS[way][0], self.at[1] + STEPS[way][1]

    def go(self, way: str) -> None:
        """Walk to the next cell, if it is free."""
        if self.free(self.beside(way)):
            self.at = self.beside(way)

    def up(self) -> None:
        self.go("up")

    def down(self) -> None:
        self.go("down")

    def left(self) -> None:
        self.go("left")

    def right(self) -> None:
        self.go("right")

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        getattr(self, self.controls[action])()
        return 0, 0.0, False, False, {}

    def marks(self) -> Iterator[tuple[str, Cell]]:
        """The game's own words: what is true of which cell."""
        yield from ((word, cell) for word, sign in self.signs.items() for cell in self.where(sign))
        if "closed" in self.words:
            yield from (("open" if self.open else "closed", cell) for cell in self.where("G"))

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The atoms that its picture shows."""
        yield "at", (name(self.at),)
        for cell in self.where("".join(sorted(set("".join(self.board)) - {"#"}))):
            if self.free(cell):
                yield "free", (name(cell),)
        for word, cell in self.marks():
            yield word, (name(cell),)

    def render(self) -> Any:
        words = ("at", "free", *(self.heads or self.words))
        image = np.zeros((len(self.board), DOT * len(words), len(self.board[0]), DOT, 3), np.uint8)
        for row, column in self.where("#"):
            image[row, :, column] = 60
        for word, (*_, cell) in self.facts():
            row, column = map(int, cell.split("-")[1:])
            place = words.index(word)
            image[row, DOT * place : DOT * (place + 1), column] = 255, 40 * place % 256, 90 * place % 256
        side = DOT * len(words)
        return image.repeat(len(words), 3).reshape(len(self.board) * side, len(self.board[0]) * side, 3)


def scene(env: Game) -> Scene:
    """The cells and the directions."""
    return board_scene(len(env.board), len(env.board[0]), TYPES, dict.fromkeys(STEPS, "direction"))


def marked(**meanings: str) -> dict[str, Source]:
    """Words of cells, each with what it means."""
    return {
        f"{word.replace('_', '-')} ?c - cell": there(word.replace("_", "-"), told)
        for word, told in meanings.items()
    }


def game(
    kind: type[Game], words: Mapping[str, Source], *constraints: Constraint, **more: Any
) -> ControlledEnvironment:
    """The environment of a game: what a user would write below it."""
    title = kind.__name__.lower()
    types, pointed_out = more.pop("types", TYPES), more.pop("scene", scene)
    seen = vocabulary(title, types, {**WALKING, **words}, constraints=[Exactly("player", 1), *constraints])
    controls = {control: number for number, control in enumerate(kind.controls)}
    return bare_environment(
        title,
        seen,
        kind,
        pointed_out,
        lambda env: [Atom(*fact) for fact in env.facts()],
        controls=controls,
        seeds=(0, 1),
        stops=False,
        **more,
    )
