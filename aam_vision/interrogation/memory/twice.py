"""Facts of one object in two places, as ``near(?x, ?x)``: where such are seen, what an agent does may depend on them.

Nobody thinks of them at first: no instruction names an object twice, and with atoms that do a model has many more lines.
"""

from __future__ import annotations

import numpy as np

from aam_vision.interrogation.chance.going_on import VISIBLE, can_go_on
from aam_vision.interrogation.memory.going_on import as_deterministic
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result

HOW = "deterministic where facts may name one object twice"
TOLD = "Facts may name one object twice, and so may instructions."


def seen_twice(result: Result) -> bool:
    """Whether what was diagnosed may be explained by facts that name an object twice: some problem begins with one."""
    states = [situation.state for situation in result.transcript.initial]
    return can_go_on(result, VISIBLE, anywhere=True) and any(
        len({*atom.objects}) < len(atom.objects) for state in states for atom in state.true
    )


def with_repeated(
    recorded: RecordingAgent,
    result: Result,
    rng: np.random.Generator,
    budget: Budget | None = None,
    exam: int | None = None,
) -> Result | str:
    """Interrogate an agent as a deterministic one that may name an object twice; or why no such model fits it, in a line.

    Args:
        recorded: the agent that was interrogated; all that it was asked counts.
        result: with a diagnosis.
        rng: for the agent's own walks.
        budget: of both together.
        exam: steps of the examination; None for a quarter of all others.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    return as_deterministic(recorded, recorded, result, rng, budget, exam, HOW, TOLD, repeated=True)
