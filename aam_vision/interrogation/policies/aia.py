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
from aam_vision.interrogation.evidence.moves import Move, Stop
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.agenda import Question, Scene
from aam_vision.interrogation.policies.course import AIA, Course, course_of
from aam_vision.interrogation.policies.distinguishing import KnownSteps
from aam_vision.interrogation.policies.pal_ordering import ConstructedScene
from aam_vision.interrogation.policies.random_states import next_walk, random_states
from aam_vision.interrogation.policies.seen_scene import SeenScene
from aam_vision.interrogation.policies.walking import uncovering_walk
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.reachability import KnownReachability
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.ppo import DistinguishingProblem
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import PalTuple, State
from aam_vision.wording import counted

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

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next walk, question or Stop."""
        self._pals = self._pals or tuple(evidence.hypotheses.pal_tuples())
        course = course_of(evidence, self._pals)
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
        return replace(question.ask, note=course.note(first=first), searches=self._searches.made)

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
        paths = partial(self._steps.paths, evidence, states, course.exchanges)
        return ConstructedScene(evidence, states, rng, self._searches, paths)

    def _stop(self, evidence: Evidence) -> Stop:
        hypotheses = evidence.hypotheses
        left = hypotheses.size - hypotheses.decided()
        if not left:
            return Stop(True, "every pal tuple is resolved")
        if self.constructed:
            share = resolved_share(hypotheses)
            return Stop(False, f"{share:.1%} resolved; {counted(left, 'pal tuple')} withstood AIA")
        return sound_stop(indistinguishability_of(evidence))


PATIENCE = 50
"""Searches for plans that may end at their limits; after them nothing is searched any more."""
CONSTRUCTED_LIMITS = Limits(seconds=5.0, states=300)
"""Of a search for a plan where states can be made, and plans of several steps are hardly ever needed."""
SEEN_LIMITS = Limits()
"""Of a search for a plan to a situation that nobody has seen yet."""


def resolved_share(hypotheses: Hypotheses) -> float:
    """The paper's running estimate of accuracy: the share of palm tuples that are resolved."""
    return hypotheses.decided() / hypotheses.size if hypotheses.size else 1.0
