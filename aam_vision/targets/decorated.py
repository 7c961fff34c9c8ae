"""Targets made of others: with faults between agent and engine, or with a cache of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aam_vision.errors import UnusableInput
from aam_vision.query import Access
from aam_vision.targets.target import Target


def unreliable(target: Target, flip_rate: float, refusal_rate: float, seed: int) -> Target:
    """The same target, but misread and refusing at random; the engine is not told.

    Raises:
        UnusableInput: a rate is not between 0 and 1.
    """
    import numpy as np

    from aam_vision.agents.chance import ChanceAgent
    from aam_vision.agents.numbered import NumberedAgent
    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.agents.unreliable import UnreliableAgent

    faults = np.random.default_rng([seed, 3])
    agent, generators = target.agent, target.generators
    if isinstance(agent, SymbolicAgent | ChanceAgent) and agent.access is not Access.SETTABLE:
        if isinstance(agent, ChanceAgent):
            generators = ()  # a resumed run takes its steps again, from the seed on
        agent = NumberedAgent(agent)  # its handles are its true states
    agent = UnreliableAgent(agent, flip_rate, refusal_rate, faults)
    return replace(target, agent=agent, generators=(*generators, faults), identity=None)


def cached(target: Target, path: Path) -> Target:
    """The same target, asked only what no run has asked it before; a file keeps the answers.

    Raises:
        UnusableInput: the agent's answers cannot be used in another run, or the file is not a cache.
    """
    from aam_vision.agents.cached import Cache, CachedAgent

    if target.identity is None:
        raise UnusableInput(
            f"needs a deterministic agent that may be asked about any state, which {target.name} is not; leave it out",
            "cache",
            path,
        )
    cache = Cache(path)

    def close() -> None:
        cache.close()
        target.close()

    return replace(target, agent=CachedAgent(target.agent, cache, target.identity), close=close)
