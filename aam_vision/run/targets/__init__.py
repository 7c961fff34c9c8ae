"""Everything that can be interrogated by name, with its ground truth kept apart for the comparison.

A *target* bundles an agent with functions that fetch its ground truth. They are called only after the
interrogation has ended. Here are those that the command's options, or an environment's name, stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aam_vision.agents.workers import Workers
from aam_vision.model.query import Access
from aam_vision.run.targets.copied import ALONE, cached, copied_policy, copied_symbolic, unreliable
from aam_vision.run.targets.images import PerceptionSettings, from_images, settings_of
from aam_vision.run.targets.programs import from_program, program_of
from aam_vision.run.targets.symbolic import from_bare, from_generated, from_pddl, symbolic
from aam_vision.run.targets.target import IMAGE_ACCESS, SYMBOLIC_ACCESS, Target, access_of, numbers
from aam_vision.support.errors import HasChance, UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.envs.policies import PolicyAgent
    from aam_vision.run.arguments import Arguments

__all__ = ["PerceptionSettings", "Target", "from_pddl", "from_program", "unreliable"]
"""What is made elsewhere in this package, and used outside of it."""


def of(arguments: Arguments) -> Target:
    """The target that a run's arguments name, with the faults that they ask for. Raises UnusableInput: there is none, or not to be used so."""
    workers = Workers(arguments.workers, arguments.address)
    target = _named(arguments, workers)
    try:
        if arguments.chance:
            _check_looks(arguments, target.agent.access)
        if arguments.flip_rate or arguments.refusal_rate:
            target = unreliable(target, arguments.flip_rate, arguments.refusal_rate, arguments.seed)
        return target if arguments.cache is None else cached(target, arguments.cache)
    except UnusableInput:
        target.close()
        raise


def _check_looks(arguments: Arguments, access: Access) -> None:
    """Refuse the access under which nothing can be looked at again, where that is asked for."""
    if arguments.confirm:
        from aam_vision.interrogation.task.repeated_looks import check_access

        check_access(access)


def _named(arguments: Arguments, workers: Workers) -> Target:
    """The agent itself, or its controls. The chance of a domain or an environment is drawn from the seed."""
    import numpy as np

    chance = np.random.default_rng([arguments.seed, 4])
    problems = arguments.problem or []
    if arguments.agent is not None:
        return program_of(arguments, workers)
    if arguments.domain is not None and arguments.bare:
        bare = from_bare(arguments.domain, problems, arguments.bare, arguments.access)
        return copied_symbolic(bare, workers)
    if arguments.domain is not None:
        if arguments.chance:  # before a warning of what is left out of the file
            _check_looks(arguments, access_of(arguments.access, SYMBOLIC_ACCESS, str(arguments.domain)))
        repeated = arguments.repeated_arguments
        target = from_pddl(
            arguments.domain,
            problems,
            access=arguments.access,
            chance=chance,
            repeated=repeated,
            random=arguments.chance,
        )
        return copied_symbolic(target, workers)
    assert arguments.env is not None, "one or the other is given"
    if arguments.controls:
        return controlled(arguments.env, problems, arguments.access, settings_of(arguments), workers)
    if is_imported(arguments.env):
        from aam_vision.envs.own import imported
        from aam_vision.envs.policies import PolicyAgent

        if isinstance(policy := imported(arguments.env), PolicyAgent):
            return _policy(policy, arguments, workers)
    if not (arguments.chance or has_chance(arguments.env)):
        try:
            return from_environment(
                arguments.env,
                access=arguments.access,
                problems=problems,
                size=arguments.problem_size,
                seed=arguments.seed,
                repeated=arguments.repeated_arguments,
                settings=settings_of(arguments),
                workers=workers,
            )
        except HasChance:  # the check of one of the user's own has shown it
            pass
    if workers.number > 1:
        which = "--chance" if arguments.chance else arguments.env
        raise UnusableInput(f"cannot be used with {which}: {ALONE}", "workers", workers.number)
    return with_chance(arguments.env, arguments, chance)


def _policy(policy: PolicyAgent, arguments: Arguments, workers: Workers) -> Target:
    """A policy that is told objectives, in environments of its own whose chance is drawn from the run's seed."""
    from aam_vision.agents.encoding import Malformed, read_vocabulary, typed, vocabulary_json
    from aam_vision.agents.numbered import NumberedAgent

    assert arguments.env is not None, "it names the policy"
    for name in ("problem", "image_noise"):
        if getattr(arguments, name) not in (None, 0, 1):
            raise UnusableInput("cannot be used with a policy; leave it out", name)
    try:  # the journal has to hold them
        read_vocabulary(vocabulary_json(policy.vocabulary, policy.headers))
        typed(dict(policy.objects), policy.vocabulary.types)
    except Malformed as error:
        raise UnusableInput(f"{arguments.env}: {error}") from None
    access_of(arguments.access, (policy.access,), arguments.env)
    misread = arguments.flip_rate or arguments.refusal_rate
    own, seeds = policy.another(arguments.seed), tuple(map(str, policy.seeds))
    if workers.number == 1:
        agent = NumberedAgent(own, exact=not misread)
        return Target(arguments.env, seeds, agent, truth=None, held_out=list, keep_clips=own.keep_clips)
    if not arguments.chance:
        raise UnusableInput("with a policy, needs --chance", "workers", workers.number)
    if policy.access.returns:
        why = "what one copy keeps of snapshots, another has not: use 1, or give it access='reset'"
        raise UnusableInput(why, "workers", workers.number)
    return copied_policy(arguments.env, seeds, own, arguments.seed, workers)


def names() -> tuple[str, ...]:
    """All environments: those seen in images, also of other packages; then the packaged PDDL domains, and those with chance."""
    from aam_vision.envs import TOLD_WITH_CHANCE, registry
    from aam_vision.model import domains

    return (*registry.names(), *domains.DOMAINS, *TOLD_WITH_CHANCE)


def has_chance(env: str | None) -> bool:
    """Whether it is an environment of ours whose steps may have several outcomes."""
    from aam_vision.envs import TOLD_WITH_CHANCE, WITH_CHANCE, worlds

    return env in (*TOLD_WITH_CHANCE, *WITH_CHANCE, *worlds.WITH_CHANCE)


def is_imported(env: str) -> bool:
    """Whether a name is that of a module's environment, ``MODULE:NAME``, which importing the module makes."""
    from aam_vision.envs import worlds
    from aam_vision.envs.own import is_reference

    return is_reference(env) and not worlds.known(env)


def check_name(env: str) -> None:
    """Refuse a name that no environment has. Raises UnusableInput: there is no such environment."""
    from aam_vision.envs import TOLD_WITH_CHANCE, registry
    from aam_vision.model import domains

    if not registry.known(env) and env not in domains.DOMAINS and env not in TOLD_WITH_CHANCE:
        raise UnusableInput(f"unknown; use one of {', '.join(names())}", "env", env)


def from_environment(
    env: str,
    *,
    access: str | None = None,
    problems: Sequence[str] = (),
    size: int = 2,
    seed: int = 0,
    repeated: bool = False,
    settings: PerceptionSettings | None = None,
    workers: Workers | None = None,
) -> Target:
    """The agent of an environment that is seen in images, or of a packaged domain, whose problems are generated by ``size`` and ``seed``.

    Raises:
        UnusableInput: no such environment, problem, access or weights.
    """
    from aam_vision.model import domains

    settings, workers = settings or PerceptionSettings(), workers or Workers()
    if env in domains.DOMAINS:
        if settings.noise:
            raise no_images(env, settings.noise)
        allowed = access_of(access, SYMBOLIC_ACCESS, env)
        return copied_symbolic(from_generated(env, allowed, problems, size, seed, repeated), workers)
    check_name(env)
    if repeated:
        raise UnusableInput(f"{env} is seen in images; give a symbolic agent", "repeated_arguments")
    return from_images(env, access_of(access, IMAGE_ACCESS, env), problems, settings, workers)


def controlled(
    env: str,
    problems: Sequence[str],
    access: str | None,
    settings: PerceptionSettings,
    workers: Workers | None = None,
) -> Target:
    """An environment that is seen in images, by its controls. Raises UnusableInput: not known, or no such problem, access or weights."""
    allowed = access_of(access, (Access.SNAPSHOT,), "--controls")
    return from_images(env, allowed, problems, settings, workers, controls=True)


SEEN_ACCESS = (Access.SNAPSHOT, Access.RESET)
"""What environments that are seen in images allow."""


def with_chance(env: str, arguments: Arguments, chance: np.random.Generator) -> Target:
    """An environment whose steps may have several outcomes, drawn by ``chance``: one of PDDLGym's that tells its states, or one seen in images.

    Raises:
        UnusableInput: there is no such problem, or the access or an option does not fit.
    """
    from aam_vision.envs import TOLD_WITH_CHANCE
    from aam_vision.envs.registry import asked

    if env not in TOLD_WITH_CHANCE:
        asked(env, chance=True)
        access = access_of(arguments.access, SEEN_ACCESS, env)
        return from_images(env, access, arguments.problem or [], settings_of(arguments), chance=chance)
    from aam_vision.envs.pddlgym_files import chance_model, initial_states

    if arguments.image_noise:
        raise no_images(env, arguments.image_noise)
    access = access_of(arguments.access, SYMBOLIC_ACCESS, env)
    initial, model = initial_states(env, "train"), chance_model(env)
    chosen = numbers(env, arguments.problem or [], len(initial), access)
    names, states = [f"train/{number}" for number in chosen], [initial[number] for number in chosen]
    held_out = initial_states(env, "test")
    return symbolic(model.vocabulary.name, names, model, states, held_out, access, chance=chance)


def no_images(env: str, noise: float) -> UnusableInput:
    """The refusal of noise on the images of what shows none."""
    return UnusableInput(f"{env} shows no images; use an image environment", "image_noise", f"{noise:g}")
