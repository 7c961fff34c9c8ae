"""Things of one look are told apart by where they were; where that is not certain, nothing is believed about them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from torch import nn

from aam_vision.classifiers.camera.network import fused, new_network, with_peaks
from aam_vision.classifiers.camera.perception import CLEARLY, SAME_PLACE, Answers, Sightings
from aam_vision.model.strips import Atom

from .piles import random_state, scene
from .test_perception import PLAN, reader

REDS = ("thing-0", "thing-1", "thing-2")
POINTS = {"thing-0": (0.2, 0.2), "thing-1": (0.5, 0.5), "thing-2": (0.8, 0.3)}


THE_LAST = {"thing-2": (0.8, 0.31)}
MIDDLE = (0.2, 0.2 + SAME_PLACE / 2)
CLOSE = {**POINTS, "thing-1": (0.2, 0.2 + SAME_PLACE)}
AROUND = [(MIDDLE[0] - 0.03, MIDDLE[1]), (MIDDLE[0] + 0.03, MIDDLE[1]), POINTS["thing-2"]]
MOVED = [(0.9, 0.9), (0.51, 0.5), (0.8, 0.31)]


def _seen(sightings, places, possible=0):
    positions = np.full((sum(sightings.numbers), 2), 0.5, np.float32)
    positions[: len(places)] = np.array(places).reshape(-1, 2)
    number = np.arange(len(positions))
    return number < len(places), number < len(places) + possible, positions


def _told(places, before=None, *, possible=0, points=POINTS):
    """Who is told apart, and where, if the reds are seen at these places, and perhaps at ``possible`` more."""
    sightings = Sightings(PLAN, replace(scene("red", "red", "red", "ball"), points=points))
    return sightings, sightings.tell(*_seen(sightings, places, possible), before)


def _where(told):
    return {thing: tuple(np.round(place, 3)) for thing, place in told.places.items()}


def test_whatever_the_order_of_the_peaks_things_are_named_by_where_the_user_points() -> None:
    moved = {thing: tuple(np.round(np.add(POINTS[thing], (0.03, 0.04)), 3)) for thing in REDS}
    for order in permutations(POINTS):
        sightings, told = _told([moved[thing] for thing in order])
        assert _where(told) == moved
        assert not told.doubtful.any()
        assert [int(told.rows[sightings.things.index(thing)]) for thing in order] == [0, 1, 2]


@pytest.mark.parametrize(
    ("places", "before", "more", "found", "doubtful"),
    [
        # what stayed is followed, and the only one that moved is the one that is left
        (MOVED, POINTS, {}, dict(zip(REDS, MOVED, strict=True)), []),
        ([(0.9, 0.9), (0.1, 0.9), (0.8, 0.31)], POINTS, {}, THE_LAST, REDS[:2]),  # either may be the one
        # nothing is believed of a look unless all of its things are seen, and no more
        ([(0.2, 0.2), (0.5, 0.5)], POINTS, {}, {}, REDS),
        ([(0.2, 0.2), (0.5, 0.5)], POINTS, {"possible": 1}, {}, REDS),
        ([*POINTS.values(), (0.4, 0.9)], POINTS, {}, {}, REDS),
        # where the user points things are even if the first picture does not show them apart; without points none is
        ([(0.2, 0.2), (0.6, 0.5)], None, {}, POINTS, REDS),
        ([*POINTS.values()], None, {"points": {}}, {}, REDS),
        # two that are close together are not told apart by points that fit both ways
        (AROUND, None, {"points": CLOSE}, {"thing-2": POINTS["thing-2"]}, REDS[:2]),
    ],
)
def test_things_of_one_look_are_told_apart_where_that_is_certain(
    places, before, more, found, doubtful
) -> None:
    assert CLEARLY > 1
    sightings, told = _told(places, before, **more)
    assert _where(told) == found
    assert [thing for thing, one in zip(sightings.things, told.doubtful, strict=True) if one] == [*doubtful]


def test_after_one_was_not_seen_the_others_are_not_told_apart_by_where_they_were() -> None:
    _, told = _told([POINTS["thing-1"], POINTS["thing-2"]], POINTS)  # thing-0 stands behind thing-1
    _, later = _told([(0.9, 0.9), POINTS["thing-1"], POINTS["thing-2"]], told.places)
    assert later.doubtful[:3].all()  # thing-1 may be gone, and what shows there be thing-0
    assert not later.places
    sightings, told = _told([(0.2, 0.2), (0.6, 0.5)])
    now = [(0.2, 0.2), (0.5, 0.5), (0.9, 0.9)]
    assert _where(sightings.tell(*_seen(sightings, now), told.places)) == dict(zip(REDS, now, strict=True))


def test_what_is_beside_a_thing_that_is_not_seen_may_be_read_wrongly() -> None:
    _, told = _told([POINTS["thing-0"], POINTS["thing-1"]], POINTS)
    assert told.beside(np.array(POINTS["thing-2"], np.float32))
    _, told = _told(list(POINTS.values()), POINTS)
    assert not any(told.beside(np.array(place, np.float32)) for place in POINTS.values())


def _bright(network, spots):
    """A picture of features whose first channel is one around these places, and a map of red that shows it."""
    near = torch.zeros(1, network.maps.in_channels, 20, 30)
    for down, across in spots:
        near[0, 0, down - 1 : down + 2, across - 1 : across + 2] = 1
    with torch.no_grad():
        network.maps.weight.zero_()
        network.maps.bias.zero_()
        network.maps.weight[0, 0] = 20
        network.maps.bias[0] = -10
    return near


def test_every_peak_has_a_map_of_its_own_that_is_nowhere_but_near_it() -> None:
    network = fused(new_network(PLAN, 0))
    spots = ((3, 4), (10, 20), (15, 5))
    near = _bright(network, spots)
    peaks = with_peaks(network, (4, 1, 1, 1))
    assert isinstance(peaks.maps, nn.Module)
    maps = peaks.maps(near)[0]
    assert maps.shape[0] == 4 + 3 + 2
    tops = {tuple(torch.nonzero(maps[row] > 0).float().mean(0).tolist()) for row in range(3)}
    assert tops == set(spots)
    assert float(maps[3].max()) < -30  # there is no fourth
    together = maps[:3].amax(0)
    assert torch.allclose(together, network.maps(near)[0, 0])


def test_a_look_with_one_peak_is_answered_about_as_ever() -> None:
    perception = reader()
    frame = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    (usual,), own = perception._network([frame]), perception._network.peaks(frame, (1, 1, 1, 1))
    assert np.abs(usual.logits - own.logits).max() < 1e-4
    assert np.abs(usual.positions - own.positions).max() < 1e-4
    assert np.array_equal(usual.cells, own.cells)


@pytest.mark.parametrize("apart", [True, False])
def test_what_is_told_apart_is_read_and_what_is_not_is_unknown(apart) -> None:
    perception, one = reader(), replace(scene("red", "red", "red", "ball"), points=POINTS)
    sightings, told = _told(list(POINTS.values()) if apart else [(0.1, 0.9)], POINTS)
    atoms = perception._indexed(one).atoms
    rng = np.random.default_rng(3)
    for _ in range(20):
        state = random_state(one, rng)
        true = [atom.predicate == "seen" or atom in state.true for atom in atoms.atoms]
        answers = Answers(np.array(true, np.float32), np.full((4, 2), 0.25, np.float32), told)
        percept = perception.read(answers, one)
        assert not (percept.state.true ^ state.true) - percept.state.unknown
        assert (percept.state == state) == apart
        if not apart:
            assert not percept.refused  # another picture would tell no more
            assert Atom("on", ("thing-0", "thing-1")) in percept.state.unknown
        assert perception.follow(percept, np.zeros((90, 120, 3), np.uint8), one).state.objects == one.objects
    assert sightings.shared
