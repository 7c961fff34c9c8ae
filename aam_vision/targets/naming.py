"""What the command line's names stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.errors import UnusableInput
from aam_vision.targets.decorated import unreliable
from aam_vision.targets.images import PerceptionSettings, from_images
from aam_vision.targets.programs import from_program, from_shown_program
from aam_vision.targets.symbolic import from_generated, from_pddl
from aam_vision.targets.target import IMAGE_ACCESS, SYMBOLIC_ACCESS, Target, access_of

if TYPE_CHECKING:
    from aam_vision.arguments import Arguments


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
        return from_generated(env, access_of(access, SYMBOLIC_ACCESS, env), problems, size, seed, repeated)
    if env not in names():
        raise UnusableInput(f"--env {env}: unknown; use one of {', '.join(names())}")
    if repeated:
        raise UnusableInput(f"--repeated-arguments: {env} is seen in images; give a symbolic agent")
    settings = PerceptionSettings(classifiers, backend, image_noise, seed)
    return from_images(env, access_of(access, IMAGE_ACCESS, env), problems, settings)
