"""Predicates read from poses and contacts: consistent with each other, and with where things were put."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.envs.tabletop.environment import TabletopEnv
from aam_vision.envs.tabletop.layouts import BALL
from aam_vision.model.strips import Atom
from tests.profiles import thorough

from .scenes import random_scene, state

TABLE = TabletopEnv()
SEEDS = st.integers(0, 2**31 - 1)


def expected(seed: int) -> frozenset[Atom]:
    """What is true of a random scene by its layout."""
    layout = random_scene(seed)
    names = [thing.name for thing in layout.things]
    atoms = {Atom("hand-empty", ())} if layout.held is None else {Atom("holding", (names[layout.held],))}
    for pile in layout.piles:
        atoms.add(Atom("on-table", (names[pile.things[0]],)))
        atoms.add(Atom("clear", (names[pile.things[-1]],)))
        atoms |= {Atom("on", (names[upper], names[lower])) for lower, upper in pairwise(pile.things)}
    return frozenset(atoms)


@given(SEEDS)
@thorough(40)
def test_what_is_read_is_what_was_set_up(seed: int) -> None:
    TABLE.set_up(random_scene(seed))
    assert TABLE.true_atoms() == expected(seed)


@given(SEEDS, st.integers(0, 6))
@thorough(15)
def test_what_is_read_is_consistent_after_any_skills(seed: int, skills: int) -> None:
    """A thing is held, on the table or on one other thing; clear is what is free; nothing rests on a ball."""
    TABLE.set_up(random_scene(seed))
    TABLE.action_space.seed(seed)
    for _ in range(skills):
        TABLE.carry_out(*TABLE.action_space.sample())
    true = state(TABLE).true
    names = [thing.name for thing in TABLE.layout.things]
    held = [name for name in names if Atom("holding", (name,)) in true]
    assert len(held) <= 1
    assert (Atom("hand-empty", ()) in true) == (not held)
    bearers = [atom.objects[1] for atom in true if atom.predicate == "on"]
    assert len(set(bearers)) == len(bearers)
    for thing in TABLE.layout.things:
        on = [atom for atom in true if atom.predicate == "on" and atom.objects[0] == thing.name]
        assert (thing.name in held) + (Atom("on-table", (thing.name,)) in true) + len(on) == 1
        free = thing.name not in held and thing.name not in bearers
        assert (Atom("clear", (thing.name,)) in true) == free
        assert thing.kind != BALL or thing.name not in bearers
