"""Agents that are programs of their own (``docs/agent-protocol.md``), telling their states or showing images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.targets.copied import check_access, copied_program
from aam_vision.run.targets.images import perception_of, places, seen_through, settings_of
from aam_vision.run.targets.target import IMAGE_ACCESS, SYMBOLIC_ACCESS, Target, access_of, numbers
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.agents.perception import VisualVocabulary
    from aam_vision.agents.protocol import Hello
    from aam_vision.agents.shown import Conversation
    from aam_vision.agents.workers import Workers
    from aam_vision.run.arguments import Arguments


def program_of(arguments: Arguments, workers: Workers) -> Target:
    """The program that a run's arguments name, which shows images or tells its states; errors as for both."""
    assert arguments.agent is not None, "it names the program"
    if arguments.env is not None:
        return from_shown_program(arguments)
    return from_program(
        arguments.agent,
        arguments.problem or (),
        access=arguments.access,
        seconds=arguments.agent_seconds,
        megabytes=arguments.agent_memory,
        workers=workers,
        controls=arguments.controls,
    )


def from_program(
    command: str,
    problems: Sequence[str],
    *,
    access: str | None,
    seconds: float,
    megabytes: int,
    workers: Workers | None = None,
    controls: bool = False,
) -> Target:
    """An agent that is a program of its own (``docs/agent-protocol.md``); its true model is not known.

    ``controls``: it is to be known by its controls.

    Raises:
        UnusableInput: there is no such program or problem, it does not speak the protocol, or does not allow
            the access or so many workers; or it has controls where instructions are asked for, or the other way round.
    """
    from aam_vision.agents.process import process_agent
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.shown import Conversation

    limits = ProgramLimits(seconds=seconds, memory=megabytes << 20)
    conversation = Conversation(command, limits)
    hello = conversation.hello
    if hello.shown:
        conversation.close()
        why = "shows images; name the environment whose concepts and classifiers read them"
        raise UnusableInput(why, "agent", repr(command))
    _check_controls(conversation, controls=controls)
    known = (Access.SNAPSHOT,) if controls else SYMBOLIC_ACCESS[SYMBOLIC_ACCESS.index(hello.access) :]
    allowed = access_of(access, known, f"agent {command!r}")
    name = hello.vocabulary.name
    chosen = numbers(name, problems, len(hello.problems), allowed)
    target = Target(
        name,
        tuple(map(str, chosen)),
        process_agent(conversation, allowed, chosen),
        truth=None,
        held_out=list,
        identity=conversation.identity if hello.deterministic and allowed.constructs else None,
        close=conversation.close,
    )
    if workers is None or workers.number == 1:
        return target
    conversation.close()  # the copies answer
    check_access(allowed, workers)
    return copied_program(target, conversation, limits, chosen, workers)


def _check_controls(conversation: Conversation, *, controls: bool) -> None:
    """Refuse, and end, a program whose actions are not of the kind that is asked for."""
    if conversation.hello.controls == controls:
        return
    conversation.close()
    told = (
        'its actions are instructions; let its hello say "controls": true if each can always be given, or leave out --controls'
        if controls
        else "its actions are controls; give --controls, too"
    )
    raise UnusableInput(told, "agent", repr(conversation.command))


def from_shown_program(arguments: Arguments) -> Target:
    """A program that shows images, read with the concepts and classifiers of an image environment.

    Raises:
        UnusableInput: there is no such program, environment, problem or weights, the program does not show
            images, or speaks of other types and facts than the environment.
    """
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.shown import Conversation
    from aam_vision.envs.registry import words_of
    from aam_vision.model import domains

    command, env = arguments.agent, arguments.env
    assert command is not None
    assert env is not None
    if arguments.workers > 1:
        raise UnusableInput("a program that shows images answers alone: use 1", "workers", arguments.workers)
    if env in domains.DOMAINS:
        raise UnusableInput("shows no images; leave it out, or name an image environment", "env", env)
    if arguments.repeated_arguments:
        raise UnusableInput("images show no such thing; give a symbolic agent", "repeated_arguments")
    visual = words_of(env).visual
    conversation = Conversation(
        command, ProgramLimits(seconds=arguments.agent_seconds, memory=arguments.agent_memory << 20)
    )
    try:
        _check_controls(conversation, controls=arguments.controls)
        _check_shows(conversation.hello, visual, env, command)
        return _shown_target(conversation, env, arguments)
    except BaseException:
        conversation.close()
        raise


def _check_shows(hello: Hello, visual: VisualVocabulary, env: str, command: str) -> None:
    """Refuse a program that shows no images, or has other types and facts than the environment ``env``."""
    if not hello.shown:
        raise UnusableInput(
            f"tells its states itself; leave out the environment {env}", "agent", repr(command)
        )
    given = {entry.predicate for entry in visual.given}
    if hello.vocabulary.types != visual.types or not given.issuperset(hello.vocabulary.predicates):
        facts = ", ".join(sorted(predicate.name for predicate in given)) or "no predicate"
        raise UnusableInput(
            f"must have the types of {env} ({', '.join(visual.types.parents)}), and state facts of {facts} only",
            "agent",
            repr(command),
        )


def _shown_target(conversation: Conversation, env: str, arguments: Arguments) -> Target:
    """The program's agent, in those of its problems and with the access that the arguments choose."""
    from aam_vision.agents.by_hand import SetUp
    from aam_vision.agents.shown import ProgramSimulator, WaryPerception
    from aam_vision.envs.registry import words_of
    from aam_vision.support.pictures import decode

    hello = conversation.hello
    allowed = (Access.SNAPSHOT,) if arguments.controls else IMAGE_ACCESS[IMAGE_ACCESS.index(hello.access) :]
    access = access_of(arguments.access, allowed, f"agent {arguments.agent!r}")
    chosen = numbers(hello.vocabulary.name, arguments.problem or [], len(hello.shown), access)
    shown = [hello.shown[number] for number in chosen]
    settings = settings_of(arguments)
    perception, set_up = perception_of(env, settings), None
    if hello.by_hand and access.restarts:
        perceived = [entry.predicate.name for entry in words_of(env).visual.perceived]
        set_up = SetUp(WaryPerception(perception), shown[0].scene, perceived)
    simulators = [
        ProgramSimulator(conversation, number, access, lambda png, size: decode(png, size=size), set_up)
        for number in chosen
    ]
    return replace(
        seen_through(
            env,
            simulators,
            hello.headers,
            access,
            settings,
            perception,
            strange=True,
            refuses_surely=hello.refuses_surely,
        ),
        name=hello.vocabulary.name,
        problems=tuple(map(str, chosen)),
        scenes=lambda: [places(one.scene, *one.size) for one in shown],
        set_up=set_up,
        close=conversation.close,
    )
