"""Planning to situations that nobody has seen yet, in which a near miss would be possible.

Paths use the *cautious* model: every positive candidate is required and only what certainly happens is
relied on, so that their steps succeed as far as is known. Fully seen situations are all starts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from aam_vision.interrogation.evidence.graph import Evidence, Node, by_problem
from aam_vision.interrogation.evidence.moves import Ask, LimitedSearch
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import (
    ActionHypotheses,
    GroundLiterals,
    Hypotheses,
    atoms,
    lifted,
)
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.model.strips import GroundAction
from aam_vision.planning.grounding import Grounding, LiftedOperator, Operator, TooManyOperators, ground
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.joins import Fact, Row, bindings
from aam_vision.planning.mutexes import Mutexes, always_one_of
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.planning.relations import TooManyBindings

Start = tuple[frozenset[Fact], frozenset[Fact]]
"""What is true in a situation and what is unknown."""
Required = Callable[[ActionHypotheses], Literals]
"""What a path takes an action to require."""
CAUTIOUS: Required = attrgetter("cautious")
BOLD: Required = attrgetter("bold")
"""A path may rely on what images have always hidden not being required."""
MAX_OPERATORS = 50_000
"""Ground operators beyond which nothing is planned."""
MAX_OPTIONS = 3000
"""Choices of arguments that are looked at before more literals are asked to hold."""
MAX_REORDERINGS = 4
"""Literals of violated clauses that are tried to hold first, so that the outcome stays open."""
MAX_ROWS = 200
"""Choices of arguments that one plan may end with; of more those that seem nearest. More: shorter plans, slower."""


_Search = tuple[str, Literals, Limits]
"""An action and literals of it, and the limits of a search for where they hold."""


class PlannedNearMiss(NamedTuple):
    """A plan from a situation seen before, and the step to ask where it ends."""

    start: Node
    path: tuple[GroundAction, ...]
    step: GroundAction


class Reachability:
    """What the cautious model can reach in one problem, under the hypotheses at one moment."""

    def __init__(
        self,
        hypotheses: Hypotheses,
        nodes: Sequence[Node],
        *,
        required: Required = CAUTIOUS,
        max_operators: int = MAX_OPERATORS,
        before: Reachability | None = None,
    ) -> None:
        """``before`` is what could be reached there at an earlier moment: what follows from it is not worked out again."""
        unused = before is not None and "_ground" not in before.__dict__
        self._before: Reachability | None = before._before if before and unused else before
        self._required = required
        self._max_operators = max_operators
        self._hypotheses = hypotheses
        self.problem = nodes[0].number
        self._nodes, self._states = nodes, [node.state for node in nodes]
        self._origins = _starts(nodes)
        self._known: dict[str, KnownSets] = {}
        if self._before is not None and self._before._allows_less(self):
            self._known = {name: sets.where_more_may_hold() for name, sets in self._before._known.items()}
        self._reached: dict[_Search, PlannedNearMiss | Verdict] = {}
        self._gathered: dict[tuple[str, Literals], Derived[Literals | None]] = {}
        self._goals: dict[tuple[str, Literals], list[Operator]] = {}
        self.objects = nodes[0].state.objects

    def take_in(self, nodes: Sequence[Node]) -> bool:
        """Begin in these situations, too, unless more can be reached then; whether it was done.

        ``nodes``: all situations of the problem, those before among them.
        """
        ground = self.__dict__.get("_ground")  # not worked out before it is needed
        if ground is not None:
            begun = {node.number: state for node, state in zip(self._nodes, self._states, strict=True)}
            new = [node for node in nodes if node.number not in begun]
            if any(begun.get(node.number, node.state) is not node.state for node in nodes):
                return False  # less is hidden there than it was
            if not all(ground[1].covers(*start) for start in _starts(new)):
                return False
            if not all(one & node.state.true for one in self.__dict__.get("_one_of", ()) for node in new):
                return False
        self._nodes, self._states = nodes, [node.state for node in nodes]
        self._origins = _starts(nodes)
        self._reached.clear()
        return True

    @cached_property
    def _relied_on(self) -> dict[str, LiftedOperator]:
        """The operators of the actions that were ever executed, as far as they can be relied on."""
        return {
            name: _relied_on(action, self._required(action))
            for name, action in self._hypotheses.actions.items()
            if action.successes
        }

    @cached_property
    def _ground(self) -> tuple[Grounding, Mutexes] | None:
        """The cautious operators and their mutexes; None if there are too many."""
        before, self._before = self._before, None
        seen = frozenset[Fact]().union(*(true for true, _ in self._origins))
        always = frozenset.intersection(*(true for true, _ in self._origins))
        try:
            grounding = ground(
                list(self._relied_on.values()), seen, self.objects, self._max_operators, always=always
            )
        except TooManyOperators:
            return None
        possible = [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in grounding.operators]
        known = None if before is None else before.__dict__.get("_ground")
        less = known[1] if known and before and before._allows_less(self) else None
        return grounding, Mutexes(possible, self._origins, less=less)

    def _allows_less(self, other: Reachability) -> bool:
        """Whether all that can be reached here can be reached there, because no more is required and all starts are there."""
        return self._origins == other._origins[: len(self._origins)] and all(
            name in other._relied_on and _weaker(other._relied_on[name], operator)
            for name, operator in self._relied_on.items()
        )

    @cached_property
    def _one_of(self) -> list[frozenset[Fact]]:
        """Sets of facts of which one is true wherever the cautious operators lead."""
        if self._ground is None:
            return []
        starts = [true for true, _ in self._origins]
        return always_one_of(list(self._relied_on.values()), self._ground[1].facts, starts)

    @cached_property
    def _possible_facts(self) -> PossibleFacts | None:
        """By pairs of literals: what should hold beside each other is chosen by these."""
        return None if self._ground is None else PossibleFacts(self.objects, *self._ground)

    @cached_property
    def _sharper(self) -> PossibleFacts | None:
        """By pairs and invariants: where that may hold."""
        return self._possible_facts and self._possible_facts.requiring(self._one_of)

    def gather(
        self, action: ActionHypotheses, fixed: Literals, wanted: Sequence[Literals]
    ) -> Literals | None:
        """The fixed literals with as many of the wanted ones as can hold beside them, the first first.

        What can hold together is judged pairwise (h^2) over all arguments. None if the fixed ones cannot.
        Wanted literals are tried in halves: that they all can is the common case, and quickly seen.
        """
        if not self._possible(action, fixed):
            return None
        together = fixed
        halves = [list(wanted)]
        while halves:
            some = halves.pop()
            more = union([together, *some])
            if self._possible(action, more):
                together = more
            elif len(some) > 1:
                halves += [some[len(some) // 2 :], some[: len(some) // 2]]
        return together

    def gather_open(
        self, action: ActionHypotheses, target: Literals, wanted: Sequence[Literals]
    ) -> Literals | None:
        """What can hold where the target is violated and, so that the outcome is open, no clause as a whole.

        That is all that is proven, and as many of the wanted literals as can hold beside it, the first first. None if
        nothing of that kind is found.
        """
        known = self._gathered.setdefault((action.index.header.name, target), Derived())
        # most moves change one action only
        basis = action.proven, action.undecided, tuple(action.clauses), wanted
        return known.on(basis, lambda: self._gathered_anew(action, target, wanted))

    def _gathered_anew(
        self, action: ActionHypotheses, target: Literals, wanted: Sequence[Literals]
    ) -> Literals | None:
        fixed = union([action.proven, target.opposite()])
        first: list[Literals] = []
        for _ in range(MAX_REORDERINGS):
            holding = self.gather(action, fixed, [*first, *wanted])
            if holding is None:
                return None
            violated = action.undecided.without(holding)
            clause = next((clause for clause in action.clauses if clause.within(violated)), None)
            if clause is None:
                return holding
            first += [literal for literal in clause.singles() if literal != target][:1]
        return None

    def _possible(self, action: ActionHypotheses, literals: Literals) -> bool:
        """Whether the literals may hold together: as follows from sets of which that is known, or else by a search."""
        known = self._known.setdefault(action.index.header.name, KnownSets())
        answer = known.answer(literals)
        if answer is None:
            try:
                facts = self._possible_facts
                answer = facts is not None and facts.somewhere(action, literals)
            except TooManyBindings:
                answer = False
            known.note(literals, answer)
        return answer

    def _rows(self, action: ActionHypotheses, literals: Literals) -> list[Row]:
        """Arguments under which these literals may hold together in some reachable state, as pairs and invariants tell."""
        facts = self._sharper
        if self._ground is None or facts is None:
            return []
        grounding = self._ground[0]
        rows = bindings(grounding.facts, action.index.header, atoms(action, literals.positive))
        some = list(islice(facts.among(action, literals, islice(rows, MAX_OPTIONS)), MAX_ROWS + 1))
        if len(some) <= MAX_ROWS:
            return some
        try:
            return facts.nearest(action, literals, grounding.reachable, MAX_ROWS)
        except TooManyBindings:
            return some[:MAX_ROWS]

    def reach(
        self,
        action: ActionHypotheses,
        literals: Literals,
        planner: Planner,
        limits: Limits,
        start: Node | None = None,
    ) -> PlannedNearMiss | Verdict:
        """A plan to where these literals of an action hold, with that action to ask there.

        It starts from any situation seen before, which is not done twice, or only from ``start``.
        """
        if start is not None:
            return self._search(action, literals, planner, limits, [start])
        search = action.index.header.name, literals, limits
        if search not in self._reached:
            self._reached[search] = self._search(action, literals, planner, limits, self._nodes)
        return self._reached[search]

    def _search(
        self,
        action: ActionHypotheses,
        literals: Literals,
        planner: Planner,
        limits: Limits,
        nodes: Sequence[Node],
    ) -> PlannedNearMiss | Verdict:
        if self._ground is None:
            return Verdict.LIMIT
        wanted = action.index.header.name, literals
        goals = self._goals.get(wanted)
        if goals is None:
            goals = self._goals[wanted] = self._where(action, literals)
        if not goals:
            return Verdict.UNSOLVABLE
        starts = self._origins if nodes is self._nodes else _starts(nodes)
        outcome = planner.solve(SearchProblem(self._ground[0].operators, starts, goals), limits)
        if isinstance(outcome, Found):
            return PlannedNearMiss(nodes[outcome.start], outcome.plan, outcome.goal.action)
        return outcome

    def _where(self, action: ActionHypotheses, literals: Literals) -> list[Operator]:
        """The goals of a search: each of the rows, with what holds there."""
        goals = []
        for objects in self._rows(action, literals):
            true, false = GroundLiterals(action, objects).holding(literals)
            step = GroundAction(action.index.header.name, objects)
            goals.append(Operator(step, frozenset(true), frozenset(false), frozenset(), frozenset()))
        return goals


def _starts(nodes: Sequence[Node]) -> list[Start]:
    return [(frozenset(node.state.true), frozenset(node.state.unknown)) for node in nodes]


def _relied_on(action: ActionHypotheses, required: Literals) -> LiftedOperator:
    """What an action is taken to require, and what it certainly does."""
    adds, deletes, keeps = action.effects
    return lifted(action, required, adds & ~keeps & ~deletes, deletes & ~keeps & ~adds)


def _weaker(one: LiftedOperator, other: LiftedOperator) -> bool:
    """Whether an operator requires no more than another one, and does the same."""
    return (
        (one.add, one.delete) == (other.add, other.delete)
        and set(one.positive) <= set(other.positive)
        and set(one.negative) <= set(other.negative)
    )


# Sets of literals of which it is known whether they may hold together.


class KnownSets:
    """Sets of one action's literals that may hold together somewhere, and sets that may not."""

    def __init__(self) -> None:
        self._possible: dict[Literals, None] = {}
        self._impossible: dict[Literals, None] = {}
        self._answers: dict[Literals, bool] = {}  # what followed once follows always

    def where_more_may_hold(self) -> KnownSets:
        """What is known where all that may hold together here may do so, too."""
        sets = KnownSets()
        sets._possible = dict(self._possible)
        return sets

    def answer(self, literals: Literals) -> bool | None:
        """A part of what may hold may hold; what has a part that may not hold may not. None if nothing follows."""
        answer = self._answers.get(literals)
        if answer is None:
            if any(literals.within(one) for one in self._possible):
                answer = self._answers[literals] = True
            elif any(one.within(literals) for one in self._impossible):
                answer = self._answers[literals] = False
        return answer

    def note(self, literals: Literals, possible: bool) -> None:
        """Keep the answer about the literals, instead of those that follow from it."""
        self._answers[literals] = possible
        if possible:
            self._possible = {one: None for one in self._possible if not one.within(literals)}
            self._possible[literals] = None
        else:
            self._impossible = {one: None for one in self._impossible if not literals.within(one)}
            self._impossible[literals] = None


# Values that follow from the evidence, and take too long to work out at every move.

T = TypeVar("T")


class Derived(Generic[T]):
    """A value that is worked out again only when what it rests on has changed."""

    def __init__(self) -> None:
        self._known: tuple[object, T] | None = None

    def on(self, basis: object, work_out: Callable[[], T]) -> T:
        """The value on this basis."""
        if self._known is None or self._known[0] != basis:
            self._known = basis, work_out()
        return self._known[1]


# What can be reached in all problems, kept from move to move.


class KnownReachability:
    """What can be reached from the situations seen, worked out anew only when it may have changed.

    What only proves a candidate changes nothing there, nor does a situation that could be reached before.
    """

    def __init__(self) -> None:
        self._schemas: object = None
        self._version: object = None
        self._problems: dict[int, Reachability] = {}
        self._list: list[Reachability] = []

    def of(self, evidence: Evidence) -> list[Reachability]:
        """Per problem what can be reached from the situations of it; the same list as long as nothing changes."""
        actions = evidence.hypotheses.actions.values()
        schemas = [(one.cautious, one.effects, bool(one.successes)) for one in actions]
        version = schemas, len(evidence.nodes), evidence.learned
        if version != self._version:
            same, before = schemas == self._schemas, self._problems
            self._schemas, self._version, self._problems = schemas, version, {}
            for nodes in by_problem(evidence):
                problem = before.get(nodes[0].number)
                if problem is None or not same or not problem.take_in(nodes):
                    problem = Reachability(evidence.hypotheses, nodes, before=problem)
                self._problems[problem.problem] = problem
            self._list = list(self._problems.values())
        return self._list


# The searches of a planner in one interrogation: each of bounded size, and none once enough of them were in vain.
#
# Searches are bounded by the states that they visit, not by time: so the same questions are asked on every machine, however
# busy it is. Only a planner that does not count states (an engine of unified-planning) is limited in time.


@dataclass
class BoundedSearch:
    """Plans to where literals of an action hold; a search that ended at its limits is not made again.

    Such searches are written on the moves: ``begin`` reads them from the evidence, and ``made`` says which to write on the
    next move.
    """

    purpose: str
    planner: Planner
    limits: Limits
    patience: int
    """Searches that may end at their limits; after them nothing is searched any more."""
    _vain: list[LimitedSearch] = field(default_factory=list)
    _hopeless: set[LimitedSearch] = field(default_factory=set)
    _executed: set[str] = field(default_factory=set)
    """The actions that were ever executed."""
    _forgotten: int = 0
    """How many of those in vain were made when fewer actions could be relied on: they may be made again."""
    _exchanges: int = 0
    _made: int = 0
    """How many of those in vain are written on moves."""

    def begin(self, evidence: Evidence) -> None:
        """Start on a new move, and forget every search that is not written on an earlier one."""
        del self._vain[self._made :]
        for exchange in evidence.exchanges[self._exchanges :]:
            if isinstance(exchange.move, Ask):
                self._vain += [search for search in exchange.move.searches if search.purpose == self.purpose]
            executed = {step.name for step in exchange.entry.executed}
            if not executed <= self._executed:
                self._executed |= executed
                self._forgotten = len(self._vain)
        self._exchanges, self._made = len(evidence.exchanges), len(self._vain)
        self._hopeless = {search for search in self._vain[self._forgotten :] if search.anywhere}

    @property
    def made(self) -> tuple[LimitedSearch, ...]:
        """The searches in vain since the last move."""
        return tuple(self._vain[self._made :])

    @property
    def exhausted(self) -> bool:
        """Whether nothing is searched any more."""
        return len(self._vain) >= self.patience

    def reach(
        self, paths: Reachability, action: ActionHypotheses, holding: Literals, start: Node | None = None
    ) -> PlannedNearMiss | Verdict:
        """A plan from any situation seen before, or only from ``start``.

        A search from all situations that ended at its limits is not made again, nor one for more.
        """
        search = LimitedSearch(self.purpose, paths.problem, action.index.header.name, holding, start is None)
        if self.exhausted or any(self._for_more(search, other) for other in self._hopeless):
            return Verdict.LIMIT
        planned = paths.reach(action, holding, self.planner, self.limits, start)
        if planned is Verdict.LIMIT:
            self._vain.append(search)
            if search.anywhere:
                self._hopeless.add(search)
        return planned

    @staticmethod
    def _for_more(search: LimitedSearch, other: LimitedSearch) -> bool:
        """Whether a search asks for all that another one did."""
        return (
            search.problem == other.problem
            and search.action == other.action
            and other.holding.within(search.holding)
        )
