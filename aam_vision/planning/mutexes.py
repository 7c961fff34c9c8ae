"""What holds in every reachable state: h^2 mutexes (pairs of literals never hold together) and invariants (one of several facts does).

Mutexes are the classic over-approximation of reachability (Haslum and Geffner's h^2, without costs) over facts and
their complements; the table of pairs itself is ``pair_table``.

Effects that are not known yet are taken as possible both ways, so that the answer "never together" holds
in every model that is still possible.

*Invariants* of lifted operators are sets of facts of which at least one is true in every reachable state: a hand is empty or holds something, a cell is clear or something stands on it. Mutexes tell that
no two of such facts hold together; that one of them always does is a disjunction, which no pair says. Candidates are *templates*:
atoms about one fixed object, such as ``handempty(h)`` and ``holding(h, *)``. One holds if every operator that may delete such
an atom certainly adds another one about the same object, or requires one and keeps it. Where an operator does not, the template
is tried with an atom more. The search is that of Helmert (2009, "Concise finite-domain representations for PDDL planning tasks"),
whose invariants bound the number of true atoms from above instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from aam_vision.model.strips import LiftedAtom
from aam_vision.planning.grounding import LiftedOperator
from aam_vision.planning.interchangeable import PossibleOperator, renamed, representatives
from aam_vision.planning.joins import Fact
from aam_vision.planning.relations import Compatibility
from aam_vision.support.unchanging import Unchanging

MAX_LITERALS = 3000
"""Literals beyond which interchangeable objects share theirs. More: sharper exclusions in larger worlds, slower."""
MAX_PARTS = 4
"""Predicates of a template. More: more invariants, slower."""
MAX_TEMPLATES = 300
"""Templates that are tried."""
MAX_MEMBERS = 64
"""Facts of an invariant; of more it is hardly ever shown that none holds."""


class Mutexes(Unchanging):
    """Which literals can hold together in some state reachable from the initial facts.

    Unknown facts may be true or false initially. Facts that no operator changes keep their value.
    """

    def __init__(
        self,
        operators: Sequence[PossibleOperator],
        states: Sequence[tuple[frozenset[Fact], frozenset[Fact]]],
        max_literals: int = MAX_LITERALS,
        *,
        less: Mutexes | None = None,
    ) -> None:
        """``states`` are those to start from: facts that are true, facts that are unknown.

        ``less`` is the table of operators that require no less, with the same effects, and of some of these states. What
        holds together there does so here, too, and is not worked out again if the same facts occur.
        """
        fluent: set[Fact] = set()
        for operator in operators:
            fluent |= operator.add | operator.delete | operator.may_add | operator.may_delete
        always = frozenset.intersection(*(true for true, _ in states))
        for true, unknown in states:
            fluent |= (true - always) | unknown
        self._true = always - fluent
        self._facts = sorted(fluent)
        self._shared = None
        if 2 * len(fluent) > max_literals:
            self._shared = representatives(operators, self._facts, self._true)
        own = self._facts
        if self._shared is not None:
            operators = self._shared.operators(operators)
            own = sorted({one for fact in own for one in self._shared.namings(fact)})
        self._number = {fact: 2 * i for i, fact in enumerate(own)}
        self._states: int = len(states)
        begun = 0
        smaller: PairTable | None = None
        if less is not None and (less._facts, less._true, less._shared) == (
            self._facts,
            self._true,
            self._shared,
        ):
            begun, smaller = less._states, less._table
        self._table: PairTable = PairTable(2 * len(own), smaller)
        self._rows: list[int] = self._table.rows
        self._begin(states[begun:])
        self._table.take_in([one for operator in operators if (one := self._numbered(operator)) is not None])

    # --- the initial states ------------------------------------------------------------------------

    def _begin(self, states: Iterable[tuple[frozenset[Fact], frozenset[Fact]]]) -> None:
        """Note that the literals of each initial state hold together.

        Sets of literals that hold in many of them, such as those of a thing that was never moved, are noted once.
        """
        beside: dict[int, int] = {}
        for true, unknown in states:
            for holding, others in self._parts(true, unknown):
                beside[holding] = beside.get(holding, 0) | others
        for holding, others in beside.items():
            self._hold(holding, others)

    def _parts(self, true: frozenset[Fact], unknown: frozenset[Fact]) -> Iterator[tuple[int, int]]:
        """Sets of literals that hold together in one initial state, under every naming of representatives.

        Each comes with others that hold together with all of them.
        """
        if self._shared is None:
            yield self._holding(true, unknown, range(0, len(self._rows), 2)), 0
            return
        owned: dict[str | None, tuple[set[Fact], set[Fact]]] = {
            owner: (set(), set()) for owner in (None, *sorted(self._shared.members))
        }
        for kind, facts in enumerate((true - self._true, unknown)):
            for fact in facts:
                owned[self._shared.owner(fact)][kind].add(fact)
        places: dict[str | None, list[int]] = {}
        for fact, number in self._number.items():
            places.setdefault(self._shared.owner(fact), []).append(number)
        nobody = self._holding(*owned.pop(None), places.get(None, []))
        parts = [
            {
                member: self._holding(
                    [renamed(fact, {member or "": chosen}) for fact in true],
                    [renamed(fact, {member or "": chosen}) for fact in unknown],
                    places.get(chosen, []),
                )
                for member, (true, unknown) in owned.items()
            }
            for chosen in self._shared.chosen
        ]
        everyone = nobody
        for place, part in enumerate(parts):
            for member, holding in part.items():
                others = nobody
                for other in (*parts[:place], *parts[place + 1 :]):
                    for name, beside in other.items():
                        if name != member:
                            others |= beside
                yield holding, others
                everyone |= holding
        yield nobody, everyone

    def _holding(self, true: Iterable[Fact], unknown: Iterable[Fact], numbers: Iterable[int]) -> int:
        """The literals of the facts with these numbers in a state."""
        holding = mask_of(number + 1 for number in numbers)
        for fact in true:
            if (number := self._number.get(fact)) is not None:
                holding ^= 3 << number
        for fact in unknown:
            holding |= 3 << self._number[fact]
        return holding

    def _hold(self, holding: int, others: int = 0) -> None:
        """Note that literals hold together, and with the others; one that may be either way never with its opposite."""
        either = holding & (holding >> 1) & self._positive
        either |= either << 1
        for literal in numbers_in(holding):
            beside = holding | others
            self._rows[literal] |= beside & ~(1 << (literal ^ 1)) if either >> literal & 1 else beside

    @cached_property
    def _positive(self) -> int:
        return mask_of(range(0, len(self._rows), 2))

    def covers(self, true: frozenset[Fact], unknown: frozenset[Fact]) -> bool:
        """Whether this would be the same table if such a state were one to start from, too."""
        facts = self._literal
        constant = {fact for fact in true if fact not in facts}
        if constant != self._true or any(fact not in facts for fact in unknown):
            return False
        further = copy(self)  # other threads may look at this one meanwhile
        further._rows = list(self._rows)
        further._begin([(true, unknown)])
        return further._rows == self._rows

    # --- questions ---------------------------------------------------------------------------------

    def possible(self, positive: Iterable[Fact], negative: Iterable[Fact] = ()) -> bool:
        """Whether these literals may hold together somewhere; False is a proof that they never do."""
        if self._shared is None:
            wanted = self._literals(positive, negative)
            return wanted is not None and self._table.together(wanted) is not None
        signed = [(fact, True) for fact in positive] + [(fact, False) for fact in negative]
        literals = [self.literal(fact, value) for fact, value in signed]
        if -1 in literals:
            return False
        return all(
            self.compatibility.filter(np.array([literals[:place]], dtype=np.int64), np.array([literal]))[0]
            for place, literal in enumerate(literals)
        )

    @cached_property
    def compatibility(self) -> Compatibility:
        """The table for questions about many literals at once; its last literal stands for a constant that holds."""
        size = len(self._rows) + 1
        width = (size + 7) // 8
        free = 1 << (size - 1)
        rows = [(row | free).to_bytes(width, "little") for row in self._rows]
        rows.append(((1 << size) - 1).to_bytes(width, "little"))
        packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(size, width)
        if self._shared is None:
            return Compatibility(packed)
        members = {name: number for number, name in enumerate(sorted(self._shared.members))}
        first, second = (
            [self._number[self._shared.naming(fact, place)] + sign for fact in self._facts for sign in (0, 1)]
            for place in (0, 1)
        )
        owners = [self._shared.owner(fact) for fact in self._facts for _ in (0, 1)]
        owner = [-1 if name is None else members[name] for name in owners]
        return Compatibility(
            packed, np.array([*first, size - 1]), np.array([*second, size - 1]), np.array([*owner, -1])
        )

    @property
    def facts(self) -> Iterable[Fact]:
        """All facts that occur: those that may change, in order, and the constant ones that are true."""
        yield from self._facts
        yield from sorted(self._true)

    @cached_property
    def _literal(self) -> dict[Fact, int]:
        return {fact: 2 * number for number, fact in enumerate(self._facts)}

    def literal(self, fact: Fact, value: bool) -> int:
        """The number of a literal in ``compatibility``; -1 if it never holds."""
        number = self._literal.get(fact)
        if number is not None:
            return number + (not value)
        return 2 * len(self._facts) if (fact in self._true) == value else -1

    def _literals(self, positive: Iterable[Fact], negative: Iterable[Fact]) -> list[int] | None:
        """Numbers of the changing literals; None if a constant one is false."""
        wanted = []
        for fact in positive:
            number = self._number.get(fact)
            if number is not None:
                wanted.append(number)
            elif fact not in self._true:
                return None
        for fact in negative:
            number = self._number.get(fact)
            if number is not None:
                wanted.append(number + 1)
            elif fact in self._true:
                return None
        return wanted

    def _numbered(self, operator: PossibleOperator) -> NumberedOperator | None:
        """The operator in numbers of literals; None if it requires a constant to be what it is not."""
        before = self._literals(operator.positive, operator.negative)
        if before is None:
            return None
        add, delete = operator.add, operator.delete - operator.add
        sure = [self._number[f] for f in sorted(add)] + [self._number[f] + 1 for f in sorted(delete)]
        perhaps = [self._number[f] for f in sorted(operator.may_add - add)]
        perhaps += [self._number[f] + 1 for f in sorted(operator.may_delete - delete)]
        return NumberedOperator(tuple(before), tuple(sure), tuple(perhaps))


# Which of many numbered literals may hold together: a table of pairs, and its fixpoint under operators.
#
# Sets of literals are Python integers, so that one operator is one intersection of the rows of its precondition:
# thousands of operators take milliseconds a round. The opposite of literal ``n`` is ``n ^ 1``.


FEW = 64
"""New companions of a literal up to which they are noted one by one. More: rounds later see less of the same round."""


class NumberedOperator(NamedTuple):
    """The literals that an operator requires, those that it makes true, and those that it may make true."""

    before: tuple[int, ...]
    sure: tuple[int, ...]
    perhaps: tuple[int, ...]


class PairTable:
    """The literals that may hold together: for each one the others."""

    def __init__(self, size: int, less: PairTable | None = None) -> None:
        """``less``: a table with as many literals to go on from; what it holds is not worked out again."""
        self.rows: list[int] = [0] * size if less is None else list(less.rows)
        self._earlier = list(self.rows)
        self._done: frozenset[NumberedOperator] = frozenset() if less is None else less._done
        """The operators that were taken in where the rows were as earlier."""
        self._one_sided: set[int] = set()
        """Literals that are noted to hold with others, where those are not noted to hold with them yet."""

    def together(self, literals: Sequence[int]) -> int | None:
        """All literals compatible with each of these; None if these are not with each other."""
        mask = -1
        for literal in literals:
            mask &= self.rows[literal]
        if any(not mask >> literal & 1 for literal in literals):
            return None
        return mask

    def take_in(self, operators: Sequence[NumberedOperator]) -> None:
        """What may hold together once these operators may be applied, in any order and number.

        They make possible all that the operators made possible that ``less`` took in.
        """
        masks: list[tuple[int, int, int] | None] = [None] * len(operators)
        reachable = mask_of(i for i, row in enumerate(self.rows) if row)
        changed_at = [int(row != before) for row, before in zip(self.rows, self._earlier, strict=True)]
        done_at = [int(one in self._done) for one in operators]
        """When each row changed last, and when each operator was looked at last: moments, counted from 1."""
        moment = 1
        order = range(len(operators))
        while True:
            begun = moment
            for place in order:
                before, sure, perhaps = operators[place]
                done = done_at[place]
                if before and done and all(changed_at[literal] < done for literal in before):
                    continue  # nothing that it requires has changed since
                moment += 1
                done_at[place] = moment
                mask = self.together(before)
                if mask is None:
                    continue
                kept, made, optional = masks[place] = masks[place] or (
                    ~mask_of(literal ^ 1 for literal in sure),
                    mask_of(sure),
                    mask_of(perhaps),
                )
                stays = (mask & reachable & kept) | made
                for literal in sure:
                    self._join(literal, stays, changed_at, moment)
                for literal in perhaps:
                    beside = (stays | optional) & ~(1 << (literal ^ 1))
                    self._join(literal, beside, changed_at, moment)
                reachable |= made | optional
            moment += 1
            self._mirror(changed_at, moment)
            if max(changed_at, default=0) <= begun:
                break
            order = order[::-1]  # what one direction spreads slowly the other one spreads at once
        self._earlier, self._done = list(self.rows), frozenset(operators)

    def _join(self, literal: int, others: int, changed_at: list[int], moment: int) -> None:
        """Note that the literal may hold together with each of the others.

        That the others may hold with it follows at once where they are few, else at the end of the round.
        """
        new = others & ~self.rows[literal]
        if not new:
            return
        self.rows[literal] |= new
        changed_at[literal] = moment
        if new.bit_count() > FEW:
            self._one_sided.add(literal)
            return
        bit = 1 << literal
        for other in numbers_in(new):
            self.rows[other] |= bit
            changed_at[other] = moment

    def _mirror(self, changed_at: list[int], moment: int) -> None:
        """Make the table symmetric again: whatever may hold with another may do so the other way round."""
        literals = sorted(self._one_sided)
        self._one_sided.clear()
        rows = [self.rows[literal] for literal in literals]
        for other, row in turned(rows, literals, len(self.rows)):
            if row & ~self.rows[other]:
                self.rows[other] |= row
                changed_at[other] = moment


# Sets of small numbers as Python integers: bit ``n`` is set if ``n`` is in the set.


BLOCK = 256
"""Bytes of each set that are turned together. More: faster, more memory."""


def numbers_in(mask: int) -> Iterator[int]:
    """The numbers in the set, the smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(numbers: Iterable[int]) -> int:
    """The set of these numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def turned(sets: Sequence[int], names: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """For each number in any of the sets, which sets it is in, by their names."""
    width = (size + 7) // 8
    data = b"".join(one.to_bytes(width, "little") for one in sets)
    packed = np.frombuffer(data, dtype=np.uint8).reshape(len(sets), width)
    for first in range(0, width if sets else 0, BLOCK):
        columns = np.unpackbits(packed[:, first : first + BLOCK], axis=1, bitorder="little")
        numbers = np.flatnonzero(columns.any(axis=0))
        members = np.zeros((len(numbers), size), dtype=np.uint8)
        members[:, names] = columns[:, numbers].T
        rows = np.packbits(members, axis=1, bitorder="little")
        for number, row in zip((numbers + 8 * first).tolist(), rows, strict=True):
            yield number, int.from_bytes(row.tobytes(), "little")


class Part(NamedTuple):
    """The atoms of one predicate with the fixed object at this place; -1 where no object is fixed."""

    predicate: str
    place: int

    def fixed(self, atom: LiftedAtom) -> str | int | None:
        """The atom's argument that is the fixed object; None where no object is fixed."""
        return atom.arguments[self.place] if self.place >= 0 else None


Template = frozenset[Part]


def always_one_of(
    operators: Sequence[LiftedOperator], facts: Iterable[Fact], starts: Sequence[frozenset[Fact]]
) -> list[frozenset[Fact]]:
    """Sets of facts of which at least one is true in every state that is reachable.

    Args:
        operators: all that may happen: they add what is certainly added, delete whatever may be deleted, and require what is
            certainly required. Several parameters must not stand for one object.
        facts: the facts that may become true.
        starts: the facts that are certainly true in each initial state.
    """
    by_predicate: dict[str, list[Fact]] = {}
    for fact in facts:
        by_predicate.setdefault(fact[0], []).append(fact)
    found: dict[frozenset[Fact], None] = {}
    for template in _templates(operators):
        groups: dict[str | None, list[Fact]] = {}
        for predicate, place in sorted(template):
            for fact in by_predicate.get(predicate, ()):
                groups.setdefault(fact[1][place] if place >= 0 else None, []).append(fact)
        for group in groups.values():
            members = frozenset(group)
            if len(members) <= MAX_MEMBERS and all(members & true for true in starts):
                found[members] = None
    return [group for group in found if not any(other < group for other in found)]


def _templates(operators: Sequence[LiftedOperator]) -> list[Template]:
    """The smallest templates that every operator preserves, of those that some operator deletes from."""
    deleted = {
        (atom.predicate, place): None
        for operator in operators
        for atom in _deleted(operator)
        for place in range(-1, len(atom.arguments))
    }
    waiting = [frozenset([Part(*part)]) for part in deleted]
    known, found = set(waiting), list[Template]()
    for template in waiting:  # grows meanwhile
        broken = next((one for operator in operators for one in _broken(operator, template)), None)
        if broken is None:
            found.append(template)
            continue
        for part in _remedies(*broken):
            larger = template | {part}
            if len(larger) <= MAX_PARTS and larger not in known and len(known) < MAX_TEMPLATES:
                known.add(larger)
                waiting.append(larger)
    return [template for template in found if not any(other < template for other in found)]


def _broken(
    operator: LiftedOperator, template: Template
) -> Iterator[tuple[LiftedOperator, str | int | None]]:
    """The operator with each fixed object about which it may delete an atom of the template and leave none."""
    left = set(_about(template, _left(operator)))
    for fixed in _about(template, _deleted(operator)):
        if fixed not in left:
            yield operator, fixed


def _about(template: Template, atoms: Iterable[LiftedAtom]) -> Iterator[str | int | None]:
    """The fixed objects of those atoms that belong to the template."""
    for atom in atoms:
        for part in sorted(template):
            if part.predicate == atom.predicate:
                yield part.fixed(atom)


def _remedies(operator: LiftedOperator, fixed: str | int | None) -> Iterator[Part]:
    """The parts that are left about the fixed object, if one is fixed, where the operator was executed."""
    for atom in _left(operator):
        if fixed is None:
            yield Part(atom.predicate, -1)
        for place, argument in enumerate(atom.arguments):
            if argument == fixed:
                yield Part(atom.predicate, place)


def _deleted(operator: LiftedOperator) -> list[LiftedAtom]:
    """The atoms that may be false after the operator, because it deletes them."""
    return [atom for atom in operator.delete if atom not in operator.add]


def _left(operator: LiftedOperator) -> list[LiftedAtom]:
    """The atoms that are certainly true after the operator."""
    kept = [
        atom
        for atom in operator.positive
        if not any(_may_coincide(atom, other) for other in _deleted(operator))
    ]
    return [*operator.add, *kept]


def _may_coincide(one: LiftedAtom, other: LiftedAtom) -> bool:
    """Whether two atoms may be one fact: different parameters are different objects, but may be a constant."""
    return one.predicate == other.predicate and all(
        a == b or isinstance(a, str) != isinstance(b, str)
        for a, b in zip(one.arguments, other.arguments, strict=True)
    )
