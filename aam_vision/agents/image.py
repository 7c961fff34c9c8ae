"""An agent that acts in simulators and shows itself only in images.

Its situations are snapshots, each with what was perceived there; the vocabulary and the perception are
the user's, not the agent's. Every image between a query's first and last is perceived too, so that the
identity of look-alike objects is followed and never guessed; only the last becomes the answer. Where
perception refuses to say what an image could have shown, the same situation is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from aam_vision.perception import Frame, Percept, Perception, Scene, Simulator
from aam_vision.query import Access, Query, Response, Situation, WalkStep
from aam_vision.strips import ActionHeader, GroundAction, Vocabulary

LOOKS = 8
"""Images of one situation at most, as long as perception refuses them."""


@dataclass(frozen=True)
class _Seen:
    """What a handle stands for: which simulator, in which state, and how it was perceived.

    ``snapshot`` is None where the access does not allow one to be taken.
    """

    problem: int
    snapshot: object | None
    percept: Percept


class ImageAgent:
    """Simulators (one per problem) behind a perception.

    Only under snapshot access are snapshots taken and restored; under reset access a simulator is started anew,
    under trajectory access never.
    """

    def __init__(
        self,
        simulators: Sequence[Simulator],
        perception: Perception,
        vocabulary: Vocabulary,
        headers: Sequence[ActionHeader],
        access: Access = Access.SNAPSHOT,
    ) -> None:
        self.vocabulary = vocabulary
        self.headers = tuple(headers)
        self.access = access
        self.perception_s = 0.0
        """CPU seconds spent on reading images."""
        self._simulators = tuple(simulators)
        self._perception = perception
        self._seen: list[_Seen] = []
        self._standing: dict[int, int] = {}

    def initial(self) -> Sequence[Situation]:
        """The initial situation of every problem, as seen in its first image."""
        situations = []
        for problem, simulator in enumerate(self._simulators):
            simulator.start()
            situations.append(self._remember(problem, self._see(simulator, self._perception.look)))
        return situations

    def ask(self, query: Query) -> Response:
        """Execute the plan from the situation's snapshot as far as it goes."""
        at = self._return_to(query.initial)
        executed = 0
        situation = query.initial
        for action in query.plan:
            if not self._simulators[at.problem].instruct(action.name, action.objects):
                break
            executed += 1
            situation = self._look(situation)
        return Response(executed, situation)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Let the agent choose its own steps; every image on the way is seen."""
        simulator = self._simulators[self._return_to(start).problem]
        walked: list[WalkStep] = []
        situation = start
        for _ in range(steps):
            chosen = simulator.choose(rng)
            if chosen is None or not simulator.instruct(*chosen):
                break
            after = self._look(situation)
            walked.append(WalkStep(situation, GroundAction(*chosen), after))
            situation = after
        return walked

    def _return_to(self, situation: Situation) -> _Seen:
        assert isinstance(situation.handle, int)
        seen = self._seen[situation.handle]
        simulator = self._simulators[seen.problem]
        if self.access is Access.SNAPSHOT:
            simulator.restore(seen.snapshot)
        elif self._standing[seen.problem] != situation.handle:
            simulator.start()
        self._standing[seen.problem] = situation.handle
        return seen

    def _look(self, before: Situation) -> Situation:
        seen = self._seen[before.handle]  # type: ignore[call-overload]
        percept = self._see(
            self._simulators[seen.problem],
            lambda frame, scene: self._perception.follow(seen.percept, frame, scene),
        )
        return self._remember(seen.problem, percept)

    def _see(self, simulator: Simulator, read: Callable[[Frame, Scene], Percept]) -> Percept:
        """What the present situation looks like, from as many images as it takes, up to ``LOOKS``.

        A camera that shows the same pixels again has no more to tell.
        """
        frame: Frame | None = None
        for _ in range(LOOKS):
            last, frame = frame, simulator.frame()
            if last is not None and np.array_equal(last, frame):
                break
            begun = process_time()
            percept = read(frame, simulator.scene)
            self.perception_s += process_time() - begun
            if not percept.refused:
                break
        return percept

    def _remember(self, problem: int, percept: Percept) -> Situation:
        snapshot = self._simulators[problem].snapshot() if self.access is Access.SNAPSHOT else None
        self._seen.append(_Seen(problem, snapshot, percept))
        self._standing[problem] = len(self._seen) - 1
        return Situation(len(self._seen) - 1, percept.state)
