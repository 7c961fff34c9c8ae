"""Instructions as sets of facts: those that an action with its arguments may require, and those that it may change.

Facts are numbered as they come up, so that a set of facts is a Python integer, as a set of an action's atoms is. What an
instruction requires and does is put into facts once, and not for every state in which it is tried.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import NamedTuple

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.joint_effects import Effects, joint_outcomes
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.joins import Fact
from aam_vision.strips import Atom, State


class Outcomes(NamedTuple):
    """The values that facts may have after an instruction."""

    changeable: int
    """Facts that it may change."""
    kept_true: int
    """Facts that may be true after it if they were."""
    deleted: int
    """Facts that may be false after it if they were true."""
    added: int
    """Facts that may be true after it if they were false."""
    kept_false: int
    """Facts that may be false after it if they were."""


class BitsetAction:
    """An action with its arguments: the facts that it may require, and those that it may change."""

    def __init__(self, action: ActionHypotheses, objects: tuple[str, ...], facts: list[int]) -> None:
        """``facts``: the fact of every atom, in the order of their bits."""
        self.action = action
        self.name = action.index.header.name
        self.objects = objects
        self.mentioned = reduce(or_, facts, 0)
        """The facts of all its atoms."""
        self._facts = facts
        self._coinciding = action.index.coinciding(objects)
        self._shared = sum(self._coinciding)
        self._version = action.version
        self._candidates = action.candidates
        self.on, self.off = self.facts(action.positive), self.facts(action.negative)
        """Facts that candidates say must be true, and facts that they say must be false."""
        self._effects = action.effects
        self._outcomes: Outcomes | None = None

    def facts(self, atoms: int) -> int:
        """The facts of these atoms."""
        found = 0
        while atoms:  # as ``bits``, but this is the innermost loop of all
            low = atoms & -atoms
            found |= self._facts[low.bit_length() - 1]
            atoms ^= low
        return found

    @property
    def outcomes(self) -> Outcomes:
        """The changes that it may make."""
        effects = self.action.effects
        if self._outcomes is None or effects != self._effects:
            self._effects, self._outcomes = effects, self._outcomes_of(effects)
        return self._outcomes

    def violating(self, violated: Literals) -> tuple[int, int] | None:
        """The facts that are false, and those that are true, where it violates just these candidates.

        Only facts of candidates are given; None if two atoms are one fact, which would have to be both true and false.
        """
        self._keep_up()
        missing, there = self.facts(violated.positive), self.facts(violated.negative)
        if self._shared:
            others = self._candidates.without(violated)
            if missing & self.facts(others.positive) or there & self.facts(others.negative):
                return None
        return missing, there

    def _keep_up(self) -> None:
        """Forget what is not a candidate any more; no literal ever becomes one again."""
        action = self.action
        if action.version == self._version:
            return
        self._version = action.version
        gone = self._candidates.without(action.candidates)
        self._candidates = positive, negative = action.candidates
        self.on = self.on & ~self.facts(gone.positive) | self.facts(positive & self._shared)
        self.off = self.off & ~self.facts(gone.negative) | self.facts(negative & self._shared)

    def _outcomes_of(self, effects: Effects) -> Outcomes:
        index, (adds, deletes, keeps) = self.action.index, effects
        added, deleted = self.facts(adds), self.facts(deletes)
        changeable = added | deleted
        kept_true = self.mentioned & ~self.facts(index.everything & ~(adds | keeps))
        kept_false = self.mentioned & ~self.facts(index.everything & ~(deletes | keeps))
        for group in self._coinciding:
            fact = self.facts(group)
            was_true, was_false = (joint_outcomes(effects, group, value) for value in (True, False))
            kept_true = kept_true | fact if True in was_true else kept_true & ~fact
            deleted = deleted | fact if False in was_true else deleted & ~fact
            added = added | fact if True in was_false else added & ~fact
            kept_false = kept_false | fact if False in was_false else kept_false & ~fact
        return Outcomes(changeable, kept_true, deleted, added, kept_false)


class NumberedFacts:
    """The facts of a state, true or not, as bits in the order in which they come up."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._facts: list[Fact] = []
        self._bits: dict[Fact, int] = {}
        self.true = 0
        """Those that hold."""

    def atoms(self, facts: int) -> set[Atom]:
        """The atoms of these facts."""
        return {Atom(*self._facts[fact.bit_length() - 1]) for fact in bits(facts)}

    def instruction(self, action: ActionHypotheses, objects: tuple[str, ...]) -> BitsetAction:
        """An action with its arguments."""
        known = self._bits
        facts = [known.get(fact) or self._number(fact) for fact in action.index.facts_in_order(objects)]
        return BitsetAction(action, objects, facts)

    def _number(self, fact: Fact) -> int:
        bit = self._bits[fact] = 1 << len(self._facts)
        self._facts.append(fact)
        if fact in self._state.true:
            self.true |= bit
        return bit
