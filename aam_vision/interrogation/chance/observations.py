"""The executed steps of one action by what held before them, and the fewest outcomes that explain all changes.

A change is seen as the values of the action's atoms before and after, as masks. An addition of what held and a deletion of
what did not are not seen; so a change leaves every atom the modes that explain it, and belongs to any outcome that has, for every
atom, one of these. In a *revealing* situation everything that was ever added is false and everything that was ever deleted
true: what was seen there are the outcomes as they are. Where none was seen, or some change elsewhere fits none of its outcomes,
the changes are put into the fewest groups of which each has one explanation: a cover of the graph of changes that go together by
cliques (pairs suffice, as what any two of some changes allow an atom, all of them do).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.constancy import ACCUSING
from aam_vision.interrogation.chance.intervals import Precision, against_one_frequency
from aam_vision.interrogation.evidence.transcript import Moment
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.strips import Atom, LiftedAtom, Objects, State

_SEARCH = 20_000
"""Assignments that are tried for a cover of a given size."""
SHARES = 4
"""Statements on what outcomes depend that share the error probability: of sets of atoms, single atoms, and two in reserve."""


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


def explained(contexts: Mapping[int, Iterable[int]], everything: int) -> Explanation:
    """The fewest outcomes that explain what held after steps, by what held before them."""
    return explain(change(held, now, everything) for held, afters in contexts.items() for now in afters)


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


class Setting(NamedTuple):
    """All but the action's own atoms that a step is made in: the objects that its instruction named, and other facts."""

    named: tuple[str, ...] = ()
    others: frozenset[Atom] = frozenset()
    """The facts that hold and are no atoms of the action under this binding."""
    objects: Objects | None = None
    """All objects of the problem."""


NOWHERE = Setting()


class Executed(NamedTuple):
    """One executed step: the atoms that held before it and after it, its setting, how many steps of the action came before, and when it was."""

    held: int
    now: int
    setting: Setting = NOWHERE
    place: int = 0
    when: Moment = Moment()


class SideEffect(NamedTuple):
    """A change of a fact of which the instruction does not name all objects."""

    added: bool
    predicate: str
    arguments: tuple[int | str, ...]
    """Parameters by their place, other objects by their type."""

    @property
    def atom(self) -> LiftedAtom:
        """What is changed, as an atom in which objects that are not named are called ``another door``."""
        named = (one if isinstance(one, int) else f"another {one}" for one in self.arguments)
        return LiftedAtom(self.predicate, tuple(named))

    def text(self, names: Sequence[str]) -> str:
        """``open(another door)``; ``names`` are the parameters of the action."""
        return f"{'' if self.added else 'not '}{self.atom.text(names)}"


def side_effects(changed: Iterable[Atom], named: Sequence[str], before: State) -> dict[SideEffect, Atom]:
    """What the changes of facts are, of which not all objects are ``named``: each kind with the first of its atoms."""
    found: dict[SideEffect, Atom] = {}
    for atom in sorted(changed, key=str):
        arguments = tuple(
            named.index(one) if one in named else before.objects.get(one, one) for one in atom.objects
        )
        found.setdefault(SideEffect(atom not in before.true, atom.predicate, arguments), atom)
    return found


class Observations:
    """The executed steps of one action, by the atoms that held before them (their *context*)."""

    def __init__(self) -> None:
        self.course: list[Executed] = []
        """Every step."""
        self.contexts: dict[int, dict[int, int]] = {}
        """By context, in the order of their first step, how often which atoms held after it."""
        self.unread: dict[int, int] = {}
        """By context, further steps of which it could not be read which atoms held after them."""
        self.situations: dict[tuple[Setting, int], dict[int, int]] = {}
        """The same as ``contexts``, by setting and context."""
        self._settings: dict[Setting, Setting] = {}

    @property
    def executed(self) -> int:
        """All steps, those included of which it is not known what came of them."""
        return len(self.course) + sum(self.unread.values())

    def lose(self, held: int) -> None:
        """Note a step of which it could not be read what came of it."""
        self.unread[held] = self.unread.get(held, 0) + 1

    def add(
        self,
        held: int,
        now: int,
        setting: Setting = NOWHERE,
        place: int | None = None,
        when: Moment = Moment(),  # noqa: B008 - it cannot be changed
    ) -> bool:
        """Note a step; whether its change is new in its context."""
        own = self._settings.setdefault(setting, setting)
        self.course.append(Executed(held, now, own, len(self.course) if place is None else place, when))
        here = self.situations.setdefault((own, held), {})
        here[now] = here.get(now, 0) + 1
        afters = self.contexts.setdefault(held, {})
        afters[now] = afters.get(now, 0) + 1
        return afters[now] == 1

    def made(self, held: int) -> int:
        """The steps in a context."""
        return sum(self.contexts.get(held, {}).values())

    def within(self, condition: Literals) -> Observations:
        """The steps before which a condition held."""
        found = self._of(step for step in self.course if holds(condition, step.held))
        found.unread = {held: lost for held, lost in self.unread.items() if holds(condition, held)}
        return found

    def since(self, place: int) -> Observations:
        """The steps from a place in the action's course on, those that could not be read included."""
        found = self._of(step for step in self.course if step.place >= place)
        found.unread = dict(self.unread)
        return found

    @staticmethod
    def _of(steps: Iterable[Executed]) -> Observations:
        found = Observations()
        for step in steps:
            found.add(*step)
        return found


def holds(condition: Literals, held: int) -> bool:
    """Whether a condition holds where these atoms do."""
    return not (condition.positive & ~held or condition.negative & held)


def evident(steps: Observations, atoms: int, precision: Precision) -> int:
    """The atoms on which the outcomes surely depend: changing one of them, *and nothing else*, changed how often something came.

    Steps are compared within situations that agree in every fact, the action's own or not, and in the objects that are named (as
    Mantel and Haenszel compare within strata). The j-th pair of such situations in which an atom was tried both ways has
    1 / (j (j + 1)) of the error probability: its place is fixed before its first comparison. All pairs together have as much.
    """
    number = {key: place for place, key in enumerate(steps.situations)}
    made = np.array([sum(afters.values()) for afters in steps.situations.values()], dtype=float)
    changed = np.array(
        [
            [sum(count for now, count in afters.items() if (now ^ held) >> one & 1) for one in range(atoms)]
            for (_, held), afters in steps.situations.items()
        ],
        dtype=float,
    )
    alpha = precision.alpha * ACCUSING / SHARES / atoms / atoms
    found = 0
    for atom in range(atoms):
        pairs = [
            (place, number[setting, held ^ 1 << atom])
            for (setting, held), place in number.items()
            if not held >> atom & 1 and (setting, held ^ 1 << atom) in number
        ]
        if not pairs:
            continue
        pairs.sort(key=max)
        sides = np.array(pairs).T
        hits, tried = changed[sides], np.repeat(made[sides][:, :, None], atoms, 2)
        # added without it, deleted with it: each has at most what the other leaves
        both = (hits[:, :, atom] / tried[:, :, atom]).sum(0) > 1
        hits[1, :, atom] = tried[1, :, atom] - hits[1, :, atom]
        evidence = against_one_frequency(hits, tried)
        evidence[~both, atom] = 0.0
        share = np.log(np.arange(1, len(pairs) + 1) * np.arange(2, len(pairs) + 2.0))
        strongest = max(float((evidence.max(1) - share).max()), float(evidence.sum(0).max()))
        if strongest >= log(2 / alpha):
            found |= 1 << atom
    return found
