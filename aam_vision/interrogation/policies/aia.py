"""AIA: the paper's agent interrogation algorithm (Section "Solving the Interrogation Task", Algorithm 1).

For every pal tuple gamma of an ordering Gamma, and every pair of modes {i, j} that it may still have,
``generate_query`` looks for a plan outcome query on which M' + gamma^i and M' + gamma^j disagree, and
``filter_models`` discards what the agent's answer contradicts. Where that settles nothing,
``update_pal_ordering`` does: it takes a state in which the agent can execute the action and changes one
predicate at a time.

``poss_models`` stays factored (``Hypotheses``), and all that an answer says is used at once (``Evidence``):
pal tuples that an earlier answer has settled leave the ordering without a query of their own. Models that
no query tells apart stay possible together.

Where any state may be asked about (``constructed``), states are made for the questions. Elsewhere (``seen``) a
query begins in a situation that was seen. docs/concepts/aia.md says line by line what is as published.

How far the algorithm has come (``Course``) is written on its moves, as plain data: all that it remembers between two of
them. A move's note has the place in Gamma and what is still to be tried there; the note of the first question has S
and Gamma as well. Everything else follows from the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, get_type_hints

import numpy as np

from aam_vision.interrogation.completeness.indistinguishability import indistinguishability_of, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence, Exchange
from aam_vision.interrogation.evidence.moves import Ask, Move, Note, Stop
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.aia_items import (
    Change,
    ChangeOneByOne,
    ChangeSuspects,
    Compare,
    ConstructedScene,
    FirstSuccess,
    Guess,
    Item,
    Question,
    Scene,
    SeenScene,
    Update,
    next_walk,
    random_states,
)
from aam_vision.interrogation.policies.distinguishing import KnownSteps, resolved
from aam_vision.interrogation.policies.economical import uncovering_walk
from aam_vision.interrogation.queries.reachability import BoundedSearch, KnownReachability
from aam_vision.model.strips import Mode, PalTuple, State
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.ppo import DistinguishingProblem
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

AIA = "aia"
"""Begins the notes of this algorithm."""
PATIENCE = 50
"""Searches for plans that may end at their limits; after them nothing is searched any more."""
CONSTRUCTED_LIMITS = Limits(seconds=5.0, states=300)
"""Of a search for a plan where states can be made, and plans of several steps are hardly ever needed."""
SEEN_LIMITS = Limits()
"""Of a search for a plan to a situation that nobody has seen yet."""
KINDS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    kind.__name__: (kind, tuple(get_type_hints(kind).values()))
    for kind in (Compare, Guess, Update, FirstSuccess, ChangeOneByOne, ChangeSuspects, Change)
}
"""The items that a note may have, with the types of their fields."""
NOWHERE = -1

Ordering = Callable[[Sequence[PalTuple], np.random.Generator], Sequence[PalTuple]]


def shuffled(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
    """The default Gamma: a random order, fixed by the seed."""
    return [pals[int(number)] for number in rng.permutation(len(pals))]


@dataclass
class AiaPolicy:
    """Algorithm 1.

    ``ordering`` makes Gamma; ``states`` bounds S, ``walk_steps`` the walks that collect it; ``limits`` bound
    the search for one plan of several steps. ``constructed``: any state may be asked about. ``show`` is
    called with the P_PO of every distinguishing query that is asked, and its initial state.
    """

    planner: Planner = field(default_factory=PyperplanPlanner)
    ordering: Ordering = shuffled
    states: int = 60
    walk_steps: int = 500
    limits: Limits | None = None
    constructed: bool = True
    show: Callable[[DistinguishingProblem, State], None] | None = None
    _pals: tuple[PalTuple, ...] = field(default=(), init=False)
    _searches: BoundedSearch | None = field(default=None, init=False)
    _steps: KnownSteps = field(default_factory=KnownSteps, init=False)
    _known: KnownReachability = field(default_factory=KnownReachability, init=False)
    _noted: tuple[Note | None, Course | None] = field(default=(None, None), init=False)
    """The latest note, and the course that it tells."""

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next walk, question or Stop."""
        self._pals = self._pals or tuple(evidence.hypotheses.pal_tuples())
        # The course, read from the moves unless this object wrote the latest note itself.
        latest = next(filter(None, map(_note, reversed(evidence.exchanges))), None)
        course = self._noted[1] if latest is self._noted[0] else course_of(evidence, self._pals)
        first = course is None
        if course is None:
            walk = next_walk(evidence, self.walk_steps)
            if walk is not None:
                return walk
            course = self._begin(evidence, rng)
        scene = self._scene(course, evidence, rng)
        question, course = self._question(course, scene)
        if question is None:
            return (None if self.constructed else uncovering_walk(evidence)) or self._stop(evidence)
        if question.query is not None and self.show is not None:
            self.show(question.query.problem(evidence.hypotheses), question.ask.start.state)
        assert self._searches is not None, "the scene needs them"
        note = course.note(first=first)
        self._noted = note, course
        return replace(question.ask, note=note, searches=self._searches.made)

    def _begin(self, evidence: Evidence, rng: np.random.Generator) -> Course:
        """Algorithm 1, lines 1 to 3: S is complete, and Gamma is chosen."""
        states = random_states(evidence, rng, self.states)
        number = {pal: place for place, pal in enumerate(self._pals)}
        order = tuple(number[pal] for pal in self.ordering(self._pals, rng))
        return Course(tuple(node.number for node in states), order, len(evidence.exchanges))

    def _question(self, course: Course, scene: Scene) -> tuple[Question | None, Course]:
        """The main loop (line 4) up to the next question."""
        while True:
            while course.items:
                pal = self._pals[course.order[course.place]]
                question, more = course.items[0].attempt(scene, pal)
                course = replace(course, items=(*more, *course.items[1:]))
                if question is not None:
                    return question, course
            following = course.following(scene.evidence, self._pals)
            if following is None:
                return None, course
            course = replace(following, items=scene.visit(self._pals[following.order[following.place]]))

    def _scene(self, course: Course, evidence: Evidence, rng: np.random.Generator) -> Scene:
        if self._searches is None:
            limits = self.limits or (CONSTRUCTED_LIMITS if self.constructed else SEEN_LIMITS)
            self._searches = BoundedSearch(AIA, self.planner, limits, PATIENCE)
        self._searches.begin(evidence)
        if not self.constructed:
            return SeenScene(evidence, rng, self._searches, self._known)
        states = [evidence.nodes[number] for number in course.states]
        paths = self._steps.paths(evidence, states, course.exchanges)
        return ConstructedScene(evidence, states, rng, self._searches, paths)

    def _stop(self, evidence: Evidence) -> Stop:
        hypotheses = evidence.hypotheses
        left = hypotheses.undecided()
        if not left:
            return Stop(True, "every line of the model is resolved")
        if self.constructed:
            share = resolved_share(hypotheses)
            return Stop(False, f"{share:.1%} resolved; {counted(left, 'line')} of the model withstood AIA")
        return sound_stop(indistinguishability_of(evidence))


def resolved_share(hypotheses: Hypotheses) -> float:
    """The paper's running estimate of accuracy: the share of palm tuples that are resolved."""
    return hypotheses.decided() / hypotheses.size if hypotheses.size else 1.0


# --- the course ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """How far the algorithm has come."""

    states: tuple[int, ...]
    """S, as the numbers of its situations."""
    order: tuple[int, ...]
    """Gamma, as the numbers of its pal tuples."""
    exchanges: int
    """How many there had been when S was complete."""
    place: int = NOWHERE
    """Of the current pal tuple in Gamma."""
    items: tuple[Item, ...] = ()
    """What is still to be tried about it."""
    version: int = 0
    """Of the hypotheses, when it came up."""
    idle_since: int = NOWHERE
    """The place since which nothing was learned."""

    def following(self, evidence: Evidence, pals: Sequence[PalTuple]) -> Course | None:
        """The course at the next pal tuple that is not resolved; None after a round in which nothing was learned."""
        hypotheses, size = evidence.hypotheses, len(self.order)
        since = self.idle_since if self.version == hypotheses.version else NOWHERE
        if since == NOWHERE and self.place != NOWHERE and self.version == hypotheses.version:
            since = self.place
        for number in range(1, size + 1):
            place = (self.place + number) % size
            if place == since:
                return None
            if not resolved(hypotheses, pals[self.order[place]]):
                version = hypotheses.version
                return replace(self, place=place, items=(), version=version, idle_since=since)
        return None

    def note(self, *, first: bool) -> Note:
        """The course as it is written on a move; S and Gamma on the ``first`` one only."""
        fixed: Note = (self.states, self.order) if first else ()
        items = tuple((type(item).__name__, *map(_plain, item)) for item in self.items)  # type: ignore[call-overload]
        return AIA, self.place, self.version, self.idle_since, items, fixed


def course_of(evidence: Evidence, pals: Sequence[PalTuple]) -> Course | None:
    """The course as the moves in the evidence tell it; None if no question was asked yet.

    Raises:
        UnusableInput: the moves were recorded, and the record is damaged.
    """
    noted = [
        (number, note) for number, exchange in enumerate(evidence.exchanges) if (note := _note(exchange))
    ]
    if not noted:
        return None
    try:
        course = _read(noted[0][1], noted[-1][1], noted[0][0])
        _check(course, evidence, pals)
    except (ValueError, TypeError, LookupError):
        raise UnusableInput(
            "a recorded move is not one of the paper's algorithm: start a new run, without --resume"
        ) from None
    return course


def _note(exchange: Exchange) -> Note:
    """What this algorithm noted on the move; nothing if it did not make it."""
    note = exchange.move.note if isinstance(exchange.move, Ask) else ()
    return note if note[:1] == (AIA,) else ()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.value if isinstance(value, Enum) else value


def _read(first: Any, last: Any, exchanges: int) -> Course:
    _, place, version, idle_since, items, _ = last
    states, order = first[5]
    return Course(
        tuple(map(int, states)),
        tuple(map(int, order)),
        exchanges,
        int(place),
        tuple(_item(*told) for told in items),
        int(version),
        int(idle_since),
    )


def _item(name: str, *told: Any) -> Item:
    kind, fields = KINDS[name]
    item: Item = kind(*[_value(one, value) for one, value in zip(fields, told, strict=True)])
    return item


def _value(kind: Any, told: Any) -> Any:
    """A field of an item: a number from 0, a mode or a location, or several modes."""
    if kind in (int, bool):
        if told < 0:
            raise ValueError(told)
        return kind(told)
    known: Callable[[Any], Any] = kind
    return tuple(Mode(one) for one in told) if kind == tuple[Mode, ...] else known(told)


def _check(course: Course, evidence: Evidence, pals: Sequence[PalTuple]) -> None:
    """Raise ValueError or LookupError for what the evidence does not have."""
    for number in course.states:
        if number < 0 or evidence.nodes[number].situation is None:
            raise ValueError(number)
    if any(not 0 <= number < len(pals) for number in course.order) or course.place < 0:
        raise ValueError(course.order)
    pal = pals[course.order[course.place]]
    everything = evidence.hypotheses[pal.action].index.everything
    for item in course.items:
        if isinstance(item, Change | ChangeSuspects) and evidence.edges[item.edge].action.name != pal.action:
            raise ValueError(item)
        mask = item.bit if isinstance(item, Change) else item.singles if isinstance(item, FirstSuccess) else 0
        if mask & ~everything or (isinstance(item, Change) and mask.bit_count() != 1):
            raise ValueError(item)
