"""What can be interrogated from the command line, with the ground truth kept apart for the comparison.

A *target* bundles an agent with functions that fetch its ground truth. They are called only after the
interrogation has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.errors import UnusableInput
from aam_vision.query import Access, Agent

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.arguments import Arguments
    from aam_vision.perception import Box, Frame, Scene, Simulator
    from aam_vision.strips import ActionHeader, Model, State

IMAGE_ACCESS = (Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY)
SYMBOLIC_ACCESS = (Access.SETTABLE, *IMAGE_ACCESS)


@dataclass(frozen=True)
class Target:
    """An agent to interrogate, and where to look up the truth about it afterwards."""

    name: str
    problems: tuple[str, ...]
    agent: Agent
    truth: Callable[[], Model] | None
    """None where nobody knows it."""
    held_out: Callable[[], list[State]]
    perception_s: Callable[[], float | None] = lambda: None
    generators: tuple[np.random.Generator, ...] = ()
    """What the agent's answers depend on beside its own state: the noise put on them."""
    identity: str | None = None
    """What tells the agent apart from all others; None if answers cannot be used in another run."""
    close: Callable[[], None] = lambda: None
    """To be called when the agent is not needed any more."""
    keep_images: Callable[[Callable[[Frame], str]], None] | None = None
    """To have the agent's images kept, by a function that names them; None if it shows none."""
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of each predicate the ``kind`` of its provenance and its ``meaning``, where the user has said."""
    scenes: Callable[[], list[dict[str, Box]]] = list
    """For each problem where its places are in the image."""


def of(arguments: Arguments) -> Target:
    """What a run's arguments name, with the faults that they ask for.

    Raises:
        UnusableInput: there is no such thing, or it cannot be used in this way.
    """
    target = _named(arguments)
    if arguments.flip_rate or arguments.refusal_rate:
        return unreliable(target, arguments.flip_rate, arguments.refusal_rate, arguments.seed)
    return target


def _named(arguments: Arguments) -> Target:
    given = arguments.problem or []
    if arguments.agent is not None and arguments.env is not None:
        return from_shown_program(arguments)
    if arguments.agent is not None:
        return from_program(
            arguments.agent,
            given,
            access=arguments.access,
            seconds=arguments.agent_seconds,
            megabytes=arguments.agent_memory,
        )
    if arguments.domain is not None:
        return from_pddl(
            Path(arguments.domain), given, access=arguments.access, repeated=arguments.repeated_arguments
        )
    assert arguments.env is not None, "one or the other is given"
    return from_environment(
        arguments.env,
        access=arguments.access,
        problems=given,
        classifiers=None if arguments.classifiers is None else Path(arguments.classifiers),
        size=arguments.problem_size,
        seed=arguments.seed,
        repeated=arguments.repeated_arguments,
        image_noise=arguments.image_noise,
        backend=arguments.backend,
    )


def names() -> tuple[str, ...]:
    """Everything that ``--env`` takes: image environments, also those of other packages; then the PDDL domains."""
    from aam_vision import domains
    from aam_vision.envs import registry

    return (*registry.names(), *domains.DOMAINS)


def from_environment(
    env: str,
    *,
    access: str | None,
    problems: Sequence[str],
    classifiers: Path | None,
    size: int,
    seed: int,
    repeated: bool = False,
    image_noise: float = 0.0,
    backend: str = "torch",
) -> Target:
    """The agent of an environment, seen in images; or of a packaged domain, on generated problems.

    Raises:
        UnusableInput: no such environment, problem, access or weights.
    """
    from aam_vision import domains

    if env in domains.DOMAINS:
        if image_noise:
            raise UnusableInput(
                f"--image-noise {image_noise:g}: {env} shows no images; use an image environment"
            )
        return _generated(env, _access(access, SYMBOLIC_ACCESS, env), problems, size, seed, repeated)
    if env not in names():
        raise UnusableInput(f"--env {env}: unknown; use one of {', '.join(names())}")
    if repeated:
        raise UnusableInput(f"--repeated-arguments: {env} is seen in images; give a symbolic agent")
    return _image(env, _access(access, IMAGE_ACCESS, env), problems, classifiers, image_noise, backend, seed)


def from_pddl(domain: Path, problems: Sequence[str], *, access: str | None, repeated: bool = False) -> Target:
    """A symbolic agent that holds the model of a PDDL domain file.

    Raises:
        UnusableInput: a file cannot be used, no problem is given, or the access is unknown.
    """
    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.pddl import read_domain, read_problem

    allowed = _access(access, SYMBOLIC_ACCESS, str(domain))
    if not problems:
        raise UnusableInput(f"--domain {domain}: no problem; give at least one with --problem P.pddl")
    if allowed is Access.TRAJECTORY:
        _one_problem(problems)
    model = read_domain(domain)
    initial = [read_problem(domain, problem).initial for problem in problems]
    return Target(
        model.vocabulary.name,
        tuple(Path(problem).name for problem in problems),
        SymbolicAgent(model, initial, allowed, repeated=repeated, refuses_surely=True),
        truth=lambda: model,
        held_out=lambda: initial,
        identity=_identity(model),
    )


def from_program(
    command: str, problems: Sequence[str], *, access: str | None, seconds: float, megabytes: int
) -> Target:
    """An agent that is a program of its own (``docs/agent-protocol.md``); nobody knows its true model.

    Raises:
        UnusableInput: there is no such program or problem, it does not speak the protocol, or does not allow
            the access.
    """
    from aam_vision.agents.process import Conversation, process_agent
    from aam_vision.agents.program import ProgramLimits

    conversation = Conversation(command, ProgramLimits(seconds=seconds, memory=megabytes << 20))
    hello = conversation.hello
    if hello.shown:
        conversation.close()
        raise UnusableInput(
            f"--agent {command!r}: shows images; say by --env whose concepts and classifiers read them"
        )
    allowed = _access(access, SYMBOLIC_ACCESS[SYMBOLIC_ACCESS.index(hello.access) :], f"--agent {command!r}")
    name = hello.vocabulary.name
    chosen = _numbers(name, problems, len(hello.problems), allowed)
    return Target(
        name,
        tuple(map(str, chosen)),
        process_agent(conversation, allowed, chosen),
        truth=None,
        held_out=list,
        identity=conversation.identity if hello.deterministic and hello.access is Access.SETTABLE else None,
        close=conversation.close,
    )


def from_shown_program(arguments: Arguments) -> Target:
    """A program that shows images, read with the concepts and classifiers of an image environment.

    Raises:
        UnusableInput: there is no such program, environment, problem or weights, the program does not show
            images, or speaks of other types and facts than the environment.
    """
    from aam_vision import domains
    from aam_vision.agents.process import Conversation
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.shown import ProgramSimulator
    from aam_vision.envs.registry import image_domain
    from aam_vision.perception import Given
    from aam_vision.pictures import decode

    command, env = arguments.agent, arguments.env
    assert command is not None
    assert env is not None
    if env in domains.DOMAINS:
        raise UnusableInput(f"--env {env}: shows no images; leave it out, or name an image environment")
    if arguments.repeated_arguments:
        raise UnusableInput("--repeated-arguments: images show no such thing; give a symbolic agent")
    visual = image_domain(env).visual
    conversation = Conversation(
        command, ProgramLimits(seconds=arguments.agent_seconds, memory=arguments.agent_memory << 20)
    )
    try:
        hello, what = conversation.hello, f"--agent {command!r}"
        if not hello.shown:
            raise UnusableInput(f"{what}: tells its states itself; leave out --env {env}")
        given = {entry.predicate for entry in visual.entries if isinstance(entry, Given)}
        if hello.vocabulary.types != visual.types or not given.issuperset(hello.vocabulary.predicates):
            facts = ", ".join(sorted(predicate.name for predicate in given)) or "no predicate"
            raise UnusableInput(
                f"{what}: must have the types of {env} ({', '.join(visual.types.parents)}), and state facts of "
                f"{facts} only"
            )
        access = _access(
            arguments.access, IMAGE_ACCESS[IMAGE_ACCESS.index(hello.access) :], f"--agent {command!r}"
        )
        chosen = _numbers(hello.vocabulary.name, arguments.problem or [], len(hello.shown), access)
        simulators = [
            ProgramSimulator(conversation, number, access, lambda png, size: decode(png, size=size))
            for number in chosen
        ]
        shown = [hello.shown[number] for number in chosen]
        folder = None if arguments.classifiers is None else Path(arguments.classifiers)
        about = folder, arguments.image_noise, arguments.backend, arguments.seed
        return replace(
            _seen(env, simulators, hello.headers, access, *about),
            name=hello.vocabulary.name,
            problems=tuple(map(str, chosen)),
            scenes=lambda: [_places(one.scene, *one.size) for one in shown],
            close=conversation.close,
        )
    except BaseException:
        conversation.close()
        raise


def unreliable(target: Target, flip_rate: float, refusal_rate: float, seed: int) -> Target:
    """The same, but misread and refusing now and then; nobody tells the engine.

    Raises:
        UnusableInput: a rate is no probability.
    """
    import numpy as np

    from aam_vision.agents.numbered import NumberedAgent
    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.agents.unreliable import UnreliableAgent

    faults = np.random.default_rng([seed, 3])
    agent = target.agent
    if isinstance(agent, SymbolicAgent) and agent.access is not Access.SETTABLE:
        agent = NumberedAgent(agent)  # its handles are its true states
    agent = UnreliableAgent(agent, flip_rate, refusal_rate, faults)
    return replace(target, agent=agent, generators=(*target.generators, faults), identity=None)


def cached(target: Target, path: Path) -> Target:
    """The same, asked only what no run has asked it before; this file keeps the answers.

    Raises:
        UnusableInput: the agent's answers cannot be used in another run, or the file is no such file.
    """
    from aam_vision.agents.cached import Cache, CachedAgent

    if target.identity is None:
        raise UnusableInput(
            f"--cache {path}: needs a deterministic agent that may be asked about any state, "
            f"which {target.name} is not; leave it out"
        )
    cache = Cache(path)

    def close() -> None:
        cache.close()
        target.close()

    return replace(target, agent=CachedAgent(target.agent, cache, target.identity), close=close)


def _access(given: str | None, allowed: Sequence[Access], what: str) -> Access:
    """The access asked for, or the most that the agent allows."""
    if given is None:
        return allowed[0]
    for access in allowed:
        if access.value == given:
            return access
    known = " or ".join(access.value for access in allowed)
    raise UnusableInput(f"--access {given}: cannot be used with {what}; use {known}")


def _one_problem(given: Sequence[str]) -> None:
    """No trajectory leads from one problem to another.

    Raises:
        UnusableInput: several problems are given.
    """
    if len(set(given)) > 1:
        raise UnusableInput(
            f"--access trajectory: leads through one problem only, {len(set(given))} are given; "
            "name one with --problem"
        )


def _numbers(env: str, given: Sequence[str], count: int, access: Access) -> list[int]:
    """Numbers of problems: those given, or all of them (under trajectory access the first)."""
    if access is Access.TRAJECTORY:
        _one_problem(given)
        given = given or ["0"]
    numbers = []
    for text in given:
        if not (text.isdecimal() and len(text) < 10 and int(text) < count):
            raise UnusableInput(f"--problem {text[:40]}: {env} has problems 0 to {count - 1}")
        numbers.append(int(text))
    return list(dict.fromkeys(numbers)) or list(range(count))


def _image(
    env: str,
    access: Access,
    problems: Sequence[str],
    classifiers: Path | None,
    image_noise: float,
    backend: str,
    seed: int,
) -> Target:
    from aam_vision.envs.own import OwnEnvironment
    from aam_vision.envs.registry import image_domain, simulator

    domain = image_domain(env)
    chosen = [domain.interrogated[i] for i in _numbers(env, problems, len(domain.interrogated), access)]
    own = domain if isinstance(domain, OwnEnvironment) else None
    clear = [simulator(domain, split, number) for split, number in chosen]

    def truth() -> Model:
        from aam_vision.envs.ground_truth import ground_truth_model

        return ground_truth_model(env)

    def held_out() -> list[State]:
        from aam_vision.envs.ground_truth import held_out_problems

        return [problem.initial for problem in held_out_problems(env)]

    return replace(
        _seen(env, clear, domain.headers, access, classifiers, image_noise, backend, seed),
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        truth=truth if own is None else own.truth,
        held_out=held_out if own is None else list,
        scenes=lambda: [_places(one.scene, *one.frame().shape[:2]) for one in clear],
    )


def _seen(
    env: str,
    simulators: Sequence[Simulator],
    headers: Sequence[ActionHeader],
    access: Access,
    classifiers: Path | None,
    image_noise: float,
    backend: str,
    seed: int,
) -> Target:
    """An agent in simulators, read with the concepts and classifiers of an environment; nobody knows its truth."""
    import numpy as np
    import torch

    from aam_vision.agents.image import ImageAgent
    from aam_vision.agents.noise import NoisySimulator
    from aam_vision.agents.shown import ProgramSimulator, WaryPerception
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.envs.own import OwnEnvironment
    from aam_vision.envs.registry import image_domain
    from aam_vision.perception import Perception

    torch.set_num_threads(1)  # one small image at a time: more threads only wait for each other
    domain = image_domain(env)
    visual = domain.visual
    weights = domain.classifiers(classifiers) if isinstance(domain, OwnEnvironment) else classifiers
    perception: Perception = BoardPerception.load(visual, domain.name, weights, backend=backend)
    strange = any(isinstance(simulator, ProgramSimulator) for simulator in simulators)
    if strange:
        perception = WaryPerception(perception)
    noise = np.random.default_rng([seed, 2])
    if image_noise:
        simulators = [NoisySimulator(simulator, image_noise, noise) for simulator in simulators]
    agent = ImageAgent(
        simulators, perception, visual.vocabulary(), headers, access, refuses_surely=not strange
    )
    return Target(
        env,
        (),
        agent,
        truth=None,
        held_out=list,
        perception_s=lambda: agent.perception_s,
        generators=(noise,),
        keep_images=agent.keep_images,
        sources={
            entry.predicate.name: {"kind": entry.provenance.value, "meaning": entry.description}
            for entry in visual.stated
        },
    )


def _places(scene: Scene, height: int, width: int) -> dict[str, Box]:
    """The part of an image of so many pixels that each place of one cell takes up."""
    from aam_vision.classifiers.board import board_box

    top, bottom, left, right = board_box(height, width, scene.rows, scene.columns)
    down, across = (bottom - top) / scene.rows / height, (right - left) / scene.columns / width
    found = {}
    for place, (cell, *others) in scene.cells.items():
        row, column = cell
        grid = (
            top / height + row * down,
            top / height + (row + 1) * down,
            left / width + column * across,
            left / width + (column + 1) * across,
        )
        box = grid if scene.boxes is None else scene.boxes.get(cell)
        if box is not None and not others:
            found[place] = tuple(round(edge, 4) for edge in box)
    return found  # type: ignore[return-value]


GENERATED_PROBLEMS = 3
"""Problems that are generated for one interrogation, and as many more to evaluate on."""


def _generated(
    env: str, access: Access, problems: Sequence[str], size: int, seed: int, repeated: bool
) -> Target:
    import numpy as np

    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.domains import generate, load

    rng = np.random.default_rng([seed, 1])
    model = load(env)
    initial = [generate(env, size, rng).initial for _ in range(2 * GENERATED_PROBLEMS)]
    chosen = _numbers(env, problems, GENERATED_PROBLEMS, access)
    return Target(
        env,
        tuple(f"generated/{number}" for number in chosen),
        SymbolicAgent(
            model, [initial[number] for number in chosen], access, repeated=repeated, refuses_surely=True
        ),
        truth=lambda: model,
        held_out=lambda: initial[GENERATED_PROBLEMS:],
        identity=_identity(model),
    )


def _identity(model: Model) -> str:
    """A digest of all that a symbolic agent is."""
    from aam_vision.pddl import domain_text

    return f"symbolic {sha256(domain_text(model).encode()).hexdigest()}"
