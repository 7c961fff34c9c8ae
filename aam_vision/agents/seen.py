"""What an agent that shows itself in images has seen of a situation, and the memo of it for a later process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from aam_vision.agents.encoding import Malformed, field
from aam_vision.agents.memos import points
from aam_vision.agents.returning import Passage
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Percept
from aam_vision.simulator import Simulator


class Unlike(NamedTuple):
    """An image that looks unlike everything learned from: the number of its problem, its name if it was kept, and where."""

    problem: int
    image: str | None
    places: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """A situation: which simulator, in which state, and how it was perceived.

    ``snapshot`` is None where the access does not allow one to be taken, or an earlier process has taken it.
    """

    problem: int
    snapshot: object | None
    percept: Percept
    image: str | None
    """The name under which ``keep_images`` has kept the image."""
    passed: tuple[str, ...] = ()
    """The names of the images since the query's first, in order."""
    pixels: frozenset[str] = frozenset()
    """Digests of the images that were seen of it."""


def memo_of(seen: Seen) -> dict[str, Any]:
    """The problem, where things were seen, in which image, and after which other images."""
    percept = seen.percept
    memo = {
        "problem": seen.problem,
        "places": dict(percept.places),
        "refused": percept.refused,
        "pixels": sorted(seen.pixels),
    }
    positions = {thing: list(position) for thing, position in percept.positions.items()}
    more = {"image": seen.image, "passed": list(seen.passed), "positions": positions}
    more["unlike"] = list(percept.unlike)
    return {**memo, **{name: kept for name, kept in more.items() if kept}}


def remembered(passage: Passage, simulators: Sequence[Simulator]) -> tuple[int, Percept]:
    """The problem and percept of a situation that was seen in an earlier process.

    Args:
        passage: the way there, with the situation's memo.
        simulators: those of the agent's problems.

    Raises:
        UnusableInput: the memo is not as ``memo_of`` writes it.
    """
    try:
        problem = field(passage.memo, "problem", int)
        places = field(passage.memo, "places", dict)
        refused = field(passage.memo, "refused", bool)
        if not 0 <= problem < len(simulators):
            raise Malformed(f"there is no problem {problem}")
        scene = simulators[problem].scene
        if passage.after.state.objects != scene.objects or not places.keys() <= scene.looks.keys():
            raise Malformed(f"other things than those of problem {problem}")
        if not all(
            place is None or (isinstance(place, str) and place in scene.cells) for place in places.values()
        ):
            raise Malformed(f"other places than those of problem {problem}")
        positions = points(passage.memo, "positions")
        unlike = tuple(field(passage.memo, "unlike", list)) if "unlike" in passage.memo else ()
        if not all(isinstance(place, str) and place in scene.cells for place in unlike):
            raise Malformed(f"other places than those of problem {problem}")
    except Malformed as error:
        raise UnusableInput(
            f"the transcript does not say what was seen ({error}); start a new run instead"
        ) from None
    return problem, Percept(passage.after.state, places, refused, positions, unlike)


def digests(memo: object) -> frozenset[str]:
    """The digests of images that a situation's memo has kept; none if it is of another kind."""
    found = memo.get("pixels") if isinstance(memo, Mapping) else None
    return frozenset(one for one in found if isinstance(one, str)) if isinstance(found, list) else frozenset()


def digest(frame: Frame) -> str:
    """A digest of an image's pixels."""
    return blake2b(np.ascontiguousarray(frame).data, digest_size=8).hexdigest()
