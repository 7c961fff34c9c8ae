"""Which predicates are true, read from poses and contacts: for labels and evaluation only."""

from __future__ import annotations

from typing import Final

from aam_vision.envs.tabletop.motion_check import MotionCheck
from aam_vision.envs.tabletop.world import World
from aam_vision.strips import Atom

HELD, CLEAR, ON, ON_TABLE, EMPTY = "holding", "clear", "on", "on-table", "hand-empty"
LOWER: Final = 0.5
"""How much lower than a thing's middle the middle of what bears it is, at least, as a share of half its width."""


def true_atoms(world: World, check: MotionCheck, names: tuple[str, ...]) -> frozenset[Atom]:
    """The atoms of `holding`, `clear`, `on`, `on-table` and `hand-empty` that are true; ``names`` are those of the things."""
    held = check.held()
    atoms = {Atom(EMPTY, ())} if held is None else {Atom(HELD, (names[held],))}
    covered = set() if held is None else {held}
    for upper, lower in resting(world):
        if upper == held:
            continue
        atoms.add(
            Atom(ON_TABLE, (names[upper],)) if lower is None else Atom(ON, (names[upper], names[lower]))
        )
        if lower is not None:
            covered.add(lower)
    atoms.update(Atom(CLEAR, (name,)) for number, name in enumerate(names) if number not in covered)
    return frozenset(atoms)


def resting(world: World) -> set[tuple[int, int | None]]:
    """Pairs of a thing and what bears it: a thing that it touches and that is below, or the table (None)."""
    found: set[tuple[int, int | None]] = set()
    for pair in world.touching():
        for upper, lower in (pair, pair[::-1]):
            number = world.number(upper)
            if number is None:
                continue
            if world.is_table(lower):
                found.add((number, None))
            elif (below := world.number(lower)) is not None:
                drop = world.place(number)[2] - world.place(below)[2]
                if drop > LOWER * world.half(number):
                    found.add((number, below))
    return found
