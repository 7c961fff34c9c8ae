"""Which of several equal-looking things is which: identity followed from one image to the next.

Followed, never guessed. A thing that still has its look where it was has stayed; a single thing that is
missing from its place and a single place that newly shows the look are the same thing; several are
matched only if exactly one way explains them by moves to a neighbouring place, the shortest there is.
Whatever is left is reported as undecided, with the places in question. Follow every image of a plan, in
order: over several steps a thing may have left and an equal one arrived at the same place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import permutations

MATCHED_AT_MOST = 6
"""More missing things than this are not matched (the matchings are enumerated)."""

Places = Mapping[str, str | None]
"""Thing -> its place, None once it has vanished; a thing that could not be told apart is missing."""


@dataclass(frozen=True)
class Sighting:
    """Where one look was found in an image: places that show it, and places that may show it."""

    certain: Set[str]
    doubtful: Set[str] = frozenset()


@dataclass(frozen=True)
class Tracked:
    """Things of one look after an image.

    ``places`` holds the things that are told apart; ``undecided`` the others, each with the places
    where it may be (None: the sighting contradicts the number of things, so it may be anywhere).
    """

    places: Mapping[str, str | None] = field(default_factory=dict)
    undecided: Mapping[str, Set[str] | None] = field(default_factory=dict)


def track(
    things: Sequence[str],
    before: Places,
    sighting: Sighting,
    *,
    may_vanish: bool,
    neighbours: Callable[[str, str], bool],
) -> Tracked:
    """Follow the things of one look into the next image.

    Args:
        things: all things of the look.
        before: their places in the image before.
        sighting: where the look is found now.
        may_vanish: whether things of the look can leave the board.
        neighbours: whether two places are next to each other.
    """
    if _contradicts(len(things), sighting, may_vanish):
        return Tracked(undecided=dict.fromkeys(things))
    shared = _shared(before[t] for t in things if t in before)
    stayed: dict[str, str | None] = {
        t: before[t] for t in things if t in before and before[t] in sighting.certain - shared
    }
    found = sorted(sighting.certain - set(stayed.values()))
    if not found and not sighting.doubtful:
        return Tracked({**stayed, **{t: None for t in things if t not in stayed}})
    vanished = {t for t in things if t in before and before[t] is None}
    # a vanished thing comes back only where a place certainly shows its look
    missing = [t for t in things if t not in stayed and (found or t not in vanished)]
    places = {**stayed, **{t: None for t in vanished if t not in missing}}
    if not missing:
        return Tracked(places)  # all are accounted for: a doubtful place cannot hold one of them
    if not sighting.doubtful and len(missing) == len(found):
        places.update(_match(missing, found, before, neighbours))
    claimed = {p for p in places.values() if p is not None}
    maybe = frozenset(found).union(sighting.doubtful) - claimed
    return Tracked(places, {t: maybe for t in missing if t not in places})


def confirm(
    things: Sequence[str], anchors: Mapping[str, str], sighting: Sighting, *, may_vanish: bool
) -> Tracked:
    """Name the things of one look in the first image.

    A thing whose anchor does not show its look is undecided. A thing without an anchor is named only if
    it is the only one left for the only place left.
    """
    if _contradicts(len(things), sighting, may_vanish):
        return Tracked(undecided=dict.fromkeys(things))
    visible = sighting.certain - _shared(anchors[t] for t in things if t in anchors)
    places: dict[str, str | None] = {t: anchors[t] for t in things if anchors.get(t) in visible}
    left = (sighting.certain | sighting.doubtful) - set(places.values())
    missing = [t for t in things if t not in places]
    if not left:  # nothing more to be seen: things without an anchor are not on the board
        places.update({t: None for t in missing if t not in anchors})
    elif len(missing) == 1 and missing[0] not in anchors and left <= sighting.certain:
        places[missing[0]] = next(iter(left))
    return Tracked(
        places, {t: left | {anchors[t]} if t in anchors else left for t in missing if t not in places}
    )


def _shared(places: Iterable[str | None]) -> set[str]:
    """Places that hold several equal things: one image cannot tell how many of them are still there."""
    return {place for place, number in Counter(places).items() if place is not None and number > 1}


def _contradicts(number: int, sighting: Sighting, may_vanish: bool) -> bool:
    """Whether the look cannot be where it was found, given the number of things that have it."""
    sure, possible = len(sighting.certain), len(sighting.certain | sighting.doubtful)
    return sure > number or (possible < number and not may_vanish)


def _match(
    missing: Sequence[str], found: Sequence[str], before: Places, neighbours: Callable[[str, str], bool]
) -> dict[str, str]:
    """The places of the missing things that are the same in every possible matching."""
    if len(missing) == 1:
        return {missing[0]: found[0]}
    if len(missing) > MATCHED_AT_MOST:
        return {}
    # without a last place a thing may be in any of them
    choices = [[p for p in found if last is None or neighbours(last, p)] for last in map(before.get, missing)]
    matchings = [
        way
        for way in permutations(found)
        if all(place in own for place, own in zip(way, choices, strict=True))
    ]
    agreed = zip(missing, *matchings, strict=True) if matchings else ()
    return {thing: options[0] for thing, *options in agreed if len(set(options)) == 1}
