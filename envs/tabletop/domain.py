"""The table as ``--env tabletop``: its vocabulary, what the robot can be told, and problems; the intended model apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np

from aam_vision.constraints import Acyclic, Number
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.meaning import Instruction, instruction
from aam_vision.envs.sources import found, of_look, vocabulary
from aam_vision.envs.sources import shown as shown_there
from aam_vision.envs.tabletop.drawing import gl_context
from aam_vision.envs.tabletop.environment import Snapshot, TabletopEnv
from aam_vision.envs.tabletop.layouts import BALL, BLOCK_LOOKS, STEEL, random_layout, rearranged
from aam_vision.envs.tabletop.skills import SKILLS
from aam_vision.envs.worlds.ready import ReadyWorld
from aam_vision.perception import Scene
from aam_vision.strips import ActionHeader, ActionSchema, Atom, LiftedAtom, Model, Objects

NAME: Final = "tabletop"
SEEDS: Final = (1, 10, 3)
"""Problems that are interrogated."""
ALIKE: Final = 3
"""Blocks that share a look in ``tabletop:alike``."""
SEEDS_ALIKE: Final = (4, 10, 16)
"""Problems of that world: in their first pictures no block stands before or on one of its look."""
HELD_OUT: Final = (100, 101, 102, 103, 104, 105, 106, 107)
"""Problems on which the learned model is compared with the intended one."""
TAUGHT: Final = 4600
"""Labelled images to train on."""
HIGHEST: Final = 5
"""Things in a pile of labelled images, at most."""
HOLDING: Final = 0.45
"""Share of labelled images with something in the hand."""
CROWDED: Final = 0.75
MANY: Final = 5
"""Share of the pictures to learn from in which so many blocks stand in piles behind each other: by chance few things are
partly hidden."""
SEEN: Final = "seen"
"""The auxiliary predicate of the things that a picture shows."""
SHOWS: Final = 100
HIDDEN: Final = 40
"""Pixels of a thing that shows, at least, and of one that does not, at most, in a picture of ``environment.SIZE``. Between
them either answer is right. A thing by itself has 350 (the ball) to 900."""


VOCABULARY: Final = vocabulary(
    NAME,
    {"thing": "object"},
    {
        f"{SEEN} ?x - thing": found((*BLOCK_LOOKS, BALL, STEEL), "the thing shows"),
        "holding ?x - thing": shown_there("holding", "the thing is between the fingers"),
        "clear ?x - thing": shown_there("clear", "nothing is on the thing, and it is not held"),
        "on ?x ?y - thing": shown_there("on", "the first thing rests on the second one"),
        "on-table ?x - thing": shown_there("on-table", "the thing rests on the table"),
        "hand-empty": shown_there("hand-empty", "nothing is between the fingers"),
        "ball ?x - thing": of_look(BALL, "it looks like a ball"),
        "steel ?x - thing": of_look(STEEL, "it looks like steel"),
    },
    constraints=(
        Number(("holding(x)", "on-table(x)", "on(x, _)")),
        Number(("holding(x)", "clear(x)", "on(_, x)")),
        Number(("holding(_)", "hand-empty()")),
        Acyclic("on"),
    ),
)


def scene(table: TabletopEnv) -> Scene:
    """The things and their looks; those of a look that others have, too, are pointed out in the first picture."""
    things = table.layout.things
    objects = Objects(dict.fromkeys([thing.name for thing in things], "thing"), VOCABULARY.types)
    looks = {thing.name: thing.look for thing in things}
    several = {look for look, number in Counter(looks.values()).items() if number > 1}
    points = {name: table.point(name) for name, look in looks.items() if look in several}
    return Scene.of_things(objects, looks, points=points)


def shown(table: TabletopEnv) -> frozenset[Atom]:
    """The atoms of perceived predicates that are true, and which things show, for what learns from the picture."""
    showing = [Atom(SEEN, (name,)) for name, pixels in table.visible().items() if pixels >= SHOWS]
    return table.true_atoms().union(showing)


def hardly_shown(table: TabletopEnv) -> frozenset[Atom]:
    """That things show of which so little can be seen that either answer is right."""
    pixels = table.visible()
    return frozenset(Atom(SEEN, (name,)) for name in pixels if HIDDEN < pixels[name] < SHOWS)


def labelled(table: TabletopEnv) -> Labelled:
    """The present picture with all that a label says of it."""
    return Labelled(scene(table), shown(table), table.picture(), table.masks(), hardly_shown(table))


def shake(table: TabletopEnv, rng: np.random.Generator) -> None:
    """Put the same things elsewhere, one of them perhaps into the hand."""
    table.set_up(rearranged(rng, table.layout, highest=HIGHEST, holding=HOLDING))


def _anything(table: TabletopEnv) -> tuple[str, ...]:
    """What an instruction is about is said by its parameters alone."""
    return ()


def _instruction(text: str) -> Instruction:
    """An instruction that is called like the skill it stands for; the robot itself says whether it carried it out."""
    name, *_ = text.split()
    return instruction(
        text,
        lambda *things: (name, *things),
        _anything,
        watch=lambda table: table.executed,
        executed=lambda before, after: bool(after),
        free=SKILLS[name],
    )


INSTRUCTIONS: Final = (
    _instruction("pick-up ?x - thing"),
    _instruction("put-down ?x - thing"),
    _instruction("stack ?x ?y - thing"),
    _instruction("unstack ?x ?y - thing"),
)


def intended() -> Model:
    """Blocks world with a ball that bears nothing and steel that stays where it is; for evaluation only."""

    def atoms(text: str) -> frozenset[LiftedAtom]:
        place = {"x": 0, "y": 1}
        split = [one.split() for one in text.split(",") if one.strip()]
        return frozenset(LiftedAtom(name, tuple(place[one] for one in about)) for name, *about in split)

    def schema(header: ActionHeader, needs: str, without: str, adds: str, deletes: str) -> ActionSchema:
        return ActionSchema(header, atoms(needs), atoms(without), atoms(adds), atoms(deletes))

    pick_up, put_down, stack, unstack = (one.header for one in INSTRUCTIONS)
    free, held = "clear x, hand-empty", "holding x"
    return Model(
        VOCABULARY.vocabulary(),
        (
            schema(pick_up, f"{free}, on-table x", "steel x", held, f"{free}, on-table x"),
            schema(put_down, held, "", f"{free}, on-table x", held),
            schema(stack, f"{held}, clear y", "ball y", f"{free}, on x y", f"{held}, clear y"),
            schema(unstack, f"{free}, on x y", "steel x", f"{held}, clear y", f"{free}, on x y"),
        ),
    )


def make(alike: int = 1) -> gymnasium.Env[Any, Any]:
    """The environment; so many of its blocks look the same."""
    return TabletopEnv("rgb_array", alike=alike)


def snapshot(env: gymnasium.Env[Any, Any]) -> Snapshot:
    """The present state of the environment."""
    table: Any = env.unwrapped
    kept: Snapshot = table.snapshot()
    return kept


def restore(env: gymnasium.Env[Any, Any], kept: Snapshot) -> None:
    """Bring the environment back."""
    table: Any = env.unwrapped
    table.restore(kept)


class Table(ReadyWorld):
    """The table, which is not made where nothing can draw."""

    def made(self) -> gymnasium.Env[Any, Any]:
        """The environment.

        Raises:
            UnusableInput: neither EGL nor OSMesa works here.
        """
        gl_context(1, 1).free()
        return super().made()


def pictures(rng: np.random.Generator, *, apart: bool = False) -> Iterator[Labelled]:
    """Labelled pictures of random scenes, without end; ``apart``: as for training, where many are crowded as well."""
    table = TabletopEnv("rgb_array")
    while True:
        crowded = apart and rng.random() < CROWDED
        things = random_layout(rng, MANY if crowded else None, apart=apart)
        table.set_up(rearranged(rng, things, highest=HIGHEST, holding=HOLDING, crowded=crowded))
        yield labelled(table)


def world(alike: int = 1) -> Table:
    """The table; scenes that are held out have three to five blocks, as the seed says.

    Args:
        alike: how many blocks look the same in the problems that are interrogated.
    """
    return Table(
        name=NAME,
        visual=VOCABULARY,
        instructions=INSTRUCTIONS,
        make=partial(make, alike),
        scene=scene,
        seeds=SEEDS if alike == 1 else SEEDS_ALIKE,
        pictures=partial(pictures, apart=True),
        unseen=pictures,
        number=TAUGHT,
        round_steps=2600,
        restore=(snapshot, restore),
        truth=intended,
        shown=shown,
        shake=shake,
        labelled=labelled,
        held_out=HELD_OUT,
        controls=INSTRUCTIONS,
    )
