"""Agents of which only the controls are known: environments seen in images, and PDDL domains behind controls."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aam_vision.model.query import Access
from aam_vision.run.targets.images import (
    PerceptionSettings,
    check_known,
    perception_of,
    settings_of,
    target_of,
)
from aam_vision.run.targets.symbolic import tell_left_out
from aam_vision.run.targets.target import NativeSteps, Target, access_of, check_problems, problems_of
from aam_vision.support.errors import AamWarning, UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.bare import Control
    from aam_vision.agents.perception import Perception, Simulator
    from aam_vision.envs.image_domain import ImageDomain, Problem
    from aam_vision.envs.shown import Told
    from aam_vision.model.strips import ActionHeader, GroundAction, Model, State
    from aam_vision.run.arguments import Arguments

CONTROL = re.compile(r"\s*(?P<name>[^\s()=,]+)\s*\((?P<parameters>[^()=]*)\)\s*=\s*(?P<operators>[^()=]+)")
WRITE = "write e.g. 'move(?dir)=push,move', with the control, its parameters and the operators that it may carry out"


def with_controls(arguments: Arguments) -> Target:
    """The agent that a run's arguments name, by its controls.

    Raises:
        UnusableInput: there is no such thing, or its controls are not known.
    """
    if arguments.domain is not None:
        return from_bare(arguments.domain, arguments.problem or (), arguments.bare or (), arguments.access)
    if arguments.agent is not None:
        return _program(arguments.agent, arguments)
    assert arguments.env is not None, "one or the other is given"
    return controlled(arguments.env, arguments.problem or (), arguments.access, settings_of(arguments))


def _program(command: str, arguments: Arguments) -> Target:
    """A program that offers its controls, and tells its states or shows images.

    Raises:
        UnusableInput: there is no such program, it does not speak the protocol, or offers no controls.
    """
    from aam_vision.run.targets.programs import from_program, from_shown_program

    if arguments.env is not None:
        return from_shown_program(arguments)
    return from_program(
        command,
        arguments.problem or (),
        access=arguments.access,
        seconds=arguments.agent_seconds,
        megabytes=arguments.agent_memory,
        controls=True,
    )


def from_bare(domain: Path, problems: Sequence[str], bare: Sequence[str], access: str | None) -> Target:
    """A PDDL domain behind controls, each written as ``NAME(?PARAMETER ...)=OPERATOR,...``.

    Raises:
        UnusableInput: a file or a control cannot be used, or no problem is given.
    """
    from aam_vision.agents.bare import BARE_ACCESS, BareSymbolicAgent
    from aam_vision.model.pddl import read_domain, read_problem

    access_of(access, BARE_ACCESS, "--bare")
    check_problems(domain, problems, Access.SNAPSHOT)
    model = read_domain(domain)
    tell_left_out(domain, model.vocabulary)
    initial = [read_problem(model, problem).initial for problem in problems]
    controls = read_controls(model, bare)
    agent = BareSymbolicAgent(model, controls, initial)
    return Target(
        model.vocabulary.name,
        tuple(Path(problem).name for problem in problems),
        agent,
        truth=lambda: model,
        held_out=lambda: initial,
        native_steps=lambda count, rng: _walked(agent, initial, count, rng),
    )


def read_controls(model: Model, texts: Sequence[str]) -> list[Control]:
    """The controls of a model, each written as ``NAME(?PARAMETER ...)=OPERATOR,...``.

    Raises:
        UnusableInput: a text is not like that, names what the model lacks, or one control comes twice.
    """
    from aam_vision.agents.bare import control_of

    found: dict[str, Control] = {}
    for text in texts:
        match = CONTROL.fullmatch(text)
        if match is None:
            raise UnusableInput(WRITE, "bare", text)
        parameters = [
            one.removeprefix("?") for one in re.split(r"[\s,]+", match["parameters"].strip()) if one
        ]
        operators = [one for one in re.split(r"[\s,]+", match["operators"].strip()) if one]
        if match["name"] in found:
            raise UnusableInput(f"the control {match['name']} comes twice", "bare")
        found[match["name"]] = control_of(model, match["name"], parameters, operators)
    return list(found.values())


def _walked(
    agent: object, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[tuple[State, GroundAction, State]]:
    """Steps of random walks; there is no way to make legal states of a PDDL domain at random."""
    from aam_vision.agents.bare import BareSymbolicAgent, random_control

    assert isinstance(agent, BareSymbolicAgent), "the agent of this target"
    found: list[tuple[State, GroundAction, State]] = []
    for number in range(count):
        if number < len(initial) or number % 50 == 0:
            state = initial[number % len(initial)]
        control = random_control(agent.headers, state, rng)
        if control is None:
            break
        after = agent.given(state, control)
        found.append((state, control, after))
        state = after
    return found


class _Environment(NamedTuple):
    """What an environment offers that is known by its controls."""

    domain: ImageDomain
    headers: tuple[ActionHeader, ...]
    controlled: Callable[[Problem], Simulator]
    """A problem, ready to be given controls."""
    held_out_steps: NativeSteps
    told: Callable[[], Told] | None = None
    """Gives what tells the states where there are no classifiers."""


def _environment(env: str) -> _Environment:
    """A board domain or a ready-made world, by its controls.

    Raises:
        UnusableInput: its controls are not known.
    """
    from aam_vision.envs import DOMAINS, controls, worlds
    from aam_vision.envs.controlled import load as own_environment
    from aam_vision.envs.registry import board_domain

    if env in DOMAINS:
        board = board_domain(env)
        return _Environment(
            board,
            controls.control_headers(board),
            partial(controls.controlled, board),
            partial(controls.held_out_steps, board),
        )
    if worlds.known(env):
        world = worlds.load(env)
        return _Environment(world, world.control_headers, world.controlled, world.held_out_steps)
    if (found := own_environment(env)) is not None:
        return _Environment(
            found,
            found.control_headers,
            found.controlled,
            found.held_out_steps,
            found.told if found.shown is not None and found.weights is None else None,
        )
    usable = ", ".join((*DOMAINS, *worlds.NAMES))
    raise UnusableInput(
        f"the controls of {env} are not known; use one of {usable}, an environment of yours, or --domain with --bare",
        "controls",
    )


def controlled(env: str, problems: Sequence[str], access: str | None, settings: PerceptionSettings) -> Target:
    """An environment that is seen in images, by its controls.

    Raises:
        UnusableInput: its controls are not known, or there is no such problem, access or weights.
    """
    import numpy as np

    from aam_vision.agents.image import ImageAgent
    from aam_vision.agents.unreliable import NoisySimulator
    from aam_vision.run.targets.images import places

    access_of(access, (Access.SNAPSHOT,), "--controls")
    known = _environment(env)
    domain = known.domain
    chosen = problems_of(env, problems, domain.interrogated, Access.SNAPSHOT)
    clear = [known.controlled(problem) for problem in chosen]
    noise = np.random.default_rng([settings.seed, 2])
    seen: list[Simulator] = list(clear)
    if settings.noise:
        seen = [NoisySimulator(one, settings.noise, noise) for one in clear]
    perception: Perception
    if known.told is not None and settings.classifiers is None:
        perception, seen = _told(env, known.told(), clear, settings)
    else:
        perception = perception_of(env, settings)
        check_known(perception, clear)
    agent = ImageAgent(
        seen,
        perception,
        domain.visual.vocabulary(),
        known.headers,
        Access.SNAPSHOT,
        refuses_surely=True,
    )
    return replace(
        target_of(env, agent, domain.visual, (noise,)),
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        truth=domain.truth,
        scenes=lambda: [places(one.scene, *one.frame().shape[:2]) for one in clear],
        native_steps=known.held_out_steps,
    )


def _told(
    env: str, told: Told, clear: Sequence[Simulator], settings: PerceptionSettings
) -> tuple[Told, list[Simulator]]:
    """A perception of states that the user's function tells, and the simulators whose states it tells.

    Warns:
        AamWarning: no classifier reads the images.

    Raises:
        UnusableInput: noise is to be put on images that nobody reads.
    """
    from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator

    if settings.noise:
        raise UnusableInput(
            f"no classifier reads the images of {env}: give --classifiers, too", "image_noise"
        )
    warnings.warn(
        f"the states of {env} are told by its function `shown`: train classifiers "
        f"(python -m aam_vision.training.train --env {env} --out DIR) and give --classifiers DIR to read its images",
        AamWarning,
        stacklevel=2,
    )
    return told, [told.of(one) for one in clear if isinstance(one, GymnasiumSimulator)]
