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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from aam_vision.interrogation.completeness.stopping import indistinguishability_of, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.agenda import Item, Question, Scene
from aam_vision.interrogation.policies.distinguishing import KnownSteps, resolved
from aam_vision.interrogation.policies.pal_ordering import ConstructedScene
from aam_vision.interrogation.policies.random_states import next_walk, random_states, uncovering_walk
from aam_vision.interrogation.policies.seen_scene import KnownReachability, SeenScene
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.moves import Move, Stop
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.ppo import DistinguishingProblem
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import PalTuple, State

Ordering = Callable[[Sequence[PalTuple], np.random.Generator], Sequence[PalTuple]]


def shuffled(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
    """The default Gamma: a random order, fixed by the seed."""
    return [pals[int(number)] for number in rng.permutation(len(pals))]


@dataclass(frozen=True)
class Course:
    """How far the algorithm has come: all that it remembers from one move to the next."""

    walks: int = 0
    """Those made so far."""
    walked: int = 0
    """Their steps, once S is complete."""
    states: tuple[int, ...] | None = None
    """S, as the numbers of its situations; None while it is collected."""
    gamma: tuple[PalTuple, ...] = ()
    """The pal tuples that are left, in their order, without the current one."""
    pal: PalTuple | None = None
    """The current one."""
    items: tuple[Item, ...] = ()
    """What is still to be tried about it."""
    version: int = 0
    """Of the hypotheses, when it came up."""
    idle: int = 0
    """Pal tuples in a row that nothing was learned about."""
    uncovered: tuple[int, ...] = ()
    """Situations that were left again to see an effect that is hidden there, once for every walk."""

    def following(self, hypotheses: Hypotheses) -> Course:
        """The next pal tuple that is not resolved; none after a round in which nothing was learned.

        A pal tuple that stays open goes to the end.
        """
        gamma, idle = self.gamma, self.idle if self.version == hypotheses.version else 0
        if self.pal is not None:
            gamma += () if resolved(hypotheses, self.pal) else (self.pal,)
            idle = idle + 1 if self.version == hypotheses.version else 0
        pal = None
        while pal is None and gamma and idle < len(gamma):
            pal, gamma = gamma[0], gamma[1:]
            pal = None if resolved(hypotheses, pal) else pal
        return replace(self, gamma=gamma, pal=pal, items=(), version=hypotheses.version, idle=idle)


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
    _course: Course = field(default_factory=Course, init=False)
    _searches: BoundedSearch | None = field(default=None, init=False)
    _steps: KnownSteps = field(default_factory=KnownSteps, init=False)
    _known: KnownReachability = field(default_factory=KnownReachability, init=False)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next walk, question or Stop."""
        move, self._course = self.advance(self._course, evidence, rng)
        return move

    def advance(self, course: Course, evidence: Evidence, rng: np.random.Generator) -> tuple[Move, Course]:
        """The next move, and how far the algorithm has come with it."""
        if course.states is None:
            walk = next_walk(evidence, course.walks, self.walk_steps)
            if walk is not None:
                return walk, replace(course, walks=course.walks + 1)
            states = random_states(evidence, rng, self.states)
            gamma = self.ordering([*evidence.hypotheses.pal_tuples()], rng)
            numbers = tuple(node.number for node in states)
            course = replace(course, walked=len(evidence.edges), states=numbers, gamma=tuple(gamma))
        scene = self._scene(course, evidence, rng)
        while True:
            question, course = _next_question(course, scene)
            if question is not None:
                if question.query is not None and self.show is not None:
                    self.show(question.query.problem(evidence.hypotheses), question.ask.start.state)
                return question.ask, course
            course = course.following(evidence.hypotheses)
            if course.pal is None:
                uncover = None if self.constructed else uncovering_walk(evidence, course.uncovered)
                if uncover is None:
                    return self._stop(evidence), course
                return uncover, replace(course, uncovered=(*course.uncovered, uncover.start.number))
            course = replace(course, items=scene.visit(course.pal))

    def _scene(self, course: Course, evidence: Evidence, rng: np.random.Generator) -> Scene:
        assert course.states is not None, "S is collected first"
        states = [evidence.nodes[number] for number in course.states]
        if self._searches is None:
            limits = self.limits or (CONSTRUCTED_LIMITS if self.constructed else SEEN_LIMITS)
            self._searches = BoundedSearch(self.planner, limits, PATIENCE)
        if not self.constructed:
            return SeenScene(evidence, rng, self._searches, self._known)
        paths = partial(self._steps.paths, evidence, states, course.walked)
        return ConstructedScene(evidence, states, rng, self._searches, paths)

    def _stop(self, evidence: Evidence) -> Stop:
        hypotheses = evidence.hypotheses
        left = hypotheses.size - hypotheses.decided()
        if not left:
            return Stop(True, "every pal tuple is resolved")
        if self.constructed:
            share = resolved_share(hypotheses)
            return Stop(False, f"{share:.1%} resolved; {left} pal tuples withstood AIA")
        return sound_stop(indistinguishability_of(evidence))


PATIENCE = 50
"""Searches for plans that may end at their limits; after them nothing is searched any more."""
CONSTRUCTED_LIMITS = Limits(seconds=5.0, states=300)
"""Of a search for a plan where states can be made, and plans of several steps are hardly ever needed."""
SEEN_LIMITS = Limits()
"""Of a search for a plan to a situation that nobody has seen yet."""


def _next_question(course: Course, scene: Scene) -> tuple[Question | None, Course]:
    """Attempt what is still to be tried about the current pal tuple, up to the first question."""
    while course.items and course.pal is not None:
        question, more = course.items[0].attempt(scene, course.pal)
        course = replace(course, items=(*more, *course.items[1:]))
        if question is not None:
            return question, course
    return None, course


def resolved_share(hypotheses: Hypotheses) -> float:
    """The paper's running estimate of accuracy: the share of palm tuples that are resolved."""
    return hypotheses.decided() / hypotheses.size if hypotheses.size else 1.0
