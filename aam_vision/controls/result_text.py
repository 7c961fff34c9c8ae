"""The result of an interrogation of controls as a person reads it: on a terminal, and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from aam_vision.interrogation.task.result_text import table
from aam_vision.support.wording import counted, listed

if TYPE_CHECKING:
    from aam_vision.controls.result import ControlsResult


def figures(result: ControlsResult) -> list[tuple[str, str]]:
    """Names and values: how it ended, what the controls carry out, what is certain of that, and what it cost."""
    within, beyond = result.certain
    queries = 0 if result.interrogation is None else result.interrogation.counts.queries
    operators = [str(operator.header) for operator in result.operators]
    return [
        ("status", ": ".join(text for text in (result.status, result.missing or result.why) if text)),
        ("controls", ", ".join(map(str, result.controls))),
        *(("" if number else "operators", text) for number, text in enumerate(operators)),
        *(("" if number else "when", text) for number, text in enumerate(_conditional(result))),
        ("within", within),
        ("beyond", beyond),
        (
            "steps",
            f"{counted(result.steps, 'control')} given; {counted(queries, 'query')}, "
            f"{counted(result.rounds, 'discovery')}",
        ),
    ]


def in_short(result: ControlsResult) -> str:
    """The result in a line."""
    return (
        f"<ControlsResult: {result.status}; {counted(len(result.controls), 'control')}, "
        f"{counted(len(result.operators), 'operator')}; {counted(result.steps, 'control')} given>"
    )


def html(result: ControlsResult) -> str:
    """The result for a notebook: figures and the model. It has no style of its own."""
    model = f"<details open><summary>The model</summary><pre>{escape(result.pddl)}</pre></details>"
    return f"{table(figures(result))}{model}"


def _conditional(result: ControlsResult) -> list[str]:
    """Which cases are one action with conditional effects, and which are not, and why."""
    split = result.conditional
    found = [
        f"{listed([one.operator for one in action.branches])} are one action in model-when.pddl: {action.header}"
        for action in split.actions
    ]
    return [*found, *(f"not all cases of {control}: {why}" for control, why in split.apart.items())]
