"""The fewest outcomes that explain all changes that one action was seen to make.

A change is seen as the values of the action's atoms before and after, as masks. An addition of what held and a deletion of
what did not are not seen; so a change leaves every atom the modes that explain it, and belongs to any outcome that has, for every
atom, one of these. Changes that no outcome explains together are of different outcomes. The fewest groups are a cover of the
graph of changes that go together by cliques; pairs suffice, as what any two of some changes allow an atom, all of them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_SEARCH = 20_000
"""Assignments that are tried for a cover of a given size."""


class Change(NamedTuple):
    """What is known of an outcome, as masks of the action's atoms."""

    adds: int = 0
    """Atoms that it adds."""
    deletes: int = 0
    """Atoms that it deletes."""
    adds_not: int = 0
    """Atoms that it does not add: false before and after."""
    deletes_not: int = 0
    """Atoms that it does not delete: true before and after."""

    def fits(self, other: Change) -> bool:
        """Whether one outcome may explain both."""
        return not (
            self.adds & (other.deletes | other.adds_not)
            or self.deletes & (other.adds | other.deletes_not)
            or self.adds_not & other.adds
            or self.deletes_not & other.deletes
        )

    def with_(self, other: Change) -> Change:
        """What is known if both are of one outcome."""
        return Change(*(own | its for own, its in zip(self, other, strict=True)))

    def says_all_of(self, other: Change) -> bool:
        """Whether all that the other says is said by this one."""
        return self.with_(other) == self

    def within(self, mask: int) -> Change:
        """What it says of these atoms."""
        return Change(*(own & mask for own in self))


def change(before: int, after: int, everything: int) -> Change:
    """What one executed step shows, from the atoms that held before it and after it."""
    return Change(after & ~before, before & ~after, everything & ~before & ~after, before & after)


class Explanation(NamedTuple):
    """Outcomes that explain all changes, with what is known of each, and whether no others of that number do."""

    outcomes: tuple[Change, ...]
    only: bool

    def matching(self, seen: Change) -> list[int]:
        """The numbers of the outcomes that may have shown this."""
        return [number for number, outcome in enumerate(self.outcomes) if outcome.fits(seen)]


def explain(changes: Iterable[Change]) -> Explanation:
    """The fewest outcomes that explain these changes, in an order that depends on the changes alone.

    ``only`` is false where other assignments of the changes to as many outcomes explain them as well, or where so many
    outcomes were never told apart in one situation: then the fewest may not be the true ones.
    """
    distinct = sorted(set(changes))
    changed = 0
    for one in distinct:
        changed |= one.adds | one.deletes
    narrow = sorted({one.within(changed) for one in distinct}, key=_telling)
    telling = [one for one in narrow if not any(o != one and o.says_all_of(one) for o in narrow)]
    if not telling:
        return Explanation((), True)
    least = _told_apart(narrow)
    groups, several = telling, False
    for size in range(least, len(telling)):
        found, all_tried = _covers(telling, size)
        several = not all_tried
        if found:
            groups, several = found[0], several or len(found) > 1
            break
    whole = [_known(number, groups, distinct, changed) for number in range(len(groups))]
    alone = all(sum(group.fits(one) for group in groups) == 1 for one in telling)
    return Explanation(tuple(sorted(whole, key=_telling)), alone and not several and len(groups) == least)


def _telling(one: Change) -> tuple[int, Change]:
    """Changes that say the most come first: they leave few choices for the others."""
    return -sum(mask.bit_count() for mask in one), one


def _told_apart(narrow: Sequence[Change]) -> int:
    """The most different changes in one situation; so many outcomes there are at least."""
    at: dict[int, int] = {}
    for one in narrow:
        held = one.deletes | one.deletes_not
        at[held] = at.get(held, 0) + 1
    return max(at.values(), default=0)


def _covers(telling: Sequence[Change], size: int) -> tuple[list[list[Change]], bool]:
    """Up to two different covers by so many groups, and whether the search for them came to an end."""
    found: list[list[Change]] = []
    tried = 0

    def place(number: int, groups: list[Change]) -> bool:
        """Put the changes from this one on into groups; whether to stop."""
        nonlocal tried
        tried += 1
        if tried > _SEARCH:
            return True
        if number == len(telling):
            if groups not in found:
                found.append(groups)
            return len(found) > 1
        one = telling[number]
        for at, group in enumerate(groups):
            if group.fits(one) and place(number + 1, [*groups[:at], group.with_(one), *groups[at + 1 :]]):
                return True
        return len(groups) < size and place(number + 1, [*groups, one])

    place(0, [])
    return found, tried <= _SEARCH


def _known(number: int, groups: Sequence[Change], changes: Sequence[Change], changed: int) -> Change:
    """A group with what is known of the atoms that never changed: all that the changes which only it explains say of them."""
    known = groups[number]
    for one in changes:
        own = one.within(changed)
        if [at for at, group in enumerate(groups) if group.fits(own)] == [number]:
            known = known.with_(one.within(~changed))
    return known
