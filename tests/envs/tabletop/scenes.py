"""Scenes that tests set up."""

from __future__ import annotations

import numpy as np

from aam_vision.envs.tabletop.environment import TabletopEnv, intended, scene
from aam_vision.envs.tabletop.layouts import (
    BALL,
    BLOCK,
    CRATE,
    STEEL,
    Layout,
    Pile,
    centres,
    named,
    random_layout,
    rearranged,
)
from aam_vision.envs.tabletop.skills import SKILLS
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Model, State

TRUTH = intended()
RED, GREEN, BLUE, BALL_, STEEL_, CRATE_ = range(6)
THINGS = named((BLOCK, BLOCK, BLOCK, BALL, STEEL, CRATE), ("red", "green", "blue", BALL, STEEL, CRATE))
"""One thing of every kind; ``RED`` and so on are their numbers, and named after their looks."""


def layout(*piles: tuple[int, ...], held: int | None = None) -> Layout:
    """Piles at the first places, every second one of a row, nothing turned."""
    spots = [centres()[number] for number in (0, 2, 5, 7, 8, 10)]
    made = [Pile(things, spot, (0.0,) * len(things)) for things, spot in zip(piles, spots, strict=False)]
    return Layout(THINGS, tuple(made), held)


def random_scene(seed: int) -> Layout:
    """A random scene; in every second one the things have been put elsewhere, perhaps one of them into the hand."""
    rng = np.random.default_rng(seed)
    found = random_layout(rng)
    return rearranged(rng, found, highest=5, holding=0.5) if seed % 2 else found


def state(table: TabletopEnv) -> State:
    """The state of the scene in the vocabulary: what is true of poses and contacts, and the looks."""
    objects = scene(table).objects
    looks = {Atom(thing.look, (thing.name,)) for thing in table.layout.things if thing.look in (BALL, STEEL)}
    return State(table.true_atoms() | looks, objects)


def all_told(table: TabletopEnv) -> list[GroundAction]:
    """Every skill with all things of the scene."""
    names = [thing.name for thing in table.layout.things]
    one = [(name,) for name in names]
    two = [(first, second) for first in names for second in names]
    return [GroundAction(skill, about) for skill, arity in SKILLS.items() for about in (one, two)[arity - 1]]


def possible(table: TabletopEnv) -> list[GroundAction]:
    """The skills that the intended model holds to be possible now."""
    now = state(table)
    return [told for told in all_told(table) if TRUTH.schema(told.name).applicable(now, told.objects)]


def assert_physics(model: Model) -> None:
    """The model says what nobody wrote down: nothing stays on a ball, and steel is too heavy."""
    schemas = {schema.header.name: schema for schema in model.actions}
    assert LiftedAtom("ball", (1,)) in schemas["stack"].negative
    assert LiftedAtom("steel", (0,)) in schemas["pick-up"].negative
    assert LiftedAtom("clear", (0,)) in schemas["pick-up"].positive & schemas["unstack"].positive
