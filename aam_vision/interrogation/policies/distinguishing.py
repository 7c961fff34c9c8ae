"""Query generation (paper, Algorithm 2): a plan outcome query on which two models disagree.

``poss_models`` is factored (``Hypotheses``), so many models M' in it may stand for the rest. The *strictest*
requires every literal that may be required, the *loosest* only what is proven. A query under the strictest M'
can be refused for one reason only, the pal tuple in question; so it is tried first.

The models M' + gamma^i and M' + gamma^j run alike until the step that tells them apart. So P_PO
(``planning.ppo``) needs one copy of the state and a condition on the last step: a join over each state of S
if that is the only step, else a planner's task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses, atoms
from aam_vision.interrogation.queries.reachability import BoundedSearch, PlannedNearMiss, Reachability
from aam_vision.model.strips import ActionSchema, GroundAction, Location, Mode, Model, PalTuple, State
from aam_vision.planning.joins import bindings
from aam_vision.planning.ppo import DistinguishingProblem, telling

MAX_BINDINGS = 100
"""Bindings looked at in one state."""
MAX_OPERATORS = 800
"""Ground operators beyond which no plan of several steps is looked for in a problem."""


def resolved(hypotheses: Hypotheses, pal: PalTuple) -> bool:
    """Whether gamma has one mode left (an effect that restates a proven precondition counts as absent)."""
    action = hypotheses[pal.action]
    undecided = action.undecided
    mask = undecided.positive | undecided.negative
    return not action.index.bit[pal.atom] & (
        mask if pal.location is Location.PRE else action.undecided_effects
    )


def strictest(action: ActionHypotheses) -> Literals:
    """What the model in ``poss_models`` requires that requires most; of two possible signs the positive one."""
    return Literals(action.positive, action.negative & ~action.positive)


def loosest(action: ActionHypotheses) -> Literals:
    """What all models in ``poss_models`` require."""
    return action.proven


@dataclass(frozen=True)
class DistinguishingQuery:
    """<s_I, pi>, and the two models that it distinguishes: M' + gamma^i and M' + gamma^j.

    ``required`` is what M' requires of gamma's action.
    """

    pal: PalTuple
    i: Mode
    j: Mode
    required: Literals
    start: Node
    plan: tuple[GroundAction, ...]

    def problem(self, hypotheses: Hypotheses) -> DistinguishingProblem:
        """The P_PO that the query solves: the cautious model but for what M' requires of gamma's action."""
        action = hypotheses[self.pal.action]
        schemas = []
        for schema in hypotheses.model().actions:
            if schema.header.name == self.pal.action:
                schema = ActionSchema(
                    schema.header,
                    action.index.select(self.required.positive),
                    action.index.select(self.required.negative),
                    schema.add,
                    schema.delete,
                )
            schemas.append(schema)
        refined = {pal for pal in hypotheses.pal_tuples() if pal != self.pal and resolved(hypotheses, pal)}
        return DistinguishingProblem(
            Model(hypotheses.vocabulary, tuple(schemas)), refined, self.pal, self.i, self.j
        )


@dataclass(frozen=True)
class LastStep:
    """The condition under which the last step tells the two models apart."""

    action: ActionHypotheses
    bit: int
    required: Literals
    values: tuple[bool, ...]

    @classmethod
    def of(
        cls, action: ActionHypotheses, required: Literals, i: Mode, j: Mode, pal: PalTuple
    ) -> LastStep | None:
        """The condition where M' requires that; None if it contradicts itself."""
        bit, values = action.index.bit[pal.atom], telling(i, j)
        if pal.location is Location.PRE:
            required = Literals(required.positive & ~bit, required.negative & ~bit)
        elif len(values) == 1 and (required.negative if values[0] else required.positive) & bit:
            return None
        return cls(action, bit, required, values)

    @cached_property
    def on(self) -> Literals:
        """What must hold, the telling value included."""
        if len(self.values) > 1:
            return self.required
        extra = Literals(self.bit, 0) if self.values[0] else Literals(0, self.bit)
        return Literals(self.required.positive | extra.positive, self.required.negative | extra.negative)

    def tells(self, state: State, objects: tuple[str, ...]) -> bool:
        """Whether the step tells the models apart in this state, and some possible model executes it."""
        held, dim = self.action.index.values(state, objects)
        if dim & self.bit or self.action.index.shared(objects) & self.bit:
            return False
        if self.action.violated(held, dim, self.on):
            return False
        return not self.action.certain_to_fail(self.action.violated(held, dim))


class QueryGenerator:
    """``generate_query`` over a fixed set S of states, where any state may be asked about."""

    def __init__(
        self,
        evidence: Evidence,
        states: Sequence[Node],
        searches: BoundedSearch,
        paths: Reachability,
    ) -> None:
        """``paths``: what can be reached from the states in S by steps whose outcome is certain."""
        self._evidence = evidence
        self._states = states
        self._searches = searches
        self._paths = paths

    def generate_query(
        self, required: Literals, i: Mode, j: Mode, pal: PalTuple, *, planned: bool
    ) -> DistinguishingQuery | None:
        """A query that distinguishes M' + gamma^i from M' + gamma^j, not asked yet; None if there is none.

        ``required`` is what M' requires of gamma's action; with ``planned`` the plan may have several steps.
        """
        last = LastStep.of(self._evidence.hypotheses[pal.action], required, i, j, pal)
        if last is None:
            return None
        found = next(self._steps(last, pal.action), None)
        if found is None and planned and last.action.successes:
            found = self._longer_plan(last)
        return None if found is None else DistinguishingQuery(pal, i, j, required, *found)

    def _steps(self, last: LastStep, name: str) -> Iterator[tuple[Node, tuple[GroundAction, ...]]]:
        """Solutions of P_PO of one step, from the states in S."""
        required = atoms(last.action, last.on.positive)
        for start in self._states:
            for objects in islice(bindings(start.index, last.action.index.header, required), MAX_BINDINGS):
                step = GroundAction(name, objects)
                if last.tells(start.state, objects) and not self._evidence.was_seen(start, step):
                    yield start, (step,)

    def _longer_plan(self, last: LastStep) -> tuple[Node, tuple[GroundAction, ...]] | None:
        """A solution of several steps."""
        planned = self._searches.reach(self._paths, last.action, last.on)
        if not isinstance(planned, PlannedNearMiss):
            return None
        before = self._evidence.predict_plan(planned.start.state, planned.path)
        if not last.tells(before, planned.step.objects):
            return None
        return planned.start, (*planned.path, planned.step)


class KnownSteps:
    """What can be reached in the smallest problem of S, by what was certain when an action was last executed first.

    That stays certain. So it is worked out anew only after another action's first success.
    """

    def __init__(self) -> None:
        self._executed: set[str] = set()
        self._edges = 0
        self._exchanges = -1
        self._paths: Reachability | None = None

    def paths(self, evidence: Evidence, states: Sequence[Node], collected: int) -> Reachability:
        """``collected``: how many exchanges there had been when S was complete."""
        exchanges = max(collected, self._exchanges, self._last_first_success(evidence))
        if self._paths is None or exchanges != self._exchanges:
            smallest = min(states, key=lambda node: len(node.state.objects)).state.objects
            nodes = [node for node in states if node.state.objects == smallest]
            then = _frozen(evidence.as_of(exchanges).hypotheses)
            self._exchanges = exchanges
            self._paths = Reachability(then, nodes, required=strictest, max_operators=MAX_OPERATORS)
        return self._paths

    def _last_first_success(self, evidence: Evidence) -> int:
        """After how many exchanges an action was executed first, of those since the last call; 0 if none was."""
        new = 0
        for number, edge in enumerate(evidence.edges[self._edges :], self._edges + 1):
            if edge.action.name not in self._executed:
                self._executed.add(edge.action.name)
                new = number
        self._edges = len(evidence.edges)
        return sum(exchange.edges < new for exchange in evidence.exchanges) if new else 0


def _frozen(hypotheses: Hypotheses) -> Hypotheses:
    """A copy that later answers do not narrow."""
    frozen = copy(hypotheses)
    frozen.actions = {name: copy(action) for name, action in hypotheses.actions.items()}
    return frozen
