"""Whether the images of two situations differ, of agents that are seen in images."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.query import Agent, Situation


@runtime_checkable
class Pictured(Protocol):
    """An agent that can tell whether two situations were seen in the same pixels."""

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of all images of a situation; None if none is known."""
        ...


def pixels_differ(agent: Agent, one: Situation, other: Situation) -> bool | None:
    """Whether the images of two situations differ; None if that is not known, or a camera's noise may be the reason."""
    found: Agent = agent
    while not isinstance(found, Pictured):
        if not isinstance(found, AgentDecorator):
            return None
        found = found.agent
    ours, theirs = found.pixels(one), found.pixels(other)
    if ours is None or theirs is None or len(ours) > 1 or len(theirs) > 1:
        return None
    return ours != theirs
