"""Figures of results, as SVG that changes only when the figures in it do."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from aam_vision.commandline import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Told apart by the colour-blind, too (Okabe and Ito)."""
PAPER_COLOUR = "#999999"


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "aam-vision", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    write_atomically(path, "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n")


def queries_figure(rows: Sequence[Row], paper: Mapping[str, int], path: Path) -> None:
    """Queries by environment: the paper's, each method's with the least and the most, and the lower bound."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["env"] for row in rows))
    methods = list(dict.fromkeys((row["policy"], row["planner"]) for row in rows))
    figure = Figure(figsize=(1.5 + 0.9 * len(names), 3.6), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / (len(methods) + 1)
    known = [(place, paper[name]) for place, name in enumerate(names) if name in paper]
    axes.bar(
        [place for place, _ in known], [q for _, q in known], width, color=PAPER_COLOUR, label="the paper"
    )
    for number, method in enumerate(methods, 1):
        for place, name in enumerate(names):
            runs = [
                row["queries"]
                for row in rows
                if row["env"] == name and (row["policy"], row["planner"]) == method
            ]
            if not runs:
                continue
            middle = mean(runs)
            axes.bar(
                place + number * width,
                middle,
                width,
                yerr=[[middle - min(runs)], [max(runs) - middle]],
                capsize=2,
                color=COLOURS[(number - 1) % len(COLOURS)],
                label=", ".join(method) if name == names[0] else "_",
            )
    for place, name in enumerate(names):
        bound = mean(row["lower_bound"] for row in rows if row["env"] == name)
        axes.hlines(
            bound,
            place - width / 2,
            place + (len(methods) + 0.5) * width,
            color="black",
            label="lower bound" if place == 0 else "_",
        )
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)  # bars of a logarithmic axis have no other common foot
    axes.set_ylabel("queries")
    axes.set_xticks([place + len(methods) * width / 2 for place in range(len(names))], names, rotation=20)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    save_svg(figure, path)
