"""The economical policy: as few plan outcome queries as possible.

Only a failing step in which exactly one undecided literal is violated proves that literal to be a
precondition, and a query has at most one failing step. So at least one query per (irredundant)
precondition is needed, and all else should cost none:

1. *Positives first.* A walk of the agent, steered towards what is not yet known, cuts the candidates to
   nearly the true preconditions.
2. Candidates that survived by chance are refuted in groups, by one step that violates them all; being
   expected to succeed, it is followed by something else in the same query.
3. Candidates that are probably true are proven one by one, by near misses in situations seen before.
4. Where no situation seen before allows such a probe, one is planned for with the model learned so far.
5. What can be probed nowhere is left undetermined, and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.completeness.indistinguishability import Indistinguishability, Prospect
from aam_vision.interrogation.completeness.stopping import indistinguishability_of, origins, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.policies.walking import Walker, after_walking, uncovering_walk
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.first_success import FirstSuccess
from aam_vision.interrogation.queries.near_misses import revealing_step
from aam_vision.interrogation.queries.planned_segments import DOUBT, PlannedSegments
from aam_vision.interrogation.queries.reachability import KnownReachability
from aam_vision.interrogation.queries.segments import GROUP_RISK, Segment, SegmentFinder, Standpoint
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import GroundAction

SEGMENT = "segment"
"""The purpose of steps that violate undecided literals."""
MAX_GUESSES = 6
"""Refused guesses at how an action may succeed, after which it is given up."""
MAX_LINKS = 8
"""Links in one query."""
ON_THE_WAY = Limits(states=2000)
"""Limits of a search for something to ride along."""
RIDER_SUCCESS = 0.05
"""A link that is executed with less probability needs none after it."""


@dataclass
class EconomicalPolicy:
    """Few questions under ``snapshot`` access."""

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=Limits)
    """Of a search for a probe."""
    patience: int = 50
    """Searches for probes that may end at their limits, and as many for guesses; what needs more is left open."""
    walker: Walker = field(default_factory=lambda: Walker(share=1.5))
    _inquiry: _Inquiry | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk while that pays, then ask, then stop."""
        if self._inquiry is None:
            walked = after_walking(evidence)
            walk = self.walker.next(evidence, rng) if walked is evidence else None
            if walk is not None:
                return walk
            beliefs = NaturalBeliefs(walked.hypotheses, walked.visited)
            searches, on_the_way, guessing = (
                BoundedSearch(purpose, self.planner, limits, self.patience)
                for purpose, limits in (
                    ("near miss", self.limits),
                    ("on the way", ON_THE_WAY),
                    ("first success", self.limits),
                )
            )
            journeys = PlannedSegments(beliefs, searches, on_the_way)
            self._inquiry = _Inquiry(
                evidence, beliefs, SegmentFinder(beliefs), journeys, FirstSuccess(beliefs, guessing)
            )
        return uncovering_walk(evidence) or self._inquiry.query() or sound_stop(self._inquiry.equivalence())


@dataclass
class _Inquiry:
    """Composes the queries, once walking is over."""

    evidence: Evidence
    beliefs: NaturalBeliefs
    finder: SegmentFinder
    journeys: PlannedSegments
    guesses: FirstSuccess
    _asked: set[tuple[int, tuple[GroundAction, ...]]] = field(default_factory=set)
    """The first segments of the queries so far."""
    _exchanges: int = 0
    _known: KnownReachability = field(default_factory=KnownReachability)
    _equivalence: Indistinguishability | None = None
    _equivalence_basis: tuple[object, ...] = ()

    def query(self) -> Ask | None:
        """The next query; None when no way is found to ask what is open."""
        searches = self.journeys.searches, self.journeys.on_the_way, self.guesses.searches
        for one in searches:
            one.begin(self.evidence)
        self._take_in()
        standpoint = Standpoint(self.evidence, self.evidence.hypotheses, self.evidence.visited)
        ask = self._first_success() or self._chain(standpoint) or self._effect()
        return ask and replace(ask, searches=tuple(chain.from_iterable(one.made for one in searches)))

    def _take_in(self) -> None:
        for exchange in self.evidence.exchanges[self._exchanges :]:
            move = exchange.move
            if isinstance(move, Ask) and move.aims and move.aims[0].purpose == SEGMENT:
                segment = move.plan[move.replayed :][: move.aims[0].step + 1]
                self._asked.add(((move.wanted or move.start).number, segment))
        self._exchanges = len(self.evidence.exchanges)

    def _first_success(self) -> Ask | None:
        """A guess at a situation in which an action that was never executed can be."""
        for name, action in self.evidence.hypotheses.actions.items():
            if not action.successes and len(action.clauses) < MAX_GUESSES:
                ask = self.guesses.guess(self.evidence, name, self._known.of(self.evidence))
                if ask is not None:
                    return ask
        return None

    def _chain(self, standpoint: Standpoint) -> Ask | None:
        """A query of one link, and of others that ride along as long as the ones before may succeed."""
        link = self._link(standpoint)
        if link is None:
            return None
        start, steps, why = link.start, link.steps, _why(standpoint, link)
        aims = [_aim(link, steps)]
        for _ in range(MAX_LINKS - 1):
            if link.success < RIDER_SUCCESS:
                break
            standpoint = standpoint.after(link)
            link = self._link_on(standpoint, link.success)
            if link is None:
                break
            steps += link.steps
            aims.append(_aim(link, steps))
            why += f"; then {_why(standpoint, link)}"
        return Ask(start, steps, why, aims=tuple(aims))

    def _link(self, standpoint: Standpoint) -> Segment | None:
        """The best link to begin with."""
        hypotheses = standpoint.hypotheses

        def doubtful(name: str, literal: Literals) -> bool:
            action = hypotheses[name]
            return bool(literal.positive) and self.beliefs.probability(name, literal, action) <= 1 - DOUBT

        def positive(name: str, literal: Literals) -> bool:
            return bool(literal.positive)

        paths = self._known.of(self.evidence)
        link = (
            self.finder.refutation(standpoint)
            or self._new(self.journeys.find(standpoint, paths, doubtful), least=DOUBT)
            or self.finder.proof(standpoint)
            or self._new(self.journeys.find(standpoint, paths, positive))
        )
        if link is None:
            equivalence = self.equivalence()

            def open_to_question(name: str, literal: Literals) -> bool:
                return equivalence.precondition(name, literal) is not Prospect.CLOSED

            link = self._new(self.journeys.find(standpoint, paths, open_to_question, relax=True))
        return link

    def _link_on(self, standpoint: Standpoint, reached: float) -> Segment | None:
        """The best link to go on with, where the ones before have led if they were executed."""
        link = self.finder.refutation(standpoint) or self.finder.proof(standpoint)
        if link is None and reached >= DOUBT:
            objects = standpoint.nodes[0].state.objects
            paths = [path for path in self._known.of(self.evidence) if path.objects == objects]
            link = next(
                self.journeys.find(standpoint, paths, lambda name, literal: bool(literal.positive)), None
            )
        return link

    def _new(self, links: Iterator[Segment], least: float = 0.0) -> Segment | None:
        """The first that was not asked yet and succeeds with the least probability or more."""
        for link in links:
            if link.success < least:
                return None
            if (link.start.number, link.steps) not in self._asked:
                return link
        return None

    def _effect(self) -> Ask | None:
        """A step expected to succeed that shows an undecided effect."""
        for action in self.evidence.hypotheses.actions.values():
            for bit in bits(action.undecided_effects) if action.successes else ():
                for node in self.evidence.visited:
                    step = revealing_step(action, node.index, bit)
                    if step is not None and not self.evidence.was_seen(node, step):
                        text = action.index.text(Literals(bit, 0))[0]
                        return Ask(node, (step,), f"see the effect on {text}")
        return None

    def equivalence(self) -> Indistinguishability:
        """The proofs for what can never be told, under the hypotheses of this moment."""
        basis = self.evidence.hypotheses.version, origins(self.evidence)
        if self._equivalence is None or self._equivalence_basis != basis:
            self._equivalence_basis = basis
            self._equivalence = indistinguishability_of(self.evidence)
        return self._equivalence


def _aim(link: Segment, steps: tuple[GroundAction, ...]) -> Aim:
    """What the last of the steps, with which the segment ends, is to find out."""
    return Aim(SEGMENT, link.steps[-1].name, link.violated, len(steps) - 1)


def _why(standpoint: Standpoint, link: Segment) -> str:
    action = standpoint.hypotheses[link.steps[-1].name]
    purpose = "refute" if link.success >= GROUP_RISK else "prove" if link.violated.size() == 1 else "test"
    return f"{purpose} {', '.join(action.index.text(link.violated))} in {link.steps[-1].name}"
