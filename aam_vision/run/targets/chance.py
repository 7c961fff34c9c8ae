"""Agents with chance: of PPDDL files and environments, and programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aam_vision.model.query import Access
from aam_vision.run.targets.copied import unreliable
from aam_vision.run.targets.images import perception_of, settings_of, target_of
from aam_vision.run.targets.programs import from_program
from aam_vision.run.targets.symbolic import tell_left_out
from aam_vision.run.targets.target import (
    SYMBOLIC_ACCESS,
    Target,
    access_of,
    check_problems,
    numbers,
    problems_of,
)
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.perception import Perception
    from aam_vision.agents.simulator import Simulator
    from aam_vision.model.outcomes import ChanceModel
    from aam_vision.model.strips import State
    from aam_vision.run.arguments import Arguments

SEEN_ACCESS = (Access.SNAPSHOT, Access.RESET)
"""What environments that are seen in images allow."""


@dataclass(frozen=True)
class ChanceTarget:
    """An agent with chance to interrogate, and the truth about it."""

    target: Target
    truth: Callable[[], ChanceModel] | None
    """None where it is not known."""


def of(arguments: Arguments) -> ChanceTarget:
    """The agent that a run's arguments name, misread if they say so. The chance of a domain or an environment is drawn from their seed.

    Raises:
        UnusableInput: a file cannot be used, no problem is given, or the access is unknown, or does not allow to look again.
    """
    known = _named(arguments)
    try:
        _check_looks(arguments, known.target.agent.access)
    except UnusableInput:
        known.target.close()
        raise
    if not arguments.flip_rate:
        return known
    return replace(known, target=unreliable(known.target, arguments.flip_rate, 0.0, arguments.seed))


def _check_looks(arguments: Arguments, access: Access) -> None:
    """Refuse the access under which nothing can be looked at again, where that is asked for.

    Raises:
        UnusableInput: the situations are states that are asked for.
    """
    if arguments.confirm:
        from aam_vision.interrogation.chance.looking import check_access

        check_access(access)


def _named(arguments: Arguments) -> ChanceTarget:
    if arguments.agent is not None:
        program = from_program(
            arguments.agent,
            arguments.problem or [],
            access=arguments.access,
            seconds=arguments.agent_seconds,
            megabytes=arguments.agent_memory,
        )
        return ChanceTarget(program, None)
    if arguments.env is not None:
        from aam_vision.envs import TOLD_WITH_CHANCE

        return _told(arguments) if arguments.env in TOLD_WITH_CHANCE else _seen(arguments)
    from aam_vision.model.pddl import read_chance_domain, read_chance_problem

    domain = arguments.domain
    assert domain is not None, "checked before"
    access = access_of(arguments.access, SYMBOLIC_ACCESS, str(domain))
    _check_looks(arguments, access)  # before a warning of what is left out of the file
    problems = arguments.problem or []
    check_problems(domain, problems, access)
    model = read_chance_domain(domain)
    tell_left_out(domain, model.vocabulary)
    initial = [read_chance_problem(model, problem).initial for problem in problems]
    names = [Path(problem).name for problem in problems]
    return _symbolic(model, names, initial, initial, access, _chance(arguments))


def _chance(arguments: Arguments) -> np.random.Generator:
    """Draws all chance of an agent."""
    import numpy as np

    return np.random.default_rng([arguments.seed, 4])


def _symbolic(
    model: ChanceModel,
    names: Sequence[str],
    initial: Sequence[State],
    held_out: list[State],
    access: Access,
    rng: np.random.Generator,
) -> ChanceTarget:
    """An agent that holds a model and tells its states."""
    from aam_vision.agents.chance import ChanceAgent

    target = Target(
        model.vocabulary.name,
        tuple(names),
        ChanceAgent(model, initial, rng, access),
        truth=None,
        held_out=lambda: held_out,
        generators=(rng,),
    )
    return ChanceTarget(target, lambda: model)


def _told(arguments: Arguments) -> ChanceTarget:
    """One of PDDLGym's domains whose states are told as symbols."""
    from aam_vision.envs.pddlgym_files import chance_model, initial_states

    env = arguments.env
    assert env is not None, "it is named"
    if arguments.image_noise:
        raise UnusableInput(
            f"{env} shows no images; use an image environment", "image_noise", f"{arguments.image_noise:g}"
        )
    access = access_of(arguments.access, SYMBOLIC_ACCESS, env)
    initial = initial_states(env, "train")
    chosen = numbers(env, arguments.problem or [], len(initial), access)
    return _symbolic(
        chance_model(env),
        [f"train/{number}" for number in chosen],
        [initial[number] for number in chosen],
        initial_states(env, "test"),
        access,
        _chance(arguments),
    )


def _seen(arguments: Arguments) -> ChanceTarget:
    """An environment that is seen in images; one's own without classifiers by its function ``shown``."""
    import numpy as np

    from aam_vision.agents.image import ChanceImageAgent
    from aam_vision.agents.noise import NoisySimulator
    from aam_vision.envs.with_chance import environment

    env = arguments.env
    assert env is not None, "it is named"
    known = environment(env)
    domain, access = known.domain, access_of(arguments.access, SEEN_ACCESS, f"--chance and {env}")
    chosen = problems_of(env, arguments.problem or [], domain.interrogated, access)
    chance, noise = _chance(arguments), np.random.default_rng([arguments.seed, 2])
    simulators: list[Simulator] = [known.simulator(problem, chance) for problem in chosen]
    settings = settings_of(arguments)
    perception: Perception
    if known.told is not None and settings.classifiers is None:
        if settings.noise:
            raise UnusableInput(
                f"no classifier reads the images of {env}: give --classifiers, too", "image_noise"
            )
        told = perception = known.told()
        seen: Any = [told.of(one) for one in simulators]  # type: ignore[arg-type]  # simulators of Gymnasium's
    else:
        perception, seen = perception_of(env, settings), simulators
        if settings.noise:
            seen = [NoisySimulator(one, settings.noise, noise) for one in simulators]
    agent = ChanceImageAgent(
        seen, perception, domain.visual.vocabulary(), domain.headers, access, refuses_surely=True
    )
    target = replace(
        target_of(env, agent, domain.visual, (chance, noise)),
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        held_out=lambda: domain.held_out_states(perception.look),
    )
    return ChanceTarget(target, known.truth)
