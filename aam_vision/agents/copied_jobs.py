"""The jobs of an agent's copies, each a function of a module, so that it can be sent to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from aam_vision.agents.returning import Passage, Returning
from aam_vision.query import Agent, Course, Query, Response, Situation, WalkStep
from aam_vision.strips import GroundAction, State

PROVED_STEPS = 2
"""Steps that every copy makes before it is asked anything, to see that all are the same."""


class NumberingAgent(Agent, Returning, Protocol):
    """An agent that can be told which numbers its next situations have."""

    def number_from(self, number: int) -> None:
        """Number the next situations from this number on."""
        ...


def initial(agent: Agent) -> list[Situation]:
    """The initial situations."""
    return list(agent.initial())


def ask(agent: Agent, query: Query) -> Response:
    """The answer to a query."""
    return agent.ask(query)


def ask_course(agent: Agent, course: Course) -> list[Response]:
    """The answers to the plans of a course."""
    found: list[Response] = []
    at = course.start
    for plan in course.plans:
        found.append(agent.ask(Query(at, plan)))
        at = found[-1].final
    return found


def walk(
    agent: Agent, start: Situation, steps: int, rng: np.random.Generator
) -> tuple[list[WalkStep], Mapping[str, Any]]:
    """A walk, and the state of the generator after it."""
    return list(agent.walk(start, steps, rng)), rng.bit_generator.state


def initial_memos(agent: NumberingAgent) -> list[tuple[State, Any]]:
    """The initial states, with the agent's notes on them."""
    return [(one.state, agent.memo(one)) for one in agent.initial()]


def ask_there(agent: NumberingAgent, history: Sequence[Passage], number: int, query: Query) -> Any:
    """The answer to a query in a situation that is reached anew if need be."""
    agent.resume(history)
    agent.number_from(number)
    response = agent.ask(query)
    return response, agent.memo(response.final)


def ask_course_there(agent: NumberingAgent, history: Sequence[Passage], number: int, course: Course) -> Any:
    """The same in a situation that is reached anew if need be."""
    agent.resume(history)
    agent.number_from(number)
    return [(response, agent.memo(response.final)) for response in ask_course(agent, course)]


def walk_there(
    agent: NumberingAgent,
    history: Sequence[Passage],
    number: int,
    start: Situation,
    steps: int,
    rng: np.random.Generator,
) -> Any:
    """The same of a walk."""
    agent.resume(history)
    agent.number_from(number)
    walked = [(step, agent.memo(step.after)) for step in agent.walk(start, steps, rng)]
    return walked, rng.bit_generator.state


def prove(agent: Agent, told: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The initial states, and where a few steps lead: those that the agent takes itself, or that another one took."""
    initial = agent.initial()
    states = [one.state for one in initial]
    if told is None:
        walked = agent.walk(initial[0], PROVED_STEPS, np.random.default_rng(0))
        plan: tuple[GroundAction, ...] = tuple(step.action for step in walked)
        return states, plan, len(plan), walked[-1].after.state if walked else states[0]
    response = agent.ask(Query(initial[0], told[1]))
    return states, told[1], response.executed, response.final.state
