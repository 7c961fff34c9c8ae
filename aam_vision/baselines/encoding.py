"""FAMA's models and the replay of traces as clauses.

A model is programmed by two bits for every lifted atom of an action, as in FAMA: ``pre`` makes it a
precondition, ``eff`` an effect - which deletes the atom if it is a precondition, and adds it if not. So there are no
negative preconditions; only preconditions are deleted, and only other atoms are added.

A literal is a number, negative if it is the opposite; a clause is a list of literals, one of which is true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aam_vision.baselines.traces import Trace
from aam_vision.errors import UnusableInput
from aam_vision.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    State,
    Vocabulary,
    lifted_atoms,
)

TRUE = 1
"""The literal that is always true."""


@dataclass(frozen=True)
class _Bits:
    """The variables of one lifted atom of one action; ``add`` and ``delete`` follow from the others."""

    pre: int
    eff: int
    add: int
    delete: int


class Encoding:
    """All models of a vocabulary, and the clauses that traces put on them.

    Args:
        vocabulary: the predicates.
        headers: the actions.
        repeated: whether atoms may name a parameter twice, as in ``on(?x, ?x)``. FAMA has them; they do not affect the
            others as long as traces name no object twice in one action.
    """

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], *, repeated: bool = False
    ) -> None:
        self.clauses: list[list[int]] = [[TRUE]]
        self._vocabulary = vocabulary
        self._headers = tuple(headers)
        self._count = TRUE
        atoms = [
            (header.name, atom)
            for header in headers
            for atom in lifted_atoms(vocabulary, header, repeated=repeated)
        ]
        programmed = [(self._new(), self._new()) for _ in atoms]
        self.bits: list[int] = [bit for pair in programmed for bit in pair]
        """The variables that make up a model, in a fixed order."""
        self._actions: dict[str, dict[LiftedAtom, _Bits]] = {header.name: {} for header in headers}
        for (name, atom), (pre, eff) in zip(atoms, programmed, strict=True):
            bits = _Bits(pre, eff, self._new(), self._new())
            self._actions[name][atom] = bits
            self.clauses += _conjunction(bits.add, eff, -pre) + _conjunction(bits.delete, eff, pre)

    def replay(self, trace: Trace, *, closed_world: bool) -> None:
        """Keep only models that can execute the trace and end in its last state.

        Atoms that the first state does not know may have any value; those that the last one does not know
        are not tested. Without ``closed_world`` only the atoms that are true in the last state are tested.

        Raises:
            UnusableInput: the trace names an unknown action, or too few or too many objects.
        """
        values: dict[Atom, int] = {}
        for action in trace.actions:
            self._step(trace.initial, values, action)
        tested = {*values, *trace.initial.true, *trace.final.true} if closed_world else trace.final.true
        for atom in sorted(tested):
            found = trace.final.value(atom)
            if found is not None:
                value = self._value(trace.initial, values, atom)
                self.clauses.append([value if found else -value])

    def model(self, solution: Iterable[int]) -> Model:
        """The model that a solution (the literals that are true) programs."""
        true = frozenset(literal for literal in solution if literal > 0)
        schemas = []
        for header in self._headers:
            atoms = self._actions[header.name]
            schemas.append(
                ActionSchema(
                    header,
                    positive=frozenset(atom for atom, bits in atoms.items() if bits.pre in true),
                    add=frozenset(atom for atom, bits in atoms.items() if bits.add in true),
                    delete=frozenset(atom for atom, bits in atoms.items() if bits.delete in true),
                )
            )
        return Model(self._vocabulary, tuple(schemas))

    def program(self, model: Model) -> list[int] | None:
        """The literals that program a model; None if it is not among FAMA's."""
        literals = []
        for name, atoms in self._actions.items():
            schema = model.schema(name)
            known = schema.positive | schema.add <= atoms.keys()
            if (
                not known
                or schema.negative
                or schema.add & schema.positive
                or not schema.delete <= schema.positive
            ):
                return None
            for atom, bits in atoms.items():
                effect = atom in schema.add or atom in schema.delete
                literals += [
                    bits.pre if atom in schema.positive else -bits.pre,
                    bits.eff if effect else -bits.eff,
                ]
        return literals

    def _step(self, initial: State, values: dict[Atom, int], action: GroundAction) -> None:
        """The clauses of one action; ``values`` holds the literals of all atoms that it may have changed."""
        instances: Mapping[Atom, list[_Bits]] = defaultdict(list)
        for lifted, bits in self._atoms(action).items():
            instances[lifted.ground(action.objects)].append(bits)
        for atom, lifts in instances.items():
            before = self._value(initial, values, atom)
            after = values[atom] = self._new()
            adds = [bits.add for bits in lifts]
            deletes = [bits.delete for bits in lifts]
            self.clauses += [[-bits.pre, before] for bits in lifts]
            self.clauses += [[-add, after] for add in adds]
            self.clauses += [[-delete, *adds, -after] for delete in deletes]
            self.clauses += [[-before, *deletes, after], [before, *adds, -after]]

    def _atoms(self, action: GroundAction) -> Mapping[LiftedAtom, _Bits]:
        arity = {header.name: header.arity for header in self._headers}
        if arity.get(action.name) != len(action.objects):
            known = ", ".join(str(header) for header in self._headers)
            raise UnusableInput(f"a trace says {action}, but the actions are {known}")
        return self._actions[action.name]

    def _value(self, initial: State, values: dict[Atom, int], atom: Atom) -> int:
        """The literal that stands for the atom's truth; at first what the initial state says."""
        if atom not in values:
            known = initial.value(atom)
            values[atom] = self._new() if known is None else TRUE if known else -TRUE
        return values[atom]

    def _new(self) -> int:
        self._count += 1
        return self._count


def _conjunction(whole: int, *parts: int) -> list[list[int]]:
    """Clauses that make ``whole`` true exactly if all parts are."""
    return [[whole, *(-part for part in parts)], *([-whole, part] for part in parts)]
