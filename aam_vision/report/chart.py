"""Curves over the queries of a run, as points of an SVG drawing."""

from __future__ import annotations

from dataclasses import dataclass

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
    # ``result.json`` may be anybody's: values that are no points are left out
    rows = (account.run.figures or {}).get("curve")
    told = [row for row in rows[:100_000] if isinstance(row, list)] if isinstance(rows, list) else []
    accuracy = [(row[0], float(row[2])) for row in told if len(row) == 3 and _is_point(row[0], row[2])]
    points = {"accuracy": accuracy, "decided": account.progress}
    return [Curve(name, tuple(told)) for name, told in points.items() if told]


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


def _is_point(queries: object, share: object) -> bool:
    whole = type(queries) is int and 0 <= queries < 10**9
    return whole and isinstance(share, int | float) and 0 <= share <= 1
