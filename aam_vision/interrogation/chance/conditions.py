"""On which atoms the outcomes of an action depend.

A *cell* is all contexts in which certain atoms have certain values. In a cell, everything that may come of a step is compared between the contexts with each other atom and those without it: that
an atom is added (where it was false) or deleted (where it was true), or an outcome in situations that show all of them. Adding and
deleting an atom have no more than one chance together; where both are likelier than that, the outcomes depend on that atom itself.

An action's outcomes depend on a set of atoms if they are the same wherever these have the same values. A set is *refuted*
where something in a cell came surely more often with another atom than
without it. The smallest sets that are not refuted are the candidates; which one holds is tried out by changing
one atom and no other (``observations.evident``). All intervals are valid at all times, each with its share of the error
probability, so one may look at any time.

An objective is pursued where it holds already, or where it does not; these two are apart from the beginning, and each is looked at by itself.

To tell whether an atom changes what an action does, pairs of situations are tried again that differ in nothing else. The two of a pair agree in every fact and in the objects that are named, as far as such pairs can be reached; else in the
action's other atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb, log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.constancy import ACCUSING
from aam_vision.interrogation.chance.intervals import Numbers, Precision, against_one_frequency, likeliest
from aam_vision.interrogation.chance.observations import (
    SHARES,
    Explanation,
    Observations,
    Setting,
    evident,
    explained,
    holds,
)
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits, union
from aam_vision.model.strips import MAX_OUTCOMES

MOST = 5
"""Atoms on which the outcomes of an action may depend."""
_POOL = 8
"""Atoms of which sets of two or more are made: those that differ most."""
_SUSPICIOUS = 5.0
"""Evidence (natural logarithm of a likelihood ratio) from which a difference that is not sure is looked into."""
_COMPARED = 400
"""Steps in a situation after which no more are made for that: they tell frequencies apart that differ by a quarter."""
_CONSTANT = 12
"""The same where all had one outcome, as where all effects held already."""
_WEIGHED = 30
"""Pairs that are weighed against each other: those that were tried most."""
_MANY = 60
"""Situations of which others are made or looked for, at most."""
_PROMISING = 1.0
"""Evidence in a pair from which it is tried before pairs that were tried more often."""

Situation = tuple[Setting, int]


class Cells:
    """How often what came in each context, and where that differs.

    ``alpha``: probability that any difference is told that there is not.
    """

    def __init__(self, steps: Observations, atoms: int, explanation: Explanation, alpha: float) -> None:
        self._atoms = atoms
        self._alpha = alpha
        self._known: dict[Literals, int] = {}
        self._summed: dict[Literals, tuple[Numbers, Numbers, Numbers, Numbers]] = {}
        self.contexts = list(steps.contexts)
        self.bits = np.array(
            [[held >> one & 1 for one in range(atoms)] for held in self.contexts], dtype=float
        )
        tried: list[list[int]] = []
        hits: list[list[int]] = []
        self.both: list[tuple[int, int, int]] = []
        """Atoms that are both added and deleted, with the numbers of these two."""
        made = [sum(afters.values()) for afters in steps.contexts.values()]
        for atom in range(atoms):
            numbers = []
            for value in (0, 1):
                own = [
                    sum(count for now, count in afters.items() if now >> atom & 1 != value)
                    if held >> atom & 1 == value
                    else 0
                    for held, afters in steps.contexts.items()
                ]
                if any(own):
                    numbers.append(len(tried))
                    hits.append(own)
                    tried.append(
                        [
                            count if held >> atom & 1 == value else 0
                            for held, count in zip(self.contexts, made, strict=True)
                        ]
                    )
            if len(numbers) == 2:
                self.both.append((atom, numbers[0], numbers[1]))
        if explanation.sure and len(explanation.outcomes) > 1:
            shows = [explanation.revealing(held) for held in self.contexts]
            for one in explanation.outcomes:
                tried.append([count * shown for count, shown in zip(made, shows, strict=True)])
                hits.append(
                    [
                        steps.contexts[held].get((held | one.adds) & ~one.deletes, 0) * shown
                        for held, shown in zip(self.contexts, shows, strict=True)
                    ]
                )
        self.tried = np.array(tried, dtype=float).reshape(len(tried), len(made))
        self.hits = np.array(hits, dtype=float).reshape(len(hits), len(made))

    def inside(self, cell: Literals) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which contexts are in a cell."""
        return np.array([holds(cell, held) for held in self.contexts], dtype=bool)

    def _sums(self, cell: Literals) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Trials and hits with and without each atom: arrays (what came, atom)."""
        if cell not in self._summed:
            inside = self.inside(cell)
            tried, hits, bits = self.tried[:, inside], self.hits[:, inside], self.bits[inside]
            with_, hit = tried @ bits, hits @ bits
            others = tried.sum(1, keepdims=True) - with_, hits.sum(1, keepdims=True) - hit
            self._summed[cell] = with_, hit, *others
        return self._summed[cell]

    def strength(self, cell: Literals) -> Numbers:
        """The likelihood ratio of two frequencies, with and without an atom, to one: array (what came, atom)."""
        one, hit, other, missed = self._sums(cell)
        ratio: Numbers = likeliest(hit, one) + likeliest(missed, other) - likeliest(hit + missed, one + other)
        return ratio

    def differing(self, cell: Literals) -> int:
        """An atom with which something came surely more often in a cell, or less; -1 if there is none."""
        if cell not in self._known:
            self._known[cell] = self._looked(cell)
        return self._known[cell]

    def _evidence(self, cell: Literals) -> Numbers:
        """Against one frequency with and without an atom: array (what came, atom)."""
        with_, hit, without, missed = self._sums(cell)
        return against_one_frequency(np.array([hit, missed]), np.array([with_, without]))

    def doubtful(self, cell: Literals) -> int:
        """The atoms for which a bet that something differs in a cell of this size pays on the whole, as a mask."""
        evidence = self._evidence(cell)
        bound = log(2 * self._atoms * max(1, evidence.size))
        return sum(1 << int(atom) for atom in np.flatnonzero((evidence >= bound).any(0)))

    def _looked(self, cell: Literals) -> int:
        alpha = self._share(size_of(cell))
        evidence = self._evidence(cell)
        if evidence.size and evidence.max() >= log(1 / alpha):
            return int(np.unravel_index(int(evidence.argmax()), evidence.shape)[1])
        inside = self.inside(cell)
        for atom, *both in self.both:  # what deletes it no more than what does not add it
            hits, tried = (array[both][:, inside].sum(1) for array in (self.hits, self.tried))
            if (hits / np.maximum(tried, 1)).sum() > 1:
                hits[1] = tried[1] - hits[1]
                if against_one_frequency(hits, tried) >= log(1 / alpha):
                    return atom
        return -1

    def _share(self, size: int) -> float:
        """The error probability of one interval in a cell of so many atoms."""
        cells = comb(self._atoms, size) << size
        each = 2 * (self._atoms + 1) * (2 * self._atoms + MAX_OUTCOMES)
        return self._alpha / 2.0 ** (size + 1) / (cells * each)

    def likelihood(self, cells: Iterable[Literals]) -> float:
        """The logarithm of the likelihood of all steps if the outcomes are the same in each of these cells."""
        total = 0.0
        for cell in cells:
            inside = self.inside(cell)
            tried, hits = self.tried[:, inside].sum(1), self.hits[:, inside].sum(1)
            for made, hit in zip(tried.tolist(), hits.tolist(), strict=True):
                total += sum(part * log(part / made) for part in (hit, made - hit) if part > 0)
        return total


def size_of(cell: Literals) -> int:
    """The number of atoms of which a cell fixes the value."""
    return (cell.positive | cell.negative).bit_count()


class Dependence(NamedTuple):
    """What the outcomes depend on, as masks of the action's atoms."""

    atoms: int = 0
    """A smallest set that explains all steps; none if no set of at most ``MOST`` does, or nothing differs. Of an objective, beside its goal."""
    cases: tuple[Literals, ...] = (NOTHING,)
    """The conditions under which the outcomes are the same; exactly one holds in every context."""
    others: tuple[int, ...] = ()
    """Other sets of as many atoms that explain all steps."""
    differing: int = 0
    """An atom with which something came surely more often than without it."""
    sure: int = 0
    """Atoms on which the outcomes surely depend (``evident``)."""
    suspicions: tuple[tuple[Literals, int], ...] = ()
    """Cases with atoms on which something may depend there: more differs than chance is likely to make, but not surely."""

    unproven: tuple[tuple[Literals, int], ...] = ()
    """Atoms that would explain everything, and on which the outcomes may depend, or not, each with the condition under which they may."""

    @property
    def suspected(self) -> int:
        """The atoms of all of these."""
        return union(Literals(atoms, 0) for _, atoms in self.suspicions).positive

    @property
    def unexplained(self) -> bool:
        """Whether something differs, and no set of atoms explains it."""
        return bool(self.differing) and not self.atoms


def dependence(
    steps: Observations, everything: int, precision: Precision, goal: Literals = NOTHING
) -> Dependence:
    """On which atoms the outcomes depend.

    That they depend on anything is wrong with a tenth of the intervals' error probability.

    Args:
        steps: of the action.
        everything: its atoms, as a mask.
        precision: of its intervals.
        goal: what it is to bring about, if it is an objective. Pursuits that begin where that holds already are another matter
            than the others, so they are told apart from the first ones on, and of each kind it is looked by itself on what it depends.
    """
    sides = goal, goal.opposite()
    if not goal or not all(any(holds(side, held) for held in steps.contexts) for side in sides):
        return _of(steps, everything, precision)
    half = precision._replace(alpha=precision.alpha / len(sides))
    found = [_of(steps.within(side), everything, half) for side in sides]
    wherever = list(zip(sides, found, strict=True))
    atoms = 0 if any(one.unexplained for one in found) else found[0].atoms | found[1].atoms
    return Dependence(
        atoms,
        tuple(union((side, case)) for side, one in wherever for case in one.cases),
        tuple(other | atoms & ~one.atoms for one in found for other in one.others),
        next((one.differing for one in found if one.unexplained), found[0].differing or found[1].differing),
        found[0].sure | found[1].sure,
        tuple((union((side, where)), mask) for side, one in wherever for where, mask in one.suspicions),
        tuple((union((side, where)), mask) for side, one in wherever for where, mask in one.unproven),
    )


def _of(steps: Observations, everything: int, precision: Precision) -> Dependence:
    """The same of any steps."""
    if not steps.course:
        return Dependence()
    explanation = explained(steps.contexts, everything)
    return _Search(steps, everything.bit_length(), explanation, precision).run()


class _Search:
    """Looks for the sets of atoms that explain all steps of one action."""

    def __init__(
        self, steps: Observations, atoms: int, explanation: Explanation, precision: Precision
    ) -> None:
        self._steps = steps
        self._atoms = atoms
        self._precision = precision
        self._found = Cells(steps, atoms, explanation, precision.alpha * ACCUSING / SHARES)
        self._sure = (
            0 if steps.unread else evident(steps, atoms, precision)
        )  # what came of those may depend on anything

    def run(self) -> Dependence:
        sure, first = self._sure, self._found.differing(NOTHING)
        if first < 0 and not sure:
            first = self._within()
        if first < 0 and not sure:
            return Dependence(suspicions=self._suspicions((NOTHING,)))
        differing = 1 << first if first >= 0 else sure & -sure
        for size in range(max(1, sure.bit_count()), MOST + 1):
            sets = [one for one in self._sets(size) if not sure & ~one and self._explains(one)]
            sets.sort(key=lambda one: self._found.likelihood(self._cells(one)), reverse=True)
            if sets:
                cases = self._cases(NOTHING, sets[0], whole=True)
                every = union(Literals(one, 0) for one in sets).positive
                return Dependence(
                    sets[0],
                    cases,
                    tuple(sets[1:]),
                    differing,
                    sure,
                    self._suspicions(cases),
                    ((NOTHING, every & ~sure),),
                )
        return Dependence(differing=differing, sure=sure)

    def _within(self) -> int:
        """An atom with which something differs where one or two others have certain values, as in a xor; -1 if there is none."""
        for size in (1, 2):
            for chosen in self._sets(size):
                for cell in self._cells(chosen):
                    if (atom := self._found.differing(cell)) >= 0:
                        return atom
        return -1

    def _suspicions(self, cases: Sequence[Literals]) -> tuple[tuple[Literals, int], ...]:
        """The cases in which something may differ, or where one more atom has a certain value, with the atoms with which it does."""
        found = []
        for case in cases:
            strong = {int(atom) for _, atom in np.argwhere(self._found.strength(case) >= _SUSPICIOUS)}
            if strong:
                found.append((case, sum(1 << atom for atom in strong)))
            for chosen in self._sets(1):
                for more in self._cells(chosen) if not chosen & (case.positive | case.negative) else ():
                    cell = union((case, more))
                    if atoms := self._found.doubtful(cell):
                        found.append((cell, atoms))
        return tuple(found)

    def _sets(self, size: int) -> Iterator[int]:
        """Sets of atoms that differ among the contexts, those that matter most first."""
        varying = [
            one for one in range(self._atoms) if 0 < self._found.bits[:, one].sum() < len(self._found.bits)
        ]
        pool = varying
        if size > 1:
            sure = [one for one in varying if self._sure >> one & 1]
            pool = list(dict.fromkeys([*sure, *(one for one in self._pool if one in varying)]))
        for chosen in combinations(pool, size):
            yield sum(1 << one for one in chosen)

    @cached_property
    def _pool(self) -> list[int]:
        """The atoms with which most differs, in any cell of one atom or none."""
        cells = [
            NOTHING,
            *(Literals(1 << one, 0) for one in range(self._atoms)),
            *(Literals(0, 1 << one) for one in range(self._atoms)),
        ]
        total = np.zeros(self._atoms)
        for cell in cells:
            strength = self._found.strength(cell)
            if strength.size:
                total = np.maximum(total, strength.max(axis=0))
        for atom, *_ in self._found.both:
            total[atom] += 1
        return [int(one) for one in np.argsort(-total, kind="stable")[:_POOL]]

    def _cells(self, atoms: int) -> Iterator[Literals]:
        """Every assignment of values to atoms."""
        positive = atoms
        while True:
            yield Literals(positive, atoms & ~positive)
            if not positive:
                return
            positive = (positive - 1) & atoms

    def _explains(self, atoms: int) -> bool:
        """Whether nothing differs in any cell of these atoms with another one."""
        return all(self._found.differing(cell) < 0 for cell in self._cells(atoms))

    def _cases(self, cell: Literals, left: int, *, whole: bool = False) -> tuple[Literals, ...]:
        """The fewest cells into which splitting by these atoms in turn puts what differs (``whole``: split once at least)."""
        if not left or (not whole and self._alike(cell, left)):
            return (cell,)
        best: tuple[Literals, ...] = (cell,)
        for number in range(self._atoms):
            bit = 1 << number
            if not left & bit:
                continue
            halves = (
                Literals(cell.positive | bit, cell.negative),
                Literals(cell.positive, cell.negative | bit),
            )
            if all(self._found.inside(half).any() for half in halves):
                found = tuple(leaf for half in halves for leaf in self._cases(half, left & ~bit))
                if len(best) == 1 or len(found) < len(best):
                    best = found
        return best

    def _alike(self, cell: Literals, left: int) -> bool:
        """Whether nothing seems to differ in a cell by the atoms that are left, also where one of them has a certain value."""
        if self._found.differing(cell) >= 0:
            return False
        inner = [union((cell, one)) for bit in bits(left) for one in (Literals(bit, 0), Literals(0, bit))]
        among = [atom for atom in range(self._atoms) if left >> atom & 1]
        strengths = [self._found.strength(one)[:, among].max(initial=0.0) for one in (cell, *inner)]
        return bool(max(strengths) < _SUSPICIOUS)


def worth_trying(steps: Observations, where: Literals, bit: int) -> list[Situation]:
    """The situations of a case in which to try what an atom changes: two that were met, or any that would make one of two."""
    met = [one for one in steps.situations if holds(where, one[1])]
    pairs = _pairs(steps, met, bit)
    if not pairs:
        tried = [] if _in_vain(steps, where, bit) else met
        return [
            *((setting, held ^ bit) for setting, held in met[:_MANY]),
            *_unmatched(steps, tried, bit)[:_MANY],
        ]
    left = [one for one in pairs if not _compared(*_both(steps, one, bit))]
    if not left:
        return []
    left.sort(key=lambda one: -min(_made(afters) for afters in _both(steps, one, bit)))
    setting, held = max(left[:_WEIGHED], key=lambda one: max(_PROMISING, _evidence(steps, one, bit)))
    sides = ((one, steps.situations[setting, one]) for one in (held, held ^ bit))
    both = _both(steps, (setting, held), bit)
    return [(setting, one) for one, afters in sides if _made(afters) < _enough(*both)]


def tried_in_vain(steps: Observations, where: Literals, bit: int) -> bool:
    """Whether all pairs that were met in a case were tried as often as they are to be."""
    met = [one for one in steps.situations if holds(where, one[1])]
    pairs = _pairs(steps, met, bit)
    if pairs:
        return all(_compared(*_both(steps, one, bit)) for one in pairs)
    return _in_vain(steps, where, bit)


def _in_vain(steps: Observations, where: Literals, bit: int) -> bool:
    """The same of contexts that agree in the action's other atoms."""
    pairs = [held for held in steps.contexts if holds(where, held) and held ^ bit in steps.contexts]
    return bool(pairs) and all(_compared(steps.contexts[held], steps.contexts[held ^ bit]) for held in pairs)


def _pairs(steps: Observations, met: Iterable[Situation], bit: int) -> list[Situation]:
    """The situations without an atom of which the one with it was met, too."""
    return [
        (setting, held)
        for setting, held in met
        if not held & bit and (setting, held ^ bit) in steps.situations
    ]


def _unmatched(steps: Observations, met: Iterable[Situation], bit: int) -> list[Situation]:
    """Situations of which one was met that has the same of the action's other atoms, tried least first."""
    found = [
        one
        for one in met
        if (other := steps.contexts.get(one[1] ^ bit)) is not None
        and steps.made(one[1]) < _enough(steps.contexts[one[1]], other)
    ]
    return sorted(found, key=lambda one: steps.made(one[1]))


def _both(steps: Observations, one: Situation, bit: int) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """What came in both situations of a pair."""
    setting, held = one
    return steps.situations[setting, held], steps.situations[setting, held ^ bit]


def _made(afters: Mapping[int, int]) -> int:
    return sum(afters.values())


def _evidence(steps: Observations, one: Situation, bit: int) -> float:
    """That something came more often in one situation of a pair."""
    without, with_ = _both(steps, one, bit)
    changes = sorted({now ^ one[1] for now in without} | {now ^ one[1] ^ bit for now in with_})
    hits = [
        [without.get(change ^ one[1], 0) for change in changes],
        [with_.get(change ^ one[1] ^ bit, 0) for change in changes],
    ]
    tried = [[_made(afters)] * len(changes) for afters in (without, with_)]
    return float(against_one_frequency(np.array(hits, float), np.array(tried, float)).max())


def _compared(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Whether two situations were tried often, or often enough to see that nothing varies in them."""
    return min(_made(one), _made(other)) >= _enough(one, other)


def _enough(one: Mapping[int, int], other: Mapping[int, int]) -> int:
    """How often each of two situations is to be tried."""
    return _COMPARED if len(one) > 1 or len(other) > 1 else _CONSTANT
