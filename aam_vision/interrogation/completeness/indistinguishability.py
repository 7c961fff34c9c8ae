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

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence, by_problem
from aam_vision.interrogation.evidence.moves import Stop
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits, union
from aam_vision.interrogation.hypotheses.models import (
    ActionHypotheses,
    GroundLiterals,
    Hypotheses,
    atoms,
    lifted,
)
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.model.strips import LiftedAtom, State
from aam_vision.planning.grounding import Grounding, LiftedOperator, TooManyOperators, ground, grounded
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.joins import Fact, Row, bindings
from aam_vision.planning.mutexes import Mutexes, always_one_of
from aam_vision.planning.relations import TooManyBindings
from aam_vision.support.wording import counted

MAX_STEPS = 50_000
"""Steps of one action that are looked at in one problem. More: proofs for larger problems, slower."""
MAX_POSSIBLE = 20_000
"""Operators, one for each case, from which h^2 mutexes are computed. More: proofs for larger problems, slower."""
ROUNDS = 12
"""Rounds of taking questions out; in the last one nothing is assumed closed. More: more questions closed, slower."""
MAX_LOOKS = 100_000
"""Pairs of a state and a step per initial situation; beyond, mutexes are used. More: more exact proofs, slower."""
LEAST_STATES = 64
"""Where not even so many states could be looked at, none is. More: less time lost in large worlds."""
NO_WAY = "no way to ask was found"
"""Why a policy stops that knows of open questions, in words."""


class Closed(NamedTuple):
    """Literals and effects of one action that are assumed, or proven, to be beyond every query."""

    literals: Literals
    effects: int

    def without(self, other: Closed) -> Closed:
        """The literals and effects that are not in the other set."""
        return Closed(self.literals.without(other.literals), self.effects & ~other.effects)

    def joined(self, other: Closed) -> Closed:
        """Both together."""
        return Closed(union([self.literals, other.literals]), self.effects | other.effects)

    def __bool__(self) -> bool:
        return bool(self.literals or self.effects)


Closure = Mapping[str, Closed]
"""Per action."""

NONE = Closed(NOTHING, 0)


def without(closed: Closure, revealed: Sequence[Closure]) -> dict[str, Closed]:
    """The closed sets without all that was revealed."""
    left = dict(closed)
    for one in revealed:
        left = {name: own.without(one.get(name, NONE)) for name, own in left.items()}
    return left


def may_undo(action: ActionHypotheses, literals: GroundLiterals, bit: int) -> bool:
    """Whether adding the atom may undo the deletion of another one that coincides with it."""
    return any(
        group & bit and group & ~bit & action.deletes for group in action.index.coinciding(literals.objects)
    )


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
        self._problems = [[*map(hypotheses.vocabulary.freed, origins)] for origins in problems]
        self._cases = {name: cases_of(action) for name, action in hypotheses.actions.items()}
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

    @property
    def closed(self) -> Closure:
        """Per action, the undecided literals and effects that no query can decide; empty where there is no proof."""
        return self._closed or {}

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
        except (TooManyOperators, TooManyBindings):
            return None

    # --- by h^2 mutexes --------------------------------------------------------------------------

    def _by_mutexes(self) -> Closure:
        """The closed sets as far as pairs of literals show them."""
        closed: dict[str, Closed] = dict(self._undecided)
        nothing = dict.fromkeys(closed, NONE)
        tables: list[Mutexes | None] = [None] * len(self._problems)
        """What may hold together, of the last round: in the next one less is assumed, so that it does so, too."""
        for remaining in reversed(range(ROUNDS)):
            assumed = closed if remaining else nothing
            left = closed
            for place, origins in enumerate(self._problems):
                grounding = self._ground(origins, assumed)
                table = tables[place] = self._mutexes(origins, grounding, assumed, tables[place])
                facts = PossibleFacts(
                    origins[0].objects,
                    grounding,
                    table,
                    repeated=self._hypotheses.repeated,
                ).requiring(self._one_of(origins, table, assumed))
                shown = {
                    name: self._revealed_by(name, one, facts) if one else NONE for name, one in left.items()
                }
                left = without(left, [shown])
            if left == closed:
                break
            closed = left
        return closed

    def _mutexes(
        self, origins: Sequence[State], grounding: Grounding, assumed: Closure, less: Mutexes | None
    ) -> Mutexes:
        """The literals that may hold together in the states of one problem that are reachable if ``assumed`` is closed."""
        if sum(len(self._cases[operator.action.name]) for operator in grounding.operators) > MAX_POSSIBLE:
            raise TooManyOperators(f"more than {MAX_POSSIBLE} operators to find mutexes with")
        bindings: dict[str, list[Row]] = {}
        for operator in grounding.operators:
            bindings.setdefault(operator.action.name, []).append(operator.action.objects)
        possible: list[PossibleOperator] = []
        for name, rows in bindings.items():
            one = assumed[name]
            made = [
                PossibleOperators(self._hypotheses[name], union([case, one.literals]), one.effects).under(
                    rows
                )
                for case in self._cases[name]
            ]
            possible += [operator for some in zip(*made, strict=True) for operator in some]
        starts = [(state.true, state.unknown) for state in origins]
        return Mutexes(possible, starts, less=less)

    def _one_of(self, origins: Sequence[State], table: Mutexes, assumed: Closure) -> list[frozenset[Fact]]:
        """Sets of facts of which one is always true in one problem if ``assumed`` is closed."""
        if self._hypotheses.repeated:
            return []  # one object may stand for two parameters
        operators = [
            certain(action, union([action.proven, assumed[name].literals]), assumed[name].effects)
            for name, action in self._hypotheses.actions.items()
        ]
        return always_one_of(operators, table.facts, [frozenset(state.true) for state in origins])

    def _revealed_by(self, name: str, closed: Closed, facts: PossibleFacts) -> Closed:
        """The part of ``closed`` that a step of one action may reveal where these facts are possible."""
        action, cases = self._hypotheses[name], self._cases[name]
        shown = Literals(0, 0)
        for case in cases:
            left = list(closed.literals.without(shown).singles())
            violated = facts.beside(action, case, [literal.opposite() for literal in left])
            shown = union([shown, *(one for one, possible in zip(left, violated, strict=True) if possible)])
        effects = 0
        for case in cases:
            executed = union([case, closed.literals.without(shown)])
            effects |= _shown_effects(action, executed, list(bits(closed.effects & ~effects)), facts)
        return Closed(shown, effects)

    def _ground(self, origins: Sequence[State], assumed: Closure) -> Grounding:
        """The steps that may become executable from some states of a problem, if ``assumed`` is closed."""
        required = {
            name: union([action.proven, assumed[name].literals])
            for name, action in self._hypotheses.actions.items()
        }
        operators = [
            lifted(
                action,
                literals,
                action.adds & ~assumed[name].effects,
                action.deletes & ~assumed[name].effects,
            )
            for name, literals in required.items()
            for action in [self._hypotheses[name]]
            if not literals.positive & literals.negative
        ]
        return ground(
            operators,
            frozenset().union(*(state.true | state.unknown for state in origins)),
            origins[0].objects,
            always=frozenset.intersection(*(state.true for state in origins)),
            repeated=self._hypotheses.repeated,
        )

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
                    if (
                        steps is None
                        or state.unknown
                        or (found := exhaust(steps, state.true, closed, MAX_LOOKS)) is None
                    ):
                        return None
                    revealed.append(found)
            if not any(any(one.values()) for one in revealed):
                return closed
            closed = without(closed, revealed)

    def _all_steps(self, origins: Sequence[State], closed: Closure) -> list[Transition] | None:
        grounding = self._ground(origins, closed)
        if len(grounding.operators) * LEAST_STATES > MAX_LOOKS:
            return None
        return [
            Transition(name, literals, operator, action)
            for name, action in self._hypotheses.actions.items()
            for make in [PossibleOperators(action, action.proven, closed[name].effects)]
            for steps in [self._steps(name, action, grounding)]
            for literals, operator in zip(
                steps, make.under([literals.objects for literals in steps]), strict=True
            )
        ]


def _shown_effects(
    action: ActionHypotheses, executed: Literals, effects: Sequence[int], facts: PossibleFacts
) -> int:
    """The undecided effects that may be seen where a step is executed, which needs that these literals hold."""
    if not effects:
        return 0
    both = action.adds & action.deletes
    anything = bool(both) and facts.somewhere(action, executed)
    one_way = [bit for bit in effects if not bit & both]
    unlike = [Literals(bit, 0) if action.deletes & bit else Literals(0, bit) for bit in one_way]
    seen = facts.beside(action, executed, unlike)
    shown = sum(bit for bit in effects if bit & both) if anything else 0
    for bit, possible in zip(one_way, seen, strict=True):
        if possible or (bool(action.adds & bit) and _undoes(action, executed, bit, facts)):
            shown |= bit
    return shown


def _undoes(action: ActionHypotheses, executed: Literals, bit: int, facts: PossibleFacts) -> bool:
    """Whether an addition may undo the deletion of an atom that coincides with it."""
    return bool(action.index.merges) and any(
        may_undo(action, GroundLiterals(action, objects), bit) for objects in facts.where(action, executed)
    )


# Enumeration of all states that the agent may reach, where there are few enough.
#
# This is exact, where h^2 only considers pairs of literals, and costs more. An effect that may or may not happen is taken both
# ways, so that no reachable state of any possible model is missed.


MAX_UNCERTAIN = 6
"""Undecided effects of one step. More: more cases are decided exactly, with twice as many successors each."""


class Transition(NamedTuple):
    """A step with all that it may require and do as far as is known."""

    name: str
    literals: GroundLiterals
    operator: PossibleOperator
    action: ActionHypotheses


def exhaust(
    steps: Sequence[Transition], start: Iterable[Fact], closed: Closure, limit: int
) -> Closure | None:
    """The part of ``closed`` that some step may reveal in a state which is reachable by steps that reveal nothing.

    None if more than ``limit`` pairs of a state and a step would have to be looked at.
    """
    start = frozenset(start)
    fluents = _fluents([step.operator for step in steps])
    possible = [step for step in steps if _may_execute(step, start, fluents)]
    prepared = [
        one for step in possible if (one := _Prepared(step, start, fluents, closed[step.name])).executable
    ]
    revealed: dict[str, Closed] = {}
    first = _mask(start, fluents)
    seen, queue = {first}, [first]
    looked = 0
    while queue:
        state = queue.pop()
        looked += len(prepared)
        if looked > limit:
            return None
        for step in prepared:
            if state & step.true == step.true and not state & step.false and step.may_succeed(state):
                reveals = step.reveals(state)
                if reveals:
                    revealed[step.name] = reveals.joined(revealed.get(step.name, NONE))
                if reveals.literals:
                    continue
                if len(step.uncertain) > MAX_UNCERTAIN:
                    return None
                for after in step.outcomes(state):
                    if after not in seen:
                        seen.add(after)
                        queue.append(after)
    return revealed


class _Prepared:
    """A step over the bits of a state, and the atoms whose values may reveal something."""

    def __init__(
        self, step: Transition, start: frozenset[Fact], fluents: Mapping[Fact, int], closed: Closed
    ) -> None:
        operator, action = step.operator, step.action
        self.name = step.name
        self._closed = closed
        self._held = 0
        self._watched: list[tuple[int, int]] = []
        for bit in bits(closed.literals.positive | closed.literals.negative | closed.effects):
            fact = step.literals.facts[bit]
            if fact in fluents:
                self._watched.append((fluents[fact], bit))
            elif fact in start:
                self._held |= bit
        self._adds, self._deletes = closed.effects & action.adds, closed.effects & action.deletes
        self._always = self._adds & self._deletes
        self._always |= sum(bit for bit in bits(self._adds) if may_undo(action, step.literals, bit))
        self.executable = True
        """Whether no clause is violated for good by facts that never change."""
        self._clauses: list[tuple[int, int]] = []
        for clause in action.clauses:
            true, false = step.literals.holding(clause)
            if any(fact in start for fact in true if fact not in fluents):
                continue
            if any(fact not in start for fact in false if fact not in fluents):
                continue
            on, off = _mask(frozenset(true), fluents), _mask(frozenset(false), fluents)
            self._clauses.append((on, off))
            self.executable = self.executable and bool(on or off)
        self.true = _mask(operator.positive, fluents)
        self.false = _mask(operator.negative, fluents)
        self._add = _mask(operator.add, fluents)
        self._delete = _mask(operator.delete - operator.add, fluents)
        may_add, may_delete = operator.may_add - operator.add, operator.may_delete - operator.add
        self.uncertain = sorted(
            {(fluents[fact], True) for fact in may_add} | {(fluents[fact], False) for fact in may_delete}
        )

    def may_succeed(self, state: int) -> bool:
        """Whether some literal of every clause holds."""
        return all(state & on or ~state & off for on, off in self._clauses)

    def reveals(self, state: int) -> Closed:
        """The closed literals and effects that the step may reveal if it is asked in this state."""
        held = self._held | sum(bit for fluent, bit in self._watched if state & fluent)
        literals, _ = self._closed
        violated = Literals(literals.positive & ~held, literals.negative & held)
        shown = 0 if violated else self._always | (self._adds & ~held) | (self._deletes & held)
        return Closed(violated, shown)

    def outcomes(self, state: int) -> list[int]:
        """The states that it may lead to."""
        certain = (state & ~self._delete) | self._add
        return [(certain & keep) | adds for keep, adds in self._happening]

    @cached_property
    def _happening(self) -> list[tuple[int, int]]:
        """By which uncertain effects happen, the bits that they leave, and those that they add."""
        found = [(-1, 0)]
        for bit, added in self.uncertain:  # the first one varies most slowly
            left, set_ = (-1, bit) if added else (~bit, 0)
            found = [one for keep, adds in found for one in ((keep, adds), (keep & left, adds & left | set_))]
        return found


def _may_execute(step: Transition, start: frozenset[Fact], fluents: Mapping[Fact, int]) -> bool:
    """Whether no fact that never changes forbids the step."""
    return all(fact in fluents or fact in start for fact in step.operator.positive) and not any(
        fact not in fluents and fact in start for fact in step.operator.negative
    )


def _fluents(operators: Sequence[PossibleOperator]) -> dict[Fact, int]:
    """A bit for every fact that some operator may change."""
    facts: set[Fact] = set()
    for operator in operators:
        facts |= operator.add | operator.delete | operator.may_add | operator.may_delete
    return {fact: 1 << place for place, fact in enumerate(sorted(facts))}


def _mask(facts: frozenset[Fact], fluents: Mapping[Fact, int]) -> int:
    return sum(fluents[fact] for fact in facts if fact in fluents)


# The operators that an action may be, as far as is known of it: what proofs take to be possible.


MAX_CASES = 32
"""Combinations of literals that satisfy an action's clauses. More: tighter proofs, slower."""


def cases_of(action: ActionHypotheses) -> list[Literals]:
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


def certain(action: ActionHypotheses, required: Literals, closed: int) -> LiftedOperator:
    """The action with these preconditions, the atoms that it certainly adds, and those that it may delete."""
    # deleting what is false changes nothing, unless it was added, too
    deletes = action.deletes & ~closed & ~(required.negative & ~action.adds)
    return lifted(action, required, action.adds & ~action.keeps & ~action.deletes & ~closed, deletes)


class PossibleOperators:
    """The ground operators of an action that requires certain literals; closed effects change nothing."""

    def __init__(self, action: ActionHypotheses, forced: Literals, closed: int) -> None:
        self._action = action
        self._positive = atoms(action, forced.positive)
        self._negative = atoms(action, forced.negative)
        self._usual = self._changes(
            action.adds & ~(forced.positive & ~action.deletes) & ~closed,
            action.deletes & ~(forced.negative & ~action.adds) & ~closed,
        )
        self._coinciding = self._changes(
            # adding an atom that is true may undo the deletion of one that coincides with it
            action.adds & ~closed,
            action.deletes & ~closed,
        )

    def _changes(self, adds: int, deletes: int) -> tuple[tuple[LiftedAtom, ...], ...]:
        """Atoms that are certainly added, certainly deleted, perhaps added, and perhaps deleted."""
        action = self._action
        return (
            atoms(action, adds & ~action.keeps & ~action.deletes),
            atoms(action, deletes & ~action.keeps & ~action.adds),
            atoms(action, adds & (action.keeps | action.deletes)),
            atoms(action, deletes & (action.keeps | action.adds)),
        )

    def under(self, bindings: Sequence[Row]) -> list[PossibleOperator]:
        """The operators under some bindings; effects that restate a required literal change nothing."""
        coinciding = [bool(self._action.index.coinciding(objects)) for objects in bindings]
        found: dict[Row, PossibleOperator] = {}
        for changes, merged in ((self._usual, False), (self._coinciding, True)):
            some = [objects for objects, kind in zip(bindings, coinciding, strict=True) if kind == merged]
            kinds = [grounded(atoms, some) for atoms in (self._positive, self._negative, *changes)]
            found.update(zip(some, map(PossibleOperator, *kinds), strict=True))
        return [found[objects] for objects in bindings]


def origins(evidence: Evidence) -> list[list[State]]:
    """Per problem, its initial states: everything that the agent may ever do begins there.

    This includes ``trajectory`` access, where no query leads back to them: a complete result holds for the agent's
    problems, not only for the states that can still be reached.
    """
    problems = [[node.state for node in nodes if node.initial] for nodes in by_problem(evidence)]
    return [states for states in problems if states]


def indistinguishability_of(evidence: Evidence) -> Indistinguishability:
    """The proofs of indistinguishability from the evidence at this moment."""
    return Indistinguishability(evidence.hypotheses, origins(evidence))


def sound_stop(equivalence: Indistinguishability) -> Stop:
    """Stop, with a proof that no query could tell anything new, or with the number of open questions."""
    if open_questions := equivalence.open_questions():
        are = "is" if open_questions == 1 else "are"
        why = f"{counted(open_questions, 'question')} {are} open, but {NO_WAY}"
        return Stop(False, why, equivalence.closed)
    return Stop(True, "no query could tell any more", equivalence.closed)
