"""Curves of results, drawn by matplotlib, which is imported when somebody wants to see one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes


def learning_curve(points: Sequence[tuple[int, float]], axes: Axes | None = None) -> Axes:
    """Draw how much of a model stood after how many queries.

    Args:
        points: numbers of queries, and shares from 0 to 1.
        axes: where to; new ones if None.
    """
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots()[1]
    axes.step([queries for queries, _ in points], [share for _, share in points], where="post")
    axes.set(xlabel="queries", ylabel="lines as in the end", ylim=(0, 1.02))
    return axes
