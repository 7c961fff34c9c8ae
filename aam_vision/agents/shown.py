"""A program that shows its situations as images, as a simulator that ``ImageAgent`` can look at.

It is asked step by step, because every image on the way is looked at. Where the program stands, and how it is led back
after a crash, is kept here as for other programs (``process.StandingProcessAgent``), but for images instead of states.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import numpy as np

from aam_vision.agents.by_hand import SetUp
from aam_vision.agents.encoding import Malformed, dumps, field, plan_json, read_executed
from aam_vision.agents.image import Ways
from aam_vision.agents.perception import Frame, Percept, Perception, Scene
from aam_vision.agents.program import Program, ProgramFailed, ProgramLimits
from aam_vision.agents.protocol import (
    VERSION,
    Hello,
    Start,
    answer,
    complaint,
    line,
    read_hello,
    read_snapshot,
    read_steps,
)
from aam_vision.model.query import Access
from aam_vision.model.strips import GroundAction, State
from aam_vision.support.errors import AamError, AgentFailed, UnusableInput
from aam_vision.support.noise import only_noise

Answer = TypeVar("Answer")
Seen = TypeVar("Seen")
Reader = Callable[[dict[str, Any]], Seen]
"""Reads what an answer shows of a situation; Malformed if it shows none."""
Decoder = Callable[[bytes, tuple[int, int]], Frame]
"""An image file of the height and width given to its pixels; ValueError if it is not one. Any file may be given."""
BEGINNING = 0
"""The position of the initial situation."""


class _Glance(NamedTuple):
    """An image of a situation, and the program's name for the situation."""

    frame: Frame
    snapshot: str | None


class _Choice(NamedTuple):
    """A step that the program has taken on its own, ahead of the instruction."""

    before: int
    action: GroundAction
    after: int


class ProgramSimulator:
    """One problem of a program; see ``perception.Simulator``. Its snapshots are numbers.

    ``access``: what may be used: names of situations only under snapshot access. ``set_up``: has a person set the problem up again,
    where the program cannot.
    """

    def __init__(
        self,
        conversation: Conversation,
        problem: int,
        access: Access,
        decode: Decoder,
        set_up: SetUp | None = None,
    ) -> None:
        hello = conversation.hello
        self._conversation = conversation
        self._problem = problem
        self._naming = access.snapshots
        self._decode = decode
        self._shown = hello.shown[problem]
        self._at = BEGINNING
        self._next = BEGINNING + 1
        self._standing: int | None = None
        self._names: dict[int, str] = {}
        self._ways = Ways()
        self._looks: dict[int, bytes] = {}
        """A digest of each situation's image: without noise, a program shows the same image again."""
        self._set_up, self._by_hand = set_up, hello.by_hand
        self._noisy = not hello.deterministic or set_up is not None
        self._latest: tuple[int, Frame] | None = None
        self._choice: _Choice | None = None
        conversation.on_restart.append(self._forget)

    @property
    def scene(self) -> Scene:
        return self._shown.scene

    def start(self) -> None:
        self._choice = None
        self._conversation.again(self._begin)
        self._at = BEGINNING

    def recall(self, state: State) -> None:
        """What the problem begins with, as an earlier process has seen it."""
        if self._set_up is not None:
            self._set_up.recall(state)

    def snapshot(self) -> object:
        return self._at

    def restore(self, snapshot: object) -> None:
        """Go back to the snapshot; the program itself is led there with the next question."""
        assert isinstance(snapshot, int), "a snapshot of this simulator"
        self._at, self._choice = snapshot, None

    def frame(self) -> Frame:
        """The present image: one that was not looked at yet, or else, unless they are all the same, another one."""
        if self._latest is None or self._latest[0] != self._at:
            self._conversation.again(self._look)
        assert self._latest is not None
        frame = self._latest[1]
        if self._noisy:
            self._latest = None
        return frame

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        action, choice = GroundAction(name, objects), self._choice
        self._choice = None
        if choice is not None and (choice.before, choice.action) == (self._at, action):
            self._at = choice.after
            return True
        return self._conversation.again(lambda: self._do(action))

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The program's next own step. It has taken it already; ``instruct`` then finds that out."""
        seed = int(rng.integers(2**31))
        if not self._conversation.hello.walks:
            return None
        self._choice = self._conversation.again(lambda: self._act(seed))
        return None if self._choice is None else (self._choice.action.name, self._choice.action.objects)

    # --- questions -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._set_up is None:
            _, glance = self._run("here" if self._by_hand else "start", ())
        else:
            wait = self._set_up.again if self._set_up.begun else self._set_up.begins
            glance = _Glance(wait(lambda: self._run("here", ())[1].frame), None)
        self._arrive(BEGINNING, glance)

    def _look(self) -> None:
        _, glance = self._run(self._from(), ())
        self._arrive(self._at, glance)

    def _do(self, action: GroundAction) -> bool:
        executed, glance = self._run(self._from(), (action,))
        if executed:
            self._at = self._came(action, glance)
        else:
            self._arrive(self._at, glance)
        return bool(executed)

    def _act(self, seed: int) -> _Choice | None:
        walked = self._conversation.walk(self._problem, self._from(), 1, seed, self._read)
        self._standing = self._at
        for action, glance in walked:
            return _Choice(self._at, action, self._came(action, glance))
        return None

    def _run(self, start: Start, plan: Sequence[GroundAction]) -> tuple[int, _Glance]:
        return self._conversation.run(self._problem, start, plan, self._read)

    def _read(self, found: dict[str, Any]) -> _Glance:
        """Read the image in an answer.

        Raises:
            Malformed: it shows no image, or not one as the program has promised.
        """
        try:
            file = b64decode(field(found, "image", str), validate=True)
            return _Glance(self._decode(file, self._shown.size), read_snapshot(found))
        except (NoBase64, UnicodeEncodeError) as error:
            raise Malformed(f"'image' is not base64 ({error})") from None
        except Malformed:
            raise
        except ValueError as error:
            raise Malformed(f"'image' cannot be used: {error}") from None

    # --- where it stands -----------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._standing = None
        self._names.clear()

    def _from(self) -> Start:
        """Lead the program to a situation if need be, and return how a question begins there.

        Raises:
            AgentFailed: it does not do again what it did before.
        """
        if self._standing == self._at:
            return "here"
        nearest, steps = self._ways.back(self._at, self._names.__contains__)
        begin: Start = {"snapshot": self._names[nearest]} if nearest in self._names else "start"
        if self._by_hand:
            if self._set_up is None:
                raise AgentFailed("its world would have to be put back, and nobody is asked to")
            self._begin()
            begin = "here"
        if not steps:
            return begin
        executed, glance = self._run(begin, steps)
        if executed < len(steps):
            raise AgentFailed(
                f"the agent did {', '.join(map(str, steps))} before, and now does only {executed} of these steps"
            )
        self._arrive(self._at, glance)
        return "here"

    def _came(self, action: GroundAction, glance: _Glance) -> int:
        """The number of a new situation, one step from the present one."""
        number = self._next
        self._next += 1
        self._ways.came(number, self._at, (action,))
        self._arrive(number, glance)
        return number

    def _arrive(self, number: int, glance: _Glance) -> None:
        """The program stands in a situation, and shows it.

        Raises:
            AgentFailed: it looks different from before, and a second look does not show that this is a sensor's noise.
        """
        if not self._noisy:
            digest = blake2b(glance.frame.tobytes(), digest_size=16).digest()
            if self._looks.setdefault(number, digest) != digest:
                _, again = self._run("here", ())
                differs = not np.array_equal(again.frame, glance.frame)
                self._noisy = differs and only_noise(again.frame, glance.frame)
                if not self._noisy:
                    raise AgentFailed(
                        "the agent shows another image of a situation than before (say deterministic: false "
                        "if its images differ)"
                    )
        self._standing, self._latest = number, (number, glance.frame)
        if self._naming and glance.snapshot is not None:
            self._names[number] = glance.snapshot


class WaryPerception:
    """A perception of scenes that anybody may have written; one that it cannot handle raises ``AgentFailed``."""

    def __init__(self, perception: Perception) -> None:
        self._perception = perception
        self.image_test = getattr(perception, "image_test", None)
        """How its classifiers did in their test, as of the perception itself."""

    def look(self, frame: Frame, scene: Scene) -> Percept:
        return _readable(lambda: self._perception.look(frame, scene))

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return _readable(lambda: self._perception.follow(before, frame, scene))


def _readable(read: Callable[[], Percept]) -> Percept:
    try:
        return read()
    except AamError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # the concepts of an environment expect other things of a scene, such as other names of places
        raise AgentFailed(
            f"the scene that the agent tells cannot be read ({type(error).__name__}: {' '.join(str(error).split())})"
        ) from None


# A conversation with a program: questions and answers in the agent protocol, each checked.
#
# A program that crashes, hangs or gives an invalid answer is started afresh and asked again, a few times; then the agent
# has failed.


class Conversation:
    """Questions to a program and its answers, each checked; the program is the same after every restart.

    Raises:
        UnusableInput: there is no such program, or it does not say who it is.
    """

    def __init__(self, command: str, limits: ProgramLimits | None = None) -> None:
        self._program = Program(command, limits or ProgramLimits())
        self._number = 0
        self._introduced: dict[str, Any] | None = None
        self.hello: Hello
        self.on_restart: list[Callable[[], None]] = []
        """Called after a restart: the new process knows nothing of earlier questions."""
        try:
            self.again(self._introduce)
        except AgentFailed as error:
            raise UnusableInput(str(error), "agent") from None

    @property
    def command(self) -> str:
        """The command line of the program."""
        return self._program.command

    @property
    def identity(self) -> str:
        """The command, and everything that the program says of itself, including its version."""
        return f"program {dumps([self._program.command, self._introduced])}"

    def close(self) -> None:
        """End the program."""
        self._program.stop()

    def again(self, attempt: Callable[[], Answer]) -> Answer:
        """The answer to one or more questions; after a failure all of them are asked again.

        Raises:
            AgentFailed: the last attempt failed, too.
        """
        allowed = self._program.limits.retries + 1
        for number in range(1, allowed + 1):
            try:
                if not self._program.running:
                    self._program.start()
                    for forget in self.on_restart:
                        forget()
                    if self._introduced is not None:
                        self._introduce()
                return attempt()
            except (ProgramFailed, Malformed) as error:
                self._program.stop()
                if number == allowed:
                    how_often = f", in each of {allowed} processes" if allowed > 1 else ""
                    raise AgentFailed(f"{self._program.command}: {error}{how_often}") from None
        raise AssertionError("the last attempt returns or raises")

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question, with contents still unchecked.

        Raises:
            AgentFailed: the program says that it cannot answer.
            Malformed: the line does not answer this question.
            ProgramFailed: there is no answer.
        """
        self._number += 1
        try:
            found = answer(self._program.exchange(line(question, self._number)), self._number)
            if (text := complaint(found)) is not None:
                raise AgentFailed(f"{self._program.command}: cannot answer a {question['ask']}: {text}")
        except Malformed as error:
            raise Malformed(f"has answered a {question['ask']} with {error}") from None
        return found

    def run(
        self, problem: int, start: Start, plan: Sequence[GroundAction], read: Reader[Seen]
    ) -> tuple[int, Seen]:
        """How far a plan is executed from where it starts, and what is shown of where that leads; ``read`` reads that.

        Raises:
            AgentFailed, Malformed, ProgramFailed: as of ``ask``.
        """
        found = self.ask({"ask": "run", "problem": problem, "from": start, "plan": plan_json(plan)})
        with _naming("run"):
            return read_executed(found, plan, controls=self.hello.controls), read(found)

    def walk(
        self, problem: int, start: Start, steps: int, seed: int, read: Reader[Seen]
    ) -> list[tuple[GroundAction, Seen]]:
        """The steps that the program takes on its own, so many at most, and what it shows after each.

        Raises:
            AgentFailed, Malformed, ProgramFailed: as of ``ask``.
        """
        found = self.ask({"ask": "walk", "problem": problem, "from": start, "steps": steps, "seed": seed})
        headers = {header.name: header for header in self.hello.headers}
        with _naming("walk"):
            walked = read_steps(found, steps, headers, self.hello.problems[problem])
            return [(action, read(step)) for action, step in walked]

    def _introduce(self) -> None:
        """Let the program introduce itself, always in the same way.

        Raises:
            AgentFailed: it introduces itself differently after a restart.
        """
        found = {
            name: value
            for name, value in self.ask({"ask": "hello", "protocol": VERSION}).items()
            if name != "id"
        }
        if self._introduced is None:
            with _naming("hello"):
                self.hello = read_hello(found)
            self._introduced = found
        elif found != self._introduced:
            raise AgentFailed(f"{self._program.command}: says something else of itself after a restart")


@contextmanager
def _naming(question: str) -> Iterator[None]:
    """Say which question was answered wrongly."""
    try:
        yield
    except Malformed as error:
        raise Malformed(f"has answered a {question} wrongly: {error}") from None
