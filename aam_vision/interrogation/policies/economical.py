"""The economical policy: as few plan outcome queries as possible.

Only a failing step in which exactly one undecided literal is violated proves that literal to be a precondition, and a
query has at most one failing step. So at least one query per (irredundant) precondition is needed, and all else should
cost none:

1. *Positives first.* A walk of the agent, steered towards what is not yet known, cuts the candidates to nearly the true
   preconditions.
2. Candidates that survived by chance are refuted in groups, by one step that violates them all; it is expected to
   succeed, so that another segment follows it in the same query.
3. Candidates that are probably true are proven one by one, by near misses in situations seen before.
4. Where no situation seen before allows such a near miss, one is planned for with the model learned so far.
5. What can be tested nowhere is left undetermined, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.completeness.indistinguishability import Indistinguishability, Prospect
from aam_vision.interrogation.completeness.stopping import indistinguishability_of, origins, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Note, Stop
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.policies.walking import (
    Walker,
    after_walking,
    following_walk,
    uncovering_step,
    uncovering_walk,
)
from aam_vision.interrogation.queries.first_success import (
    MAX_REFUSALS,
    TRUSTED,
    Derived,
    asked_for,
    reachable_first_success,
    refused_lately,
    revealing_step,
)
from aam_vision.interrogation.queries.reachability import BoundedSearch, KnownReachability
from aam_vision.interrogation.queries.segments import (
    DOUBT,
    GROUP_RISK,
    PlannedSegments,
    Segment,
    SegmentFinder,
    Standpoint,
    Wanted,
)
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import GroundAction

SEGMENT = "segment"
"""The purpose of steps that violate undecided literals."""
BEYOND = "beyond every query"
"""Begins the note of a move that tells which literals no query can decide."""
MAX_SEGMENTS = 8
"""Segments of one query."""
ON_THE_WAY = Limits(states=2000)
"""Limits of a search for a further segment of a query: short, since a query can do without."""
FAR = Limits(guided=1000)
"""Limits of a search for a near miss."""
FARTHER = Limits(guided=4000)
"""Limits of a search for a first success, without which nothing is learned of an action: it may be a long way."""
LEAST_REACHED = 0.05
"""A segment that is reached with less probability is not made."""


@dataclass
class EconomicalPolicy:
    """Few questions under ``snapshot`` access."""

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = FAR
    """Of a search for a near miss."""
    patience: int = 50
    """Searches for near misses that may end at their limits, and as many for first successes; what needs more is left
    open."""
    walker: Walker = field(default_factory=lambda: Walker(share=1.5))
    _queries: _Queries | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk while that pays, then ask, then stop."""
        if self._queries is None:
            if walk := self.walker.next(evidence, rng):
                return walk
            self._queries = _Queries(evidence, self._search)
        walk = following_walk(evidence, rng) or uncovering_walk(evidence)
        move = walk or uncovering_step(evidence) or self._queries.next()
        if move is None and evidence.supposes:
            return Stop(False, "nothing is proven from what is only supposed")
        return move or sound_stop(self._queries.equivalence())

    def _search(self, purpose: str, limits: Limits | None = None) -> BoundedSearch:
        return BoundedSearch(purpose, self.planner, limits or self.limits, self.patience)


class _Queries:
    """Composes the queries, once walking is over."""

    def __init__(self, evidence: Evidence, search: Callable[..., BoundedSearch]) -> None:
        walked = after_walking(evidence)
        self._evidence = evidence
        self._beliefs = NaturalBeliefs(walked.hypotheses, walked.visited)
        self._finder = SegmentFinder(self._beliefs)
        near_misses, on_the_way = search("near miss"), search("on the way", ON_THE_WAY)
        self._first_successes = search("first success", FARTHER)
        self._planned = PlannedSegments(self._beliefs, near_misses, on_the_way)
        self._searches = near_misses, on_the_way, self._first_successes
        self._asked: set[tuple[int, tuple[GroundAction, ...]]] = set()
        """The first segments of the queries so far."""
        self._exchanges = 0
        self._reachability = KnownReachability()
        self._equivalence = Derived[Indistinguishability]()
        self._beyond: dict[str, Literals] | None = None
        """Literals that no query can tell, as proven when a segment of the last kind was first asked for."""
        self._noted: dict[str, Literals] | None = None
        """The same, where a move tells it."""

    def next(self) -> Ask | None:
        """The next query; None when no way is found to ask what is open."""
        for search in self._searches:
            search.begin(self._evidence)
        self._take_in()
        ask = (
            self._first_success(TRUSTED)
            or self._segments(self._refuting)
            or self._first_success(MAX_REFUSALS)
            or self._segments(self._proving)
            or self._effect()
        )
        return ask and replace(ask, searches=tuple(made for search in self._searches for made in search.made))

    def _take_in(self) -> None:
        for ask, _ in asked_for(self._evidence, SEGMENT, since=self._exchanges):
            first = ask.plan[ask.replayed :][: ask.aims[0].step + 1]
            self._asked.add(((ask.wanted or ask.start).number, first))
            if ask.note[:1] == (BEYOND,):
                self._noted = _literals_of(ask.note)
        self._exchanges = len(self._evidence.exchanges)
        self._beyond = self._noted

    def _first_success(self, refusals: int) -> Ask | None:
        """A query whose last step was never executed, where it is most likely to succeed.

        An action that was refused often enough is left for later, when more is known of what can be reached. Of several
        actions the one that left the fewest clauses is tried first: one may need what another brings about.
        """
        actions = self._evidence.hypotheses.actions
        unexecuted = [name for name, action in actions.items() if not action.successes]
        for name in sorted(unexecuted, key=lambda name: len(actions[name].clauses)):
            if refused_lately(self._evidence, name) >= refusals:
                continue
            paths = self._reachability.of(self._evidence)
            ask = reachable_first_success(self._evidence, name, self._beliefs, paths, self._first_successes)
            if ask is not None:
                return ask
        return None

    def _segments(self, first: Callable[[Standpoint], Segment | None]) -> Ask | None:
        """A query of one segment, and of others that follow as long as those before may succeed."""
        standpoint = Standpoint(self._evidence, self._evidence.hypotheses, self._evidence.visited)
        segment = first(standpoint)
        if segment is None:
            return None
        start, steps = segment.start, segment.steps
        aims, texts = list[Aim](), list[str]()
        while True:
            aims.append(Aim(SEGMENT, segment.name, segment.violated, len(steps) - 1))
            texts.append(_why(standpoint, segment))
            if len(aims) == MAX_SEGMENTS or segment.success < LEAST_REACHED:
                break
            standpoint = standpoint.after(segment)
            segment = self._next_segment(standpoint, segment.success)
            if segment is None:
                break
            steps += segment.steps
        note: Note = ()
        if self._beyond is not None and self._noted is None:
            note = (BEYOND, *(part for name, literals in self._beyond.items() for part in (name, *literals)))
        return Ask(start, steps, "; then ".join(texts), aims=tuple(aims), note=note)

    def _refuting(self, standpoint: Standpoint) -> Segment | None:
        """The best segment to begin with that should succeed."""
        hypotheses = standpoint.hypotheses

        def doubtful(name: str, literal: Literals) -> bool:
            return (
                _positive(name, literal)
                and self._beliefs.probability(name, literal, hypotheses[name]) <= 1 - DOUBT
            )

        return self._finder.refutation(standpoint) or self._new(
            self._planned_for(standpoint, doubtful), least=DOUBT
        )

    def _proving(self, standpoint: Standpoint) -> Segment | None:
        """The best segment to begin with, where none should succeed."""
        return (
            self._finder.proof(standpoint)
            or self._new(self._planned_for(standpoint, _positive))
            or self._last_segment(standpoint)
        )

    def _planned_for(self, standpoint: Standpoint, wanted: Wanted) -> Iterator[Segment]:
        return self._planned.find(standpoint, self._reachability.of(self._evidence), wanted)

    def _last_segment(self, standpoint: Standpoint) -> Segment | None:
        """A segment about any literal that some query may still tell, where less is asked to hold if need be.

        What no query could tell at an earlier moment none can tell now. So the proofs of the first time, which are
        written on its move, serve for all later ones.
        """
        if self._beyond is None and self._evidence.supposes:
            return None
        if self._beyond is None:
            equivalence, actions = self.equivalence(), standpoint.hypotheses.actions
            self._beyond = {
                name: union(
                    literal
                    for literal in action.undecided.singles()
                    if equivalence.precondition(name, literal) is Prospect.CLOSED
                )
                for name, action in actions.items()
            }
        beyond = self._beyond

        def open_to_question(name: str, literal: Literals) -> bool:
            return not literal.within(beyond[name])

        return self._new(
            self._planned.find(
                standpoint, self._reachability.of(self._evidence), open_to_question, relax=True
            )
        )

    def _next_segment(self, standpoint: Standpoint, reached: float) -> Segment | None:
        """The best segment to go on with, where those before have led if they were executed."""
        segment = self._finder.refutation(standpoint) or self._finder.proof(standpoint)
        if segment is None and reached >= DOUBT:
            objects = standpoint.nodes[0].state.objects
            paths = [path for path in self._reachability.of(self._evidence) if path.objects == objects]
            segment = next(self._planned.find(standpoint, paths, _positive), None)
        return segment

    def _new(self, segments: Iterator[Segment], least: float = 0.0) -> Segment | None:
        """The first that was not asked yet and succeeds with the least probability or more."""
        for segment in segments:
            if segment.success < least:
                return None
            asked = (segment.start.number, segment.steps) in self._asked
            if not asked and not self._evidence.was_asked(segment.start, segment.steps):
                return segment
        return None

    def _effect(self) -> Ask | None:
        """A step expected to succeed that shows an undecided effect."""
        for action in self._evidence.hypotheses.actions.values():
            for bit in bits(action.undecided_effects) if action.successes else ():
                for node in self._evidence.visited:
                    step = revealing_step(action, node.index, bit)
                    if step is not None and not self._evidence.was_seen(node, step):
                        text = action.index.text(Literals(bit, 0))[0]
                        return Ask(node, (step,), f"see the effect on {text}")
        return None

    def equivalence(self) -> Indistinguishability:
        """The proofs for what can never be told, under the hypotheses of this moment."""
        basis = self._evidence.hypotheses.version, origins(self._evidence)
        return self._equivalence.on(basis, lambda: indistinguishability_of(self._evidence))


def _literals_of(note: Note) -> dict[str, Literals]:
    """The literals of each action that such a note tells: a name and two masks, one after the other."""
    return {
        str(name): Literals(int(str(positive)), int(str(negative)))
        for name, positive, negative in zip(note[1::3], note[2::3], note[3::3], strict=True)
    }


def _positive(name: str, literal: Literals) -> bool:
    return bool(literal.positive)


def _why(standpoint: Standpoint, segment: Segment) -> str:
    text = ", ".join(standpoint.hypotheses[segment.name].index.text(segment.violated))
    purpose = (
        "refute" if segment.success >= GROUP_RISK else "prove" if segment.violated.size() == 1 else "test"
    )
    return f"{purpose} {text} in {segment.name}"
