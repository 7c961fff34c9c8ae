"""Proofs that a question can never be settled: the only ground for calling a result complete.

The proof is by induction over what the agent may do. Suppose a set of undecided literals and effects is *closed*:
no query can tell of them. Then the agent, whatever it is, only ever executes steps in which all closed literals
hold, and closed effects change nothing; so it stays among the states that are reachable under these
assumptions. If in none of those states any step could tell of a closed one, the assumptions bear themselves out.
So: assume that everything undecided is closed, look for what could be told after all, take that out, and begin
again until nothing is found.

If there are few such states, all of them are looked at; else they are over-approximated by h^2 mutexes. What is neither proven nor closed is required of no step, and what may
happen may happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from itertools import islice

from aam_vision.interrogation.completeness.closed_sets import NONE, Closed, Closure, may_undo, without
from aam_vision.interrogation.completeness.enumeration import Transition, exhaust
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import GroundLiterals, atoms
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import Fact, bindings
from aam_vision.planning.grounding import Grounding, LiftedOperator, TooManyOperators, ground
from aam_vision.planning.mutexes import Companions, Mutexes, PossibleOperator
from aam_vision.strips import State

MAX_CASES = 32
MAX_STEPS = 50_000
"""Steps whose outcome is looked at in one problem."""
MAX_POSSIBLE = 20_000
"""Operators, case by case, from which h^2 mutexes are computed."""
ROUNDS = 4
"""Times that closed ones are taken out, before nothing more is assumed of the agent."""
MAX_LOOKS = 100_000
"""Pairs of a state and a step that are looked at, per initial situation, before exhaustion is given up."""


class Prospect(Enum):
    """Whether an undecided pal tuple may still be decided by some query."""

    OPEN = "open"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class Indistinguishability:
    """Which undecided literals and effects no query within the access can decide any more."""

    def __init__(self, hypotheses: Hypotheses, problems: Sequence[Sequence[State]]) -> None:
        """``problems``: per problem, the states from which queries may go on (``origins``)."""
        self._hypotheses = hypotheses
        self._problems = problems
        self._cases = {name: _cases(action) for name, action in hypotheses.actions.items()}
        self._undecided = {
            name: Closed(action.undecided, action.undecided_effects)
            for name, action in hypotheses.actions.items()
        }

    def precondition(self, name: str, literal: Literals) -> Prospect:
        """Whether violating this undecided literal may be an open question somewhere."""
        if self._closed is None:
            return Prospect.UNKNOWN
        return Prospect.CLOSED if literal.within(self._closed[name].literals) else Prospect.OPEN

    def effect(self, name: str, bit: int) -> Prospect:
        """Whether this undecided effect may show somewhere."""
        if self._closed is None:
            return Prospect.UNKNOWN
        return Prospect.CLOSED if bit & self._closed[name].effects else Prospect.OPEN

    def open_questions(self) -> int:
        """How many undecided literals and effects are not proven to be beyond every query."""
        count = 0
        for name, action in self._hypotheses.actions.items():
            for literal in action.undecided.singles():
                count += self.precondition(name, literal) is not Prospect.CLOSED
            for bit in bits(action.undecided_effects):
                count += self.effect(name, bit) is not Prospect.CLOSED
        return count

    @cached_property
    def _closed(self) -> Closure | None:
        """What is closed, exactly where states are few; None where there is too much to look at."""
        if not any(self._undecided.values()):
            return self._undecided
        try:
            exact = self._by_exhaustion()
            return self._by_mutexes() if exact is None else exact
        except TooManyOperators:
            return None

    # --- by h^2 mutexes --------------------------------------------------------------------------

    def _by_mutexes(self) -> Closure:
        """What is closed as far as pairs of literals show it."""
        closed: dict[str, Closed] = dict(self._undecided)
        nothing = dict.fromkeys(closed, NONE)
        for remaining in reversed(range(ROUNDS)):
            assumed = closed if remaining else nothing
            told = [self._told_in(origins, assumed, closed) for origins in self._problems]
            if not any(any(one.values()) for one in told):
                break
            closed = without(closed, told)
        return closed

    def _told_in(self, origins: Sequence[State], assumed: Closure, closed: Closure) -> Closure:
        """What of ``closed`` some step may tell in one problem, where the agent gets if ``assumed`` is closed."""
        starts = [(frozenset(state.true), frozenset(state.unknown)) for state in origins]
        grounding = self._ground(origins, assumed)
        if sum(len(self._cases[operator.action.name]) for operator in grounding.operators) > MAX_POSSIBLE:
            raise TooManyOperators(f"more than {MAX_POSSIBLE} operators to find mutexes with")
        possible = [
            _possible(action, literals, union([case, assumed[name].literals]), assumed[name].effects)
            for operator in grounding.operators
            for name in [operator.action.name]
            for action in [self._hypotheses[name]]
            for literals in [GroundLiterals(action, operator.action.objects)]
            for case in self._cases[name]
        ]
        mutexes = Mutexes(possible, starts)
        told = {}
        for name, action in self._hypotheses.actions.items():
            left = closed[name]
            for literals in self._steps(name, action, grounding) if left else ():
                for case in self._cases[name]:
                    tells = _tells(action, literals, case, left, mutexes)
                    left = left.without(tells)
                if not left:
                    break
            told[name] = closed[name].without(left)
        return told

    def _ground(self, origins: Sequence[State], assumed: Closure) -> Grounding:
        """The steps that may be executed from some states of a problem on, if ``assumed`` is closed."""
        operators = [
            _lifted(action, assumed[name])
            for name, action in self._hypotheses.actions.items()
            if not _contradictory(union([action.proven, assumed[name].literals]))
        ]
        facts = frozenset().union(*(state.true | state.unknown for state in origins))
        return ground(operators, facts, origins[0].objects, repeated=self._hypotheses.repeated)

    def _steps(self, name: str, action: ActionHypotheses, grounding: Grounding) -> list[GroundLiterals]:
        """Every step of an action that may be executed in some model where the facts may come true."""
        required = atoms(action, action.proven.positive)
        rows = bindings(grounding.facts, action.index.header, required, repeated=self._hypotheses.repeated)
        found = [GroundLiterals(action, objects) for objects in islice(rows, MAX_STEPS + 1)]
        if len(found) > MAX_STEPS:
            raise TooManyOperators(f"{name} has more than {MAX_STEPS} steps")
        return found

    # --- by exhaustion ---------------------------------------------------------------------------

    def _by_exhaustion(self) -> Closure | None:
        """What is closed, state by state; None where there are too many states."""
        closed: dict[str, Closed] = dict(self._undecided)
        while True:
            told: list[Closure] = []
            for origins in self._problems:
                steps = self._all_steps(origins, closed)
                for state in origins:
                    if state.unknown or (found := exhaust(steps, state.true, closed, MAX_LOOKS)) is None:
                        return None
                    told.append(found)
            if not any(any(one.values()) for one in told):
                return closed
            closed = without(closed, told)

    def _all_steps(self, origins: Sequence[State], closed: Closure) -> list[Transition]:
        grounding = self._ground(origins, closed)
        return [
            Transition(
                name, literals, _possible(action, literals, action.proven, closed[name].effects), action
            )
            for name, action in self._hypotheses.actions.items()
            for literals in self._steps(name, action, grounding)
        ]


def _tells(
    action: ActionHypotheses, literals: GroundLiterals, case: Literals, left: Closed, mutexes: Mutexes
) -> Closed:
    """What of the closed ones a step may tell where the case holds."""
    positive = negative = effects = 0
    companions = mutexes.companions(*literals.holding(case))
    if companions is None:
        return NONE
    for literal in left.literals.singles():
        true, false = literals.violating(literal)
        if all(companions.allow(fact, True) for fact in true) and all(
            companions.allow(fact, False) for fact in false
        ):
            positive, negative = positive | literal.positive, negative | literal.negative
    executed = mutexes.companions(*literals.holding(union([case, left.literals])))
    if executed is not None:
        for bit in bits(left.effects):
            if _shows(action, literals, bit, executed):
                effects |= bit
    return Closed(Literals(positive, negative), effects)


def _shows(action: ActionHypotheses, literals: GroundLiterals, bit: int, executed: Companions) -> bool:
    """Whether an undecided effect may be seen where a step is executed."""
    adds, deletes = bool(action.adds & bit), bool(action.deletes & bit)
    if (adds and deletes) or executed.allow(literals.facts[bit], deletes):
        return True
    return adds and may_undo(action, literals, bit)


def _contradictory(literals: Literals) -> bool:
    return bool(literals.positive & literals.negative)


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


def _lifted(action: ActionHypotheses, closed: Closed) -> LiftedOperator:
    """What an action certainly requires if that is closed, and all that it may do."""
    required = union([action.proven, closed.literals])
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~closed.effects),
        delete=atoms(action, action.deletes & ~closed.effects),
    )


def _possible(
    action: ActionHypotheses, literals: GroundLiterals, forced: Literals, closed: int
) -> PossibleOperator:
    """The operator under a binding; closed effects, and those that restate what is required, change nothing."""

    def facts(mask: int) -> frozenset[Fact]:
        return frozenset([literals.facts[bit] for bit in bits(mask)])

    true, false = literals.holding(forced)
    restated_on, restated_off = forced.positive & ~action.deletes, forced.negative & ~action.adds
    if action.index.coinciding(literals.objects):
        restated_on = 0  # adding what is there may undo the deletion of an atom that coincides with it
    adds, deletes = action.adds & ~restated_on & ~closed, action.deletes & ~restated_off & ~closed
    return PossibleOperator(
        frozenset(true),
        frozenset(false),
        add=facts(adds & ~action.keeps & ~action.deletes),
        delete=facts(deletes & ~action.keeps & ~action.adds),
        may_add=facts(adds & (action.keeps | action.deletes)),
        may_delete=facts(deletes & (action.keeps | action.adds)),
    )
