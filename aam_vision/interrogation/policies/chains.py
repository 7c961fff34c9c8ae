"""Plans of several probes, and a state made for all of them.

A chain grows by one near miss at a time. Each tries some arguments, and for each of these the state is changed so that
the new step violates just what it should; then the steps before it are simulated again, if that concerns them. It is
tried many times for one question, so a state is written as what differs from the sketch that all chains start from,
and facts are numbered: a set of facts is a Python integer, as a set of an action's atoms is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial, reduce
from operator import or_
from typing import NamedTuple

from aam_vision.interrogation.action_hypotheses import ActionHypotheses
from aam_vision.interrogation.atoms import Literals, bits
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.policies.arguments import ArgumentChoices, Pinned
from aam_vision.joins import Fact
from aam_vision.strips import Atom, GroundAction, State

KEPT = 1500
"""Instructions that are remembered at most, and so many sets of objects in use."""


class Instruction:
    """An action with its arguments: which atoms of it are which facts."""

    def __init__(
        self, action: ActionHypotheses, objects: tuple[str, ...], facts: list[int], held: int
    ) -> None:
        """``facts``: the fact of every atom, in the order of their bits; ``held``: atoms true in the sketch."""
        self.action = action
        self.name = action.index.header.name
        self.objects = objects
        self.held = held
        self.speaks_of = reduce(or_, facts, 0)
        """All facts that its atoms are."""
        self._facts = facts
        # by the fact's length, since hashing the fact itself takes long where there are thousands of them
        self._atoms: dict[int, int] = {}
        for bit, fact in zip(action.index.bit.values(), facts, strict=True):
            length = fact.bit_length()
            self._atoms[length] = self._atoms.get(length, 0) | bit

    def atoms(self, facts: int) -> int:
        """Its atoms that are among these facts."""
        found = 0
        for fact in bits(facts & self.speaks_of):
            found |= self._atoms[fact.bit_length()]
        return found

    def facts(self, atoms: int) -> int:
        """The facts that these atoms of it are."""
        found = 0
        for bit in bits(atoms):
            found |= self._facts[bit.bit_length() - 1]
        return found


class Sketch:
    """The state that all chains start from, with its facts numbered as they come up."""

    def __init__(self, start: State) -> None:
        self.start = start
        self._facts: list[Fact] = []
        self._bits: dict[Fact, int] = {}
        self.instruction = lru_cache(KEPT)(self._instruction)
        """An action with its arguments."""
        self.arguments = lru_cache(KEPT)(partial(ArgumentChoices, start.objects))
        """Choices of arguments, preferring objects that are not in use."""

    def state(self, flipped: int) -> State:
        """The start with these facts flipped."""
        changed = {Atom(*self._facts[fact.bit_length() - 1]) for fact in bits(flipped)}
        return State(self.start.true ^ changed, self.start.objects)

    def _instruction(self, action: ActionHypotheses, objects: tuple[str, ...]) -> Instruction:
        atoms = action.index.grounded(objects)
        true = self.start.true
        facts = [self._bits.get(fact) or self._number(fact) for _, fact in atoms]
        held = sum([bit for bit, fact in atoms if fact in true])
        return Instruction(action, objects, facts, held)

    def _number(self, fact: Fact) -> int:
        bit = self._bits[fact] = 1 << len(self._facts)
        self._facts.append(fact)
        return bit


class Changes(NamedTuple):
    """What some steps do to the state in which they start."""

    flipped: int = 0
    """Facts that are then what they were not."""
    unknown: int = 0
    """Facts of which it is not known what they are then."""


class Step(NamedTuple):
    """One step of a chain."""

    instruction: Instruction
    violated: Literals
    """The undecided literals that it violates."""
    held: int
    """Its atoms that hold where the plan starts."""

    def after(self, changes: Changes) -> Changes | None:
        """What is changed after it; None if it does not violate just what it should."""
        instruction, violated, held = self
        action = instruction.action
        held ^= instruction.atoms(changes.flipped)
        dim = instruction.atoms(changes.unknown)
        if action.violated(held, dim) != violated:
            return None
        now, now_dim = action.after(held, dim, instruction.objects)
        return Changes(
            changes.flipped ^ instruction.facts(held ^ now),
            changes.unknown ^ instruction.facts(dim ^ now_dim),
        )


class Chain(NamedTuple):
    """A plan of probes from one state made for all of them."""

    evidence: Evidence
    sketch: Sketch
    steps: tuple[Step, ...] = ()
    flipped: int = 0
    """Facts that are not as in the sketch where the plan starts."""
    changes: Changes = Changes()
    """What the steps change."""
    dropped: tuple[Atom, ...] = ()
    """Atoms that a step should require, and that are missing there."""
    touched: int = 0
    """Facts that the steps speak of."""
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
        candidates = action.candidates
        on = candidates.positive & ~violated.positive | violated.negative
        off = candidates.negative & ~violated.negative | violated.positive
        for objects in self._choices(action, violated):
            instruction = self.sketch.instruction(action, objects)
            held = instruction.held ^ instruction.atoms(self.flipped)
            flipped = instruction.facts(on & ~held | off & held)
            if not flipped & self.fixed:
                last = Step(instruction, violated, held ^ instruction.atoms(flipped))
                longer = self._with(flipped, last)
                if longer is not None:
                    return longer
        return None

    def _with(self, flipped: int, last: Step) -> Chain | None:
        """One more step, with these facts flipped in the beginning; None if any step is not as it should be.

        Where no earlier step touches what is flipped, all goes as it went before.
        """
        steps = self.steps
        changes: Changes | None = self.changes
        if self.touched & flipped:
            steps = tuple([step._replace(held=step.held ^ step.instruction.atoms(flipped)) for step in steps])
            changes = Changes()
            for step in steps:
                changes = changes and step.after(changes)
        changes = changes and last.after(changes)
        if changes is None:
            return None
        instruction, violated, _ = last
        action = instruction.action
        dropped = [action.index.atom(bit).ground(instruction.objects) for bit in bits(violated.positive)]
        return Chain(
            self.evidence,
            self.sketch,
            steps=(*steps, last),
            flipped=self.flipped ^ flipped,
            changes=changes,
            dropped=(*self.dropped, *dropped),
            touched=self.touched | instruction.speaks_of,
            changeable=self.changeable | instruction.facts(action.adds | action.deletes),
            fixed=self.fixed | instruction.facts(action.positive | action.negative) & ~self.changeable,
            used=self.used.union(instruction.objects),
        )

    def plan(self) -> list[GroundAction]:
        """The steps as instructions."""
        return [GroundAction(step.instruction.name, step.instruction.objects) for step in self.steps]

    def state(self) -> State:
        """The state to start the plan from."""
        return self.sketch.state(self.flipped)

    def _choices(self, action: ActionHypotheses, violated: Literals) -> Iterator[tuple[str, ...]]:
        """Arguments to try, none of them twice."""
        arguments = self.sketch.arguments(self.used)
        tried = set()
        for pinned in (*self._on_dropped(action, violated), ()):
            for objects in arguments.choices(action.index.header.types, pinned):
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
