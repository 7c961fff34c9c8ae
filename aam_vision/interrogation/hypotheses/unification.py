"""Lifted atoms that can become one: when two parameters name one object, or one names a constant.

Only then does it show that an action adds what it requires: the addition undoes the deletion of the other atom
(deletes come first, then adds).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aam_vision.strips import ActionHeader, LiftedAtom, Vocabulary

Merged = tuple[int | str, ...]
"""For every parameter what stands for it: a parameter (itself, if it is not merged) or a constant."""


class Effects(NamedTuple):
    """The atoms that may still be added, deleted or kept by an action: bit masks."""

    adds: int
    deletes: int
    keeps: int


def changed_together(effects: Effects, group: int, was: bool | None, now: bool | None) -> Effects:
    """What is left when one atom, which all atoms of the group are, had these values before and after a step.

    It is true afterwards if any of them is added, else false if any is deleted. What that says of one
    of them is learned; what it says of several is not kept.
    """
    adds, deletes, keeps = effects
    may_add, may_delete = adds & group, deletes & group
    if now is None:
        return effects
    if now:
        if was is False or may_delete & ~adds & ~keeps:
            only = may_add if may_add.bit_count() <= 1 else 0
            if only or not may_add:
                deletes, keeps = deletes & ~(only or group), keeps & ~(only or group)
        elif not may_add:
            deletes &= ~group
    else:
        adds &= ~group
        if was and may_delete.bit_count() <= 1:
            keeps &= ~(may_delete or group)
    return Effects(adds, deletes, keeps)


def joint_outcomes(effects: Effects, group: int, value: bool | None) -> set[bool]:
    """The values that an atom, which all atoms of the group are, may have after a step."""
    adds, deletes, keeps = effects
    added = adds & ~deletes & ~keeps & group
    deleted = deletes & ~adds & ~keeps & group
    found = set()
    if adds & group or (value is not False and not deleted):
        found.add(True)
    if not added and (value is not True or deletes & group):
        found.add(False)
    return found


def merge(
    vocabulary: Vocabulary, header: ActionHeader, first: LiftedAtom, second: LiftedAtom, *, repeated: bool
) -> Merged | None:
    """The least that must be named alike for both atoms to be one; None if they never are.

    Without ``repeated`` no two parameters are merged, but a parameter may be a constant.
    """
    if first.predicate != second.predicate:
        return None
    stands: list[int | str] = list(range(header.arity))
    for left, right in zip(first.arguments, second.arguments, strict=True):
        a, b = (stands[x] if isinstance(x, int) else x for x in (left, right))
        if a == b:
            continue
        if isinstance(a, str) and isinstance(b, str):
            return None
        kept, gone = (a, b) if isinstance(b, int) else (b, a)
        stands = [kept if symbol == gone else symbol for symbol in stands]
    merged = tuple(stands)
    if not repeated and len(set(merged)) < len(merged):
        return None
    return merged if _typed(vocabulary, header, merged) else None


def _typed(vocabulary: Vocabulary, header: ActionHeader, merged: Merged) -> bool:
    """Whether some type serves all that is merged into one."""
    for symbol in dict.fromkeys(merged):
        kinds = [kind for kind, other in zip(header.types, merged, strict=True) if other == symbol]
        narrowest = [vocabulary.constants[symbol]] if isinstance(symbol, str) else kinds
        if not any(all(vocabulary.types.is_a(one, kind) for kind in kinds) for one in narrowest):
            return False
    return True


def under(atom: LiftedAtom, merged: Sequence[int | str]) -> tuple[str, tuple[int | str, ...]]:
    """What the atom becomes; equal for atoms that become one."""
    return atom.predicate, tuple(merged[a] if isinstance(a, int) else a for a in atom.arguments)
