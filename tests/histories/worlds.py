"""A room with lamps, and what its memory does to the controls; hidden, or shown by a gauge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aam_vision.envs.controlled import ControlledEnvironment
from tests.games.boards import ENVIRONMENTS
from tests.games.grid import Cell, Game, game, marked

MIRRORED = {"left": "right", "right": "left", "up": "down", "down": "up"}


class Room(Game):
    """``light`` turns the lamp that is here on or off; ``knock`` shows nothing."""

    boards = (("ggggggg", "Pl.l###", ".l#.###", "l..l###"), ("ggggggg", ".l.####", "#.Pl###", "l.l.###"))
    controls = (*Game.controls, "light", "knock")
    heads = ("lamp", "on", "gauge")
    rule: Rule
    shown = False

    def begin(self) -> None:
        self.on: set[Cell] = set()
        self.memory, self.past = 0, ["none"] * 3
        self.steps = self.moves = self.lights = 0

    def free(self, cell: Cell) -> bool:
        inside = 0 <= cell[0] < len(self.board) and 0 <= cell[1] < len(self.board[0])
        return inside and self.board[cell[0]][cell[1]] not in "#g"

    def light(self) -> None:
        if self.at in self.where("l"):
            self.on ^= {self.at}

    def knock(self) -> None:
        """It only counts for what comes later."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, object]]:
        name = self.controls[action]
        done = self.rule.does(self, name)
        self.steps += 1
        self.lights += name == "light"
        self.moves += name in MIRRORED
        if done != "none":
            getattr(self, done)()
        self.memory = self.rule.then(self, name)
        self.past = [name, *self.past[:2]]
        return 0, 0.0, False, False, {}

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from (("lamp", cell) for cell in self.where("l"))
        yield from (("on", cell) for cell in sorted(self.on))
        if self.shown:
            yield "gauge", (0, self.memory)


@dataclass(frozen=True)
class Rule:
    """What a control does, given what was done before, and what is remembered of it.

    Args:
        does: of a room and the control that is given, the control that is carried out, or "none".
        then: what is remembered afterwards, a number from 0 to 6.
    """

    does: Callable[[Room, str], str]
    then: Callable[[Room, str], int] = lambda room, name: 0


def _only(name: str, works: Callable[[Room], bool]) -> Callable[[Room, str], str]:
    """One control works under a condition, all others always."""
    return lambda room, given: given if given != name or works(room) else "none"


def _knocked(least: int) -> Callable[[Room, str], str]:
    """The light works where so much is remembered."""
    return _only("light", lambda room: room.memory >= least)


def _mirrored(room: Room, name: str) -> str:
    return MIRRORED.get(name, name) if room.memory % 2 else name


HIDDEN: dict[str, Rule] = {
    "mirror": Rule(_mirrored, lambda room, name: room.memory ^ (name == "knock")),
    "twice": Rule(_only("light", lambda room: room.past[0] == "light")),
    "late by one": Rule(lambda room, name: room.past[0]),
    "late by two": Rule(lambda room, name: room.past[1]),
    "late by three": Rule(lambda room, name: room.past[2]),
    "three knocks": Rule(_knocked(3), lambda room, name: min(3, room.memory + (name == "knock"))),
    "one knock": Rule(_knocked(1), lambda room, name: max(room.memory, int(name == "knock"))),
    "worn after five": Rule(_only("light", lambda room: room.lights < 5)),
    "worn after nine": Rule(_only("light", lambda room: room.lights < 9)),
    "worn legs": Rule(lambda room, name: name if room.moves < 15 or name not in MIRRORED else "none"),
    "stops": Rule(lambda room, name: name if room.steps < 24 else "none"),
    "rests": Rule(_only("light", lambda room: "light" not in room.past[:2])),
    "just knocked": Rule(_only("light", lambda room: room.past[0] == "knock")),
    "up and knock": Rule(_only("light", lambda room: room.past[:2] == ["knock", "up"])),
    "every second": Rule(
        _only("up", lambda room: room.memory == 0), lambda room, name: room.memory ^ (name == "up")
    ),
    "every third": Rule(
        _only("light", lambda room: room.memory < 2), lambda room, name: (room.memory + (name == "light")) % 3
    ),
    "a while": Rule(_knocked(1), lambda room, name: 3 if name == "knock" else max(0, room.memory - 1)),
    "turned by walking": Rule(
        _mirrored, lambda room, name: 0 if name == "knock" else int(room.memory or room.moves % 10 == 9)
    ),
    "even steps": Rule(_only("light", lambda room: room.steps % 2 == 0)),
    "been in the corner": Rule(_knocked(1), lambda room, name: int(room.memory or room.at == (3, 0))),
}
"""Rules whose memory no picture shows."""

VISIBLE = ["mirror", "three knocks", "one knock", "every second", "every third", "a while"]
VISIBLE += ["been in the corner", "twice"]
"""Rules that a gauge shows, beside the games, in which everything is shown."""
SHOWN = {
    **{name: HIDDEN[name] for name in VISIBLE[:-1]},
    "twice": Rule(_only("light", lambda room: room.memory == 1), lambda room, name: int(name == "light")),
}


def world(name: str, *, shown: bool) -> ControlledEnvironment:
    """The environment of one rule, its memory hidden or shown."""
    rule = (SHOWN if shown else HIDDEN)[name]
    kind = type("Room", (Room,), {"rule": rule, "shown": shown})
    return game(kind, marked(lamp="a lamp", on="a lamp that is on", gauge="the gauge's hand"))


def all_worlds() -> Iterator[tuple[str, bool, ControlledEnvironment]]:
    """Every world: its name, whether something is hidden, and its environment."""
    yield from ((name, True, world(name, shown=False)) for name in HIDDEN)
    yield from ((f"{name}, shown", False, world(name, shown=True)) for name in VISIBLE)
    yield from ((name, False, one) for name, one in ENVIRONMENTS.items())
