"""Curves over the queries of a run, as points of an SVG drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.report.account import Account

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 16, 40
"""Margins, in the drawing's units."""


@dataclass(frozen=True)
class Curve:
    """One curve: its name, and (queries, share) points."""

    name: str
    points: tuple[tuple[int, float], ...]

    def path(self, most: int) -> str:
        """The points of an SVG polyline where ``most`` queries are the whole width."""
        return " ".join(f"{x_of(queries, most):.1f},{y_of(share):.1f}" for queries, share in self.points)


def curves(account: Account) -> list[Curve]:
    """The share of pal tuples decided, and the accuracy where a ground truth is known, after each query."""
    decided = _decided(account)
    found = [Curve("decided", tuple(decided))] if decided else []
    figures = account.run.figures
    accuracy = [] if figures is None else _accuracy(figures["curve"])
    return [*([Curve("accuracy", tuple(accuracy))] if accuracy else []), *found]


def x_of(queries: int, most: int) -> float:
    """The place of a number of queries in the drawing."""
    return LEFT + (WIDTH - LEFT - RIGHT) * queries / max(1, most)


def y_of(share: float) -> float:
    """The place of a share, 0 to 1, in the drawing."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def ticks(most: int) -> list[int]:
    """A few round numbers of queries up to ``most``."""
    step = next(s * 10**e for e in range(12) for s in (1, 2, 5) if most <= 6 * s * 10**e)
    return list(range(0, most + 1, step))


def _decided(account: Account) -> list[tuple[int, float]]:
    if account.weighing is not None:  # answers that are weighed decide nothing for good
        return []
    size, queries, points = account.proofs.hypotheses.size, 0, list[tuple[int, float]]()
    for entry, decided in zip(account.proofs.transcript.entries, account.proofs.decided, strict=True):
        if isinstance(entry, Asked):
            queries += 1
            points.append((queries, decided / max(1, size)))
    return points


def _accuracy(rows: Sequence[Any]) -> list[tuple[int, float]]:
    """The points in ``result.json``, which may be anybody's: other values are left out."""
    return [
        (row[0], float(row[2]))
        for row in rows[:100_000]
        if isinstance(row, list)
        and len(row) == 3
        and type(row[0]) is int
        and 0 <= row[0] < 10**9
        and isinstance(row[2], int | float)
        and 0 <= row[2] <= 1
    ]
