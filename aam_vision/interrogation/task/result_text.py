"""A result as a person reads it: a line of figures each, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from aam_vision.interrogation.task.undetermined import OPEN
from aam_vision.interrogation.task.verdict import NOT_STRIPS, Ending, Verdict, assumption, verdict
from aam_vision.model.pddl import domain_text
from aam_vision.support import wording
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.interrogation.statistics.counts import ErrorRates
    from aam_vision.interrogation.task.result import Result

_WIDTH = 14
"""Columns of a figure's name."""
_NAMED = 3
"""Open groups that are named among the figures."""


def ending(result: Result) -> Ending:
    """How an interrogation ended."""
    groups = result.undetermined
    left = sum(group.kind == OPEN for group in groups)
    return Ending(
        result.status,
        result.proven,
        result.why,
        result.missing or "",
        result.exam,
        result.rates is not None,
        left,
        len(groups) - left,
        result.doubt,
        result.diagnosis,
    )


def figures(result: Result) -> list[tuple[str, str]]:
    """Names and values: how it ended, what it cost, how far the model is determined and can be relied on."""
    counts, ended = result.counts, ending(result)
    judged = verdict(ended)
    found = [*_verdict(ended, judged)]
    found += [
        (
            "queries",
            f"{counts.queries} (no sound interrogation needs fewer than {result.lower_bound} for what was proven)",
        ),
        (
            "steps",
            f"{counts.steps} ({counts.walk_steps} walked, {counts.failed_steps} failed, "
            f"{counted(counts.resets, 'reset')})",
        ),
    ]
    if result.rates is not None:
        found.append(
            ("looks", f"{counts.looks} (situations shown once more, in which nothing was attempted)")
        )
    found.append(("lines", f"{result.hypotheses.size} ({_groups(ended)})"))
    found += [("" if number else "open", line) for number, line in enumerate(_open(result, judged))]
    if result.rates is not None:
        surely = result.rates.surely and result.diagnosis is None
        found.append(("answers", _reliability(result.rates, surely=surely)))
    return found


def _open(result: Result, judged: Verdict) -> list[str]:
    """What is open, and what would settle it: a few groups by name."""
    named = [group for group in result.undetermined if group.kind == OPEN]
    found = list(map(str, named[:_NAMED]))
    if len(named) > _NAMED:
        found.append(f"and {len(named) - _NAMED} more, which result.json lists")
    return [*(text for text in judged.details if "--max-" in text), *found]


def _verdict(ended: Ending, judged: Verdict) -> list[tuple[str, str]]:
    """How sure the model is, why, and on which assumption."""
    if ended.status == NOT_STRIPS:
        return [
            ("status", f"{ended.status}: {judged.main}"),
            *(("diagnosis" if not number else "", text) for number, text in enumerate(judged.details)),
        ]
    found = [("status", f"{ended.status}: {ended.missing or ended.why}")]
    if ended.doubt and ended.doubt not in ended.why:
        found.append(("in doubt", f"everything: {ended.doubt}"))
    if ended.diagnosis is not None:
        found.append(("diagnosis", ended.diagnosis.why))
    found.append(("assumed", assumption(ended).partition(": ")[2].rstrip(".")))
    if judged.examination:
        found.append(("examination", judged.examination.rstrip(".")))
    return found


def aligned(lines: Iterable[tuple[str, str]]) -> str:
    """Names and values under each other, for a terminal, in lines of at most ``wording.WIDTH`` characters."""
    return "\n".join(
        f"{name if not number else '':<{_WIDTH}}{part}"
        for name, value in lines
        for number, part in enumerate(wording.lines(value, 2, wording.WIDTH - _WIDTH))
    )


def table(lines: Iterable[tuple[str, str]]) -> str:
    """Names and values as a table of HTML."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f"<table>{rows}</table>"


def in_short(result: Result) -> str:
    """The result in a line."""
    counts = result.counts
    return (
        f"<Result: {result.status}; {counted(len(result.model.actions), 'action')}, "
        f"{counted(result.hypotheses.size, 'line')}, {counted(len(result.undetermined), 'group')} undetermined; "
        f"{counted(counts.queries, 'query')}, {counted(counts.steps, 'step')}>"
    )


def html(result: Result) -> str:
    """The result for a notebook: figures, the model, and what is not determined. It has no style of its own."""
    model = escape(domain_text(result.model))
    shown = f"{table(figures(result))}<details open><summary>The model</summary><pre>{model}</pre></details>"
    for kind, title in (("open", "Open"), ("cannot matter", "Not determined, but cannot matter")):
        if left := [entry for entry in result.undetermined if entry.kind == kind]:
            entries = "".join(
                f"<li>{escape(entry.action)}, {'precondition' if entry.location == 'pre' else 'effect'}: "
                f"<code>{escape(', '.join(entry.group))}</code> ({escape(entry.known)}"
                f"{escape(f'; to settle it: {entry.settle}') if entry.settle else ''})</li>"
                for entry in left
            )
            shown += f"<details><summary>{title} ({len(left)})</summary><ul>{entries}</ul></details>"
    return shown


def _groups(ended: Ending) -> str:
    """How many groups are undetermined, and of which kind."""
    found = f"{counted(ended.open + ended.cannot_matter, 'group')} undetermined"
    kinds = [
        f"{number} {word}"
        for number, word in ((ended.open, "open"), (ended.cannot_matter, "cannot matter"))
        if number
    ]
    return f"{found}: {', '.join(kinds)}" if kinds else found


def _reliability(rates: ErrorRates, *, surely: bool) -> str:
    """How unreliable the answers were; of an agent that refuses ``surely`` nothing is said of wrong refusals."""
    wrong = [
        f"{100 * max(found, default=0):.1f}%"
        for found in (
            [one.false_positive for one in rates.misreadings.values()],
            [one.false_negative for one in rates.misreadings.values()],
        )
    ]
    refused = "" if surely else f", {100 * rates.refusals:.1f}% of steps refused by mistake"
    return (
        f"weighed: at most {wrong[0]} of false and {wrong[1]} of true atoms of a predicate are misread{refused} "
        "(estimates)"
    )
