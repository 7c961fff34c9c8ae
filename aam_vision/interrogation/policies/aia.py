"""AIA: the paper's agent interrogation algorithm (Section "Solving the Interrogation Task", Algorithm 1).

For every pal tuple gamma of an ordering Gamma, and every pair of modes {i, j} that it may still have,
``generate_query`` looks for a plan outcome query on which M' + gamma^i and M' + gamma^j disagree, and
``filter_models`` discards the one that the agent's answer contradicts. Where that settles nothing,
``update_pal_ordering`` does: it takes a state in which the agent can execute the action and changes one
predicate at a time.

``poss_models`` stays factored (``Hypotheses``), and all that an answer says is used at once (``Evidence``):
pal tuples that an earlier answer has settled leave the ordering without a query of their own. Models that
no query tells apart stay possible together.

Departures from the text: the paper changes the state s_F in which the action failed, one predicate at a
time, towards one in which the agent can execute it; here the executable state is changed, so that a refusal
has one possible reason and several negative preconditions in one action do no harm. An action that was
never executed is first made to succeed, in states set up for it. And S comes from walks, whose steps are
evidence too.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import TypeVar

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.distinguishing import (
    DistinguishingQuery,
    Prediction,
    QueryGenerator,
    changed_in,
    loosest,
    strictest,
)
from aam_vision.interrogation.policies.random_states import random_states, walks
from aam_vision.joins import FactIndex, Row, bindings
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.query import Response, Situation
from aam_vision.strips import GroundAction, Location, Mode, PalTuple, State

T = TypeVar("T")
Asking = Generator[Move, None, T]
"""A part of the algorithm that asks on the way; the answers are in the evidence when it goes on."""

Ordering = Callable[[Sequence[PalTuple], np.random.Generator], Sequence[PalTuple]]

MAX_ATTEMPTS = 120
"""Refusals of an action that was never executed after which it is given up."""


def shuffled(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
    """The default Gamma: a random order, fixed by the seed."""
    return [pals[int(number)] for number in rng.permutation(len(pals))]


@dataclass
class AiaPolicy:
    """Algorithm 1 under settable access.

    ``ordering`` makes Gamma; ``states`` bounds S, ``walk_steps`` the walks that collect it; ``limits`` bound
    the search for one plan of several steps.
    """

    planner: Planner = field(default_factory=PyperplanPlanner)
    ordering: Ordering = shuffled
    states: int = 60
    walk_steps: int = 500
    limits: Limits = field(default_factory=lambda: Limits(seconds=5.0, states=300))
    _moves: Iterator[Move] | None = field(default=None, init=False)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move of the one run of the algorithm that this policy makes."""
        if self._moves is None:
            self._moves = self._run(evidence, rng)
        return next(self._moves)

    def _run(self, evidence: Evidence, rng: np.random.Generator) -> Iterator[Move]:
        yield from walks(evidence, rng, self.walk_steps)
        states = random_states(evidence, rng, self.states)
        run = _Interrogation(evidence, states, self.planner, self.limits, rng)
        yield from run.interrogate(self.ordering([*evidence.hypotheses.pal_tuples()], rng))
        left = evidence.hypotheses.size - evidence.hypotheses.decided()
        if left:
            stop = Stop(
                False, f"{resolved_share(evidence.hypotheses):.1%} resolved; {left} pal tuples withstood AIA"
            )
        else:
            stop = Stop(True, "every pal tuple is resolved")
        while True:
            yield stop


# --- what the algorithm is made of ------------------------------------------------------------------


def resolved(hypotheses: Hypotheses, pal: PalTuple) -> bool:
    """Whether gamma has one mode left (an effect that restates a proven precondition counts as absent)."""
    action = hypotheses[pal.action]
    undecided = action.undecided
    mask = undecided.positive | undecided.negative
    return not action.index.bit[pal.atom] & (
        mask if pal.location is Location.PRE else action.undecided_effects
    )


def resolved_share(hypotheses: Hypotheses) -> float:
    """The paper's running estimate of accuracy: the share of palm tuples that are resolved."""
    return hypotheses.decided() / hypotheses.size if hypotheses.size else 1.0


def consistent(prediction: Prediction, answer: Response, length: int) -> bool:
    """Whether the agent's answer is consistent with a model's (paper, Definition "consistency").

    Both execute the whole plan, and what the model says of the final state is so. The paper lists true
    atoms only; here the false ones that the model knows of count as well.
    """
    if not answer.executed == prediction.executed == length:
        return False
    said, seen = prediction.final, answer.final.state
    return said.true <= seen.true | seen.unknown and seen.true <= said.true | said.unknown


def filter_models(query: DistinguishingQuery, answer: Response) -> frozenset[Mode]:
    """The modes whose model the answer prunes (paper, "Filtering Possible Models").

    Two models are prunable if exactly one of their answers is consistent with the agent's.
    """
    agree = [(mode, consistent(said, answer, len(query.plan))) for mode, said in query.predictions]
    if agree[0][1] == agree[1][1]:
        return frozenset()
    return frozenset(mode for mode, is_consistent in agree if not is_consistent)


class _Interrogation:
    """One run of Algorithm 1, S being collected."""

    def __init__(
        self,
        evidence: Evidence,
        states: Sequence[Node],
        planner: Planner,
        limits: Limits,
        rng: np.random.Generator,
    ) -> None:
        self._evidence = evidence
        self._hypotheses = evidence.hypotheses
        self._states = states
        self._rng = rng
        self._generator = QueryGenerator(evidence, states, planner, limits)
        self._attempts: dict[str, int] = defaultdict(int)

    def interrogate(self, ordering: Sequence[PalTuple]) -> Asking[None]:
        """The main loop. A pal tuple that stays open goes to the end; a round without news ends it all."""
        gamma = deque(ordering)
        since_news = 0  # pal tuples in a row that nothing was learned about
        while gamma and since_news < len(gamma):
            pal = gamma.popleft()
            if resolved(self._hypotheses, pal):
                continue
            version = self._hypotheses.version
            pruned, failed = yield from self._compare_modes(pal)
            if not pruned and not resolved(self._hypotheses, pal):
                yield from self.update_pal_ordering(pal, failed)
            if not resolved(self._hypotheses, pal):
                gamma.append(pal)
            since_news = since_news + 1 if self._hypotheses.version == version else 0

    def _compare_modes(self, pal: PalTuple) -> Asking[tuple[frozenset[Mode], State | None]]:
        """The inner loops: the modes that were pruned, and the state in which the action failed, if it did."""
        pruned: frozenset[Mode] = frozenset()
        failed: State | None = None
        action = self._hypotheses[pal.action]
        for i, j in combinations(self._hypotheses.modes(pal), 2):
            for representative in (strictest, loosest):
                if resolved(self._hypotheses, pal) or not {i, j} <= {*self._hypotheses.modes(pal)}:
                    break
                if not action.successes and self._attempts[pal.action] >= MAX_ATTEMPTS:
                    break
                query = self._generator.generate_query(representative(action), i, j, pal)
                if query is None:
                    continue
                answer = yield from self._put(
                    query.start, query.plan, f"tell {i.value} from {j.value} in {_text(action, pal)}"
                )
                pruned |= filter_models(query, answer)
                if answer.executed < len(query.plan):
                    failed = answer.final.state
        return pruned, failed

    def update_pal_ordering(self, pal: PalTuple, failed: State | None) -> Asking[None]:
        """Resolve pal tuples of an action from a state in which the agent can execute it.

        Paper, "Updating PAL ordering". ``pal`` comes first, then what the refusal may have been about: the
        predicates in which ``failed`` differs. The main loop drops from Gamma whatever this resolves.
        """
        action = self._hypotheses[pal.action]
        executable = self._executable(pal)
        if executable is None:
            yield from self._first_success(pal.action)
            executable = self._executable(pal)
            if executable is None:
                return
        bit = action.index.bit[pal.atom]
        yield from self._change(pal.action, executable, bit, pal.location)
        if failed is not None:
            for clause in list(action.clauses):
                for other in bits(clause.positive | clause.negative):
                    yield from self._change(pal.action, executable, other, Location.PRE)

    def _change(self, name: str, executable: tuple[State, Row], bit: int, location: Location) -> Asking[None]:
        """Change one atom of the executable state and see whether the agent can still execute the action."""
        action = self._hypotheses[name]
        state, objects = executable
        atom = next(atom for atom, own in action.index.bit.items() if own == bit)
        if resolved(self._hypotheses, PalTuple(atom, name, location)):
            return
        held, _ = action.index.values(state, objects)
        for value in (not held & bit, bool(held & bit)):
            changed = changed_in(state, action, objects, bit if value else 0, 0 if value else bit)
            violated = action.violated(*action.index.values(changed, objects))
            if resolved(self._hypotheses, PalTuple(atom, name, location)) or action.certain_to_fail(violated):
                continue
            yield from self._ask(
                changed, GroundAction(name, objects), f"change {atom.text(action.index.header.parameters)}"
            )

    def _executable(self, pal: PalTuple) -> tuple[State, Row] | None:
        """A state and arguments with which the agent is known to execute the action, those in S first."""
        action = self._hypotheses[pal.action]
        bit = action.index.bit[pal.atom]
        members = {node.number for node in self._states}
        found = None
        for edge in self._evidence.edges:
            usable = edge.action.name == pal.action and not edge.before.state.unknown
            if usable and not action.index.shared(edge.action.objects) & bit:
                if edge.before.number in members:
                    return edge.before.state, edge.action.objects
                found = found or (edge.before.state, edge.action.objects)
        return found

    def _first_success(self, name: str) -> Asking[None]:
        """Set up states until the agent executes an action that it was never seen to execute."""
        action = self._hypotheses[name]
        place = self._place(action)
        if place is None or action.successes:
            return
        state, objects = place
        for off in self._choices(action):
            if action.successes or self._attempts[name] >= MAX_ATTEMPTS:
                return
            changed = changed_in(state, action, objects, action.index.everything & ~off, off)
            if not action.certain_to_fail(action.violated(*action.index.values(changed, objects))):
                yield from self._ask(changed, GroundAction(name, objects), f"see {name} succeed")

    def _place(self, action: ActionHypotheses) -> tuple[State, Row] | None:
        """A state in S and arguments for the action; no constant among them if that can be."""
        found = None
        for node in self._states:
            facts = FactIndex(node.state.objects)
            for objects in islice(bindings(facts, action.index.header, ()), 50):
                if not action.index.shared(objects):
                    return node.state, objects
                found = found or (node.state, objects)
        return found

    def _choices(self, action: ActionHypotheses) -> Iterator[int]:
        """Atoms to make false, the others being made true: none, then one, and random ones, by turns."""
        yield 0
        singles = list(bits(action.negative))
        for turn in range(MAX_ATTEMPTS * 4):
            if turn < len(singles):
                yield singles[turn]
            share = (0.5, 0.25)[turn % 2]
            chance = self._rng.random(len(action.index.atoms))
            yield sum(1 << place for place, drawn in enumerate(chance) if drawn < share)

    # --- asking ----------------------------------------------------------------------------------

    def _ask(self, state: State, step: GroundAction, why: str) -> Asking[None]:
        """Ask for one step in a state set up for it, unless the answer is stored already."""
        start = self._evidence.situation(Situation(state, state))
        if not self._evidence.was_seen(start, step):
            yield from self._put(start, (step,), why)

    def _put(self, start: Node, plan: tuple[GroundAction, ...], why: str) -> Asking[Response]:
        """Ask, and read the answer off the evidence."""
        edges = len(self._evidence.edges)
        refused = len(self._evidence.refusals)
        yield Ask(start, plan, why)
        executed = len(self._evidence.edges) - edges
        final = self._evidence.edges[-1].after if executed else start
        if len(self._evidence.refusals) > refused:
            self._attempts[plan[executed].name] += 1
        return Response(executed, Situation(final.state, final.state))


def _text(action: ActionHypotheses, pal: PalTuple) -> str:
    literal = action.index.text(Literals(action.index.bit[pal.atom], 0))[0]
    return f"<{literal}, {pal.action}, {pal.location.value}>"
