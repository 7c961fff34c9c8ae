"""The models that are still possible, factored: every pal tuple keeps its possible modes.

The paper's ``poss_models`` is the product of these modes under the *clauses* that refused steps leave behind: sets of literals of which
at least one is a precondition. It is never enumerated: an action's lifted atoms are bits, and every set of atoms is a Python integer.
States come as the masks of the action's atoms that are true (``held``) and of those that are unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from typing import NamedTuple

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, Merged, bits, under, union
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    LiftedAtom,
    Location,
    Mode,
    Model,
    PalTuple,
    Vocabulary,
)
from aam_vision.planning.grounding import LiftedOperator
from aam_vision.planning.joins import Fact, Row
from aam_vision.support.errors import InconsistentAgent


class ActionHypotheses:
    """The modes that one action's atoms may still have.

    ``positive``, ``negative``, ``absent`` are the atoms that may still have that mode in the
    precondition; ``adds``, ``deletes``, ``keeps`` the same for the effect.
    """

    def __init__(self, index: AtomIndex) -> None:
        self.index = index
        self.positive = self.negative = self.absent = index.everything
        self.adds = self.deletes = self.keeps = index.everything
        self.clauses: list[Literals] = []
        self.successes = 0
        """The number of different steps that were executed (another state, or other arguments)."""
        self.kinds_of_success = 0
        """The number of them that differ in the values of the action's atoms."""
        self.held = 0
        """Atoms that were seen to hold before some success; any other candidate was hidden in every success."""
        self.untold = Untold()
        self.version = 0
        """Grows with every change: results that were derived under one version stay valid under it."""
        self._together: tuple[JointStep, ...] = ()
        """Steps that several effects may explain, until later ones tell which."""
        self._undoing = (-1, 0)
        self._schema: tuple[int, ActionSchema] | None = None
        self.absent &= ~(index.given.positive | index.given.negative)
        self.positive &= ~index.given.negative
        self.negative &= ~index.given.positive
        needless = index.derived & ~(
            index.given.positive | index.given.negative | index.mask(index.header.over) | index.remembered
        )
        self.positive &= ~needless
        self.negative &= ~needless

    # --- derived sets ----------------------------------------------------------------------------

    def masks(self, location: Location) -> tuple[int, int, int]:
        """The atoms that may still have each mode (in the order of ``Mode``) at a location."""
        if location is Location.PRE:
            return self.positive, self.negative, self.absent
        return self.adds, self.deletes, self.keeps

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
    def found_required(self) -> Literals:
        """Of the proven literals those that refusals have to show: all that do not hold by definition."""
        return self.proven.without(self.index.given)

    @property
    def undecided(self) -> Literals:
        """Literals that are preconditions in some possible models and not in others."""
        return Literals(
            self.positive & (self.absent | self.negative), self.negative & (self.absent | self.positive)
        )

    @property
    def undecided_effects(self) -> int:
        """Atoms whose effect is not the same in all possible models.

        Adding an atom that must hold, or deleting one that must not, changes no state: such a mode is read as
        absent and counts as decided, unless the addition can undo the deletion of an atom that coincides with it.
        """
        proven = self.proven
        adds = self.adds & ~(proven.positive & ~self.undoing)
        deletes = self.deletes & ~proven.negative
        several = (adds & deletes) | (adds & self.keeps) | (deletes & self.keeps)
        return several & ~self.index.derived

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
        """Whether all proven preconditions can hold where parameters are merged like this."""
        proven = self.proven
        true = {under(atom, merged) for atom in self.index.select(proven.positive)}
        return true.isdisjoint(under(atom, merged) for atom in self.index.select(proven.negative))

    @property
    def effects(self) -> Effects:
        """The atoms that may still have each mode in the effect."""
        return Effects(self.adds, self.deletes, self.keeps)

    @property
    def cautious(self) -> Literals:
        """The precondition of the cautious model: every positive candidate, and the proven negative ones.

        The literals of a clause without a positive literal are all included.
        """
        clauses = union(clause for clause in self.clauses if not clause.positive)
        return Literals(self.positive, self.proven.negative | clauses.negative)

    @property
    def bold(self) -> Literals:
        """The cautious precondition without atoms that were hidden in every success, and so may have been false."""
        cautious = self.cautious
        return Literals(cautious.positive & (self.held | self.proven.positive), cautious.negative)

    def violated(self, held: int, unknown: int, among: Literals | None = None) -> Literals:
        """Candidates (or literals ``among``) not certain to hold where ``held`` is true and ``unknown`` unknown."""
        pool = self.candidates if among is None else among
        return Literals(pool.positive & ~held, pool.negative & (held | unknown))

    def certainly_violated(self, held: int, unknown: int) -> Literals:
        """Candidates that are known not to hold there: exactly those that a success refutes."""
        return Literals(self.positive & ~(held | unknown), self.negative & held)

    def shown_effects(self, held: int, unknown: int) -> int:
        """Undecided effects that a success there would show, if nothing is hidden afterwards."""
        return self.undecided_effects & ~unknown & ((self.adds & ~held) | (self.deletes & held))

    def certain_to_fail(self, violated: Literals) -> bool:
        """Whether every possible model refuses a step that violates these candidates."""
        return violated.overlaps(self.proven) or any(clause.within(violated) for clause in self.clauses)

    def may_be_told(self, held: int, unknown: int) -> bool:
        """Whether an answer may tell if the action is executed there, by what was not told before."""
        return not (self.untold and self.untold.suggests_nothing(self.violated(held, unknown), held, unknown))

    # --- learning from answers -------------------------------------------------------------------

    def succeeded(self, held: int, unknown: int) -> bool:
        """Learn that the action was executed there: no violated literal is a precondition."""
        self.held |= held
        return self._narrow_precondition(held | unknown, ~held, self.absent)

    def failed(self, held: int, unknown: int) -> bool:
        """Learn that the action could not be executed: some violated literal is a precondition."""
        violated = self.violated(held, unknown)
        if not violated:
            raise InconsistentAgent(
                f"{self.index.header.name} was refused although every literal that could be its "
                "precondition held: the agent is not deterministic, or the vocabulary is too poor"
            )
        if self.certain_to_fail(violated):
            return False
        self.clauses = [clause for clause in self.clauses if not violated.within(clause)]
        self.clauses.append(violated)
        self._propagate()
        self.version += 1
        return True

    def changed(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Learn from the atoms' values (held, unknown) before and after an executed step."""
        (was, was_unknown), (now, now_unknown) = before, after
        now_unknown |= self.index.derived
        left = Effects(
            adds=self.adds & (now | now_unknown),
            deletes=self.deletes & (~now | now_unknown),
            keeps=self.keeps & (was_unknown | now_unknown | ~(was ^ now)),
        )
        return self._narrow_effect(narrowed(left, self._together))

    def changed_together(self, group: int, was: bool | None, now: bool | None) -> bool:
        """Learn from the value, before and after a step, of the one atom that all atoms of the group are there."""
        if now is None or group & self.index.derived or self.joint_outcomes(group, was) == {now}:
            return False
        step = JointStep(group, was, now)
        if step in self._together:
            return False
        together = (*self._together, step)
        self._narrow_effect(narrowed(self.effects, together))
        self._together = together
        self.version += 1
        return True

    def joint_outcomes(self, group: int, was: bool | None) -> set[bool]:
        """The values that the one atom, which all atoms of the group are, may have after a step."""
        return joint_outcomes(self.effects, group, was, self._together)

    def after(self, held: int, unknown: int, objects: tuple[str, ...]) -> tuple[int, int]:
        """The values (held, unknown) after an executed step, as far as they follow from what is known."""
        can_hold = self.adds | (self.keeps & (held | unknown))
        can_fail = self.deletes | (self.keeps & ~held)
        for group in self.index.coinciding(objects):
            value = None if unknown & group else bool(held & group)
            outcomes = self.joint_outcomes(group, value)
            can_hold = can_hold | group if True in outcomes else can_hold & ~group
            can_fail = can_fail | group if False in outcomes else can_fail & ~group
        return can_hold & ~can_fail, can_hold & can_fail

    def _narrow_precondition(self, positive: int, negative: int, absent: int) -> bool:
        positive &= self.positive
        negative &= self.negative
        absent &= self.absent
        if (positive, negative, absent) == (self.positive, self.negative, self.absent):
            return False
        if wrong := self.index.everything & ~(positive | negative | absent):
            names = ", ".join(self.index.text(Literals(wrong, 0)))
            raise InconsistentAgent(
                f"{self.index.header.name} was executed where a proven precondition was violated ({names}): "
                "the agent is not deterministic, or a state was misread"
            )
        self.positive, self.negative, self.absent = positive, negative, absent
        self._propagate()
        self.version += 1
        return True

    def _narrow_effect(self, left: Effects) -> bool:
        if left == self.effects:
            return False
        adds, deletes, keeps = left
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
        """Shrink clauses to the literals that are still possible; a clause of one literal proves it."""
        changed = True
        while changed:
            changed = False
            open_clauses = []
            for clause in self.clauses:
                left = Literals(clause.positive & self.positive, clause.negative & self.negative)
                if left.overlaps(self.proven):
                    continue
                if not left:
                    raise InconsistentAgent(
                        f"{self.index.header.name} was refused in one situation, and executed where every "
                        "possible reason for that held as well: the agent contradicts itself"
                    )
                if left.size() > 1:
                    open_clauses.append(left)
                    continue
                self.absent &= ~(left.positive | left.negative)
                self.negative &= ~left.positive
                self.positive &= ~left.negative
                changed = True
            self.clauses = open_clauses

    def suppose(self, literals: Literals) -> None:
        """Take undecided literals for preconditions, as far as that is possible."""
        for literal in literals.singles():
            if literal.overlaps(self.undecided):
                self.clauses.append(literal)
                self._propagate()
                self.version += 1

    def assuming(self, held: int, unknown: int) -> ActionHypotheses:
        """A copy that has learned of a success there, for what-if questions."""
        other = copy(self)
        other.clauses = list(self.clauses)
        other.succeeded(held, unknown)
        return other

    # --- models ----------------------------------------------------------------------------------

    def schema(self) -> ActionSchema:
        """The cautious model: undetermined positive preconditions in, everything else undetermined out.

        Of undetermined effects only those are in that it takes to explain steps under which several atoms were one.
        """
        if self._schema is not None and self._schema[0] == self.version:
            return self._schema[1]
        required = self.cautious
        added, deleted = explanation(self.effects, self._together)
        schema = ActionSchema(
            self.index.header,
            positive=self.index.select(required.positive),
            negative=self.index.select(required.negative),
            add=self.index.select(added),
            delete=self.index.select(deleted),
            derived=self.index.vocabulary.derived,
            delays=self.index.vocabulary.delays,
        )
        self._schema = self.version, schema
        return schema


# Steps of an action of which an answer did not tell whether they were executed: no such step is asked for again.


VARIED = 8
"""Steps that violate the same literals and were not told, after which no other such step is worth asking."""


class Untold:
    """The values of an action's atoms (held, unknown) with which it was not told, by the literals violated there."""

    def __init__(self) -> None:
        self._by_violated: dict[Literals, set[tuple[int, int]]] = {}
        self._values: set[tuple[int, int]] = set()

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, violated: Literals, held: int, unknown: int) -> None:
        """Remember such a step."""
        self._values.add((held, unknown))
        self._by_violated.setdefault(violated, set()).add((held, unknown))

    def suggests_nothing(self, violated: Literals, held: int, unknown: int) -> bool:
        """Whether nothing is to be expected of a step: it is like one of these, or many of them violated the same."""
        if (held, unknown) in self._values:
            return True
        return len(self._by_violated.get(violated, ())) >= VARIED


# Effects of atoms that become one under a binding: a step shows what they do together, not which of them does it.
#
# The one atom is true afterwards if any of them is added, else false if any is deleted, else as before.


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


# One action's literals under one binding, as ground facts for the planning package.


class GroundLiterals:
    """The lifted atoms of an action under a binding; turns sets of literals into facts."""

    def __init__(self, action: ActionHypotheses, objects: Row) -> None:
        self.objects = objects
        self.facts: dict[int, Fact] = dict(action.index.grounded(objects))

    def true(self, mask: int) -> list[Fact]:
        """The facts of these atoms."""
        return [self.facts[bit] for bit in bits(mask)]

    def holding(self, literals: Literals) -> tuple[list[Fact], list[Fact]]:
        """The facts that must be true, and those that must be false, for all the literals to hold."""
        return self.true(literals.positive), self.true(literals.negative)


def atoms(action: ActionHypotheses, mask: int) -> tuple[LiftedAtom, ...]:
    """The lifted atoms whose bits are set, in a fixed order."""
    return tuple(atom for atom, bit in action.index.bit.items() if mask & bit)


def lifted(action: ActionHypotheses, required: Literals, adds: int, deletes: int) -> LiftedOperator:
    """The action with these preconditions and effects."""
    parts = [atoms(action, mask) for mask in (*required, adds, deletes)]
    return LiftedOperator(action.index.header, *parts)


class Hypotheses:
    """All models that are still possible: one ``ActionHypotheses`` per header."""

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], *, repeated: bool = False
    ) -> None:
        """``repeated``: whether several arguments of an action, or of an atom, may name one object."""
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
        return tuple(mode for mode, mask in zip(Mode, action.masks(pal.location), strict=True) if mask & bit)

    def undecided(self) -> int:
        """The number of pal tuples with several possible modes."""
        left = 0
        for action in self.actions.values():
            precondition = action.undecided.positive | action.undecided.negative
            left += precondition.bit_count() + action.undecided_effects.bit_count()
        return left

    def decided(self) -> int:
        """The number of pal tuples with a single possible mode."""
        return self.size - self.undecided()

    @property
    def size(self) -> int:
        """The number of pal tuples."""
        return sum(2 * len(action.index.atoms) for action in self.actions.values())
