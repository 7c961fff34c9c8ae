"""Plans of several probes, and a state made for all of them.

A chain grows by one near miss at a time. Each tries some arguments, and for each of these the state is changed so that
the new step violates just what it should; then the steps before it are simulated again, if that concerns them. It is
tried many times for one question, so a state is written as a set of numbered facts: those that differ from the base state,
which all chains start from.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.queries.argument_choices import ArgumentChoices, Pinned
from aam_vision.interrogation.queries.fact_bitsets import BitsetAction, NumberedFacts
from aam_vision.strips import Atom, GroundAction, State

KEPT = 1500
"""Instructions that are remembered at most."""


class BaseState:
    """The state that all chains start from, with its facts numbered as they come up."""

    def __init__(self, start: State) -> None:
        self.state = start
        self._numbered = numbered = NumberedFacts(start)
        self.instruction = lru_cache(KEPT)(numbered.instruction)
        """An action with its arguments."""
        self.arguments = ArgumentChoices(start.objects)

    def __deepcopy__(self, memo: object) -> BaseState:
        """Number anew: what is remembered of instructions would keep to the original's numbers."""
        return BaseState(self.state)

    @property
    def true(self) -> int:
        """The facts of all instructions so far that hold."""
        return self._numbered.true

    def flipped(self, facts: int) -> State:
        """The state with these facts flipped."""
        return State(self.state.true ^ self._numbered.atoms(facts), self.state.objects)


class Changes(NamedTuple):
    """The changes that some steps make to the state in which they start."""

    flipped: int = 0
    """Facts that have the opposite value afterwards."""
    unknown: int = 0
    """Facts whose value afterwards is not known."""


class ChainStep(NamedTuple):
    """One step of a chain."""

    instruction: BitsetAction
    violated: Literals
    """The undecided literals that it violates."""
    missing: int
    """Facts that are false when it violates them."""
    there: int
    """Facts that are true then."""

    def wrong(self, true: int) -> int:
        """The facts that are not as they should be where these are true."""
        instruction, _, missing, there = self
        on = instruction.on & ~missing | there
        off = instruction.off & ~there | missing
        return on & ~true | off & true

    def after(self, true: int, changes: Changes) -> Changes | None:
        """The changes after it, if the plan starts with these facts true.

        None if it does not violate just what it should.
        """
        instruction, _, missing, there = self
        true ^= changes.flipped
        dim = changes.unknown
        if instruction.on & ~true != missing or instruction.off & (true | dim) != there:
            return None
        outcomes, mentioned = instruction.outcomes, instruction.mentioned
        may_hold = outcomes.kept_true & (true | dim) | outcomes.added & ~true
        may_fail = outcomes.deleted & (true | dim) | outcomes.kept_false & ~true
        return Changes(
            changes.flipped ^ (true & mentioned ^ may_hold & ~may_fail),
            dim ^ (dim & mentioned ^ may_hold & may_fail),
        )


class Chain(NamedTuple):
    """A plan of probes from one state made for all of them."""

    evidence: Evidence
    base: BaseState
    steps: tuple[ChainStep, ...] = ()
    flipped: int = 0
    """Facts that are not as in the base state where the plan starts."""
    changes: Changes = Changes()
    """The changes that the steps make."""
    dropped: tuple[Atom, ...] = ()
    """Atoms that a step should require, and that are missing there."""
    touched: int = 0
    """Facts that the steps' actions mention."""
    changeable: int = 0
    """Facts that the steps may change."""
    fixed: int = 0
    """Candidates of a step that no step before it may change: flipped at the start, they are wrong there, too."""
    used: frozenset[str] = frozenset()
    """The objects of the steps."""

    def has(self, name: str, violated: Literals) -> bool:
        """Whether this probe is one of the steps."""
        return any(step.instruction.name == name and step.violated == violated for step in self.steps)

    def then(self, name: str, violated: Literals) -> Chain | None:
        """The chain with one more probe, if some state serves it and all the steps before it."""
        action = self.evidence.hypotheses[name]
        for objects in self._choices(action, violated):
            instruction = self.base.instruction(action, objects)
            values = instruction.violating(violated)
            if values is None:
                continue
            last = ChainStep(instruction, violated, *values)
            flipped = last.wrong(self.base.true ^ self.flipped)
            if not flipped & self.fixed:
                longer = self._with(flipped, last)
                if longer is not None:
                    return longer
        return None

    def _with(self, flipped: int, last: ChainStep) -> Chain | None:
        """One more step, with these facts flipped in the beginning; None if any step is not as it should be.

        Where no earlier step touches what is flipped, all goes as it went before.
        """
        true = self.base.true ^ self.flipped ^ flipped
        changes: Changes | None = self.changes
        if self.touched & flipped:
            changes = Changes()
            for step in self.steps:
                changes = changes and step.after(true, changes)
        changes = changes and last.after(true, changes)
        if changes is None:
            return None
        instruction, violated, _, _ = last
        atom = instruction.action.index.atom
        dropped = [atom(bit).ground(instruction.objects) for bit in bits(violated.positive)]
        return Chain(
            self.evidence,
            self.base,
            steps=(*self.steps, last),
            flipped=self.flipped ^ flipped,
            changes=changes,
            dropped=(*self.dropped, *dropped),
            touched=self.touched | instruction.mentioned,
            changeable=self.changeable | instruction.outcomes.changeable,
            fixed=self.fixed | (instruction.on | instruction.off) & ~self.changeable,
            used=self.used.union(instruction.objects),
        )

    def plan(self) -> list[GroundAction]:
        """The steps as instructions."""
        return [GroundAction(step.instruction.name, step.instruction.objects) for step in self.steps]

    def state(self) -> State:
        """The state to start the plan from."""
        return self.base.flipped(self.flipped)

    def _choices(self, action: ActionHypotheses, violated: Literals) -> Iterator[tuple[str, ...]]:
        """Arguments to try, none of them twice."""
        tried = set()
        for pinned in (*self._on_dropped(action, violated), ()):
            for objects in self.base.arguments.choices(action.index.header.types, pinned, self.used):
                if objects not in tried:
                    tried.add(objects)
                    yield objects

    def _on_dropped(self, action: ActionHypotheses, violated: Literals) -> Iterator[Pinned]:
        """Arguments under which the literal is an atom that an earlier step of the chain misses already."""
        if violated.size() != 1 or not violated.positive:
            return
        atom = action.index.atom(violated.positive)
        for fact in self.dropped:
            if fact.predicate == atom.predicate:
                pairs = zip(atom.arguments, fact.objects, strict=True)
                yield tuple([(place, name) for place, name in pairs if isinstance(place, int)])
