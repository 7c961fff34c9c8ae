"""An agent that acts in simulators and shows itself only in images.

Its situations are snapshots, each with what was perceived there; the vocabulary and the perception are
the user's, not the agent's. Every image between a query's first and last is perceived too, so that the
identity of look-alike objects is followed and never guessed; only the last becomes the answer. Where perception cannot
read an image, the same situation is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.returning import Passage, Ways, led_back
from aam_vision.agents.seen import Seen, digest, digests, memo_of, remembered
from aam_vision.errors import AgentFailed
from aam_vision.perception import Frame, ImageTest, Percept, Perception, Scene
from aam_vision.query import Access, Agent, Course, Expected, Query, Response, Situation, WalkStep
from aam_vision.simulator import Foreseeing, Simulator
from aam_vision.strips import ActionHeader, GroundAction, Vocabulary

__all__ = ["LOOKS", "ChanceImageAgent", "ImageAgent", "digests"]

LOOKS = 8
"""Images of one situation that are tried, at most, when perception cannot read them."""


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
        *,
        refuses_surely: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.refuses_surely = refuses_surely
        self.untested = False
        """Whether the classifiers behind the perception have not passed their test."""
        self.headers = tuple(headers)
        self.access = access
        self.image_test: ImageTest | None = getattr(perception, "image_test", None)
        """How the classifiers of its perception did in their test; None if none read its images."""
        self.perception_s = 0.0
        """CPU seconds spent on reading images."""
        self._simulators = tuple(simulators)
        self._perception = perception
        self._seen: dict[int, Seen] = {}
        self._next = 0
        self._standing: dict[int, int] = {}
        self._ways = Ways()
        self._elsewhere: set[int] = set()
        self._keep: Callable[[Frame], str] | None = None

    def keep_images(self, keep: Callable[[Frame], str]) -> None:
        """Have all images kept from now on; ``keep`` returns the name under which one is found again."""
        self._keep = keep

    def initial(self) -> Sequence[Situation]:
        """The initial situation of every problem, as seen in its first image."""
        situations = []
        for problem, simulator in enumerate(self._simulators):
            simulator.start()
            situations.append(self._remember(problem, *self._see(simulator, self._perception.look)))
        return situations

    def ask(self, query: Query) -> Response:
        """Execute the plan from the situation's snapshot as far as it goes; if it is empty, look again."""
        at = self._return_to(query.initial)
        if not query.plan:
            percept, frame = self._see(
                self._simulators[at.problem],
                lambda frame, scene: self._perception.follow(at.percept, frame, scene),
            )
            number = _number(query.initial)
            seen = self._seen[number]
            self._seen[number] = replace(seen, pixels=seen.pixels | {digest(frame)})
            return Response(0, Situation(number, percept.state))
        executed = 0
        situation = query.initial
        for action in query.plan:
            if not self._simulators[at.problem].instruct(action.name, action.objects):
                break
            executed += 1
            passed = self._passed(situation) if executed > 1 else ()
            situation = self._look(situation)
            self._seen[_number(situation)] = replace(self._seen[_number(situation)], passed=passed)
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

    def expect(self, questions: Sequence[Expected]) -> None:
        """Tell the simulators what they will be asked next, if they can make use of that (``copied_simulator``)."""
        for question in questions:
            start = question.initial if isinstance(question, Query) else question.start
            seen = self._seen[_number(start)]
            simulator = self._simulators[seen.problem]
            if seen.snapshot is None or not isinstance(simulator, Foreseeing):
                continue
            if isinstance(question, Query):
                simulator.expect(seen.snapshot, question.plan)
            elif isinstance(question, Course):
                simulator.expect(seen.snapshot, *question.plans)
            else:
                simulator.expect_walk(seen.snapshot, question.steps, np.random.default_rng(question.seed))

    def memo(self, situation: Situation) -> dict[str, Any]:
        """The problem, where things were seen, in which image, and after which other images."""
        return memo_of(self._seen[_number(situation)])

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of the images of a situation: more than one where the same situation was seen in several ways."""
        return self._seen[_number(situation)].pixels or None

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history. The simulators are led back only when that is needed.

        Raises:
            UnusableInput: a memo is not as ``memo`` writes it.
        """
        for passage in history:
            number = _number(passage.after)
            if passage.before is not None:
                self._ways.came(number, _number(passage.before), passage.steps)
            if number not in self._seen:
                problem, percept = remembered(passage, self._simulators)
                image = passage.memo.get("image")  # a name for others, never a path for us
                self._seen[number] = Seen(
                    problem,
                    None,
                    percept,
                    image if isinstance(image, str) else None,
                    pixels=digests(passage.memo),
                )
            self._standing[self._seen[number].problem] = number
        self._next = max(self._seen, default=-1) + 1
        self._elsewhere = set(self._standing)

    def _return_to(self, situation: Situation) -> Seen:
        number = _number(situation)
        seen = self._seen[number]
        simulator = self._simulators[seen.problem]
        if self.access is Access.SNAPSHOT and seen.snapshot is not None:
            simulator.restore(seen.snapshot)
        elif self._standing[seen.problem] != number or seen.problem in self._elsewhere:
            self._lead_back(number)  # under reset access, elsewhere: only to the beginning
        self._elsewhere.discard(seen.problem)
        self._standing[seen.problem] = number
        return seen

    def _lead_back(self, number: int) -> None:
        """Go to where the same steps led before, from the nearest snapshot or the beginning.

        Raises:
            AgentFailed: the agent does not do again what it did before.
        """
        problem = self._seen[number].problem
        simulator = self._simulators[problem]
        nearest, steps = self._ways.back(number, lambda other: self._seen[other].snapshot is not None)
        if (snapshot := self._seen[nearest].snapshot) is not None:
            simulator.restore(snapshot)
        else:
            simulator.start()
        for step in steps:
            if not simulator.instruct(step.name, step.objects):
                raise AgentFailed(f"the agent did {step} in an earlier process, and cannot do it again now")
        if self.access is Access.SNAPSHOT:
            self._seen[number] = replace(self._seen[number], snapshot=simulator.snapshot())

    def _passed(self, situation: Situation) -> tuple[str, ...]:
        """The names of the images up to a situation within a plan."""
        seen = self._seen[_number(situation)]
        return seen.passed if seen.image is None else (*seen.passed, seen.image)

    def _look(self, before: Situation) -> Situation:
        seen = self._seen[_number(before)]
        seeing = self._see(
            self._simulators[seen.problem],
            lambda frame, scene: self._perception.follow(seen.percept, frame, scene),
        )
        return self._remember(seen.problem, *seeing)

    def _see(self, simulator: Simulator, read: Callable[[Frame, Scene], Percept]) -> tuple[Percept, Frame]:
        """Perceive the present situation, from as many images as it takes, up to ``LOOKS``.

        The same pixels again tell nothing new.

        Returns:
            The percept, and the last image.
        """
        last: Frame | None = None
        for _ in range(LOOKS):
            frame = simulator.frame()
            if last is not None and np.array_equal(last, frame):
                break
            begun = process_time()
            percept = read(frame, simulator.scene)
            self.perception_s += process_time() - begun
            if not percept.refused:
                break
            last = frame
        return percept, frame

    def _remember(self, problem: int, percept: Percept, frame: Frame) -> Situation:
        snapshot = self._simulators[problem].snapshot() if self.access is Access.SNAPSHOT else None
        number = self._next
        self._next += 1
        image = None if self._keep is None else self._keep(frame)
        self._seen[number] = Seen(problem, snapshot, percept, image, pixels=frozenset({digest(frame)}))
        self._standing[problem] = number
        return Situation(number, percept.state)


class ChanceImageAgent(ImageAgent):
    """The same, of simulators in which chance is at work: steps are tried until they lead where they led before."""

    def _lead_back(self, number: int) -> None:
        passages = self._ways.passages(number, lambda other: self._seen[other].snapshot is not None)
        if not passages:
            super()._lead_back(number)
            return
        simulator, kept = self._simulators[self._seen[number].problem], self.access is Access.SNAPSHOT
        standing = passages[0][0]

        def begin(at: int) -> None:
            nonlocal standing
            standing = at
            if (snapshot := self._seen[at].snapshot) is not None:
                simulator.restore(snapshot)
            else:
                simulator.start()

        def take(steps: tuple[GroundAction, ...], to: int) -> bool:
            nonlocal standing
            if not all(simulator.instruct(step.name, step.objects) for step in steps):
                return False
            before, wanted = self._seen[standing].percept, self._seen[to]
            percept, _ = self._see(
                simulator, lambda frame, scene: self._perception.follow(before, frame, scene)
            )
            if percept.state != wanted.percept.state:
                return False
            standing = to
            if kept:
                self._seen[to] = replace(wanted, snapshot=simulator.snapshot())
            return True

        if not led_back(passages, begin, take, kept=kept):
            raise AgentFailed(
                f"chance did not lead again where {', '.join(map(str, passages[-1][1]))} led in an earlier process; start a new run"
            )


def image_test(agent: Agent) -> ImageTest | None:
    """How the classifiers that read the images of an agent did in their test; None if none do."""
    while not hasattr(agent, "image_test") and isinstance(agent, AgentDecorator):
        agent = agent.agent
    return getattr(agent, "image_test", None)


def _number(situation: Situation) -> int:
    assert isinstance(situation.handle, int), "a situation of this agent"
    return situation.handle
