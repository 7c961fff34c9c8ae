"""The instructions for MiniGrid, its own controls, and the model that is intended by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from minigrid.core.actions import Actions
from minigrid.core.world_object import Door, Lava

from aam_vision.envs.control_names import control
from aam_vision.envs.meaning import Instruction, becomes, instruction
from aam_vision.envs.worlds.features import Features, carried
from aam_vision.envs.worlds.minigrid_vocabulary import DIRECTIONS
from aam_vision.envs.worlds.minigrid_world import cell, faces_board
from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Model, Vocabulary

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
