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

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf
from operator import itemgetter

import numpy as np

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.completeness.indistinguishability import (
    Indistinguishability,
    Prospect,
    indistinguishability_of,
    origins,
    sound_stop,
)
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Note, Stop, Walk
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import atoms
from aam_vision.interrogation.queries.first_success import (
    MAX_REFUSALS,
    SEARCH_LIMIT,
    TRUSTED,
    asked_for,
    first_trials,
    reachable_first_success,
    refused_lately,
    revealing_step,
)
from aam_vision.interrogation.queries.reachability import BoundedSearch, Derived, KnownReachability
from aam_vision.interrogation.queries.segments import (
    DOUBT,
    GROUP_RISK,
    PlannedSegments,
    Segment,
    SegmentFinder,
    Standpoint,
    Wanted,
)
from aam_vision.model.strips import GroundAction, Objects, State
from aam_vision.planning.joins import bindings
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner

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
        self._vain: dict[tuple[str, int], Derived[set[int]]] = {}
        """By action and effect, the situations where no step shows it."""
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
        visited = self._evidence.visited
        for name, action in self._evidence.hypotheses.actions.items():
            basis = action.version, self._evidence.learned
            for bit in bits(action.undecided_effects) if action.successes else ():
                vain = self._vain.setdefault((name, bit), Derived()).on(basis, set)
                for node in (one for one in visited if one.number not in vain):
                    step = revealing_step(action, node.index, bit)
                    if step is not None and not self._evidence.was_seen(node, step):
                        text = action.index.text(Literals(bit, 0))[0]
                        return Ask(node, (step,), f"see the effect on {text}")
                    vain.add(node.number)
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


# Walks: letting the agent act on its own, from where that is likely to show something new.
#
# Walk steps do not count as questions, so they come first: diverse successes cut the candidates to nearly the true
# preconditions. A walk starts in a situation of a kind from which few walks have started. Situations with the same number
# of true atoms of every predicate are of one kind.


EXPLORE = "explore"
"""Why the walks of a ``Walker`` are made."""
UNCOVER = "uncover"
"""Why walks are made that may uncover a hidden effect."""
UNCOVER_BY_STEP = "uncover a hidden effect"
"""The same of questions."""
UNCOVER_STEPS = 2
UNCOVER_ATTEMPTS = 3
"""Walks made from one situation to uncover an effect that is hidden there, and as many steps asked for if these show
nothing."""
UNCOVER_IN_VAIN = 100
"""Walks in a row, of all situations, after which none is made any more: there, each step hides something else."""
FOLLOW = "follow"
"""Why walks are made from where an action was first attempted."""
FOLLOW_STEPS = 3
FOLLOW_SUCCESS = 50
"""Walks from where an action was executed for the first time."""
FOLLOW_AT_ONCE = 4
"""How many of them begin there; the others in situations seen since."""
FOLLOW_REFUSAL = 4
"""Walks from where such an action was refused."""
LEAST_PATIENCE = 30
"""Steps that are always allowed, even if nothing is learnt from them."""

Kind = tuple[str | int, ...]
"""Every predicate of which atoms are true, and how many are."""


@dataclass
class Walker:
    """Decides on the next walk, until walking no longer pays.

    Walking ends after ``limit`` steps (``per_action`` steps for every action, where these are more), or
    ``share`` times as many as there are pal tuples; or once nothing was learnt for ``patience`` times as many.
    """

    limit: int = 400
    per_action: int = 0
    share: float = inf
    patience: float = 1.0
    stride: int = 4
    _walks: _Walks = field(default_factory=lambda: _Walks())

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Walk | None:
        """The next walk; None once enough was walked, or anything else was done."""
        if _first_walks(evidence) < len(evidence.exchanges):
            return None
        walks = self._walks
        walks.take_in(evidence)
        size = evidence.hypotheses.size
        patience = max(LEAST_PATIENCE, int(size * self.patience))
        limit = max(self.limit, self.per_action * len(evidence.hypotheses.actions))
        limit = int(min(limit, max(LEAST_PATIENCE, size * self.share)))
        if walks.steps >= limit or walks.fruitless >= patience:
            return None
        problems = list(walks.problems)
        start = walks.start(problems[int(rng.integers(len(problems)))], rng)
        return Walk(start, min(self.stride, limit - walks.steps), EXPLORE)


@dataclass
class _Walks:
    """The walks so far, and the situations that they may start from, as the evidence has them."""

    steps: int = 0
    fruitless: int = 0
    """Steps since anything was learnt."""
    problems: dict[Objects, dict[Kind, list[Node]]] = field(default_factory=dict)
    _sorted: dict[Objects, list[tuple[Kind, list[Node]]]] = field(default_factory=lambda: defaultdict(list))
    _kinds: dict[int, list[Node]] = field(default_factory=dict)
    """By the number of a situation, all of its kind."""
    _departures: Counter[int] = field(default_factory=Counter)
    _exchanges: int = 0

    def take_in(self, evidence: Evidence) -> None:
        """Sort the situations that are new by problem and kind, and count the walks that are new."""
        for node in evidence.nodes[len(self._kinds) :]:
            self._kinds[node.number] = []
            if node.situation is not None:
                self._sort(node)
        for exchange in evidence.exchanges[self._exchanges :]:
            if exchange.told:
                self.fruitless = 0
            if isinstance(exchange.move, Walk) and exchange.move.why == EXPLORE:
                walk = exchange.move
                self.steps += walk.steps
                self.fruitless += 0 if exchange.told else walk.steps
                self._departures[self._kinds[(walk.wanted or walk.start).number][0].number] += 1
        self._exchanges = len(evidence.exchanges)

    def _sort(self, node: Node) -> None:
        state = node.state_when_new
        assert state is not None, "it is noted when an exchange has been taken in"
        kind = _kind(state)
        kinds = self.problems.setdefault(state.objects, {})
        if kind not in kinds:
            kinds[kind] = []
            insort(self._sorted[state.objects], (kind, kinds[kind]))
        kinds[kind].append(node)
        self._kinds[node.number] = kinds[kind]

    def start(self, problem: Objects, rng: np.random.Generator) -> Node:
        """A situation of a kind that few walks have started from."""
        kinds = [nodes for _, nodes in self._sorted[problem]]
        weights = np.array([1.0 / (1 + self._departures[nodes[0].number]) ** 2 for nodes in kinds])
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        return kind[int(rng.integers(len(kind)))]


def after_walking(evidence: Evidence, *, besides: str = "") -> Evidence:
    """The evidence as it was when the first walks were over.

    Queries whose first aim has the purpose ``besides`` count as part of them.
    """
    return evidence.as_of(_first_walks(evidence, besides))


def _first_walks(evidence: Evidence, besides: str = "") -> int:
    """How many exchanges the first walks are, with those that were made before the interrogation."""
    for number, exchange in enumerate(evidence.exchanges):
        move = exchange.move
        exploring = move is None or (isinstance(move, Walk) and move.why == EXPLORE)
        if not exploring and not (isinstance(move, Ask) and move.aims and move.aims[0].purpose == besides):
            return number
    return len(evidence.exchanges)


def uncovering_walk(evidence: Evidence) -> Walk | None:
    """A few steps on from where an effect is hidden, so that it may be seen after all."""
    walks = [(one.told, one.move) for one in evidence.exchanges if isinstance(one.move, Walk)]
    made = [(told, walk) for told, walk in walks if walk.why == UNCOVER]
    if len(made) >= UNCOVER_IN_VAIN and not any(told for told, _ in made[-UNCOVER_IN_VAIN:]):
        return None  # every walk ends where something else is hidden
    tried = Counter((walk.wanted or walk.start).number for _, walk in made)
    for node in evidence.hidden_effects():
        if tried[node.number] < UNCOVER_ATTEMPTS:
            return Walk(node, UNCOVER_STEPS, UNCOVER)
    return None


def uncovering_step(evidence: Evidence) -> Ask | None:
    """A step on from where an effect is hidden, if the agent did nothing there on its own.

    Of those that should succeed one that names most of the objects about which something is hidden.
    """
    for node in evidence.hidden_effects():
        made = [one for one in evidence.exchanges if one.move is not None and one.move.start is node]
        walks = [one.entry for one in made if isinstance(one.move, Walk) and one.move.why == UNCOVER]
        asked = sum(isinstance(one.move, Ask) and one.move.why == UNCOVER_BY_STEP for one in made)
        if asked >= UNCOVER_ATTEMPTS or not walks or any(entry.executed for entry in walks):
            continue
        hidden = {name for atom in node.state.unknown for name in atom.objects}
        options = [step for step in _likely_steps(evidence, node) if not evidence.was_seen(node, step)]
        if options:
            step = max(options, key=lambda step: len(hidden.intersection(step.objects)))
            return Ask(node, (step,), UNCOVER_BY_STEP)
    return None


def _likely_steps(evidence: Evidence, node: Node) -> Iterator[GroundAction]:
    """The steps that should succeed in a situation, by what was required in every success that was seen."""
    for name, action in evidence.hypotheses.actions.items():
        if action.successes:
            required = atoms(action, action.bold.positive)
            for objects in islice(bindings(node.index, action.index.header, required), SEARCH_LIMIT):
                if not action.violated(*action.index.values(node.state, objects), action.bold):
                    yield GroundAction(name, objects)


def following_walk(evidence: Evidence, rng: np.random.Generator) -> Walk | None:
    """A few steps on from where an action was first attempted, while there are actions that were never executed.

    A first success may be what others were waiting for: such walks start from there, and from the situations seen after it
    that are of a kind from which few of them have started. And where an action was refused, most of what it is likely to
    require holds: the agent may know the arguments with which it can be executed.
    """
    if all(action.successes for action in evidence.hypotheses.actions.values()):
        return None
    begun = [
        (walk.wanted or walk.start)
        for walk in (exchange.move for exchange in evidence.exchanges)
        if isinstance(walk, Walk) and walk.why == FOLLOW
    ]
    trials = list(first_trials(evidence))
    for trial in trials:
        node = evidence.situation(trial.final)
        if not trial.executed and sum(start is node for start in begun) < FOLLOW_REFUSAL:
            return Walk(node, FOLLOW_STEPS, FOLLOW)
    executed = [evidence.situation(trial.final) for trial in trials if trial.executed]
    if not executed:
        return None
    first = executed[-1]
    after = [start for start in begun if start.number >= first.number]
    if len(after) >= FOLLOW_SUCCESS:
        return None
    kinds: dict[Kind, list[Node]] = {}
    for node in evidence.visited if len(after) >= FOLLOW_AT_ONCE else [first]:
        if node.number >= first.number and node.state.objects == first.state.objects:
            kinds.setdefault(_kind(node.state), []).append(node)
    departures = Counter(_kind(start.state) for start in after)
    weights = np.array([1.0 / (1 + departures[kind]) ** 2 for kind in kinds])
    nodes = list(kinds.values())[int(rng.choice(len(kinds), p=weights / weights.sum()))]
    return Walk(nodes[int(rng.integers(len(nodes)))], FOLLOW_STEPS, FOLLOW)


def _kind(state: State) -> Kind:
    """Every predicate with true atoms, and how many there are."""
    true = Counter(map(itemgetter(0), state.true))
    return tuple(chain.from_iterable(sorted(true.items())))
