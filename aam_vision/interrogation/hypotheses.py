"""The models that are still possible, factored: every pal tuple keeps its possible modes.

The paper's ``poss_models`` is the product of these modes under the clauses that failed steps leave
behind. Nothing explicit is enumerated: an action's lifted atoms are bits, and every set of literals is a
Python integer.

A *literal* of a precondition is an atom with a sign; masks come in pairs (positive, negative). A *clause*
is a pair of masks: at least one of its literals is a precondition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.coincidence import Merged, merge, under
from aam_vision.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Location,
    Mode,
    Model,
    PalTuple,
    State,
    Vocabulary,
    lifted_atoms,
)


class Literals(NamedTuple):
    """A set of precondition literals over one action's atoms: bit masks of each sign."""

    positive: int
    negative: int

    def __bool__(self) -> bool:
        return bool(self.positive or self.negative)

    def size(self) -> int:
        """How many literals the set holds."""
        return self.positive.bit_count() + self.negative.bit_count()

    def within(self, other: Literals) -> bool:
        """Whether every literal of this set is in the other."""
        return not (self.positive & ~other.positive or self.negative & ~other.negative)

    def singles(self) -> Iterator[Literals]:
        """The literals one by one, positive ones first."""
        for bit in bits(self.positive):
            yield Literals(bit, 0)
        for bit in bits(self.negative):
            yield Literals(0, bit)


NOTHING = Literals(0, 0)


def union(literals: Iterable[Literals]) -> Literals:
    """All the literals of these sets."""
    positive = negative = 0
    for some in literals:
        positive |= some.positive
        negative |= some.negative
    return Literals(positive, negative)


def bits(mask: int) -> Iterator[int]:
    """The single-bit masks of which ``mask`` is made, lowest first."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


Getter = Callable[[Sequence[str]], tuple[str, ...]]


class AtomIndex:
    """The lifted atoms of one action as bits, and their values under a binding."""

    def __init__(self, vocabulary: Vocabulary, header: ActionHeader, *, repeated: bool = False) -> None:
        self.header = header
        self.vocabulary = vocabulary
        self.repeated = repeated
        self.atoms = lifted_atoms(vocabulary, header, repeated=repeated)
        self.everything = (1 << len(self.atoms)) - 1
        self.bit = {atom: 1 << number for number, atom in enumerate(self.atoms)}
        self.constants = frozenset(vocabulary.constants)
        self._getters = [(bit, atom.predicate, _getter(atom.arguments)) for atom, bit in self.bit.items()]

    def grounded(self, objects: Sequence[str]) -> list[tuple[int, tuple[str, tuple[str, ...]]]]:
        """Every bit with its atom under the binding (a plain tuple, equal to the ``Atom``)."""
        return [(bit, (predicate, get(objects))) for bit, predicate, get in self._getters]

    def getters(self, mask: int) -> list[tuple[str, Getter]]:
        """For each of these atoms its predicate, and a function from a binding to its objects."""
        return [(predicate, get) for bit, predicate, get in self._getters if bit & mask]

    def values(self, state: State, objects: Sequence[str]) -> tuple[int, int]:
        """Masks of the atoms that are true, and of those that are unknown, in the state."""
        true = state.true
        unknown = state.unknown
        held = 0
        dim = 0
        if unknown:
            for bit, predicate, get in self._getters:
                atom = (predicate, get(objects))
                if atom in true:
                    held |= bit
                elif atom in unknown:
                    dim |= bit
        else:
            for bit, predicate, get in self._getters:
                if (predicate, get(objects)) in true:
                    held |= bit
        return held, dim

    def coinciding(self, objects: Sequence[str]) -> list[int]:
        """Atoms that are one under the binding, as masks of two bits or more.

        That needs an object named twice, or a constant for an argument. Their change is the joint doing of
        several effects.
        """
        if len(set(objects)) == len(objects) and self.constants.isdisjoint(objects):
            return []
        groups: dict[tuple[str, tuple[str, ...]], int] = {}
        for bit, fact in self.grounded(objects):
            groups[fact] = groups.get(fact, 0) | bit
        return [mask for mask in groups.values() if mask.bit_count() > 1]

    def shared(self, objects: Sequence[str]) -> int:
        """Atoms that another atom of the action coincides with under the binding."""
        return sum(self.coinciding(objects))

    @cached_property
    def merges(self) -> list[tuple[int, int, Merged]]:
        """Pairs of atoms that some binding makes one, with what must be named alike for that."""
        if not (self.repeated or self.constants):
            return []
        return [
            (bit, other, merged)
            for atom, bit in self.bit.items()
            for rival, other in self.bit.items()
            if bit != other
            and (merged := merge(self.vocabulary, self.header, atom, rival, repeated=self.repeated))
        ]

    def facts(self, mask: int, objects: Sequence[str]) -> frozenset[Atom]:
        """The atoms whose bits are set, under the binding."""
        return frozenset([self.atoms[bit.bit_length() - 1].ground(objects) for bit in bits(mask)])

    def select(self, mask: int) -> frozenset[LiftedAtom]:
        """The atoms whose bits are set."""
        return frozenset([self.atoms[bit.bit_length() - 1] for bit in bits(mask)])

    def text(self, literals: Literals) -> list[str]:
        """The literals in words, e.g. ``["at(?p, ?from)", "not clear(?from)"]``."""
        names = self.header.parameters
        return [self.atoms[bit.bit_length() - 1].text(names) for bit in bits(literals.positive)] + [
            f"not {self.atoms[bit.bit_length() - 1].text(names)}" for bit in bits(literals.negative)
        ]


def _getter(arguments: tuple[int | str, ...]) -> Getter:
    """A fast function from a binding to the atom's objects."""
    if all(isinstance(argument, int) for argument in arguments):
        if len(arguments) > 1:
            return itemgetter(*arguments)
        if arguments:
            only = arguments[0]
            return lambda objects: (objects[only],)  # type: ignore[index]
        return lambda objects: ()
    return lambda objects: tuple([objects[a] if isinstance(a, int) else a for a in arguments])


class ActionHypotheses:
    """What one action's precondition and effect may still be.

    ``positive``, ``negative``, ``absent`` are the atoms that may still have that mode in the
    precondition; ``adds``, ``deletes``, ``keeps`` the same for the effect.
    """

    def __init__(self, index: AtomIndex) -> None:
        self.index = index
        self.positive = self.negative = self.absent = index.everything
        self.adds = self.deletes = self.keeps = index.everything
        self.clauses: list[Literals] = []
        self.successes = 0
        """How many different steps were executed (another state, or other arguments)."""
        self.kinds_of_success = 0
        """How many of them differ in the values of the action's own atoms."""
        self.version = 0
        """Grows with every change, so that what was derived from the hypotheses can be kept."""
        self._undoing = (-1, 0)
        self._schema: tuple[int, ActionSchema] | None = None

    # --- what is known ---------------------------------------------------------------------------

    @property
    def candidates(self) -> Literals:
        """Every literal that may be a precondition, proven ones included."""
        return Literals(self.positive, self.negative)

    @property
    def proven(self) -> Literals:
        """Literals that are preconditions in every possible model."""
        return Literals(
            self.positive & ~self.negative & ~self.absent, self.negative & ~self.positive & ~self.absent
        )

    @property
    def undecided(self) -> Literals:
        """Literals that are preconditions in some possible models and not in others."""
        return Literals(
            self.positive & (self.absent | self.negative), self.negative & (self.absent | self.positive)
        )

    @property
    def undecided_effects(self) -> int:
        """Atoms whose effect is not the same in all possible models.

        Adding what a proven precondition says is there already, or deleting what it says is not, changes
        nothing in any state: such a mode is read as absent and counts as decided. Not so where the addition
        can undo the deletion of an atom that coincides with it.
        """
        proven = self.proven
        adds = self.adds & ~(proven.positive & ~self.undoing)
        deletes = self.deletes & ~proven.negative
        return (adds & deletes) | (adds & self.keeps) | (deletes & self.keeps)

    @property
    def undoing(self) -> int:
        """Atoms whose addition may undo a deletion by another effect, under some binding that may be executed."""
        if not self.index.merges:
            return 0
        if self._undoing[0] != self.version:
            mask = 0
            for bit, other, merged in self.index.merges:
                if self.deletes & other and not mask & bit and self.executable_when(merged):
                    mask |= bit
            self._undoing = self.version, mask
        return self._undoing[1]

    def executable_when(self, merged: Merged) -> bool:
        """Whether what is proven may hold where parameters are merged so."""
        proven = self.proven
        true = {under(atom, merged) for atom in self.index.select(proven.positive)}
        return true.isdisjoint(under(atom, merged) for atom in self.index.select(proven.negative))

    @property
    def cautious(self) -> Literals:
        """What the cautious model requires: every positive candidate, and negative ones that are proven.

        A clause that no positive literal can satisfy puts all its negative ones in.
        """
        alone = union(clause for clause in self.clauses if not clause.positive)
        return Literals(self.positive, self.proven.negative | alone.negative)

    def violated(self, held: int, dim: int, among: Literals | None = None) -> Literals:
        """Candidates (or literals ``among``) not certain to hold where ``held`` is true and ``dim`` unknown."""
        pool = self.candidates if among is None else among
        return Literals(pool.positive & ~held, pool.negative & (held | dim))

    def certainly_violated(self, held: int, dim: int) -> Literals:
        """Candidates that are known not to hold there: a success refutes just these."""
        return Literals(self.positive & ~(held | dim), self.negative & held)

    def certain_to_fail(self, violated: Literals) -> bool:
        """Whether every possible model refuses a step that violates these candidates."""
        proven = self.proven
        if violated.positive & proven.positive or violated.negative & proven.negative:
            return True
        return any(clause.within(violated) for clause in self.clauses)

    # --- what answers tell -----------------------------------------------------------------------

    def succeeded(self, held: int, dim: int) -> bool:
        """Learn that the action was executed there: no violated literal is a precondition."""
        return self._narrow_precondition(held | dim, ~held, self.absent)

    def failed(self, held: int, dim: int) -> bool:
        """Learn that the action could not be executed: some violated literal is a precondition."""
        violated = self.violated(held, dim)
        proven = self.proven
        if violated.positive & proven.positive or violated.negative & proven.negative:
            return False
        if not violated:
            raise InconsistentAgent(
                f"{self.index.header.name} was refused although every literal that could be its "
                "precondition held: the agent is not deterministic, or the vocabulary is too poor"
            )
        if any(clause.within(violated) for clause in self.clauses):
            return False
        self.clauses = [clause for clause in self.clauses if not violated.within(clause)]
        self.clauses.append(violated)
        self._propagate()
        self.version += 1
        return True

    def changed(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Learn from the atoms' values (held, dim) before and after an executed step."""
        known = ~before[1] & ~after[1]
        was, now = before[0], after[0]
        flipped_on = known & ~was & now
        flipped_off = known & was & ~now
        stayed_on = known & was & now
        stayed_off = known & ~was & ~now
        # an atom hidden on one side only still tells what the action cannot have done
        ended_off = before[1] & ~after[1] & ~now
        ended_on = before[1] & ~after[1] & now
        return self._narrow_effect(
            adds=self.adds & ~(flipped_off | stayed_off | ended_off),
            deletes=self.deletes & ~(flipped_on | stayed_on | ended_on),
            keeps=self.keeps & ~(flipped_on | flipped_off),
        )

    def changed_together(self, group: int, was: bool | None, now: bool | None) -> bool:
        """Learn from the value of one atom, which all atoms of the group are, before and after a step.

        It is true afterwards if any of them is added, else false if any is deleted. What that says of one
        of them is learned; what it says of several is not kept.
        """
        adds, deletes, keeps = self.adds, self.deletes, self.keeps
        may_add, may_delete = adds & group, deletes & group
        if now is None:
            return False
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
        return self._narrow_effect(adds, deletes, keeps)

    def outcomes(self, group: int, value: bool | None) -> set[bool]:
        """The values that an atom, which all atoms of the group are, may have after a step."""
        added = self.adds & ~self.deletes & ~self.keeps & group
        deleted = self.deletes & ~self.adds & ~self.keeps & group
        found = set()
        if self.adds & group or (value is not False and not deleted):
            found.add(True)
        if not added and (value is not True or self.deletes & group):
            found.add(False)
        return found

    def after(self, held: int, dim: int, objects: Sequence[str]) -> tuple[int, int]:
        """The values (held, dim) after an executed step, as far as they follow; the rest is dim."""
        can_hold = self.adds | (self.keeps & (held | dim))
        can_fail = self.deletes | (self.keeps & ~held)
        for group in self.index.coinciding(objects):
            value = None if dim & group else bool(held & group)
            outcomes = self.outcomes(group, value)
            can_hold = can_hold | group if True in outcomes else can_hold & ~group
            can_fail = can_fail | group if False in outcomes else can_fail & ~group
        return can_hold & ~can_fail, can_hold & can_fail

    def _narrow_precondition(self, positive: int, negative: int, absent: int) -> bool:
        positive &= self.positive
        negative &= self.negative
        absent &= self.absent
        if (positive, negative, absent) == (self.positive, self.negative, self.absent):
            return False
        if self.index.everything & ~(positive | negative | absent):
            wrong = self.index.everything & ~(positive | negative | absent)
            names = ", ".join(self.index.text(Literals(wrong, 0)))
            raise InconsistentAgent(
                f"{self.index.header.name} was executed where a proven precondition was violated ({names}): "
                "the agent is not deterministic, or a state was misread"
            )
        self.positive, self.negative, self.absent = positive, negative, absent
        self._propagate()
        self.version += 1
        return True

    def _narrow_effect(self, adds: int, deletes: int, keeps: int) -> bool:
        if (adds, deletes, keeps) == (self.adds, self.deletes, self.keeps):
            return False
        if wrong := self.index.everything & ~(adds | deletes | keeps):
            names = ", ".join(self.index.text(Literals(wrong, 0)))
            raise InconsistentAgent(
                f"{self.index.header.name} changed {names} in one situation and not in another: "
                "the agent is not a STRIPS agent in this vocabulary, or a state was misread"
            )
        self.adds, self.deletes, self.keeps = adds, deletes, keeps
        self.version += 1
        return True

    def _propagate(self) -> None:
        """Shrink clauses to what is still possible; a clause of one literal proves it."""
        again = True
        while again:
            again = False
            open_clauses = []
            for clause in self.clauses:
                left = Literals(clause.positive & self.positive, clause.negative & self.negative)
                proven = self.proven
                if left.positive & proven.positive or left.negative & proven.negative:
                    again = again or left.size() == 0
                    continue
                if not left:
                    raise InconsistentAgent(
                        f"{self.index.header.name} was refused in one situation, and executed where every "
                        "possible reason for that held as well: the agent contradicts itself"
                    )
                if left.size() == 1:
                    self.absent &= ~(left.positive | left.negative)
                    self.negative &= ~left.positive
                    self.positive &= ~left.negative
                    again = True
                    continue
                open_clauses.append(left)
            self.clauses = open_clauses

    def assuming(self, held: int, dim: int) -> ActionHypotheses:
        """A copy that has learned of a success there, for what-if questions."""
        other = copy(self)
        other.clauses = list(self.clauses)
        other.succeeded(held, dim)
        return other

    # --- models ----------------------------------------------------------------------------------

    def schema(self) -> ActionSchema:
        """The cautious reading: undetermined positive literals in, all else undetermined out."""
        if self._schema is not None and self._schema[0] == self.version:
            return self._schema[1]
        required = self.cautious
        schema = ActionSchema(
            self.index.header,
            positive=self.index.select(required.positive),
            negative=self.index.select(required.negative),
            add=self.index.select(self.adds & ~self.keeps & ~self.deletes),
            delete=self.index.select(self.deletes & ~self.keeps & ~self.adds),
        )
        self._schema = self.version, schema
        return schema


class Hypotheses:
    """What the whole model may still be: one ``ActionHypotheses`` per header."""

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], *, repeated: bool = False
    ) -> None:
        """``repeated``: one object may be named by several arguments, of an action and of an atom."""
        self.vocabulary = vocabulary
        self.headers = tuple(headers)
        self.repeated = repeated
        self.actions = {
            header.name: ActionHypotheses(AtomIndex(vocabulary, header, repeated=repeated))
            for header in headers
        }

    def __getitem__(self, action: str) -> ActionHypotheses:
        return self.actions[action]

    def assuming(self, action: str, held: int, dim: int) -> Hypotheses:
        """A copy in which the action has been executed there, for what-if questions."""
        other = copy(self)
        other.actions = {**self.actions, action: self.actions[action].assuming(held, dim)}
        return other

    @property
    def version(self) -> int:
        """Grows with every change of any action."""
        return sum(action.version for action in self.actions.values())

    def model(self) -> Model:
        """The cautious model (undetermined positive preconditions in, negative ones out)."""
        return Model(self.vocabulary, tuple(action.schema() for action in self.actions.values()))

    def pal_tuples(self) -> Iterator[PalTuple]:
        """Every pal tuple of the model space, in a fixed order."""
        for name, action in self.actions.items():
            for location in Location:
                for atom in action.index.atoms:
                    yield PalTuple(atom, name, location)

    def modes(self, pal: PalTuple) -> tuple[Mode, ...]:
        """The modes that the pal tuple may still have."""
        action = self.actions[pal.action]
        bit = action.index.bit[pal.atom]
        masks = (
            (action.positive, action.negative, action.absent)
            if pal.location is Location.PRE
            else (action.adds, action.deletes, action.keeps)
        )
        return tuple(mode for mode, mask in zip(Mode, masks, strict=True) if mask & bit)

    def decided(self) -> int:
        """How many pal tuples have a single mode left."""
        total = 0
        for action in self.actions.values():
            undecided = action.undecided
            open_pre = undecided.positive | undecided.negative
            total += 2 * len(action.index.atoms)
            total -= open_pre.bit_count() + action.undecided_effects.bit_count()
        return total

    @property
    def size(self) -> int:
        """How many pal tuples there are."""
        return sum(2 * len(action.index.atoms) for action in self.actions.values())
