"""How AIA finds a distinguishing query under the agent's access.

Where any state may be asked about (``ConstructedScene``), queries begin in the states of S, which walks have collected.

Elsewhere (``SeenScene``: ``snapshot`` and ``reset``) every query begins in a situation that was seen, and S is every
situation seen so far. P_PO is solved from all of them at once: by a near miss in one of them if a single step tells the
models apart, else by a plan. M' is the strictest model whose P_PO has a solution: where the literals that may be required
cannot all hold beside the telling value (as far as h^2 mutexes and the planner know), it does without some of them. What
then violates several literals leaves a clause, if it is refused. Values that were not seen are never relied on: where
gamma's atom is unknown, no query is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.policies.aia_items import (
    MAX_ATTEMPTS,
    NOTHING,
    Attempt,
    Item,
    Question,
    Scene,
    Update,
    pairs,
    refusals,
)
from aam_vision.interrogation.policies.distinguishing import (
    DistinguishingQuery,
    QueryGenerator,
    loosest,
    strictest,
)
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.first_success import reachable_first_success
from aam_vision.interrogation.queries.known_reachability import KnownReachability
from aam_vision.interrogation.queries.near_misses import near_misses, revealing_step
from aam_vision.interrogation.queries.reachability import PlannedNearMiss, Reachability
from aam_vision.planning.planner import Verdict
from aam_vision.planning.ppo import telling
from aam_vision.strips import GroundAction, Location, Mode, PalTuple, State


class ConstructedScene:
    """Where any state may be asked about: queries over S, and states made for ``update_pal_ordering``."""

    def __init__(
        self,
        evidence: Evidence,
        states: Sequence[Node],
        rng: np.random.Generator,
        searches: BoundedSearch,
        paths: Reachability,
    ) -> None:
        self.evidence = evidence
        self.states = states
        self.rng = rng
        self._generator = QueryGenerator(evidence, states, searches, paths)

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """Every pair of modes, under the strictest and the loosest M'; then ``update_pal_ordering``."""
        update = Update(self.evidence.hypotheses.modes(pal), len(self.evidence.refusals))
        return *pairs(self.evidence, pal, representatives=(True, False)), update

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """A query from a state in S."""
        action = self.evidence.hypotheses[pal.action]
        if not action.successes and refusals(self.evidence, pal.action) >= MAX_ATTEMPTS:
            return None
        required = strictest(action) if strict else loosest(action)
        return self._generator.generate_query(required, i, j, pal, planned=strict)


class Guess(NamedTuple):
    """See an action succeed that no walk has shown: a guess at where, from what is rare."""

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        question = scene.first_success(pal.action) if isinstance(scene, SeenScene) else None
        return NOTHING if question is None else (question, (Guess(),))


class SeenScene:
    """Where a query begins in a situation that was seen."""

    def __init__(
        self, evidence: Evidence, rng: np.random.Generator, searches: BoundedSearch, known: KnownReachability
    ) -> None:
        self.evidence = evidence
        self.rng = rng
        self._searches = searches
        self._known = known

    @property
    def states(self) -> Sequence[Node]:
        """S: every situation that was seen."""
        return self.evidence.visited

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """A first success if there was none, and then every pair of modes.

        There is no ``update_pal_ordering``: no state can be changed, and the other pal tuples that a refusal may be
        about have their own turn.
        """
        return Guess(), *pairs(self.evidence, pal, representatives=(True,))

    def first_success(self, name: str) -> Question | None:
        """A query whose last step is an action that was never executed, where it is most likely to succeed."""
        if self.evidence.hypotheses[name].successes:
            return None
        beliefs = NaturalBeliefs(self.evidence.hypotheses, self.evidence.visited)
        paths = self._known.of(self.evidence)
        ask = reachable_first_success(self.evidence, name, beliefs, paths, self._searches)
        return None if ask is None else Question(ask)

    # --- generate_query --------------------------------------------------------------------------

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """A query that distinguishes M' + gamma^i from M' + gamma^j, not asked yet; None if none is found."""
        action = self.evidence.hypotheses[pal.action]
        if not action.successes:
            return None
        bit = action.index.bit[pal.atom]
        for value in telling(i, j):
            wanted = Literals(bit, 0) if value else Literals(0, bit)
            found = self._step(action, pal, wanted) or self._plan(action, wanted)
            if found is not None:
                start, plan, required = found
                return DistinguishingQuery(pal, i, j, required, start, plan)
        return None

    def _step(self, action: ActionHypotheses, pal: PalTuple, wanted: Literals) -> _Solution | None:
        """A solution of one step, under the strictest M'."""
        for node in self.states:
            for step in _telling_steps(action, node, pal, wanted):
                if not self.evidence.answer_follows(node, (step,)):
                    return node, (step,), action.candidates
        return None

    def _plan(self, action: ActionHypotheses, wanted: Literals) -> _Solution | None:
        """A solution of any number of steps, under the strictest M' that has one."""
        options = []
        target = wanted.opposite()
        others = [literal for literal in action.undecided.singles() if not literal.within(target)]
        for paths in self._known.of(self.evidence):
            required = paths.gather_open(action, target, others)
            if required is not None:
                options.append((action.undecided.without(required).size(), paths, required))
        unreachable = []
        for _, paths, required in sorted(options, key=lambda option: option[0]):
            found = self._reach(paths, action, wanted, required)
            if isinstance(found, tuple):
                return found
            if found is Verdict.UNSOLVABLE:
                unreachable.append((paths, required))
        for paths, required in unreachable:
            # three literals may exclude each other where any two of them do not
            for literal in required.common(action.undecided).without(wanted).singles():
                found = self._reach(paths, action, wanted, required.without(literal))
                if isinstance(found, tuple):
                    return found
        return None

    def _reach(
        self,
        paths: Reachability,
        action: ActionHypotheses,
        wanted: Literals,
        required: Literals,
    ) -> _Solution | Verdict | None:
        planned = self._searches.reach(paths, action, required)
        if not isinstance(planned, PlannedNearMiss):
            return planned
        plan = (*planned.path, planned.step)
        state = self.evidence.predict_plan(planned.start.state, planned.path)
        violated = action.violated(*action.index.values(state, planned.step.objects))
        if not wanted.within(_values(action, state, planned.step)) or action.certain_to_fail(violated):
            return None
        if self.evidence.answer_follows(planned.start, plan):
            return None
        return planned.start, plan, required


_Solution = tuple[Node, tuple[GroundAction, ...], Literals]
"""Where a query begins, its plan, and what M' requires of its last step."""


def _telling_steps(
    action: ActionHypotheses, node: Node, pal: PalTuple, wanted: Literals
) -> Iterator[GroundAction]:
    """Steps in a situation that tell of gamma alone."""
    if pal.location is Location.PRE:
        for near_miss in near_misses(action, node.index, wanted.opposite()):
            yield near_miss.action
    else:
        step = revealing_step(action, node.index, wanted.positive | wanted.negative)
        if step is not None and wanted.within(_values(action, node.state, step)):
            yield step


def _values(action: ActionHypotheses, state: State, step: GroundAction) -> Literals:
    """The literals of the action that are known to hold in a state."""
    held, dim = action.index.values(state, step.objects)
    return Literals(held, action.index.everything & ~(held | dim))
