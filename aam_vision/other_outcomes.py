"""What chance of another outcome an interrogation did not exclude whose every answer fits an agent without chance.

Of n steps of an action that all came out as the model says, an outcome that would have shown and has a probability above x is missed
with a probability below (1 - x)^n. As nothing else ever came about, the steps were those that an agent without chance is asked for,
so that n was fixed beforehand. With 95% x is at most 1 - .05^(1/n), about 3/n.
"""

from __future__ import annotations

from collections import Counter

from aam_vision.interrogation.evidence.attempted_steps import attempted
from aam_vision.interrogation.examination.figures import Exam
from aam_vision.interrogation.task.result import Result
from aam_vision.wording import counted


def not_excluded(result: Result) -> dict[str, float] | None:
    """By action, the probability up to which another outcome is not excluded, for each action with 95%.

    Steps count of which the situations before and after them were seen. None where answers are not taken at their word, or
    contradict a model without chance.
    """
    if result.rates is not None or result.doubt:
        return None
    return {name: Exam(made).bound for name, made in _made(result).items()}


def sentence(result: Result) -> str:
    """The same in words, about the action that was executed least; empty where nothing is to be said."""
    if not_excluded(result) is None:
        return ""
    made = {name: count for name, count in _made(result).items() if count}
    if not made:
        return ""
    name = min(made, key=lambda one: made[one])
    bound = 100 * Exam(made[name]).bound
    others = ", of each other action in no more" if len(made) > 1 else ""
    return (
        f"not seen: each action came out as the model says whenever it was executed. Not excluded, with 95%: another outcome of {name} "
        f"in up to {bound:.0f}% of its steps ({counted(made[name], 'execution')}){others}"
    )


def _made(result: Result) -> dict[str, int]:
    """By action, the executed steps of which both situations were seen."""
    steps = attempted(result.transcript.in_single_steps())
    found = Counter(
        step.action.name
        for step in steps
        if step.executed and step.before is not None and step.after is not None
    )
    return {schema.header.name: found[schema.header.name] for schema in result.model.actions}
