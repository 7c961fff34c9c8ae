"""Facts of one object in two places, as ``near(?x, ?x)``: where such are seen, what an agent does may depend on them.

Nobody thinks of them at first: no instruction names an object twice, and with atoms that do a model has many more lines.
"""

from __future__ import annotations

from aam_vision.interrogation.chance.going_on import VISIBLE, can_go_on
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.task.result import Result

HOW = "deterministic where facts may name one object twice"
TOLD = "Facts may name one object twice, and so may instructions."


def seen_twice(result: Result) -> bool:
    """Whether what was diagnosed may be explained by facts that name an object twice: some problem begins with one."""
    states = [situation.state for situation in result.transcript.initial]
    return can_go_on(result, VISIBLE, anywhere=True) and any(
        len({*atom.objects}) < len(atom.objects) for state in states for atom in state.true
    )


def with_repeated(diagnosed: Diagnosed) -> Further:
    """Interrogate an agent as a deterministic one that may name an object twice; or why no such model fits it, in a line. Raises AgentFailed."""
    return Further.of(diagnosed.as_deterministic(diagnosed.recorded, HOW, TOLD, repeated=True))
