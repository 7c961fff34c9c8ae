"""Effects of atoms that become one under a binding: a step shows what they do together, not which of them does it.

The one atom is true afterwards if any of them is added, else false if any is deleted, else as before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from aam_vision.interrogation.hypotheses.literals import bits

MAX_TRIES = 1000
"""Combinations of effects that are tried to explain steps. More: slower where nothing explains them."""


class Effects(NamedTuple):
    """The atoms that may still be added, deleted or kept by an action: bit masks."""

    adds: int
    deletes: int
    keeps: int


class Changes(NamedTuple):
    """The atoms that an action adds and deletes: bit masks."""

    adds: int
    deletes: int


class JointStep(NamedTuple):
    """A step under which all atoms of a group are one atom: its values before (None if hidden) and after."""

    group: int
    was: bool | None
    now: bool


def changed_together(effects: Effects, step: JointStep) -> Effects:
    """The effects that remain possible after a step.

    Conclusions about a single atom are drawn; where several may be the reason, the same step may tell more once less
    is possible.
    """
    adds, deletes, keeps = effects
    group, was, now = step
    may_add, may_delete = adds & group, deletes & group
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


def narrowed(effects: Effects, steps: Sequence[JointStep]) -> Effects:
    """The effects that remain possible after all of these steps, each of which may tell more once another has."""
    left, before = effects, None
    while left != before:
        before = left
        for step in steps:
            left = changed_together(left, step)
    return left


def joint_outcomes(
    effects: Effects, group: int, value: bool | None, seen: Collection[JointStep] = ()
) -> set[bool]:
    """The values that the one atom which all atoms of the group are may have after a step, by its value before.

    Where that was seen it is known, although it may be open which of the effects brought it about.
    """
    if value is None:
        return {now for was in (True, False) for now in joint_outcomes(effects, group, was, seen)}
    adds, deletes, keeps = effects
    added = adds & ~deletes & ~keeps & group
    deleted = deletes & ~adds & ~keeps & group
    found = set()
    if adds & group or (value and not deleted):
        found.add(True)
    if not added and (not value or deletes & group):
        found.add(False)
    return {now for now in found if JointStep(group, value, now) in seen} or found


def explanation(effects: Effects, steps: Sequence[JointStep]) -> Changes:
    """The certain changes, and as few others as it takes to bring about all of these steps.

    Only the certain ones where no possible changes do, or none are found soon.
    """
    adds, deletes, keeps = effects
    certain = Changes(adds & ~deletes & ~keeps, deletes & ~adds & ~keeps)
    tries = iter(range(MAX_TRIES))

    def explained(changes: Changes) -> Changes | None:
        if next(tries, None) is None:
            return None
        added, deleted = changes
        for group, was, now in steps:
            if added & group:
                outcomes = {True}
            else:
                outcomes = {False} if deleted & group else {True, False} if was is None else {was}
            if now in outcomes:
                continue
            possible = group & ~added & ~deleted & (adds if now else deletes)
            found = (
                explained(Changes(added | bit, deleted) if now else Changes(added, deleted | bit))
                for bit in bits(possible)
            )
            return next(filter(None, found), None)
        return changes

    return explained(certain) or certain
