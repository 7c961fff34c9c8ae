"""What an image agent's memo of a situation says about positions, read back."""

from __future__ import annotations

from collections.abc import Mapping

from aam_vision.agents.encoding import Malformed, show
from aam_vision.perception import Point


def points(memo: Mapping[str, object], name: str) -> dict[str, Point]:
    """Things and where they were found; none if the memo has no such field.

    Raises:
        Malformed: it is something else.
    """
    found = memo.get(name, {})
    if not isinstance(found, dict):
        raise Malformed(f"{name!r} is {show(found)}, which is not an object")
    read: dict[str, Point] = {}
    for thing, point in found.items():
        if (
            not isinstance(point, list)
            or len(point) != 2
            or not all(isinstance(share, int | float) for share in point)
        ):
            raise Malformed(f"{thing!r} in {name!r} is {show(point)}, which is not two numbers")
        read[thing] = (float(point[0]), float(point[1]))
    return read
