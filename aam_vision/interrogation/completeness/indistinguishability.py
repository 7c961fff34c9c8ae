"""Proofs that a question can never be settled: the only ground for calling a result complete.

The proof is by induction over the agent's steps. Suppose a set of undecided literals and effects is *closed*:
no query can reveal anything about them. Then the agent only ever executes steps in which all closed literals hold, and
closed effects change nothing; so it stays among the states that are reachable under these assumptions. If no step
could reveal anything about a closed question in any of those states, the assumptions are consistent, and so they hold.
So: assume that everything undecided is closed, find the questions that some step could settle after all, take them
out, and repeat until none is found.

If there are few such states, all of them are enumerated; else they are over-approximated by h^2 mutexes. Only proven
and closed literals are required of a step, and every possible effect may happen.
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
"""Combinations of literals that satisfy an action's clauses. More: tighter proofs, slower."""
MAX_STEPS = 50_000
"""Steps of one action that are looked at in one problem. More: proofs for larger problems, slower."""
MAX_POSSIBLE = 20_000
"""Operators, one for each case, from which h^2 mutexes are computed. More: proofs for larger problems, slower."""
ROUNDS = 4
"""Rounds of taking questions out; in the last one nothing is assumed closed. More: more questions closed, slower."""
MAX_LOOKS = 100_000
"""Pairs of a state and a step per initial situation; beyond, mutexes are used. More: more exact proofs, slower."""


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
        """The number of undecided literals and effects that are not proven to be beyond every query."""
        left = self._undecided if self._closed is None else without(self._undecided, [self._closed])
        return sum(one.literals.size() + one.effects.bit_count() for one in left.values())

    @cached_property
    def _closed(self) -> Closure | None:
        """The closed sets, exact where states are few; None where there is too much to look at."""
        if not any(self._undecided.values()):
            return self._undecided
        try:
            exact = self._by_exhaustion()
            return self._by_mutexes() if exact is None else exact
        except TooManyOperators:
            return None

    # --- by h^2 mutexes --------------------------------------------------------------------------

    def _by_mutexes(self) -> Closure:
        """The closed sets as far as pairs of literals show them."""
        closed: dict[str, Closed] = dict(self._undecided)
        nothing = dict.fromkeys(closed, NONE)
        for remaining in reversed(range(ROUNDS)):
            assumed = closed if remaining else nothing
            revealed = [self._revealed_in(origins, assumed, closed) for origins in self._problems]
            if not any(any(one.values()) for one in revealed):
                break
            closed = without(closed, revealed)
        return closed

    def _revealed_in(self, origins: Sequence[State], assumed: Closure, closed: Closure) -> Closure:
        """The part of ``closed`` that some step may reveal in a state of one problem reachable if ``assumed`` is closed."""
        starts = [(frozenset(state.true), frozenset(state.unknown)) for state in origins]
        grounding = self._ground(origins, assumed)
        if sum(len(self._cases[operator.action.name]) for operator in grounding.operators) > MAX_POSSIBLE:
            raise TooManyOperators(f"more than {MAX_POSSIBLE} operators to find mutexes with")
        possible = []
        for operator in grounding.operators:
            name, objects = operator.action
            action, assumption = self._hypotheses[name], assumed[name]
            literals = GroundLiterals(action, objects)
            for case in self._cases[name]:
                forced = union([case, assumption.literals])
                possible.append(_possible(action, literals, forced, assumption.effects))
        mutexes = Mutexes(possible, starts)
        revealed = {}
        for name, action in self._hypotheses.actions.items():
            left = closed[name]
            for literals in self._steps(name, action, grounding) if left else ():
                for case in self._cases[name]:
                    reveals = _reveals(action, literals, case, left, mutexes)
                    left = left.without(reveals)
                if not left:
                    break
            revealed[name] = closed[name].without(left)
        return revealed

    def _ground(self, origins: Sequence[State], assumed: Closure) -> Grounding:
        """The steps that may become executable from some states of a problem, if ``assumed`` is closed."""
        required = {
            name: union([action.proven, assumed[name].literals])
            for name, action in self._hypotheses.actions.items()
        }
        operators = [
            _lifted(self._hypotheses[name], literals, assumed[name].effects)
            for name, literals in required.items()
            if not literals.positive & literals.negative
        ]
        facts = frozenset().union(*(state.true | state.unknown for state in origins))
        return ground(operators, facts, origins[0].objects, repeated=self._hypotheses.repeated)

    def _steps(self, name: str, action: ActionHypotheses, grounding: Grounding) -> list[GroundLiterals]:
        """Every step of an action that some possible model can execute given the reachable facts."""
        required = atoms(action, action.proven.positive)
        rows = bindings(grounding.facts, action.index.header, required, repeated=self._hypotheses.repeated)
        found = [GroundLiterals(action, objects) for objects in islice(rows, MAX_STEPS + 1)]
        if len(found) > MAX_STEPS:
            raise TooManyOperators(f"{name} has more than {MAX_STEPS} steps")
        return found

    # --- by exhaustion ---------------------------------------------------------------------------

    def _by_exhaustion(self) -> Closure | None:
        """The closed sets by enumeration of states; None where there are too many of them."""
        closed: dict[str, Closed] = dict(self._undecided)
        while True:
            revealed: list[Closure] = []
            for origins in self._problems:
                steps = self._all_steps(origins, closed)
                for state in origins:
                    if state.unknown or (found := exhaust(steps, state.true, closed, MAX_LOOKS)) is None:
                        return None
                    revealed.append(found)
            if not any(any(one.values()) for one in revealed):
                return closed
            closed = without(closed, revealed)

    def _all_steps(self, origins: Sequence[State], closed: Closure) -> list[Transition]:
        grounding = self._ground(origins, closed)
        return [
            Transition(
                name, literals, _possible(action, literals, action.proven, closed[name].effects), action
            )
            for name, action in self._hypotheses.actions.items()
            for literals in self._steps(name, action, grounding)
        ]


def _reveals(
    action: ActionHypotheses, literals: GroundLiterals, case: Literals, left: Closed, mutexes: Mutexes
) -> Closed:
    """The part of ``left`` that a step may reveal where the case holds."""
    positive = negative = effects = 0
    companions = mutexes.companions(*literals.holding(case))
    if companions is None:
        return NONE
    for literal in left.literals.singles():
        true, false = literals.holding(literal.opposite())
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


def _cases(action: ActionHypotheses) -> list[Literals]:
    """The cases of what an action requires: all proven literals, and one literal of every clause.

    Clauses beyond ``MAX_CASES`` combinations are left out, which only makes more seem possible.
    """
    cases = [action.proven]
    for clause in sorted(action.clauses, key=Literals.size):
        split = [union([case, literal]) for case in cases for literal in clause.singles()]
        if len(split) > MAX_CASES:
            break
        cases = split
    return cases


def _lifted(action: ActionHypotheses, required: Literals, closed: int) -> LiftedOperator:
    """The action with these preconditions, and every effect that may happen but the closed ones."""
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~closed),
        delete=atoms(action, action.deletes & ~closed),
    )


def _possible(
    action: ActionHypotheses, literals: GroundLiterals, forced: Literals, closed: int
) -> PossibleOperator:
    """The operator under a binding; closed effects, and those that restate a required literal, change nothing."""

    def facts(mask: int) -> frozenset[Fact]:
        return frozenset(literals.true(mask))

    restated_adds, restated_deletes = forced.positive & ~action.deletes, forced.negative & ~action.adds
    if action.index.coinciding(literals.objects):
        restated_adds = 0  # adding an atom that is true may undo the deletion of one that coincides with it
    adds, deletes = action.adds & ~restated_adds & ~closed, action.deletes & ~restated_deletes & ~closed
    return PossibleOperator(
        facts(forced.positive),
        facts(forced.negative),
        add=facts(adds & ~action.keeps & ~action.deletes),
        delete=facts(deletes & ~action.keeps & ~action.adds),
        may_add=facts(adds & (action.keeps | action.deletes)),
        may_delete=facts(deletes & (action.keeps | action.adds)),
    )
