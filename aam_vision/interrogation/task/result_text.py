"""A result as a person reads it: a line of figures each, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from aam_vision.pddl import domain_text

if TYPE_CHECKING:
    from aam_vision.interrogation.statistics.error_rates import ErrorRates
    from aam_vision.interrogation.task.result import Result

_WIDTH = 14
"""Columns of a figure's name."""


def figures(result: Result) -> list[tuple[str, str]]:
    """Names and values: how it ended, what it cost, how far the model is determined and can be relied on."""
    counts, groups = result.counts, len(result.undetermined)
    found = [
        ("status", f"{result.status}: {result.why}"),
        ("examination", str(result.exam)),
        (
            "queries",
            f"{counts.queries} (no sound interrogation needs fewer than {result.lower_bound} for what was proven)",
        ),
        (
            "steps",
            f"{counts.steps} ({counts.walk_steps} walked, {counts.failed_steps} failed, {counts.resets} resets)",
        ),
        ("pal tuples", f"{result.hypotheses.size} ({groups} groups undetermined)"),
    ]
    if result.rates is not None:
        found.append(("answers", _reliability(result.rates)))
    if result.assessment is None and result.doubt:
        found.append(("in doubt", f"everything: {result.doubt}"))
    return found


def aligned(lines: Iterable[tuple[str, str]]) -> str:
    """Names and values under each other, for a terminal."""
    return "\n".join(f"{name:<{_WIDTH}}{value}" for name, value in lines)


def in_short(result: Result) -> str:
    """The result in a line."""
    counts = result.counts
    return (
        f"<Result: {result.status}; {len(result.model.actions)} actions, {result.hypotheses.size} pal tuples, "
        f"{len(result.undetermined)} groups undetermined; {counts.queries} queries, {counts.steps} steps>"
    )


def html(result: Result) -> str:
    """The result for a notebook: figures, the model, and what is not determined. It has no style of its own."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in figures(result)
    )
    model = escape(domain_text(result.model))
    shown = f"<table>{rows}</table><details open><summary>The model</summary><pre>{model}</pre></details>"
    if left := result.undetermined:
        entries = "".join(
            f"<li>{escape(entry.action)}, {'precondition' if entry.location == 'pre' else 'effect'}: "
            f"<code>{escape(', '.join(entry.group))}</code> ({escape(entry.known)})</li>"
            for entry in left
        )
        shown += f"<details><summary>Not determined ({len(left)})</summary><ul>{entries}</ul></details>"
    return shown


def _reliability(rates: ErrorRates) -> str:
    """How unreliable the answers were."""
    wrong = [
        f"{100 * max(found, default=0):.1f}%"
        for found in (
            [one.false_positive for one in rates.misreadings.values()],
            [one.false_negative for one in rates.misreadings.values()],
        )
    ]
    return (
        f"weighed: at most {wrong[0]} of false and {wrong[1]} of true atoms of a predicate are misread, "
        f"{100 * rates.refusals:.1f}% of steps refused by mistake (estimates)"
    )
