"""An agent that acts in simulators and shows itself only in images.

Its situations are snapshots, each with what was perceived there; the vocabulary and the perception are
the user's, not the agent's. Every image between a query's first and last is perceived too, so that the
identity of look-alike objects is followed and never guessed; only the last becomes the answer. Where perception cannot
read an image, the same situation is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import process_time
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed, field, optional, show
from aam_vision.agents.perception import (
    Foreseeing,
    Frame,
    ImageTest,
    Percept,
    Perception,
    Point,
    Recalling,
    Scene,
    Simulator,
)
from aam_vision.model.query import Access, Agent, Course, Expected, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, GroundAction, Vocabulary
from aam_vision.support.errors import AgentFailed, UnusableInput
from aam_vision.support.wording import counted, some

__all__ = ["LOOKS", "ChanceImageAgent", "ImageAgent", "digests"]

LOOKS = 8
"""Images of one situation that are tried, at most, when perception cannot read them."""
_AGAIN = 100
"""Times that each passage of a way back is tried, on average, where chance may lead elsewhere."""


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
        self.untested = ""
        """That the classifiers behind the perception have not passed their test, in a line; empty if they have."""
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

    @property
    def unlike(self) -> list[Unlike]:
        """The images that look unlike everything learned from in some places, each once, in the order in which they were seen."""
        found = [Unlike(one.problem, one.image, one.percept.unlike) for one in self._seen.values()]
        return [*dict.fromkeys(one for one in found if one.places)]

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
            percept, frame = self._follow(at)
            number = number_of(query.initial)
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
            self._seen[number_of(situation)] = replace(self._seen[number_of(situation)], passed=passed)
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
        """Tell the simulators what they will be asked next, if they can make use of that (``copies.CopiedSimulator``)."""
        for question in questions:
            start = question.initial if isinstance(question, Query) else question.start
            seen = self._seen[number_of(start)]
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
        return memo_of(self._seen[number_of(situation)])

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of the images of a situation: more than one where the same situation was seen in several ways."""
        return self._seen[number_of(situation)].pixels or None

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history. The simulators are led back only when that is needed.

        Raises:
            UnusableInput: a memo is not as ``memo`` writes it.
        """
        for passage in history:
            number = number_of(passage.after)
            if passage.before is not None:
                self._ways.came(number, number_of(passage.before), passage.steps)
            if number not in self._seen:
                problem, percept = remembered(passage, self._simulators)
                if passage.before is None and isinstance(simulator := self._simulators[problem], Recalling):
                    simulator.recall(percept.state)
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
        number = number_of(situation)
        seen = self._seen[number]
        simulator = self._simulators[seen.problem]
        if self.access.snapshots and seen.snapshot is not None:
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
        self._begin(nearest)
        for step in steps:
            if not simulator.instruct(step.name, step.objects):
                raise AgentFailed(f"the agent did {step} in an earlier process, and cannot do it again now")
        if self.access.snapshots:
            self._seen[number] = replace(self._seen[number], snapshot=simulator.snapshot())

    def _begin(self, number: int) -> None:
        """Go to a situation of which there is a snapshot, or to the beginning of its problem."""
        seen = self._seen[number]
        if seen.snapshot is not None:
            self._simulators[seen.problem].restore(seen.snapshot)
        else:
            self._simulators[seen.problem].start()

    def _passed(self, situation: Situation) -> tuple[str, ...]:
        """The names of the images up to a situation within a plan."""
        seen = self._seen[number_of(situation)]
        return seen.passed if seen.image is None else (*seen.passed, seen.image)

    def _look(self, before: Situation) -> Situation:
        seen = self._seen[number_of(before)]
        return self._remember(seen.problem, *self._follow(seen))

    def _follow(self, before: Seen) -> tuple[Percept, Frame]:
        """Perceive the present situation, which came after another one."""
        return self._see(
            self._simulators[before.problem],
            lambda frame, scene: self._perception.follow(before.percept, frame, scene),
        )

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
        snapshot = self._simulators[problem].snapshot() if self.access.snapshots else None
        number = self._next
        self._next += 1
        image = None if self._keep is None else self._keep(frame)
        self._seen[number] = Seen(problem, snapshot, percept, image, pixels=frozenset({digest(frame)}))
        self._standing[problem] = number
        return Situation(number, percept.state)


class ChanceImageAgent(ImageAgent):
    """The same, of simulators in which chance is at work: steps are tried until they lead where they led before."""

    generators: tuple[np.random.Generator, ...] = ()
    """What its simulators draw from. What is drawn on a way back is drawn again afterwards, as if nobody had been elsewhere."""

    def _lead_back(self, number: int) -> None:
        passages = self._ways.passages(number, lambda other: self._seen[other].snapshot is not None)
        if not passages:
            super()._lead_back(number)
            return
        simulator, kept = self._simulators[self._seen[number].problem], self.access.snapshots
        standing, drawn = passages[0][0], [one.bit_generator.state for one in self.generators]

        def begin(at: int) -> None:
            nonlocal standing
            standing = at
            self._begin(at)

        def take(steps: tuple[GroundAction, ...], to: int) -> bool:
            nonlocal standing
            if not all(simulator.instruct(step.name, step.objects) for step in steps):
                return False
            wanted, (percept, _) = self._seen[to], self._follow(self._seen[standing])
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
        for one, state in zip(self.generators, drawn, strict=True):
            one.bit_generator.state = state
        if (snapshot := self._seen[number].snapshot) is not None:
            simulator.restore(snapshot)


def image_test(agent: Agent) -> ImageTest | None:
    """How the classifiers that read the images of an agent did in their test; None if none do."""
    return getattr(_behind(agent, "image_test"), "image_test", None)


def unlike(agent: Agent) -> list[Unlike]:
    """The images of an agent that look unlike everything learned from in some places; see ``ImageAgent.unlike``."""
    return getattr(_behind(agent, "unlike"), "unlike", [])


def strange(agent: Agent) -> str:
    """How many images of an agent look unlike everything learned from, and where the first one does, in a line; empty if none do."""
    if not (found := unlike(agent)):
        return ""
    look = "looks" if len(found) == 1 else "look"
    return (
        f"{counted(len(found), 'image')} {look} unlike everything learned from ({some(found[0].places, 2)})"
    )


def known_of(agent: Agent) -> dict[str, Any]:
    """What a result says of its agent: that its classifiers are ``untested``, which images are ``strange``, its ``checkpoint``."""
    version: Mapping[str, str] = getattr(_behind(agent, "checkpoint"), "checkpoint", {})
    tested: str = getattr(_behind(agent, "untested"), "untested", "")
    return {"untested": tested, "strange": strange(agent), "checkpoint": version}


def _behind(agent: Agent, name: str) -> Agent:
    """The first agent behind decorators that has this attribute, or the last."""
    while not hasattr(agent, name) and isinstance(agent, AgentDecorator):
        agent = agent.agent
    return agent


def number_of(situation: Situation) -> int:
    """The number of a situation, of an agent whose handles are numbers."""
    assert isinstance(situation.handle, int), "the handles here are numbers"
    return situation.handle


# What an agent that shows itself in images has seen of a situation, and the memo of it for a later process.


class Unlike(NamedTuple):
    """An image that looks unlike everything learned from: the number of its problem, its name if it was kept, and where."""

    problem: int
    image: str | None
    places: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """A situation: which simulator, in which state, and how it was perceived.

    ``snapshot`` is None where the access does not allow one to be taken, or an earlier process has taken it.
    """

    problem: int
    snapshot: object | None
    percept: Percept
    image: str | None
    """The name under which ``keep_images`` has kept the image."""
    passed: tuple[str, ...] = ()
    """The names of the images since the query's first, in order."""
    pixels: frozenset[str] = frozenset()
    """Digests of the images that were seen of it."""


def memo_of(seen: Seen) -> dict[str, Any]:
    """The problem, where things were seen, in which image, and after which other images."""
    percept = seen.percept
    memo = {
        "problem": seen.problem,
        "places": dict(percept.places),
        "refused": percept.refused,
        "pixels": sorted(seen.pixels),
    }
    positions = {thing: list(position) for thing, position in percept.positions.items()}
    more = {"image": seen.image, "passed": list(seen.passed), "positions": positions}
    more["unlike"] = list(percept.unlike)
    return {**memo, **{name: kept for name, kept in more.items() if kept}}


def remembered(passage: Passage, simulators: Sequence[Simulator]) -> tuple[int, Percept]:
    """The problem and percept of a situation that was seen in an earlier process.

    Raises:
        UnusableInput: the memo is not as ``memo_of`` writes it.
    """
    try:
        problem = field(passage.memo, "problem", int)
        places = field(passage.memo, "places", dict)
        refused = field(passage.memo, "refused", bool)
        if not 0 <= problem < len(simulators):
            raise Malformed(f"there is no problem {problem}")
        scene = simulators[problem].scene
        if passage.after.state.objects != scene.objects or not places.keys() <= scene.looks.keys():
            raise Malformed(f"other things than those of problem {problem}")
        if not all(
            place is None or (isinstance(place, str) and place in scene.cells) for place in places.values()
        ):
            raise Malformed(f"other places than those of problem {problem}")
        positions = points(passage.memo, "positions")
        unlike = tuple(field(passage.memo, "unlike", list)) if "unlike" in passage.memo else ()
        if not all(isinstance(place, str) and (place in scene.cells or not scene.cells) for place in unlike):
            raise Malformed(f"other places than those of problem {problem}")
    except Malformed as error:
        raise UnusableInput(
            f"the transcript does not say what was seen ({error}); start a new run instead"
        ) from None
    return problem, Percept(passage.after.state, places, refused, positions, unlike)


def digests(memo: object) -> frozenset[str]:
    """The digests of images that a situation's memo has kept; none if it is of another kind."""
    found = memo.get("pixels") if isinstance(memo, Mapping) else None
    return frozenset(one for one in found if isinstance(one, str)) if isinstance(found, list) else frozenset()


def digest(frame: Frame) -> str:
    """A digest of an image's pixels."""
    return blake2b(np.ascontiguousarray(frame).data, digest_size=8).hexdigest()


# What an image agent's memo of a situation says about positions, read back.


def points(memo: Mapping[str, object], name: str) -> dict[str, Point]:
    """Things and where they were found; none if the memo has no such field.

    Raises:
        Malformed: it is something else.
    """
    read: dict[str, Point] = {}
    for thing, point in optional(memo, name, dict, {}).items():
        match point:
            case [int() | float() as across, int() | float() as down]:
                read[thing] = float(across), float(down)
            case _:
                raise Malformed(f"{thing!r} in {name!r} is {show(point)}, which is not two numbers")
    return read


# Ways back to situations whose snapshots are lost, because the process that held them has ended.
#
# The agent is deterministic: the executed steps that led to a situation lead there again. They do not
# count as questions, since their outcome is known.


@dataclass(frozen=True)
class Passage:
    """Executed steps and the situations around them; ``before`` is None for an initial situation.

    ``memo`` is the agent's note about ``after``.
    """

    before: Situation | None
    steps: tuple[GroundAction, ...]
    after: Situation
    memo: Any


@runtime_checkable
class Returning(Protocol):
    """An agent whose handles are numbers without a meaning in other processes.

    A stateless agent, whose handles are the states themselves, does not need this.
    """

    def memo(self, situation: Situation) -> Any:
        """A note, as JSON, that suffices to go on from a situation in another process; perceived things only."""

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history: go on as an agent that was asked all this, from where it ended."""


def returning(agent: Agent) -> Returning | None:
    """The agent inside all decorators, if it has to be brought back."""
    while isinstance(agent, AgentDecorator):
        agent = agent.agent
    return agent if isinstance(agent, Returning) else None


class Ways:
    """How every situation was reached first."""

    def __init__(self) -> None:
        self._came: dict[int, tuple[int, tuple[GroundAction, ...]]] = {}

    def came(self, after: int, before: int, steps: tuple[GroundAction, ...]) -> None:
        """Note that a situation was reached from another one."""
        if after != before:
            self._came.setdefault(after, (before, steps))

    def back(self, to: int, known: Callable[[int], bool]) -> tuple[int, tuple[GroundAction, ...]]:
        """The nearest situation on the way to one that is known, or initial; and the steps from it."""
        passages = self.passages(to, known)
        return passages[0][0] if passages else to, tuple(step for _, steps, _ in passages for step in steps)

    def passages(
        self, to: int, known: Callable[[int], bool]
    ) -> list[tuple[int, tuple[GroundAction, ...], int]]:
        """The same one by one: from which situation, by which steps, to which."""
        found: list[tuple[int, tuple[GroundAction, ...], int]] = []
        while not known(to) and to in self._came:
            before, steps = self._came[to]
            found.append((before, steps, to))
            to = before
        return found[::-1]


def led_back(
    passages: Sequence[tuple[int, tuple[GroundAction, ...], int]],
    begin: Callable[[int], object],
    take: Callable[[tuple[GroundAction, ...], int], bool],
    *,
    kept: bool,
) -> bool:
    """Lead an agent with chance along a way, trying again where it gets elsewhere; whether it got to the end.

    Args:
        passages: of the way.
        begin: brings it to a situation from which a passage begins.
        take: has it take steps from where it is, and says whether it is in a situation then.
        kept: whether it can be brought to every situation of the way once it was there, or to the first one alone.
    """
    place = 0
    begin(passages[0][0])
    for _ in range(_AGAIN * len(passages)):
        _, steps, after = passages[place]
        if take(steps, after):
            place += 1
            if place == len(passages):
                return True
        else:
            place = place if kept else 0
            begin(passages[place][0])
    return False
