"""Query generation (paper, Algorithm 2): a plan outcome query on which two models disagree.

``poss_models`` is factored (``Hypotheses``), and of the many models M' in it two stand for the rest: the
*strictest*, which requires every literal that may be required, and the *loosest*, which requires only what
is proven. A query under the strictest M' can be refused for one reason only, the pal tuple in question; so
it is tried first.

The models M' + gamma^i and M' + gamma^j run alike until the step that tells them apart. So P_PO needs one
copy of the state and a condition on the last step: a join over each state of S if that is the only step,
else a planner's task. ``planning.ppo`` writes P_PO out as the paper states it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import GroundLiterals, atoms
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.joins import FactIndex, Row, bindings
from aam_vision.planning.grounding import Grounding, LiftedOperator, Operator, TooManyOperators, ground
from aam_vision.planning.mutexes import Mutexes, PossibleOperator
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.strips import Atom, GroundAction, Location, Mode, PalTuple, State

MAX_BINDINGS = 100
"""Bindings looked at in one state."""
MAX_GOALS = 40
"""Bindings of the last step that one search tries to reach."""
MAX_OPERATORS = 800
"""Ground operators beyond which no plan of several steps is looked for in a problem."""
PLANNED_PROBLEMS = 1
"""Problems, smallest first, in which plans of several steps are looked for."""


@dataclass(frozen=True)
class Prediction:
    """What a model answers to a query: steps executed, and the state there as far as the model knows."""

    executed: int
    final: State


@dataclass(frozen=True)
class DistinguishingQuery:
    """<s_I, pi>, and the different answers of the two models it was made for."""

    pal: PalTuple
    start: Node
    plan: tuple[GroundAction, ...]
    predictions: tuple[tuple[Mode, Prediction], tuple[Mode, Prediction]]


@dataclass(frozen=True)
class AbstractModel:
    """M': what it requires of the action in question. Its effects are those that are certain."""

    name: str
    required: Literals


def strictest(action: ActionHypotheses) -> AbstractModel:
    """The model in ``poss_models`` that requires most; the positive literal where both signs are possible."""
    return AbstractModel("strictest", Literals(action.positive, action.negative & ~action.positive))


def loosest(action: ActionHypotheses) -> AbstractModel:
    """What all models in ``poss_models`` require."""
    return AbstractModel("loosest", action.proven)


def telling_value(pair: frozenset[Mode]) -> bool | None:
    """The value that gamma's atom must have for the two modes to make a difference; None for any."""
    if Mode.ABSENT not in pair:
        return None
    return Mode.NEGATIVE in pair


class QueryGenerator:
    """``generate_query`` over a fixed set S of random states."""

    def __init__(self, evidence: Evidence, states: Sequence[Node], planner: Planner, limits: Limits) -> None:
        self._evidence = evidence
        self._states = states
        self._planner = planner
        self._limits = limits
        self._reaches: list[_Reach] | None = None
        self.verdicts: dict[Verdict, int] = dict.fromkeys(Verdict, 0)
        """How often no plan of several steps was found, and why."""

    def generate_query(
        self, model: AbstractModel, i: Mode, j: Mode, pal: PalTuple
    ) -> DistinguishingQuery | None:
        """A query that distinguishes M' + gamma^i from M' + gamma^j, not asked yet; None if there is none."""
        for start, plan in self._plans(model, frozenset([i, j]), pal):
            before = start.state
            for step in plan[:-1]:
                before = self._evidence.predict(before, step)
            predictions = [(mode, self._prediction(model, mode, pal, before, plan)) for mode in (i, j)]
            if predictions[0][1] != predictions[1][1]:
                return DistinguishingQuery(pal, start, plan, (predictions[0], predictions[1]))
        return None

    # --- plans -----------------------------------------------------------------------------------

    def _plans(
        self, model: AbstractModel, pair: frozenset[Mode], pal: PalTuple
    ) -> Iterator[tuple[Node, tuple[GroundAction, ...]]]:
        """Solutions of P_PO from the states in S: those of one step, then a longer one."""
        last = _LastStep.of(self._evidence.hypotheses[pal.action], model, pair, pal)
        if last is None:
            return
        for start in self._states:
            for objects in islice(last.bindings(start.index), MAX_BINDINGS):
                step = GroundAction(pal.action, objects)
                if last.tells(start.state, objects) and not self._evidence.was_seen(start, step):
                    yield start, (step,)
        if model.name == "strictest" and self._evidence.hypotheses[pal.action].successes:
            found = self._longer_plan(last)
            if found is not None:
                yield found

    def _longer_plan(self, last: _LastStep) -> tuple[Node, tuple[GroundAction, ...]] | None:
        if self._reaches is None:
            groups = sorted(_by_problem(self._states), key=lambda nodes: len(nodes[0].state.objects))
            self._reaches = [_Reach(self._evidence, nodes) for nodes in groups[:PLANNED_PROBLEMS]]
        for reach in self._reaches:
            outcome = reach.plan(last, self._planner, self._limits)
            if isinstance(outcome, tuple):
                return outcome
            self.verdicts[outcome] += 1
        return None

    # --- the answers of the models ---------------------------------------------------------------

    def _prediction(
        self, model: AbstractModel, mode: Mode, pal: PalTuple, before: State, plan: tuple[GroundAction, ...]
    ) -> Prediction:
        """What M' + gamma^mode answers, given the state in which the last step is to be made."""
        step = plan[-1]
        action = self._evidence.hypotheses[pal.action]
        fact = pal.atom.ground(step.objects)
        bit = action.index.bit[pal.atom]
        required = model.required
        if pal.location is Location.PRE:
            required = Literals(
                required.positive & ~bit | (bit if mode is Mode.POSITIVE else 0),
                required.negative & ~bit | (bit if mode is Mode.NEGATIVE else 0),
            )
        held, dim = action.index.values(before, step.objects)
        if action.violated(held, dim, required):
            return Prediction(len(plan) - 1, before)
        after = self._evidence.predict(before, step)
        if pal.location is Location.EFF:
            value = before.value(fact) if mode is Mode.ABSENT else mode is Mode.POSITIVE
            after = _set(after, fact, value)
        return Prediction(len(plan), after)


@dataclass(frozen=True)
class _LastStep:
    """The condition under which the last step tells the two models apart."""

    action: ActionHypotheses
    bit: int
    required: Literals
    value: bool | None

    @classmethod
    def of(
        cls, action: ActionHypotheses, model: AbstractModel, pair: frozenset[Mode], pal: PalTuple
    ) -> _LastStep | None:
        """The condition; None if M' itself rules it out."""
        bit, value = action.index.bit[pal.atom], telling_value(pair)
        required = model.required
        if pal.location is Location.PRE:
            required = Literals(required.positive & ~bit, required.negative & ~bit)
        elif value is not None and (required.negative if value else required.positive) & bit:
            return None
        return cls(action, bit, required, value)

    @property
    def on(self) -> Literals:
        """What must hold, the telling value included."""
        if self.value is None:
            return self.required
        extra = Literals(self.bit, 0) if self.value else Literals(0, self.bit)
        return Literals(self.required.positive | extra.positive, self.required.negative | extra.negative)

    def bindings(self, facts: FactIndex) -> Iterator[Row]:
        return bindings(facts, self.action.index.header, atoms(self.action, self.on.positive))

    def tells(self, state: State, objects: Row) -> bool:
        """Whether the step tells the models apart here, and some possible model executes it."""
        held, dim = self.action.index.values(state, objects)
        if dim & self.bit or self.action.index.shared(objects) & self.bit:
            return False
        if self.action.violated(held, dim, self.on):
            return False
        return not self.action.certain_to_fail(self.action.violated(held, dim))


class _Reach:
    """What can be reached from the states of one problem by steps whose outcome is certain.

    Computed once: what was certain when S was complete stays certain.
    """

    def __init__(self, evidence: Evidence, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._starts = [(frozenset(n.state.true), frozenset(n.state.unknown)) for n in nodes]
        self._grounding: Grounding | None = None
        cautious = [_cautious(a) for a in evidence.hypotheses.actions.values() if a.successes]
        initial = frozenset[tuple[str, Row]]().union(*(true for true, _ in self._starts))
        try:
            grounding = ground(cautious, initial, nodes[0].state.objects, MAX_OPERATORS)
        except TooManyOperators:
            return
        self._grounding = grounding
        self._mutexes = Mutexes(
            [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in grounding.operators],
            self._starts,
        )

    def plan(
        self, last: _LastStep, planner: Planner, limits: Limits
    ) -> tuple[Node, tuple[GroundAction, ...]] | Verdict:
        """A start and a plan whose last step tells the models apart, or why there is none."""
        if self._grounding is None:
            return Verdict.LIMIT
        goals = []
        rows = list(islice(last.bindings(self._grounding.facts), MAX_BINDINGS + 1))
        for objects in rows[:MAX_BINDINGS]:
            if last.action.index.shared(objects) & last.bit:
                continue
            true, false = GroundLiterals(last.action, objects).holding(last.on)
            if self._mutexes.possible(true, false):
                step = GroundAction(last.action.index.header.name, objects)
                goals.append(Operator(step, frozenset(true), frozenset(false), frozenset(), frozenset()))
        if not goals:
            return Verdict.UNSOLVABLE if len(rows) <= MAX_BINDINGS else Verdict.LIMIT
        problem = SearchProblem(self._grounding.operators, self._starts, goals[:MAX_GOALS])
        outcome = planner.solve(problem, limits)
        if isinstance(outcome, Found):
            return self._nodes[outcome.start], (*outcome.plan, outcome.goal.action)
        return outcome if len(goals) <= MAX_GOALS else Verdict.LIMIT


def _by_problem(states: Sequence[Node]) -> list[list[Node]]:
    """The states of S grouped by the objects of their problem."""
    groups: list[list[Node]] = []
    for node in states:
        for group in groups:
            if group[0].state.objects == node.state.objects:
                group.append(node)
                break
        else:
            groups.append([node])
    return groups


def _cautious(action: ActionHypotheses) -> LiftedOperator:
    required = strictest(action).required
    return LiftedOperator(
        action.index.header,
        positive=atoms(action, required.positive),
        negative=atoms(action, required.negative),
        add=atoms(action, action.adds & ~action.keeps & ~action.deletes),
        delete=atoms(action, action.deletes & ~action.keeps & ~action.adds),
    )


def _set(state: State, fact: Atom, value: bool | None) -> State:
    """The state with one atom given a value."""
    true = state.true | {fact} if value else state.true - {fact}
    unknown = state.unknown | {fact} if value is None else state.unknown - {fact}
    return State(true, state.objects, unknown)


def changed_in(state: State, action: ActionHypotheses, objects: Row, on: int, off: int) -> State:
    """The state with some of the action's atoms made true and others false."""
    facts = dict(action.index.grounded(objects))
    true = state.true | {Atom(*facts[bit]) for bit in bits(on)}
    return State(true - {Atom(*facts[bit]) for bit in bits(off)}, state.objects, state.unknown)
