"""The fewest outcomes that explain all changes that one action was seen to make.

A change is seen as the values of the action's atoms before and after, as masks. An addition of what held and a deletion of
what did not are not seen; so a change leaves every atom the modes that explain it, and belongs to any outcome that has, for every
atom, one of these. In a *revealing* situation everything that was ever added is false and everything that was ever deleted
true: what was seen there are the outcomes as they are. Where none was seen, or some change elsewhere fits none of its outcomes,
the changes are put into the fewest groups of which each has one explanation: a cover of the graph of changes that go together by
cliques (pairs suffice, as what any two of some changes allow an atom, all of them do).
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

    @property
    def held(self) -> int:
        """The atoms that held before, if this is what one step shows."""
        return self.deletes | self.deletes_not

    def fits(self, other: Change) -> bool:
        """Whether one outcome may explain both."""
        return not (
            self.adds & (other.deletes | other.adds_not)
            or self.deletes & (other.adds | other.deletes_not)
            or self.adds_not & other.adds
            or self.deletes_not & other.deletes
        )

    def shows(self, seen: Change) -> bool:
        """Whether an outcome that changes nothing else shows itself like this."""
        return seen.adds == self.adds & ~seen.held and seen.deletes == self.deletes & seen.held

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
    """Outcomes that explain all changes, with what is known of each.

    ``sure`` is false where the fewest outcomes may not be the true ones: more than one, and no revealing situation has shown
    them all. (An outcome that was never seen anywhere is another matter: ``intervals.unseen``.)
    """

    outcomes: tuple[Change, ...] = ()
    sure: bool = True

    @property
    def additions(self) -> int:
        """Atoms that some outcome adds."""
        return _union(one.adds for one in self.outcomes)

    @property
    def deletions(self) -> int:
        """Atoms that some outcome deletes."""
        return _union(one.deletes for one in self.outcomes)

    def revealing(self, held: int) -> bool:
        """Whether every outcome shows all of itself where these atoms hold."""
        return not (self.additions & held or self.deletions & ~held)


def explain(changes: Iterable[Change]) -> Explanation:
    """The fewest outcomes that explain these changes, in an order that depends on the changes alone."""
    seen = sorted(set(changes))
    additions, deletions = _union(one.adds for one in seen), _union(one.deletes for one in seen)
    changed = additions | deletions
    narrow = sorted({one.within(changed) for one in seen}, key=_telling)
    groups = _revealed(narrow, additions, deletions)
    sure = groups is not None
    if groups is None:
        groups = _fewest(narrow)
    outcomes = [Change(group.adds, group.deletes) for group in groups]
    known = [_known(outcome, outcomes, seen) for outcome in outcomes]
    return Explanation(tuple(sorted(known, key=_telling)), sure or len(known) < 2)


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _telling(one: Change) -> tuple[int, Change]:
    """Changes that say the most come first: they leave few choices for the others."""
    return -sum(mask.bit_count() for mask in one), one


def _revealed(narrow: Sequence[Change], additions: int, deletions: int) -> list[Change] | None:
    """The changes in a revealing situation, if these explain all others."""
    there = [one for one in narrow if not (additions & one.held or deletions & ~one.held)]
    return there if there and all(any(one.shows(seen) for one in there) for seen in narrow) else None


def _fewest(narrow: Sequence[Change]) -> list[Change]:
    """The fewest groups of changes that have one explanation each; more where the search would take too long."""
    telling = [one for one in narrow if not any(o != one and o.says_all_of(one) for o in narrow)]
    at: dict[int, int] = {}
    for one in narrow:
        at[one.held] = at.get(one.held, 0) + 1
    for size in range(max(at.values(), default=0), len(telling)):
        if (found := _cover(telling, size)) is not None:
            return found
    return list(telling)


def _cover(telling: Sequence[Change], size: int) -> list[Change] | None:
    """A cover by so many groups; None if there is none, or none was found."""
    tried = 0

    def place(number: int, groups: list[Change]) -> list[Change] | None:
        """Put the changes from this one on into groups."""
        nonlocal tried
        tried += 1
        if number == len(telling) or tried > _SEARCH:
            return groups if number == len(telling) else None
        one = telling[number]
        for at, group in enumerate(groups):
            if group.fits(one):
                found = place(number + 1, [*groups[:at], group.with_(one), *groups[at + 1 :]])
                if found is not None:
                    return found
        return place(number + 1, [*groups, one]) if len(groups) < size else None

    return place(0, [])


def _known(outcome: Change, outcomes: Sequence[Change], seen: Sequence[Change]) -> Change:
    """All that is known of an outcome: its effects, and what the changes say that only it shows."""
    known = outcome
    for one in seen:
        if [other for other in outcomes if other.shows(one)] == [outcome]:
            known = known.with_(one)
    return known
