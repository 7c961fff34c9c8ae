"""MiniGrid's tasks as environments: ``minigrid:DoorKey-5x5`` is ``MiniGrid-DoorKey-5x5-v0``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import gymnasium
from minigrid.core.actions import Actions
from minigrid.core.world_object import Door, Lava

from aam_vision.envs.control_names import control
from aam_vision.envs.labelled import labelled_images
from aam_vision.envs.meaning import Instruction, becomes, instruction
from aam_vision.envs.worlds.minigrid_boards import random_boards, shake
from aam_vision.envs.worlds.minigrid_world import (
    DIRECTIONS,
    EVERYTHING,
    Features,
    World,
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
from aam_vision.envs.worlds.ready import ReadyWorld
from aam_vision.errors import AamError, UnusableInput, reason
from aam_vision.perception import Perceived
from aam_vision.strips import ActionHeader, ActionSchema, Atom, LiftedAtom, Model, Vocabulary

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
    """The environment of a task.

    Args:
        name: as MiniGrid calls it, without ``MiniGrid-`` and without ``-v0``, which other versions must give.

    Raises:
        UnusableInput: MiniGrid has no such task, or the vocabulary does not cover it.
    """
    make = partial(_made, gym_id(name))
    found = features(f"minigrid:{name}", _problems(name, make))
    visual = vocabulary_of(found)
    perceived = {entry.predicate.name for entry in visual.entries if isinstance(entry, Perceived)}
    scene = partial(scene_of, with_things=bool(found.kinds))
    truths = partial(_shown, perceived)
    return ReadyWorld(
        name="minigrid",
        visual=visual,
        instructions=instructions_of(found),
        make=make,
        scene=scene,
        seeds=SEEDS,
        unseen=labelled_images([make], scene, truths, shake),
        restore=(snapshot, restore),
        truth=lambda: intended(found, visual.vocabulary()),
        held_out=HELD_OUT,
        controls=CONTROLS,
        shown=truths,
        shake=shake,
    )


@lru_cache(maxsize=1)
def training() -> ReadyWorld:
    """What the classifiers of all tasks are trained on: random boards with everything that the vocabulary covers."""
    makers = [partial(_made, gym_id(name)) for name in EXAMINED]
    visual = vocabulary_of(EVERYTHING)
    return ReadyWorld(
        name="minigrid",
        visual=visual,
        instructions=instructions_of(EVERYTHING),
        make=_no_task,
        scene=scene_of,
        pictures=labelled_images(random_boards(), scene_of, shown, shake),
        number=PICTURES,
        round_steps=2500,
        unseen=labelled_images(makers, scene_of, shown, shake),
        restore=(snapshot, restore),
        truth=lambda: intended(EVERYTHING, visual.vocabulary()),
        shown=shown,
        shake=shake,
    )


def gym_id(name: str) -> str:
    """Gymnasium's name of a task.

    Raises:
        UnusableInput: there is no such task.
    """
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
    except (
        Exception
    ) as error:  # whatever somebody else's task raises; some need files that MiniGrid does not bring
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


def _thing_ahead(env: Any) -> bool:
    return carried(_thing(env))


STEP: Final = "?from ?to - cell ?dir - direction"
DOOR: Final = "?from - cell ?door - door ?dir - direction"


@dataclass(frozen=True)
class _Told:
    """An instruction with the feature that a task must have for it, and what is intended by it.

    ``needs`` and ``changes`` are atoms over the parameters; a minus sign stands before what becomes false.
    """

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
            f"break {STEP} ?b - box", Actions.toggle, _with_thing_ahead, _thing_ahead, becomes(True, False)
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
    known = {predicate.name for predicate in vocabulary.predicates}

    def atoms(header: ActionHeader, text: str, sign: str) -> frozenset[LiftedAtom]:
        found = [part.split() for part in text.split(", ")]
        return frozenset(
            LiftedAtom(name.removeprefix("-"), tuple(header.parameters.index(one) for one in objects))
            for name, *objects in found
            if name.removeprefix("-") in known and name.startswith("-") is (sign == "-")
        )

    return Model(
        vocabulary,
        tuple(
            ActionSchema(
                header := one.instruction.header,
                atoms(header, one.needs, "+"),
                atoms(header, one.needs, "-"),
                add=atoms(header, one.changes, "+"),
                delete=atoms(header, one.changes, "-"),
            )
            for one in _told(features)
        ),
    )


def _told(features: Features) -> list[_Told]:
    return [one for one in _TOLD if one.feature in ("", *features.words)]
