"""Fig. 3, redrawn: one column per domain; accuracy, the paper's measure of FAMA, and time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.fama_paper import AIA, FAMA, ORIGINAL

Series = Mapping[int, Sequence[float]]
"""By number of traces or queries: the values of all runs."""

BLUE, ORANGE, YELLOW, GREEN, GREY = "#0072b2", "#d55e00", "#e69f00", "#009e73", "#777777"
"""Colours that colour-blind readers tell apart."""


@dataclass(frozen=True)
class Curves:
    """The measurements in one domain."""

    chosen_from_all: Series
    """FAMA's share of palm tuples: closed world, raw, any model."""
    frugal: Series
    """The same of a frugal choice."""
    overlap: Series
    """FAMA's literals in both models over those in either: closed world, frugal and intersected."""
    overlap_true_only: Series
    """The same where only the true atoms of last states are tested."""
    no_model: Series
    """1 for every run whose traces no model explains (closed world), 0 for the others."""
    fama_seconds: Series
    aia: Series
    aia_without_walks: Series
    aia_seconds: Series


def draw(domains: Mapping[str, Curves]) -> str:
    """The figure as SVG; the same data give the same text."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = {
        "svg.hashsalt": "aam-vision", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
        "axes.spines.right": False, "lines.linewidth": 1.3, "lines.markersize": 5, "axes.titlesize": 9,
    }  # fmt: skip
    with mpl.rc_context(style):
        figure = Figure(figsize=(2.1 * len(domains) + 0.6, 6.6))
        FigureCanvasSVG(figure)
        axes = figure.subplots(3, len(domains), squeeze=False, sharey="row", sharex="col")
        for column, (name, curves) in zip(axes.T, domains.items(), strict=True):
            for axis, fill in zip(column, (_accuracy, _overlap, _seconds), strict=True):
                fill(axis, name, curves)
            column[0].set_title(name)
            column[2].set_xlabel("traces (FAMA), queries (AIA)")
            column[2].set_xscale("log")
            column[2].set_yscale("log")
        for axis, label in zip(
            axes[:, 0],
            ("share of palm tuples", "literals in both / in either", "CPU s a trace or query"),
            strict=True,
        ):
            axis.set_ylabel(label)
        for axis in axes[:2].flat:
            axis.set_ylim(-0.03, 1.03)
            axis.grid(axis="y", color="#eeeeee")
        entries: dict[str, Any] = {}
        for axis in axes.flat:
            handles, labels = axis.get_legend_handles_labels()
            entries.update(zip(labels, handles, strict=True))
        figure.tight_layout(rect=(0, 0.09, 1, 1))
        figure.legend(entries.values(), entries.keys(), loc="lower center", ncol=4, frameon=False)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _accuracy(axis: Any, name: str, curves: Curves) -> None:
    _band(axis, curves.chosen_from_all, YELLOW, "FAMA here, raw, any model")
    _band(axis, curves.frugal, ORANGE, "FAMA here, raw, frugal (bands: all seeds)")
    _band(axis, curves.aia, BLUE, "AIA here, after 500 walk steps")
    _line(axis, curves.aia_without_walks, BLUE, "AIA here, no walks", linestyle="--")
    _points(axis, AIA[name], "accuracy", BLUE, "x", "AIA, paper")
    known = ORIGINAL.get(name, {})
    for number, (count, (low, high)) in enumerate(known.items()):
        label = "FAMA's program, closed world" if number == 0 else None
        axis.plot(
            [count, count], [low, high], color=GREY, marker="s", markersize=3.5, linestyle="-", label=label
        )
    lost = curves.no_model[max(curves.no_model)] if curves.no_model else [0]
    if any(lost):
        note = f"{max(curves.no_model)} traces: no model\nin {sum(lost)} of {len(lost)} runs"
        axis.text(0.98, 0.03, note, transform=axis.transAxes, ha="right", fontsize=7, color=GREY)


def _overlap(axis: Any, name: str, curves: Curves) -> None:
    _band(axis, curves.overlap, GREEN, "FAMA here, frugal, intersected")
    _line(axis, curves.overlap_true_only, GREEN, "the same, only true atoms tested", linestyle="--")
    _points(axis, FAMA[name], "accuracy", ORANGE, "+", "FAMA, paper")


def _seconds(axis: Any, name: str, curves: Curves) -> None:
    _band(axis, curves.fama_seconds, ORANGE, "FAMA here, raw, frugal (bands: all seeds)")
    _band(axis, curves.aia_seconds, BLUE, "AIA here, after 500 walk steps")
    _points(axis, FAMA[name], "seconds", ORANGE, "+", "FAMA, paper")
    _points(axis, AIA[name], "seconds", BLUE, "x", "AIA, paper")


def _band(axis: Any, series: Series, colour: str, label: str) -> None:
    """The mean as a line, all runs as a band."""
    counts = _line(axis, series, colour, label)
    low, high = [min(series[n]) for n in counts], [max(series[n]) for n in counts]
    axis.fill_between(counts, low, high, color=colour, alpha=0.18, linewidth=0)


def _line(axis: Any, series: Series, colour: str, label: str, linestyle: str = "-") -> list[int]:
    counts = [n for n in sorted(series) if series[n]]
    axis.plot(
        counts,
        [sum(series[n]) / len(series[n]) for n in counts],
        color=colour,
        label=label,
        linestyle=linestyle,
    )
    return counts


def _points(axis: Any, points: Sequence[Any], what: str, colour: str, marker: str, label: str) -> None:
    axis.plot(
        [point.after for point in points],
        [getattr(point, what) for point in points],
        color=colour, marker=marker, linestyle="none", label=label,
    )  # fmt: skip
