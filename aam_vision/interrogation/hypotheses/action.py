"""What one action may still be: every lifted atom keeps its possible modes.

A *clause*, which a failed step leaves behind, is a set of literals of which at least one is a precondition.
"""

from __future__ import annotations

from copy import copy

from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, union
from aam_vision.interrogation.hypotheses.unification import (
    Effects,
    Merged,
    changed_together,
    joint_outcomes,
    under,
)
from aam_vision.strips import ActionSchema


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
        self.held = 0
        """Atoms that were seen to hold before some success; a candidate that is not among them was always hidden."""
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
    def effects(self) -> Effects:
        """The atoms that may still have each mode in the effect."""
        return Effects(self.adds, self.deletes, self.keeps)

    @property
    def cautious(self) -> Literals:
        """What the cautious model requires: every positive candidate, and negative ones that are proven.

        A clause that no positive literal can satisfy puts all its negative ones in.
        """
        alone = union(clause for clause in self.clauses if not clause.positive)
        return Literals(self.positive, self.proven.negative | alone.negative)

    @property
    def bold(self) -> Literals:
        """The cautious requirement without what was hidden in every success, and so may well have been false."""
        cautious = self.cautious
        return Literals(cautious.positive & (self.held | self.proven.positive), cautious.negative)

    def violated(self, held: int, dim: int, among: Literals | None = None) -> Literals:
        """Candidates (or literals ``among``) not certain to hold where ``held`` is true and ``dim`` unknown."""
        pool = self.candidates if among is None else among
        return Literals(pool.positive & ~held, pool.negative & (held | dim))

    def certainly_violated(self, held: int, dim: int) -> Literals:
        """Candidates that are known not to hold there: a success refutes just these."""
        return Literals(self.positive & ~(held | dim), self.negative & held)

    def shown_effects(self, held: int, dim: int) -> int:
        """Undecided effects that a success there would show, if what follows can be seen."""
        return self.undecided_effects & ~dim & ((self.adds & ~held) | (self.deletes & held))

    def certain_to_fail(self, violated: Literals) -> bool:
        """Whether every possible model refuses a step that violates these candidates."""
        proven = self.proven
        if violated.positive & proven.positive or violated.negative & proven.negative:
            return True
        return any(clause.within(violated) for clause in self.clauses)

    # --- what answers tell -----------------------------------------------------------------------

    def succeeded(self, held: int, dim: int) -> bool:
        """Learn that the action was executed there: no violated literal is a precondition."""
        self.held |= held
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
        """Learn from the value of one atom, which all atoms of the group are, before and after a step."""
        return self._narrow_effect(*changed_together(self.effects, group, was, now))

    def after(self, held: int, dim: int, objects: tuple[str, ...]) -> tuple[int, int]:
        """The values (held, dim) after an executed step, as far as they follow; the rest is dim."""
        can_hold = self.adds | (self.keeps & (held | dim))
        can_fail = self.deletes | (self.keeps & ~held)
        for group in self.index.coinciding(objects):
            value = None if dim & group else bool(held & group)
            outcomes = joint_outcomes(self.effects, group, value)
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
