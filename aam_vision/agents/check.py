"""``python -m aam_vision.agents.check "COMMAND"``: does a program speak the agent protocol?

It is asked all kinds of questions, and every answer is compared with the protocol, with what the agent has said of
itself, and with its other answers. What its answers tell about its actions is not looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer
from numpy.random import default_rng

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Frame, Percept, Scene
from aam_vision.agents.process import LOOKS, process_agent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.shown import Conversation, ProgramSimulator
from aam_vision.model.query import Access, Agent, Query, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import AgentFailed, UnusableInput
from aam_vision.support.noise import only_noise
from aam_vision.support.wording import counted

DOES_NOT_CONFORM = 1
"""Exit code when an answer broke the protocol."""
STEPS = 6
"""Steps of the walk that the questions are made from."""

Findings = Iterator[tuple[str, str | None]]
"""A check by its name, and its complaint if there is one."""


def check(
    command: Annotated[str, typer.Argument(help="The program and its arguments, in quotes.")],
    seconds: Annotated[float, typer.Option(help="Wall time for one answer.")] = 10.0,
    memory: Annotated[int, typer.Option(min=1, help="Megabytes of memory.")] = 4096,
) -> int:
    """Check that a program speaks the agent protocol (docs/agent-protocol.md).

    Examples:
        python -m aam_vision.agents.check "./my-agent --fast"
        python -m aam_vision.agents.check "python my_agent.py" --seconds 60
    """
    if not 0 < seconds < 1e6:
        raise UnusableInput(f"--seconds {seconds:g}: give a number above 0")
    conversation = Conversation(command, ProgramLimits(seconds, memory << 20, retries=0))
    faults = 0
    try:
        for what, fault in _findings(conversation):
            print(f"{'ok  ' if fault is None else 'FAIL'}  {what}{'' if fault is None else f': {fault}'}")
            faults += fault is not None
    finally:
        conversation.close()
    print("conforms to the protocol" if not faults else f"does not conform: {faults} of the checks failed")
    return DOES_NOT_CONFORM if faults else 0


def _findings(conversation: Conversation) -> Findings:
    """Every check in turn, with the complaint if it fails."""
    hello = conversation.hello
    told = "images" if hello.shown else counted(len(hello.vocabulary.predicates), "predicate")
    yield (
        f"hello: {told}, {counted(len(hello.headers), 'control' if hello.controls else 'action')}, {counted(len(hello.problems), 'problem')}, "
        f"{hello.access.value} access",
        None,
    )
    access = Access.TRAJECTORY if hello.by_hand else hello.access
    repeatable = hello.deterministic and access.restarts
    for number in range(len(hello.problems)):
        agent: Agent = (
            _looked_at(conversation, number, access)
            if hello.shown
            else process_agent(conversation, hello.access, [number])
        )
        name = f"problem {number}"
        try:
            (start,) = agent.initial()
        except AgentFailed as error:
            yield f"{name}: starts", str(error)
            continue
        yield f"{name}: starts", None
        looks: list[State] = []
        complaint = _wrong(_idle, agent, start, looks)
        noisy = any(look != looks[0] for look in looks)
        shown = "what it shows differs from look to look, so states are not compared"
        yield f"{name}: {shown if noisy else 'an empty plan changes nothing'}", complaint
        if repeatable and not noisy:
            yield f"{name}: starts in the same state again", _wrong(_restarted, agent, start)
        what = "carries out every control" if hello.controls else "executes or refuses every action"
        yield f"{name}: {what}", _wrong(_every_action, agent, start, noisy)
        if hello.walks and access.restarts:
            walked: list[WalkStep] = []
            yield f"{name}: walks", _wrong(_walk, agent, start, walked)
            if repeatable and walked:
                yield f"{name}: does again what it did", _wrong(_again, agent, walked, noisy)
            if repeatable and walked and not hello.access.episodic:
                yield (
                    f"{name}: goes on from a state in the middle",
                    _wrong(_again, agent, walked[len(walked) // 2 :], noisy),
                )


class _Pixels:
    """A perception that compares pixels: two images are alike if they differ by a sensor's noise at most."""

    def __init__(self) -> None:
        self._seen: list[Frame] = []

    def look(self, frame: Frame, scene: Scene) -> Percept:
        alike = (number for number, other in enumerate(self._seen) if only_noise(frame, other))
        number = next(alike, len(self._seen))
        if number == len(self._seen):
            self._seen.append(frame)
        return Percept(State(frozenset({Atom(f"image-{number}", ())}), scene.objects), {})

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return self.look(frame, scene)


def _looked_at(conversation: Conversation, problem: int, access: Access) -> ImageAgent:
    """A problem of a program that shows images; each image counts as a state."""
    from aam_vision.support.pictures import decode

    hello = conversation.hello
    simulator = ProgramSimulator(conversation, problem, access, lambda png, size: decode(png, size=size))
    return ImageAgent([simulator], _Pixels(), hello.vocabulary, hello.headers, access)


def _wrong(check: Callable[..., None], *about: Any) -> str | None:
    """The complaint that a check raises, if it raises one."""
    try:
        check(*about)
    except AgentFailed as error:
        return str(error)
    return None


def _idle(agent: Agent, start: Situation, looks: list[State]) -> None:
    for _ in range(LOOKS):
        response = agent.ask(Query(start, ()))
        if response.executed:
            raise AgentFailed("it executes something")
        looks.append(response.final.state)
    if all(look == looks[0] != start.state for look in looks):
        raise AgentFailed("it ends in another state")


def _restarted(agent: Agent, start: Situation) -> None:
    (again,) = agent.initial()
    if again.state != start.state:
        raise AgentFailed("it starts in another state the second time")


def _every_action(agent: Agent, start: Situation, noisy: bool) -> None:
    """One instance of each action, tried from the start, or from where the last one led if there is no way back."""
    at = start
    for header in agent.headers:
        objects = [next(iter(start.state.objects.of_type(kind)), None) for kind in header.types]
        if None not in objects:
            action = GroundAction(header.name, tuple(name for name in objects if name is not None))
            response = agent.ask(Query(at, (action,)))
            shown = agent.ask(Query(response.final, (), goes_on=True)).final.state
            if not noisy and shown != response.final.state:
                raise AgentFailed(f"after {action}, it stands elsewhere than it said")
            at = response.final if not agent.access.restarts else start


def _walk(agent: Agent, start: Situation, walked: list[WalkStep]) -> None:
    walked += agent.walk(start, STEPS, default_rng(0))


def _again(agent: Agent, walked: Sequence[WalkStep], noisy: bool) -> None:
    plan = tuple(step.action for step in walked)
    response = agent.ask(Query(walked[0].before, plan))
    if response.executed < len(plan):
        raise AgentFailed(
            f"it walked {', '.join(map(str, plan))}, and now executes {response.executed} of these"
        )
    if not noisy and response.final.state != walked[-1].after.state:
        raise AgentFailed(f"{', '.join(map(str, plan))} leads to another state than in its walk")


if __name__ == "__main__":
    sys.exit(run_command(check))
