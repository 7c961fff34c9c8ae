"""Plans with effects that come later: what waits is part of a state, so the states are searched as the model itself says, breadth first.

No planner that is used here knows such effects, and as STRIPS operators they would be a great many.
"""

from __future__ import annotations

from collections import deque
from time import process_time

from aam_vision.model.strips import GroundAction, Model, Problem, State
from aam_vision.planning.joins import StateIndex, bindings


def searched(model: Model, problem: Problem, states: int, seconds: float) -> tuple[GroundAction, ...] | bool:
    """A shortest plan; whether there is none (False), or none was found within so many states, or CPU seconds (True).

    Of atoms that are unknown in the initial state neither value is relied on.
    """
    began = process_time()
    ways: dict[State, tuple[GroundAction, ...]] = {problem.initial: ()}
    waiting = deque(ways)
    while waiting:
        state = waiting.popleft()
        if problem.goal <= state.true and problem.goal_false.isdisjoint(state.true | state.unknown):
            return ways[state]
        if len(ways) > states or process_time() - began > seconds:
            return True
        index = StateIndex(state)
        for schema in model.actions:
            header, required = schema.header, sorted(schema.positive, key=str)
            for objects in bindings(index, header, required):
                if schema.applicable(state, objects):
                    after = schema.successor(state, objects)
                    if after not in ways:
                        ways[after] = (*ways[state], GroundAction(header.name, objects))
                        waiting.append(after)
    return False
