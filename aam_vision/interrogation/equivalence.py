"""Proofs that a question can never be settled: the only ground for calling a result complete.

In every problem the operators are grounded under the *optimistic* model: only what is proven is
required, and what may happen may happen, so that whatever the agent can reach is included. On it, h^2
mutexes over-approximate the reachable states. A literal is undetermined for good if in no problem any
binding can violate it while all that is proven holds and no clause is violated as a whole; an effect, if
wherever its action may be executed its atom already has the value that the effect would give it. What h^2
leaves open is looked for in all reachable states, if there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property

from aam_vision.interrogation.evidence import Node
from aam_vision.interrogation.exhaustion import PossibleStep, Values, exhaust
from aam_vision.interrogation.hypotheses import ActionHypotheses, Hypotheses, Literals, bits
from aam_vision.interrogation.literals import GroundLiterals, atoms
from aam_vision.joins import Fact
from aam_vision.planning.grounding import LiftedOperator, TooManyOperators, ground
from aam_vision.planning.mutexes import Companions, Mutexes, PossibleOperator
from aam_vision.strips import State

MAX_CASES = 32
MAX_LOOKS = 30_000
"""Pairs of a state and a step that are looked at, per initial situation, before exhaustion is given up."""


class Prospect(Enum):
    """Whether an undecided pal tuple may still be decided by some query."""

    OPEN = "open"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class Equivalence:
    """Which undecided literals and effects no query within the access can decide any more."""

    def __init__(self, hypotheses: Hypotheses, problems: Sequence[Sequence[Node]]) -> None:
        self._hypotheses = hypotheses
        self._options: dict[str, list[tuple[GroundLiterals, Companions]]] = {
            name: [] for name in hypotheses.actions
        }
        self._cases = {name: _cases(action) for name, action in hypotheses.actions.items()}
        self._spaces: list[tuple[list[PossibleStep], list[State]]] = []
        self._too_large = False
        try:
            for nodes in problems:
                self._explore(nodes)
        except TooManyOperators:
            self._too_large = True

    def pairwise(self, name: str, literal: Literals) -> Prospect:
        """The same as ``precondition``, by h^2 alone."""
        if self._too_large:
            return Prospect.UNKNOWN
        for literals, companions in self._options[name]:
            true, false = literals.violating(literal)
            if all(companions.allow(fact, True) for fact in true) and all(
                companions.allow(fact, False) for fact in false
            ):
                return Prospect.OPEN
        return Prospect.CLOSED

    def precondition(self, name: str, literal: Literals) -> Prospect:
        """Whether violating this undecided literal may be an open question somewhere."""
        prospect = self.pairwise(name, literal)
        if prospect is not Prospect.OPEN or self._values is None:
            return prospect
        on, off = self._values.get(name, (0, 0))
        return Prospect.OPEN if literal.negative & on or literal.positive & off else Prospect.CLOSED

    def effect(self, name: str, bit: int) -> Prospect:
        """Whether this undecided effect may show somewhere."""
        if self._too_large:
            return Prospect.UNKNOWN
        action = self._hypotheses[name]
        adds, deletes = bool(action.adds & bit), bool(action.deletes & bit)
        if not any(
            (adds and deletes) or companions.allow(literals.facts[bit], deletes)
            for literals, companions in self._options[name]
        ):
            return Prospect.CLOSED
        if self._values is None:
            return Prospect.OPEN
        on, off = self._values.get(name, (0, 0))
        return Prospect.OPEN if (adds and bit & off) or (deletes and bit & on) else Prospect.CLOSED

    @cached_property
    def _values(self) -> Values | None:
        """The values that undecided atoms take where their action may be executed; None: too many states."""
        wanted = {
            name: action.undecided.positive | action.undecided.negative | action.undecided_effects
            for name, action in self._hypotheses.actions.items()
        }
        values: Values = {}
        for steps, starts in self._spaces:
            for state in starts:
                found = None if state.unknown else exhaust(steps, frozenset(state.true), wanted, MAX_LOOKS)
                if found is None:
                    return None
                for name, (on, off) in found.items():
                    was_on, was_off = values.get(name, (0, 0))
                    values[name] = on | was_on, off | was_off
        return values

    def _explore(self, nodes: Sequence[Node]) -> None:
        initial = [node.state for node in nodes if node.initial]
        starts = [(frozenset(state.true), frozenset(state.unknown)) for state in initial]
        grounding = ground(
            [_optimistic(action) for action in self._hypotheses.actions.values()],
            frozenset().union(*(true | unknown for true, unknown in starts)),
            initial[0].objects,
            repeated=self._hypotheses.repeated,
        )
        possible: list[PossibleOperator] = []
        found: list[tuple[str, GroundLiterals]] = []
        for operator in grounding.operators:
            action = self._hypotheses[operator.action.name]
            literals = GroundLiterals(action, operator.action.objects)
            for required in self._cases[operator.action.name]:
                possible.append(_possible(action, literals, required))
                found.append((operator.action.name, literals))
        self._spaces.append(
            (
                [(name, literals, made) for (name, literals), made in zip(found, possible, strict=True)],
                initial,
            )
        )
        mutexes = Mutexes(possible, starts)
        for (name, literals), made in zip(found, possible, strict=True):
            companions = mutexes.companions(made.positive, made.negative)
            if companions is not None:
                self._options[name].append((literals, companions))


def _cases(action: ActionHypotheses) -> list[Literals]:
    """What is required, case by case: all that is proven, and one literal of every clause.

    Clauses beyond ``MAX_CASES`` combinations are left out, which only makes more seem possible.
    """
    cases = [action.proven]
    for clause in sorted(action.clauses, key=Literals.size):
        split = [
            Literals(case.positive | literal.positive, case.negative | literal.negative)
            for case in cases
            for literal in clause.singles()
        ]
        if len(split) > MAX_CASES:
            break
        cases = split
    return cases


def _optimistic(action: ActionHypotheses) -> LiftedOperator:
    """What an action certainly requires, and all that it may do."""
    proven = action.proven
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, proven.positive),
        negative=atoms(action, proven.negative),
        add=atoms(action, action.adds & ~(proven.positive & ~action.deletes)),
        delete=atoms(action, action.deletes & ~(proven.negative & ~action.adds)),
    )


def _possible(action: ActionHypotheses, literals: GroundLiterals, forced: Literals) -> PossibleOperator:
    """The operator under a binding; effects that restate what is required change nothing."""

    def facts(mask: int) -> frozenset[Fact]:
        return frozenset([literals.facts[bit] for bit in bits(mask)])

    true, false = literals.holding(forced)
    restated_on, restated_off = forced.positive & ~action.deletes, forced.negative & ~action.adds
    return PossibleOperator(
        frozenset(true),
        frozenset(false),
        add=facts(action.adds & ~action.keeps & ~action.deletes & ~restated_on),
        delete=facts(action.deletes & ~action.keeps & ~action.adds & ~restated_off),
        may_add=facts(action.adds & (action.keeps | action.deletes) & ~restated_on),
        may_delete=facts(action.deletes & (action.keeps | action.adds) & ~restated_off),
    )
