"""MiniGrid's tasks as environments: ``minigrid:DoorKey-5x5`` is ``MiniGrid-DoorKey-5x5-v0``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import gymnasium
import numpy as np
from minigrid.core.actions import Actions
from minigrid.core.constants import DIR_TO_VEC
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall, WorldObj
from minigrid.minigrid_env import MiniGridEnv

from aam_vision.envs.control_names import control
from aam_vision.envs.controlled import ReadyWorld
from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.meaning import Instruction, becomes, instruction, intended_model
from aam_vision.envs.worlds.minigrid_world import (
    COLOURS,
    DIRECTIONS,
    EVERYTHING,
    Features,
    World,
    board,
    carried,
    cell,
    faces_board,
    features,
    restore,
    scene_of,
    shown,
    snapshot,
    vocabulary_of,
)
from aam_vision.model.strips import Atom, Model, Vocabulary
from aam_vision.support.errors import AamError, UnusableInput, reason

SEEDS: Final = (0, 1, 2)
"""The problems that are interrogated together."""
HELD_OUT: Final = (3, 4, 5, 6, 7)
PICTURES: Final = 1200
"""Boards to train on: each shows one arrow, which can be on floor, goal, lava or in a door, in four directions."""
EXAMINED: Final = (
    "DoorKey-8x8",
    "UnlockPickup",
    "BlockedUnlockPickup",
    "KeyCorridorS3R3",
    "PutNear-8x8-N3",
    "LavaCrossingS9N1",
    "RedBlueDoors-6x6",
    "Fetch-8x8-N3",
    "GoToObject-6x6-N2",
    "ObstructedMaze-1Dl",
    "MultiRoom-N2-S4",
    "Empty-16x16",
)
"""Tasks whose boards the classifiers are examined on: they are trained on none of MiniGrid's."""

__all__ = ["EXAMINED", "task", "training"]


def _made(gym_id: str) -> gymnasium.Env[Any, Any]:
    return World(gymnasium.make(gym_id, render_mode="rgb_array", disable_env_checker=True))


@lru_cache(maxsize=64)
def task(name: str) -> ReadyWorld:
    """The environment of a task by MiniGrid's name without ``MiniGrid-`` and without ``-v0``, which other versions must give.

    Raises:
        UnusableInput: MiniGrid has no such task, or the vocabulary does not cover it.
    """
    make = partial(_made, gym_id(name))
    found = features(f"minigrid:{name}", _problems(name, make))
    scene = partial(scene_of, with_things="thing" in found)
    truths = partial(_shown, {entry.predicate.name for entry in vocabulary_of(found).perceived})
    unseen = labelled_images([make], scene, truths, shake)
    more = {"seeds": SEEDS, "held_out": HELD_OUT, "controls": CONTROLS, "unseen": unseen}
    return _world(found, make, scene, truths, **more)


@lru_cache(maxsize=1)
def training() -> ReadyWorld:
    """What the classifiers of all tasks are trained on: random boards with everything that the vocabulary covers."""
    makers = [partial(_made, gym_id(name)) for name in EXAMINED]
    pictures, unseen = (labelled_images(some, scene_of, shown, shake) for some in (random_boards(), makers))
    more = {"pictures": pictures, "unseen": unseen, "number": PICTURES, "round_steps": 2500}
    return _world(EVERYTHING, _no_task, scene_of, shown, **more)


def _world(
    found: Features, make: Callable[[], Any], scene: Any, shown: Callable[[Any], list[Atom]], **more: Any
) -> ReadyWorld:
    """A world with these features."""
    visual = vocabulary_of(found)
    more |= {"restore": (snapshot, restore), "truth": lambda: intended(found, visual.vocabulary())}
    more |= {"shown": shown, "shake": shake}
    return ReadyWorld("minigrid", visual, instructions_of(found), make, scene, **more)


def gym_id(name: str) -> str:
    """Gymnasium's name of a task; UnusableInput if there is no such task."""
    wanted = f"MiniGrid-{name}" if re.search(r"-v\d+$", name) else f"MiniGrid-{name}-v0"
    known = sorted(one for one in gymnasium.registry if one.startswith("MiniGrid-"))
    if wanted not in known:
        alike = [one for one in known if one.lower().startswith(wanted.lower().split("-v")[0][:13])] or known
        short = [one.removeprefix("MiniGrid-").removesuffix("-v0") for one in alike]
        raise UnusableInput(f"minigrid:{name}: MiniGrid has no task {wanted}; use one of {', '.join(short)}")
    return wanted


def _problems(name: str, make: Callable[[], gymnasium.Env[Any, Any]]) -> Iterator[Any]:
    """MiniGrid's environment after the reset of one problem after the other."""
    try:
        env = make()
        for seed in (*SEEDS, *HELD_OUT):
            env.reset(seed=seed)
            yield env.unwrapped
    except AamError:
        raise
    except Exception as error:  # whatever a task raises; some need files that MiniGrid does not bring
        raise UnusableInput(
            f"minigrid:{name}: MiniGrid cannot make it here ({reason(error)}); use another task"
        ) from error


def _shown(perceived: set[str], env: Any) -> list[Atom]:
    """The true atoms of the predicates that a task's vocabulary has."""
    return [atom for atom in shown(env) if atom.predicate in perceived]


def _no_task() -> gymnasium.Env[Any, Any]:
    raise UnusableInput("name a task, such as minigrid:DoorKey-5x5")


# The instructions for MiniGrid, its own controls, and the model that is intended by them.


CONTROLS: Final = tuple(control(action.name, action) for action in Actions)
"""MiniGrid's own actions: each can always be given, and changes something or nothing."""


def _turn(env: Any, quarters: int) -> tuple[str, ...]:
    """The direction that the agent faces, and the one after some quarter turns."""
    return DIRECTIONS[env.agent_dir], DIRECTIONS[(env.agent_dir + quarters) % 4]


def _ahead(env: Any) -> tuple[str, ...] | None:
    """Where the agent stands, what is in front of it, and the direction from one to the other."""
    if not faces_board(env):
        return None
    return cell(env.agent_pos), cell(env.front_pos), DIRECTIONS[env.agent_dir]


def _thing(env: Any) -> Any:
    """Whatever is in front of the agent."""
    return env.grid.get(*env.front_pos) if faces_board(env) else None


def _with(thing: Any, env: Any) -> tuple[str, ...] | None:
    step = _ahead(env)
    return (*step, thing.own_name) if step and carried(thing) else None


def _with_thing_ahead(env: Any) -> tuple[str, ...] | None:
    return _with(_thing(env), env)


def _with_carried(env: Any) -> tuple[str, ...] | None:
    return _with(env.carrying, env)


def _door(env: Any) -> str:
    """The state of the door in front of the agent."""
    thing = _thing(env)
    if not isinstance(thing, Door):
        return "none"
    return "locked" if thing.is_locked else "open" if thing.is_open else "closed"


def _place(env: Any) -> tuple[str, bool]:
    """Where the agent is, and whether that is in lava."""
    return cell(env.agent_pos), isinstance(env.grid.get(*env.agent_pos), Lava)


STEP: Final = "?from ?to - cell ?dir - direction"
DOOR: Final = "?from - cell ?door - door ?dir - direction"


@dataclass(frozen=True)
class _Told:
    """An instruction with the feature that a task must have for it, and what is intended by it: see ``meaning.intended_model``."""

    feature: str
    instruction: Instruction
    needs: str
    changes: str


_FACING = "at from, facing dir, next from to dir, alive, "
_BEFORE_DOOR = "at from, facing dir, next from door dir, alive, "
_TOLD: Final = (
    _Told(
        "",
        instruction("turn-left ?d ?e - direction", Actions.left, lambda env: _turn(env, -1)),
        "facing d, clockwise e d, alive",
        "facing e, -facing d",
    ),
    _Told(
        "",
        instruction("turn-right ?d ?e - direction", Actions.right, lambda env: _turn(env, 1)),
        "facing d, clockwise d e, alive",
        "facing e, -facing d",
    ),
    _Told(
        "",
        instruction(
            f"move {STEP}", Actions.forward, _ahead, _place, lambda old, new: new[0] != old[0] and not new[1]
        ),
        _FACING + "clear to",
        "at to, clear from, -at from, -clear to",
    ),
    _Told(
        "lava",
        instruction(
            f"sink {STEP}", Actions.forward, _ahead, _place, lambda old, new: new[0] != old[0] and new[1]
        ),
        _FACING + "lava to",
        "at to, clear from, -at from, -alive",
    ),
    _Told(
        "thing",
        instruction(f"pick-up {STEP} ?x - thing", Actions.pickup, _with_thing_ahead),
        _FACING + "lies x to, hand-free",
        "holding x, clear to, -lies x to, -hand-free",
    ),
    _Told(
        "thing",
        instruction(f"drop {STEP} ?x - thing", Actions.drop, _with_carried),
        _FACING + "clear to, -marked to, holding x",
        "lies x to, hand-free, -holding x, -clear to",
    ),
    _Told(
        "locks",
        instruction(
            f"unlock {DOOR} ?k - key", Actions.toggle, _with_carried, _door, becomes("locked", "open")
        ),
        _BEFORE_DOOR + "locked door, holding k, same-colour k door",
        "clear door, -locked door",
    ),
    _Told(
        "doors",
        instruction(f"open {DOOR}", Actions.toggle, _ahead, _door, becomes("closed", "open")),
        _BEFORE_DOOR + "closed door",
        "clear door, -closed door",
    ),
    _Told(
        "doors",
        instruction(f"close {DOOR}", Actions.toggle, _ahead, _door, becomes("open", "closed")),
        _BEFORE_DOOR + "clear door",
        "closed door, -clear door",
    ),
    _Told(
        "box",
        instruction(
            f"break {STEP} ?b - box",
            Actions.toggle,
            _with_thing_ahead,
            lambda env: carried(_thing(env)),
            becomes(True, False),
        ),
        _FACING + "lies b to",
        "clear to, -lies b to",
    ),
)


def instructions_of(features: Features) -> tuple[Instruction, ...]:
    """The instructions that mean something in a task."""
    return tuple(one.instruction for one in _told(features))


def intended(features: Features, vocabulary: Vocabulary) -> Model:
    """The model that is meant by the instructions, over the vocabulary of the task."""
    meant = [(one.needs, one.changes) for one in _told(features)]
    return intended_model(vocabulary, instructions_of(features), *meant, partial=True)


def _told(features: Features) -> list[_Told]:
    return [one for one in _TOLD if not one.feature or one.feature in features]


# Random boards of MiniGrid's parts, to train classifiers on, and random states of its tasks, to examine them on.


SHAPES: Final = ((5, 5), (7, 6), (6, 9), (9, 9), (12, 7), (25, 25))
"""Columns and rows of the boards to train on."""
LOOKS_PER_BOARD: Final = 4
"""Different things on a board at most: classifiers of more are asked together too often."""
SHARES: Final = {"wall": 0.1, "door": 0.14, "thing": 0.22, "goal": 0.05, "lava": 0.06, "floor": 0.02}
"""Of the cells inside, at random; the others are empty."""
SPARSE: Final = 0.4
"""How often a board is emptier than that. Pictures are read by their contrast, of which an empty one has little."""
EMPTIEST: Final = 0.03
"""Share of the usual parts that the emptiest board has."""
IN_VOID: Final = 0.5
"""How often it is a smaller board in a wide void, as MiniGrid's rooms are in ``MultiRoom``."""
SMALLEST: Final = 4
"""Columns and rows of such a board at least."""
DOORS_IN_WALLS: Final = 0.15
CARRYING: Final = 0.5
ON_RARE: Final = 0.3
"""How often the agent is put where something is below it, a goal, a door or lava."""
FACING: Final = 0.4
"""How often it is put in front of a door or a thing."""


class RandomBoard(MiniGridEnv):
    """A board whose cells have nothing to do with each other."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(
            MissionSpace(mission_func=lambda: "nothing"),
            width=width,
            height=height,
            render_mode="rgb_array",
        )

    def _gen_grid(self, width: int, height: int) -> None:
        rng = self.np_random
        looks = [
            (_one(rng, (Key, Ball, Box)), _one(rng, COLOURS))
            for _ in range(int(rng.integers(1, LOOKS_PER_BOARD + 1)))
        ]
        fill = EMPTIEST ** rng.random() if rng.random() < SPARSE else 1.0
        scale = rng.random() ** 3 if rng.random() < IN_VOID else 1.0
        (left, right), (top, bottom) = (_part_of(rng, size, scale) for size in (width, height))
        self.grid = Grid(width, height)
        for row in range(top, bottom):
            for column in range(left, right):
                edges = (row in (top, bottom - 1)) + (column in (left, right - 1))
                self.grid.set(column, row, _random_part(rng, edges, looks, fill))
        self.agent_pos, self.agent_dir = (left + 1, top + 1), 0
        self.grid.set(*self.agent_pos, None)


def _part_of(rng: np.random.Generator, size: int, scale: float) -> tuple[int, int]:
    """Where a board begins and ends that takes a part of a larger one, by a scale from 0 to 1."""
    smaller = SMALLEST + round(scale * (size - SMALLEST))
    begin = int(rng.integers(size - smaller + 1))
    return begin, begin + smaller


def _random_part(
    rng: np.random.Generator, edges: int, looks: list[tuple[Any, str]], fill: float
) -> WorldObj | None:
    if edges:
        return _random_door(rng) if edges == 1 and rng.random() < DOORS_IN_WALLS else Wall()
    drawn, part = rng.random() / fill, "nothing"
    for name, share in SHARES.items():
        if 0 <= drawn < share:
            part = name
        drawn -= share
    kind, colour = _one(rng, looks)
    made: dict[str, Callable[[], WorldObj | None]] = {
        "nothing": lambda: None,
        "wall": Wall,
        "door": lambda: _random_door(rng),
        "thing": lambda: kind(colour),
        "goal": Goal,
        "lava": Lava,
        "floor": lambda: Floor(_one(rng, COLOURS)),
    }
    return made[part]()


def _random_door(rng: np.random.Generator) -> Door:
    door = Door(_one(rng, COLOURS))
    _swing(door, rng)
    return door


def _swing(door: Door, rng: np.random.Generator) -> None:
    door.is_locked, door.is_open = _one(rng, ((True, False), (False, False), (False, True)))


def _one(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def random_boards() -> list[Any]:
    """Functions that make random boards, one for each of the ``SHAPES``."""
    return [lambda shape=shape: World(RandomBoard(*shape)) for shape in SHAPES]


def shake(env: Any, rng: np.random.Generator) -> None:
    """Leave every door in any state, put things elsewhere or into the hand, and the agent anywhere where it can be."""
    for place, thing in board(env).items():
        if isinstance(thing, Door):
            if thing.is_locked or rng.random() < 0.5:
                _swing(thing, rng)
        elif carried(thing) and not (type(thing) is Box and thing.contains):
            free = [other for other, what in board(env).items() if what is None]
            if not env.carrying and rng.random() < CARRYING:
                env.carrying = thing
                env.grid.set(*place, None)
            elif free and rng.random() < 0.5:
                env.grid.set(*place, None)
                env.grid.set(*_one(rng, free), thing)
    standable = [place for place, thing in board(env).items() if thing is None or thing.can_overlap()]
    rare = [place for place in standable if env.grid.get(*place) is not None]
    env.agent_pos = _one(rng, rare if rare and rng.random() < ON_RARE else standable)
    env.agent_dir = int(rng.integers(4))
    before = [
        (place, facing) for place in standable for facing in range(4) if _before_something(env, place, facing)
    ]
    if before and rng.random() < FACING:
        env.agent_pos, env.agent_dir = _one(rng, before)


def _before_something(env: Any, place: tuple[int, int], facing: int) -> bool:
    """Whether an agent at a place faces a door or what can be picked up."""
    column, row = place[0] + DIR_TO_VEC[facing][0], place[1] + DIR_TO_VEC[facing][1]
    if not (0 <= column < env.width and 0 <= row < env.height):
        return False
    thing = env.grid.get(column, row)
    return carried(thing) or isinstance(thing, Door)
