"""Invariants of lifted operators: sets of facts of which at least one is true in every reachable state.

A hand is empty or holds something, a cell is clear or something stands on it. Pairs of literals (:mod:`.mutexes`) tell that
no two of such facts hold together; that one of them always does is a disjunction, which no pair says. Candidates are *templates*:
atoms about one fixed object, such as ``handempty(h)`` and ``holding(h, *)``. One holds if every operator that may delete such
an atom certainly adds another one about the same object, or requires one and keeps it. Where an operator does not, the template
is tried with an atom more. The search is that of Helmert (2009, "Concise finite-domain representations for PDDL planning tasks"),
whose invariants bound the number of true atoms from above instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aam_vision.model.strips import LiftedAtom
from aam_vision.planning.grounding import LiftedOperator
from aam_vision.planning.joins import Fact

MAX_PARTS = 4
"""Predicates of a template. More: more invariants, slower."""
MAX_TEMPLATES = 300
"""Templates that are tried."""
MAX_MEMBERS = 64
"""Facts of an invariant; of more it is hardly ever shown that none holds."""


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
