"""How people who write domains name parameters of one type in a precondition, as far as no action of the domain at hand shows it.

Counted in 29 packaged and AMLGym's files, in actions with three or more parameters of one type (without tpp's, for which it was looked
at): an atom that names two neighbours among these, such as ``next(?l1, ?l2)``, is required in 19 of 84 cases, and one that names two
others, such as ``next(?l1, ?l3)``, in 2 of 60. One that names neighbours in reverse is required in 4 of 5 cases if most other actions
that have it require it, where there are three, and in none of 4, where there are two. All that only orders questions: nothing is concluded from it.
"""

from __future__ import annotations

from itertools import combinations

from aam_vision.model.strips import LiftedAtom

REVERSED = 0.5
"""Factor for the odds of an atom that names parameters of one type in another order than the header, as in ``on(?y, ?x)``."""
APART = 0.15
"""Factor for those of an atom that names two parameters of one type between which the header has a third one of it."""


def reversed_order(atom: LiftedAtom, kinds: tuple[str, ...]) -> bool:
    """Whether parameters of one type are named in another order than in the header, whose types are given."""
    return any(first > second for first, second in _pairs(atom, kinds))


def apart(atom: LiftedAtom, kinds: tuple[str, ...]) -> bool:
    """Whether two parameters of one type are named between which the header has a third one of it."""
    return any(
        kinds[first] in kinds[min(first, second) + 1 : max(first, second)]
        for first, second in _pairs(atom, kinds)
    )


def among_more(atom: LiftedAtom, kinds: tuple[str, ...]) -> bool:
    """Whether the header has more than two parameters of a type of which the atom names two."""
    return any(kinds.count(kinds[first]) > 2 for first, _ in _pairs(atom, kinds))


def _pairs(atom: LiftedAtom, kinds: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parameters of one type that the atom names, two at a time, in its order."""
    named = [argument for argument in atom.arguments if isinstance(argument, int)]
    return [(first, second) for first, second in combinations(named, 2) if kinds[first] == kinds[second]]
