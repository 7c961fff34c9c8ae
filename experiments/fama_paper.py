"""Published figures of FAMA and AIA: the points of the paper's Fig. 3, to be drawn beside ours.

Times are from the files of results that the authors published with their code (``results_aaai21``). These files also
show how accuracy was counted. AIA's is the share of all palm tuples. FAMA's is another figure: with the precision and
recall that stand beside it, it is exactly the literals in both the learned and the true model over those in either
(blocksworld after 5 traces: 22 right, 3 too many, 5 missing; 22/30 = 0.73). So the two curves of Fig. 3 do not measure
the same, and ours are drawn for both measures.
"""

from __future__ import annotations

from typing import NamedTuple


class Point(NamedTuple):
    """After so many traces or queries: the published accuracy, and seconds for each of them."""

    after: int
    accuracy: float
    seconds: float


def _points(*rows: tuple[int, float, float]) -> tuple[Point, ...]:
    return tuple(Point(*row) for row in rows)


FAMA = {
    "blocksworld": _points(
        (1, 0.27, 0.11), (5, 0.73, 0.03), (10, 0.40, 0.02), (20, 0.65, 0.03), (30, 0.80, 1.30), (50, 0.63, 7.0)
    ),
    "gripper": _points(
        (1, 0.64, 0.09), (2, 1.0, 0.05), (10, 1.0, 0.01), (20, 1.0, 0.01), (30, 1.0, 0.08), (50, 1.0, 2.4)
    ),
    "miconic": _points(
        (1, 0.37, 0.10), (5, 0.61, 0.02), (10, 1.0, 0.02), (20, 0.94, 0.01), (30, 0.94, 0.61), (47, 1.0, 5.25)
    ),
    "parking": _points(
        (1, 0.38, 0.84), (5, 0.70, 0.24), (10, 0.68, 0.15), (20, 0.79, 0.12), (30, 0.68, 0.24), (50, 0.68, 0.14)
    ),
    "rovers": _points(
        (1, 0.15, 0.30), (10, 0.42, 0.07), (20, 0.53, 0.12), (30, 0.64, 0.38), (41, 0.70, 7.84), (48, 0.76, 12.23)
    ),
    "satellite": _points(
        (1, 0.61, 0.11), (10, 0.50, 0.02), (20, 0.58, 0.03), (30, 0.78, 0.11), (37, 0.84, 0.08), (50, 0.74, 0.93)
    ),
    "termes": _points(
        (1, 0.40, 0.20), (10, 0.71, 0.09), (20, 0.74, 0.11), (30, 0.80, 0.78), (40, 0.94, 1.82), (44, 0.81, 6.76)
    ),
}  # fmt: skip
"""Traces of length 3, Madagascar as the planner."""

AIA = {
    "blocksworld": _points(
        (3, 0.02, 0.0307), (14, 0.31, 0.0135), (24, 0.35, 0.0119), (38, 0.69, 0.0105), (48, 1.0, 0.0084)
    ),
    "gripper": _points(
        (2, 0.05, 0.0398), (7, 0.30, 0.0245), (9, 0.60, 0.0191), (14, 0.70, 0.0192), (15, 1.0, 0.0180)
    ),
    "miconic": _points(
        (3, 0.02, 0.0283), (13, 0.32, 0.0068), (22, 0.39, 0.0080), (28, 0.66, 0.0096), (36, 0.84, 0.0100),
        (39, 1.0, 0.0093),
    ),
    "parking": _points(
        (4, 0.01, 0.0230), (20, 0.22, 0.0099), (35, 0.44, 0.0160), (48, 0.69, 0.0178), (63, 1.0, 0.0137)
    ),
    "rovers": _points(
        (3, 0.0, 0.0352), (66, 0.18, 0.0041), (160, 0.45, 0.0060), (262, 0.66, 0.0058), (370, 1.0, 0.0050)
    ),
    "satellite": _points((4, 0.02, 0.0209), (20, 0.44, 0.0134), (34, 0.74, 0.0140), (41, 1.0, 0.0116)),
    "termes": _points(
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
