"""The twelve games, of a dozen lines each."""

from __future__ import annotations

from collections.abc import Iterator

from aam_vision.agents.perception import Scene
from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.envs.grids import STEPS, board_scene
from aam_vision.envs.sources import always, nowhere, of_look, somewhere, where

from .grid import TYPES, Cell, Game, game, laid_out, marked, name

GATE = {"open": "an open gate", "closed": "a closed gate"}
CRATES = {"red-crate": "red", "grey-crate": "grey"}
WITH_CRATES = {**TYPES, "crate": "object"}
NUMBERS = ("none", "one", "two")
WITH_NUMBERS = {**TYPES, "number": "object"}


class Levers(Game):
    """A lever opens a gate, and closes it."""

    boards = laid_out("####### #P..G.# #.L.#.# #######", "###### #.L..# ##G### #..P.# ######")
    controls = (*Game.controls, "pull")
    words = {"lever": "a lever", **GATE}
    signs = {"lever": "L"}

    def begin(self) -> None:
        self.open = len(self.board) == 5  # one problem begins with an open gate

    def pull(self) -> None:
        if self.at in self.where("L"):
            self.open = not self.open


class Charge(Game):
    """A lever needs a charge, and uses it up; a gauge shows it."""

    boards = laid_out("g###### #P.C..# #.#L#.# #...G.# #######", "g##### #.L..# #C.PG# ####.# ######")
    controls = (*Game.controls, "use")
    words = {"lever": "a lever", "charger": "a charger", **GATE}
    words |= {"full": "the gauge is full", "empty": "the gauge is empty"}
    signs = {"lever": "L", "charger": "C"}
    solid = "#g"

    def begin(self) -> None:
        self.open = self.charged = False

    def use(self) -> None:
        if self.at in self.where("C"):
            self.charged = True
        elif self.at in self.where("L") and self.charged:
            self.open, self.charged = not self.open, False

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield "full" if self.charged else "empty", self.where("g")[0]


class Warehouse(Game):
    """A lever toggles a gate when the player is charged and carries nothing; of two crates, one can be carried."""

    boards = laid_out(
        "###### #PrC.# #..L.# ##G### #..k.# ######", "###### #.L.P# #C.r.# ##G### #k...# ######"
    )
    controls = (*Game.controls, "grab", "use")
    words = {"lever": "a lever", "charger": "a charger", **GATE, "charged": "the player glows"}
    words |= {"bare": "no crate lies there"}
    heads = (*words, "lies")
    signs = {"lever": "L", "charger": "C"}

    def begin(self) -> None:
        self.open = self.charged = False
        self.red: Cell | None = self.where("r")[0]
        self.grey = self.where("k")[0]

    def grab(self) -> None:
        """Take the red crate, or put it down where nothing lies."""
        if self.red is None and self.at != self.grey:
            self.red = self.at
        elif self.red == self.at:
            self.red = None

    def use(self) -> None:
        if self.at in self.where("C"):
            self.charged = True
        elif self.at in self.where("L") and self.charged and self.red is not None:
            self.open = not self.open

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("bare", cell) for cell in self.where("PrC.LGk") if cell not in (self.red, self.grey))
        if self.charged:
            yield "charged", self.at

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from super().facts()
        lying = zip(CRATES, (self.red, self.grey), strict=True)
        yield from (("lies", (crate, name(cell))) for crate, cell in lying if cell is not None)


class Buttons(Game):
    """A gate is open while both buttons are pressed; a button that is pressed again comes out."""

    boards = laid_out("###### #B.PB# #.#.## #..G.# ######", "###### #P.B## #..#G# #B...# ######")
    controls = (*Game.controls, "press")
    words = {"button": "a button that is out", "pressed": "a pressed button", **GATE}

    def begin(self) -> None:
        self.pressed: set[Cell] = set()
        self.open = False

    def press(self) -> None:
        if self.at in self.where("B"):
            self.pressed ^= {self.at}
            self.open = self.pressed == set(self.where("B"))

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("pressed" if cell in self.pressed else "button", cell) for cell in self.where("B"))


class Oneway(Game):
    """Doors that let through to the right only; a way around leads back."""

    boards = laid_out("####### #P.>..# #.##>.# #.....# #######", "###### #..>.# #.#P.# #.>..# #....# ######")
    words = {"door": "a door that lets through to the right"}
    signs = {"door": ">"}
    solid = "#>"

    def right(self) -> None:
        if self.beside("right") in self.where(">"):
            self.at = self.beside("right")
        else:
            self.go("right")


class Ice(Game):
    """On ice one slides one cell further, unless a wall is there."""

    boards = laid_out("####### #P.i..# #.#.#i# #.i...# #######", "###### #.i..# #i.#.# #..iP# ######")
    words = {"ice": "ice"}
    signs = {"ice": "i"}

    def go(self, way: str) -> None:
        super().go(way)
        if self.at in self.where("i"):
            super().go(way)


class Conveyor(Game):
    """Who waits on a belt is carried to the right; a switch stops the belts and starts them."""

    boards = laid_out("l###### #P.bb.# #.#.#.# #Sb...# #######", "l##### #.bb.# #.#.P# #S..b# ######")
    controls = (*Game.controls, "wait", "switch")
    words = {"belt": "a belt", "knob": "a switch", "running": "the lamp shines: belts run"}
    words |= {"still": "the lamp is out: belts stand still"}
    signs = {"belt": "b", "knob": "S"}
    solid = "#l"

    def begin(self) -> None:
        self.runs = True

    def wait(self) -> None:
        if self.runs and self.at in self.where("b"):
            self.go("right")

    def switch(self) -> None:
        if self.at in self.where("S"):
            self.runs = not self.runs

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield "running" if self.runs else "still", self.where("l")[0]


class Counter(Game):
    """Coins are counted; the gate takes two of them and opens."""

    boards = laid_out("n##### #P.c.# #c.K## ##.G.# ######", "n###### #.cK..# #P#.#G# #..c..# #######")
    controls = (*Game.controls, "take", "pay")
    words = {"coin": "a coin", "till": "where one pays", **GATE}
    heads = (*words, *(f"purse-{number}" for number in NUMBERS))
    signs = {"till": "K"}
    solid = "#n"

    def begin(self) -> None:
        self.coins, self.purse, self.open = self.where("c"), 0, False

    def take(self) -> None:
        if self.at in self.coins:
            self.coins.remove(self.at)
            self.purse += 1

    def pay(self) -> None:
        if self.at in self.where("K") and self.purse == 2:
            self.purse, self.open = 0, True

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("coin", cell) for cell in self.coins)

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from super().facts()
        yield f"purse-{NUMBERS[self.purse]}", (name(self.where("n")[0]),)


class Teleporters(Game):
    """From one pad one jumps to the other, as long as that one is lit; a knob lights it and puts it out."""

    boards = laid_out("####### #P.T#.# #.S.#.# #####T# #######", "###### #T.#.# #.S#T# #P.### ######")
    controls = (*Game.controls, "jump", "turn")
    words = {"lit": "a lit pad", "dark": "a dark pad", "knob": "a knob"}
    signs = {"knob": "S"}

    def begin(self) -> None:
        self.lit = False

    def jump(self) -> None:
        if self.lit and self.at in self.where("T"):
            self.at = next(cell for cell in self.where("T") if cell != self.at)

    def turn(self) -> None:
        if self.at in self.where("S"):
            self.lit = not self.lit

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("lit" if self.lit else "dark", cell) for cell in self.where("T"))


class Signals(Game):
    """From a red spot one lights a beacon far away, from a blue spot one puts it out; while it shines, a gate is open."""

    boards = laid_out("####### #P.r.B# #.#.### #b..G.# #######", "###### #.r#B# #.P.## #b.G.# ######")
    controls = (*Game.controls, "signal")
    words = {"red": "a red spot", "blue": "a blue spot", "shining": "the beacon shines"}
    words |= {"out": "the beacon is out", "gate": "a gate, open or shut", "barred": "a shut gate"}
    signs = {"red": "r", "blue": "b", "gate": "G"}
    solid = "#B"

    def begin(self) -> None:
        self.open = False

    def signal(self) -> None:
        if self.at in self.where("r"):
            self.open = True
        elif self.at in self.where("b"):
            self.open = False

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("shining" if self.open else "out", cell) for cell in self.where("B"))
        yield from (("barred", cell) for cell in self.where("G") if not self.open)


class Trap(Game):
    """Who steps on a trap is caught and cannot walk until they struggle; the trap is sprung then."""

    boards = laid_out("###### #P.t.# #.#..# #.t..# ######", "###### #.t..# #..#t# #t.P.# ######")
    controls = (*Game.controls, "struggle", "arm")
    words = {"trap": "a trap", "sprung": "a sprung trap", "caught": "the player is caught"}

    def begin(self) -> None:
        self.traps, self.caught = set(self.where("t")), False

    def go(self, way: str) -> None:
        if not self.caught:
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


class Shop(Game):
    """A coin buys a hammer, which breaks a crack in the wall; the hammer can be sold again."""

    boards = laid_out("h###### #P.cX.# #.#.### #...S.# #######", "h##### #cS..# #.#P.# #..X.# ######")
    controls = (*Game.controls, "take", "trade", "strike")
    words = {"coin": "a coin", "shop": "the shop", "crack": "a crack", "rich": "a coin in hand"}
    words |= {"armed": "a hammer in hand"}
    signs = {"shop": "S"}
    solid = "#h"

    def begin(self) -> None:
        self.coins, self.cracks, self.holds = set(self.where("c")), set(self.where("X")), ""

    def free(self, cell: Cell) -> bool:
        return super().free(cell) and cell not in self.cracks

    def take(self) -> None:
        if self.at in self.coins and not self.holds:
            self.coins, self.holds = self.coins - {self.at}, "rich"

    def trade(self) -> None:
        if self.at in self.where("S") and self.holds:
            self.holds = "armed" if self.holds == "rich" else "rich"

    def strike(self) -> None:
        """Break the crack to the right."""
        if self.holds == "armed":
            self.cracks = self.cracks - {self.beside("right")}

    def marks(self) -> Iterator[tuple[str, Cell]]:
        yield from super().marks()
        yield from (("coin", cell) for cell in sorted(self.coins))
        yield from (("crack", cell) for cell in sorted(self.cracks))
        if self.holds:
            yield self.holds, self.where("h")[0]


def _with_crates(env: Game) -> Scene:
    kinds = {**dict.fromkeys(STEPS, "direction"), **dict.fromkeys(CRATES, "crate")}
    return board_scene(len(env.board), len(env.board[0]), WITH_CRATES, kinds, looks=CRATES)


def _with_numbers(env: Game) -> Scene:
    kinds = {**dict.fromkeys(STEPS, "direction"), **dict.fromkeys(NUMBERS, "number")}
    return board_scene(len(env.board), len(env.board[0]), WITH_NUMBERS, kinds)


THINGS = {
    **marked(**Warehouse.words),
    "lies ?x - crate ?c - cell": where(("red", "grey"), "a crate lies there"),
    "carried ?x - crate": nowhere("lies", "it lies nowhere"),
    "loaded": nowhere("lies", "some crate lies nowhere"),
    "red ?x - crate": of_look("red", "a red crate"),
}
PURSE = {
    **marked(**Counter.words),
    "purse ?n - number": somewhere(NUMBERS, "cell", "the purse shows {}"),
    "more ?n ?m - number": always([("none", "one"), ("one", "two")], "one more"),
}
ENVIRONMENTS: dict[str, ControlledEnvironment] = {
    **{kind.__name__.lower(): game(kind, marked(**kind.words)) for kind in (Levers, Charge)},
    "warehouse": game(Warehouse, THINGS, types=WITH_CRATES, scene=_with_crates),
    **{kind.__name__.lower(): game(kind, marked(**kind.words)) for kind in (Buttons, Oneway, Ice, Conveyor)},
    "counter": game(Counter, PURSE, types=WITH_NUMBERS, scene=_with_numbers),
    **{
        kind.__name__.lower(): game(kind, marked(**kind.words)) for kind in (Teleporters, Signals, Trap, Shop)
    },
}
