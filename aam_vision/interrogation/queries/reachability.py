"""Planning to situations that nobody has seen yet, in which a near miss would be possible.

Paths use the *cautious* model: every positive candidate is required and only what certainly happens is
relied on, so that their steps succeed as far as is known. Fully seen situations are all starts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import GroundLiterals, atoms
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.known_sets import KnownSets
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.joins import Fact, Row, bindings
from aam_vision.planning.grounding import Grounding, LiftedOperator, Operator, TooManyOperators, ground
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.invariants import always_one_of
from aam_vision.planning.mutexes import Mutexes
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.relations import TooManyBindings
from aam_vision.strips import GroundAction

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
        self.objects = nodes[0].state.objects

    def take_in(self, nodes: Sequence[Node]) -> bool:
        """Begin in these situations, too, unless more can be reached then; whether it was done.

        Args:
            nodes: all situations of the problem, those before among them.
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
        grounding, _ = self._ground
        goals = []
        for objects in self._rows(action, literals):
            true, false = GroundLiterals(action, objects).holding(literals)
            step = GroundAction(action.index.header.name, objects)
            goals.append(Operator(step, frozenset(true), frozenset(false), frozenset(), frozenset()))
        if not goals:
            return Verdict.UNSOLVABLE
        outcome = planner.solve(SearchProblem(grounding.operators, _starts(nodes), goals), limits)
        if isinstance(outcome, Found):
            return PlannedNearMiss(nodes[outcome.start], outcome.plan, outcome.goal.action)
        return outcome


def _starts(nodes: Sequence[Node]) -> list[Start]:
    return [(frozenset(node.state.true), frozenset(node.state.unknown)) for node in nodes]


def _relied_on(action: ActionHypotheses, required: Literals) -> LiftedOperator:
    """What an action is taken to require, and what it certainly does."""
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~action.keeps & ~action.deletes),
        delete=atoms(action, action.deletes & ~action.keeps & ~action.adds),
    )


def _weaker(one: LiftedOperator, other: LiftedOperator) -> bool:
    """Whether an operator requires no more than another one, and does the same."""
    return (
        (one.add, one.delete) == (other.add, other.delete)
        and set(one.positive) <= set(other.positive)
        and set(one.negative) <= set(other.negative)
    )
