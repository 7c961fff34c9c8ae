"""Ways back to situations whose snapshots are lost, because the process that held them has ended.

The executed steps that led to a situation lead there again; where chance is at work, if they are tried often enough, one after the
other. They do not count as questions, since their outcome is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.query import Agent, Situation
from aam_vision.strips import GroundAction

_AGAIN = 100
"""Times that each passage of a way is tried, on average, where chance may lead elsewhere."""


@dataclass(frozen=True)
class Passage:
    """Executed steps and the situations around them; ``before`` is None for an initial situation.

    ``memo`` is the agent's note about ``after``.
    """

    before: Situation | None
    steps: tuple[GroundAction, ...]
    after: Situation
    memo: Any


@runtime_checkable
class Returning(Protocol):
    """An agent whose handles are numbers without a meaning in other processes.

    A stateless agent, whose handles are the states themselves, does not need this.
    """

    def memo(self, situation: Situation) -> Any:
        """A note, as JSON, that suffices to go on from a situation in another process; perceived things only."""
        ...

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history: go on as an agent that was asked all this, from where it ended."""
        ...


def returning(agent: Agent) -> Returning | None:
    """The agent inside all decorators, if it has to be brought back."""
    while isinstance(agent, AgentDecorator):
        agent = agent.agent
    return agent if isinstance(agent, Returning) else None


class Ways:
    """How every situation was reached first."""

    def __init__(self) -> None:
        self._came: dict[int, tuple[int, tuple[GroundAction, ...]]] = {}

    def came(self, after: int, before: int, steps: tuple[GroundAction, ...]) -> None:
        """Note that a situation was reached from another one."""
        if after != before:
            self._came.setdefault(after, (before, steps))

    def back(self, to: int, known: Callable[[int], bool]) -> tuple[int, tuple[GroundAction, ...]]:
        """The nearest situation on the way to one that is known, or initial; and the steps from it."""
        steps: tuple[GroundAction, ...] = ()
        while not known(to) and to in self._came:
            to, before = self._came[to]
            steps = before + steps
        return to, steps

    def passages(
        self, to: int, known: Callable[[int], bool]
    ) -> list[tuple[int, tuple[GroundAction, ...], int]]:
        """The same one by one: from which situation, by which steps, to which."""
        found: list[tuple[int, tuple[GroundAction, ...], int]] = []
        while not known(to) and to in self._came:
            before, steps = self._came[to]
            found.append((before, steps, to))
            to = before
        return found[::-1]


def led_back(
    passages: Sequence[tuple[int, tuple[GroundAction, ...], int]],
    begin: Callable[[int], object],
    take: Callable[[tuple[GroundAction, ...], int], bool],
    *,
    kept: bool,
) -> bool:
    """Lead an agent with chance along a way, trying again where it gets elsewhere; whether it got to the end.

    Args:
        passages: of the way.
        begin: brings it to a situation from which a passage begins.
        take: has it take steps from where it is, and says whether it is in a situation then.
        kept: whether it can be brought to every situation of the way once it was there, or to the first one alone.
    """
    place = 0
    begin(passages[0][0])
    for _ in range(_AGAIN * len(passages)):
        _, steps, after = passages[place]
        if take(steps, after):
            place += 1
            if place == len(passages):
                return True
        else:
            place = place if kept else 0
            begin(passages[place][0])
    return False
