"""Published figures of FAMA and AIA: the points of the paper's Fig. 3, to be drawn beside ours.

Times are from the files of results that the authors published with their code (``results_aaai21``). These files also
show how accuracy was counted. AIA's is the share of all palm tuples. FAMA's is another figure: with the precision and
recall that stand beside it, it is exactly the literals in both the learned and the true model over those in either
(blocksworld after 5 traces: 22 right, 3 too many, 5 missing; 22/30 = 0.73). So the two curves of Fig. 3 do not measure
the same, and ours are drawn for both measures.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Point(NamedTuple):
    """After so many traces or queries: the published accuracy, and seconds for each of them."""

    after: int
    accuracy: float
    seconds: float


def _paper_points(*rows: tuple[int, float, float]) -> tuple[Point, ...]:
    return tuple(Point(*row) for row in rows)


FAMA = {
    "blocksworld": _paper_points(
        (1, 0.27, 0.11), (5, 0.73, 0.03), (10, 0.40, 0.02), (20, 0.65, 0.03), (30, 0.80, 1.30), (50, 0.63, 7.0)
    ),
    "gripper": _paper_points(
        (1, 0.64, 0.09), (2, 1.0, 0.05), (10, 1.0, 0.01), (20, 1.0, 0.01), (30, 1.0, 0.08), (50, 1.0, 2.4)
    ),
    "miconic": _paper_points(
        (1, 0.37, 0.10), (5, 0.61, 0.02), (10, 1.0, 0.02), (20, 0.94, 0.01), (30, 0.94, 0.61), (47, 1.0, 5.25)
    ),
    "parking": _paper_points(
        (1, 0.38, 0.84), (5, 0.70, 0.24), (10, 0.68, 0.15), (20, 0.79, 0.12), (30, 0.68, 0.24), (50, 0.68, 0.14)
    ),
    "rovers": _paper_points(
        (1, 0.15, 0.30), (10, 0.42, 0.07), (20, 0.53, 0.12), (30, 0.64, 0.38), (41, 0.70, 7.84), (48, 0.76, 12.23)
    ),
    "satellite": _paper_points(
        (1, 0.61, 0.11), (10, 0.50, 0.02), (20, 0.58, 0.03), (30, 0.78, 0.11), (37, 0.84, 0.08), (50, 0.74, 0.93)
    ),
    "termes": _paper_points(
        (1, 0.40, 0.20), (10, 0.71, 0.09), (20, 0.74, 0.11), (30, 0.80, 0.78), (40, 0.94, 1.82), (44, 0.81, 6.76)
    ),
}  # fmt: skip
"""Traces of length 3, Madagascar as the planner."""

AIA = {
    "blocksworld": _paper_points(
        (3, 0.02, 0.0307), (14, 0.31, 0.0135), (24, 0.35, 0.0119), (38, 0.69, 0.0105), (48, 1.0, 0.0084)
    ),
    "gripper": _paper_points(
        (2, 0.05, 0.0398), (7, 0.30, 0.0245), (9, 0.60, 0.0191), (14, 0.70, 0.0192), (15, 1.0, 0.0180)
    ),
    "miconic": _paper_points(
        (3, 0.02, 0.0283), (13, 0.32, 0.0068), (22, 0.39, 0.0080), (28, 0.66, 0.0096), (36, 0.84, 0.0100),
        (39, 1.0, 0.0093),
    ),
    "parking": _paper_points(
        (4, 0.01, 0.0230), (20, 0.22, 0.0099), (35, 0.44, 0.0160), (48, 0.69, 0.0178), (63, 1.0, 0.0137)
    ),
    "rovers": _paper_points(
        (3, 0.0, 0.0352), (66, 0.18, 0.0041), (160, 0.45, 0.0060), (262, 0.66, 0.0058), (370, 1.0, 0.0050)
    ),
    "satellite": _paper_points((4, 0.02, 0.0209), (20, 0.44, 0.0134), (34, 0.74, 0.0140), (41, 1.0, 0.0116)),
    "termes": _paper_points(
        (3, 0.01, 0.0334), (49, 0.36, 0.0078), (86, 0.56, 0.0064), (115, 0.75, 0.0101), (134, 1.0, 0.0170)
    ),
}  # fmt: skip
"""Fast Downward as the planner; the accuracy is AIA's running estimate, the share of resolved palm tuples."""

ORIGINAL = {
    "blocksworld": {3: (0.75, 0.75), 5: (0.97, 0.98), 10: (1.0, 1.0), 20: (0.98, 0.98)},
    "gripper": {3: (0.85, 0.85), 5: (0.75, 0.95), 10: (1.0, 1.0), 20: (0.90, 0.90)},
}
"""FAMA's original program run once more, last states tested under the closed world and without post-processing:
the least and the greatest accuracy seen, by number of traces. They are whole numbers of blocksworld's 52 and gripper's
20 palm tuples, so shares of these. How many runs were made is not known."""


# Fig. 3, redrawn: one column per domain; accuracy, the paper's measure of FAMA, and time.


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
