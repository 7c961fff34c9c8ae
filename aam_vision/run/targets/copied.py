"""Targets of which several copies answer at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.targets.target import Target
from aam_vision.support.errors import AgentFailed, UnusableInput

if TYPE_CHECKING:
    from aam_vision.agents.cached import Cache
    from aam_vision.agents.perception import Simulator
    from aam_vision.agents.process import ProcessAgent
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.shown import Conversation
    from aam_vision.agents.workers import Crew, Workers
    from aam_vision.envs.image_domain import Problem
    from aam_vision.envs.policies import PolicyAgent
    from aam_vision.model.query import Agent

SIMULATING = (
    "gymnasium",
    "aam_vision.envs.registry",
    "aam_vision.envs.pddlgym_domains",
    "aam_vision.envs.board_env",
)
"""Modules of most simulators."""
ALONE = "copies of a random agent cannot be proven to be the same, unless it is a policy (--env MODULE:NAME)"
"""Why most agents with chance have one worker."""


def check_access(access: Access, workers: Workers) -> None:
    """Refuse several copies under an access where every question needs the answer before, a trajectory: UnusableInput."""
    if workers.number > 1 and not access.restarts:
        why = "a trajectory is one course, which no two agents can take: use 1, or another access"
        raise UnusableInput(why, "workers", workers.number)


def copied_symbolic(target: Target, workers: Workers) -> Target:
    """The same target, its symbolic agent in so many processes."""
    from aam_vision.agents.copies import StatelessCopies, prove

    if workers.number == 1:
        return target
    check_access(target.agent.access, workers)
    crew = workers.crew(partial(_itself, target.agent), prove)
    return with_crew(replace(target, agent=StatelessCopies(target.agent, crew)), crew)


def with_crew(target: Target, crew: Crew) -> Target:
    """The same target, with its copies, which have begun. Raises UnusableInput: they cannot begin, or are not the same agent."""
    try:
        crew.ready()
    except AgentFailed as error:
        crew.close()
        target.close()
        raise UnusableInput(str(error), "workers", crew.size) from None

    return replace(target, crew=crew, close=_closing(crew, target))


def _closing(first: Crew | Cache, target: Target) -> Callable[[], None]:
    def close() -> None:
        first.close()
        target.close()

    return close


def simulator_crew(env: str, problems: Sequence[Problem], workers: Workers, controls: bool) -> Crew:
    """Copies of an image environment's simulators, which are instructed, or given its ``controls``."""
    from aam_vision.agents.copies import prove_simulators

    make = partial(_simulators, env, tuple(problems), controls)
    return workers.crew(make, prove_simulators, modules=SIMULATING)


def copied_program(
    target: Target,
    conversation: Conversation,
    limits: ProgramLimits,
    problems: Sequence[int],
    workers: Workers,
) -> Target:
    """The same target, its program in several processes. Raises UnusableInput: it does not allow so many."""
    from aam_vision.agents.copies import NumberedCopies, StatelessCopies, prove
    from aam_vision.agents.workers import Copy, Held

    allowed = conversation.hello.copies
    if allowed is not None and workers.number > allowed:
        often = "only once" if allowed == 1 else f"{allowed} times"
        raise UnusableInput(
            f"the agent says that it can run {often}; use {allowed}", "workers", workers.number
        )
    access, settable = target.agent.access, conversation.hello.access.constructs
    make = partial(_program, conversation.command, limits, access, tuple(problems), conversation.identity)

    def here() -> Copy:
        agent = make()
        return Held(agent, agent.close)

    crew = workers.crew(make, prove, here)
    agent = (StatelessCopies if settable else NumberedCopies)(target.agent, crew)
    return with_crew(replace(target, agent=agent), crew)


def copied_policy(
    env: str, seeds: tuple[str, ...], policy: PolicyAgent, seed: int, workers: Workers
) -> Target:
    """A policy in so many processes, each of which imports it. Raises UnusableInput: it differs from process to process."""
    from aam_vision.envs.policy_copies import PolicyCopies, prove

    crew = workers.crew(partial(_policy, env), prove, modules=["gymnasium"])
    agent = PolicyCopies(policy, seed, crew)
    own = Target(env, seeds, agent, truth=None, held_out=list, keep_clips=agent.keep_clips)
    return with_crew(own, crew)


def _policy(env: str) -> PolicyAgent:
    from aam_vision.envs.own import imported
    from aam_vision.envs.policies import PolicyAgent

    policy = imported(env)
    assert isinstance(policy, PolicyAgent), "it is one elsewhere"
    return policy.another()


def _itself(agent: Agent) -> Agent:
    return agent


def _simulators(env: str, problems: Sequence[Problem], controls: bool) -> list[Simulator]:
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    return [domain.simulator(problem, controls=controls) for problem in problems]


def _program(
    command: str, limits: ProgramLimits, access: Access, problems: Sequence[int], identity: str
) -> ProcessAgent:
    from aam_vision.agents.process import process_agent
    from aam_vision.agents.shown import Conversation

    conversation = Conversation(command, limits)
    if conversation.identity != identity:
        conversation.close()
        raise AgentFailed(f"{command}: says something else of itself when it is started a second time")
    return process_agent(conversation, access, problems)


# Targets made of others: with faults between agent and engine, or with a cache of answers.


def unreliable(target: Target, flip_rate: float, refusal_rate: float, seed: int) -> Target:
    """The same target, but misread and refusing at random; the engine is not told. Raises UnusableInput: a rate is not between 0 and 1."""
    import numpy as np

    from aam_vision.agents.bare import BareSymbolicAgent
    from aam_vision.agents.numbered import NumberedAgent
    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.agents.unreliable import UnreliableAgent

    faults = np.random.default_rng([seed, 3])
    agent, generators = target.agent, target.generators
    if isinstance(agent, SymbolicAgent | BareSymbolicAgent) and not agent.access.constructs:
        if isinstance(agent, SymbolicAgent) and agent.chance is not None:
            generators = ()  # a resumed run takes its steps again, from the seed on
        agent = NumberedAgent(agent)  # its handles are its true states
    agent = UnreliableAgent(agent, flip_rate, refusal_rate, faults)
    return replace(target, agent=agent, generators=(*generators, faults), identity=None)


def cached(target: Target, path: Path) -> Target:
    """The same target, asked only what no run has asked before; a file keeps the answers. Raises UnusableInput: it cannot, or is no cache."""
    from aam_vision.agents.cached import Cache, CachedAgent

    if target.identity is None:
        why = f"needs a deterministic agent that may be asked about any state, which {target.name} is not; leave it out"
        raise UnusableInput(why, "cache", path)
    cache = Cache(path)

    agent = CachedAgent(target.agent, cache, target.identity)
    return replace(target, agent=agent, close=_closing(cache, target))
