"""Whether the images of two situations differ, of agents that are seen in images."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, cast

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Agent, Query, Situation
from aam_vision.model.strips import GroundAction


class Pictured(Protocol):
    """An agent that can tell whether two situations were seen in the same pixels."""

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of all images of a situation; None if none is known."""
        ...


def images_of(agent: Agent, situation: Situation) -> frozenset[str] | None:
    """Digests of all images that were seen of a situation; None if none is known."""
    while not hasattr(
        agent, "pixels"
    ):  # this is asked of every step, and isinstance of a protocol takes 100 times as long
        if not isinstance(agent, AgentDecorator):
            return None
        agent = agent.agent
    return cast(Pictured, agent).pixels(situation)


def pixels_differ(agent: Agent, one: Situation, other: Situation) -> bool | None:
    """Whether the images of two situations differ; None if that is not known, or a camera's noise may be the reason."""
    ours, theirs = images_of(agent, one), images_of(agent, other)
    if ours is None or theirs is None or len(ours) > 1 or len(theirs) > 1:
        return None
    return ours != theirs


def is_steady(agent: CountingAgent, situation: Situation) -> bool:
    """Whether a situation in which the agent stands shows the same pixels when it is looked at again."""
    agent.counts.looks += 1
    agent.ask_again(Query(situation, ()))
    found = images_of(agent, situation)
    return found is not None and len(found) == 1


def unseen_change(
    agent: Agent, before: Situation, step: GroundAction, after: Situation, constants: Collection[str] = ()
) -> bool:
    """Whether the image changed with a step, and no atom did.

    Not if an atom that the step can change could not be read, before or after: then that may have changed.

    Args:
        agent: knows the images.
        before: the situation before the step.
        step: was executed.
        after: the situation after it.
        constants: objects that every step can change.
    """
    if before.state != after.state or pixels_differ(agent, before, after) is not True:
        return False
    within = {*step.objects, *constants}
    return not any(within.issuperset(atom.objects) for atom in before.state.unknown)
