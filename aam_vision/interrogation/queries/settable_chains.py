"""Plans of several probes, and a state made for all of them.

A chain grows by one near miss at a time. Each tries some arguments, and for each of these the state is changed so that
the new step violates just what it should; then the steps before it are simulated again, if that concerns them. It is
tried many times for one question, so a state is written as a set of numbered facts: those that differ from the base state,
which all chains start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from heapq import merge
from operator import or_
from typing import NamedTuple

from aam_vision.interrogation.beliefs.candidates import LIKELY, Beliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Effects
from aam_vision.model.strips import Atom, GroundAction, Objects, State
from aam_vision.planning.joins import Fact

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


# Instructions as sets of facts: those that an action with its arguments may require, and those that it may change.
#
# Facts are numbered as they come up, so that a set of facts is a Python integer, as a set of an action's atoms is. What an
# instruction requires and does is put into facts once, and not for every state in which it is tried.


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
        self._known: tuple[Effects, int] | None = None
        """What the outcomes follow from."""
        self._outcomes = Outcomes(0, 0, 0, 0, 0)

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
        known = self.action.effects, self._shared and self.action.version
        if known != self._known:
            self._known, self._outcomes = known, self._outcomes_of(known[0])
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
            was_true, was_false = (self.action.joint_outcomes(group, value) for value in (True, False))
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


# Groups of literals that are tested in one step under ``settable`` access.
#
# Positive literals are tested one by one, the improbable ones of an action in groups that are hardly refused; negative
# literals are tested as one group. A refused group leaves a clause, whose literals are more probable than before: so it is
# split.

GROUP_RISK = 0.1
"""Positive literals are tested in one step as long as that is refused with no more probability."""

Probe = tuple[str, Literals]
"""An action, and the literals that a step of it is to violate."""
LiteralGroup = tuple[float, str, Literals]
"""Positive literals to be tested in one step: the probability that any of them is required, their action, and they."""


@dataclass(frozen=True)
class ActionTests:
    """The tests of one action that are still to be made."""

    name: str
    version: int
    positive: list[LiteralGroup]
    doubtful: int
    """How many of them are rather executed than refused."""
    negative: Literals
    """Negative literals to be refuted together."""


def action_tests(name: str, action: ActionHypotheses, beliefs: Beliefs) -> ActionTests:
    """The tests of one action that are still to be made."""
    chances: dict[int, float] = {}
    spurious = 0
    expected: list[LiteralGroup] = []
    for literal in action.undecided.singles():
        chance = beliefs.probability(name, literal, action)
        if literal.positive:
            chances[literal.positive] = chance
        elif chance <= LIKELY:
            spurious |= literal.negative
        else:
            expected.append((chance, name, literal))
    positive = sorted(_packed(name, _given_refusals(action, chances)) + expected)
    return ActionTests(
        name,
        action.version,
        positive,
        sum(chance < LIKELY for chance, _, _ in positive),
        _refutable(action, Literals(0, spurious)),
    )


def likeliest(groups: Sequence[Sequence[LiteralGroup]]) -> Iterator[Probe]:
    """The groups of all actions, what is most probably refused first."""
    for _, name, literals in merge(*map(reversed, groups), reverse=True):
        yield name, literals


def _given_refusals(action: ActionHypotheses, chances: dict[int, float]) -> dict[int, float]:
    """The probabilities, given that one literal of every clause is required."""
    given = dict(chances)
    for clause in action.clauses:
        if not clause.negative:
            total = sum(chances[bit] for bit in bits(clause.positive))
            for bit in bits(clause.positive):
                given[bit] = max(given[bit], chances[bit] / total)
    return given


def _packed(name: str, chances: dict[int, float]) -> list[LiteralGroup]:
    """The positive literals, improbable ones in groups that are hardly refused; the least probable first."""
    packed: list[LiteralGroup] = []
    for chance, bit in sorted((chance, bit) for bit, chance in chances.items()):
        if packed and packed[-1][0] + chance <= GROUP_RISK:
            risk, _, (group, _) = packed.pop()
            packed.append((risk + chance, name, Literals(group | bit, 0)))
        else:
            packed.append((chance, name, Literals(bit, 0)))
    return sorted(packed)


def _refutable(action: ActionHypotheses, suspects: Literals) -> Literals:
    """Probably spurious literals to refute together: all, or half of the smallest clause of them."""
    inside = [clause for clause in action.clauses if clause.within(suspects)]
    if not inside:
        return suspects
    singles = list(min(inside, key=Literals.size).singles())
    return union(singles[: len(singles) // 2])


# Choices of arguments for steps that are made up, preferring objects that no other step uses.


TURNS = 4
"""Choices of arguments that are tried for one step."""
KEPT_CHOICES = 5000
"""Choices that are remembered at most."""

Pinned = tuple[tuple[int, str], ...]
"""Parameters, by number, with the objects that they have to stand for."""


class ArgumentChoices:
    """Choices from the objects of a problem, those not in use first."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._fitting: dict[tuple[str, ...], frozenset[str]] = {}
        self._chosen = lru_cache(KEPT_CHOICES)(partial(_distinct, objects))

    def choices(
        self, types: tuple[str, ...], pinned: Pinned = (), used: Set[str] = frozenset()
    ) -> tuple[tuple[str, ...], ...]:
        """Some choices of arguments of these types, no object twice, with some of them pinned."""
        fitting = self._fitting.get(types)
        if fitting is None:
            fitting = self._fitting[types] = frozenset().union(*map(self._objects.members, types))
        return self._chosen(types, pinned, fitting & used)


def _distinct(
    objects: Objects, types: tuple[str, ...], pinned: Pinned, used: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(_choices(objects, types, pinned, used)))


def _choices(
    objects: Objects, types: tuple[str, ...], pinned: Pinned, used: frozenset[str]
) -> Iterator[tuple[str, ...]]:
    if any(name not in objects.members(types[place]) for place, name in pinned):
        return
    if len({name for _, name in pinned}) < len(pinned):
        return
    start = [""] * len(types)
    for place, name in pinned:
        start[place] = name
    pools = {kind: objects.of_type(kind) for kind in types}
    unused = {kind: [name for name in pool if name not in used] for kind, pool in pools.items()}
    others = [(place, unused[kind], pools[kind]) for place, kind in enumerate(types) if not start[place]]
    for turn in range(TURNS):
        chosen = start.copy()
        for place, first, pool in others:
            free = [name for name in first if name not in chosen]
            free = free or [name for name in pool if name not in chosen]
            if not free:
                return
            chosen[place] = free[turn % len(free)]
        yield tuple(chosen)
