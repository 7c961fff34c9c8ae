"""Identity is followed, never guessed."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.tracking import Sighting, confirm, track
from tests.profiles import thorough


def _neighbours(one: str, other: str) -> bool:
    return abs(int(one[1]) - int(other[1])) + abs(int(one[2]) - int(other[2])) == 1


def _track(before, certain, doubtful=(), *, things=None, may_vanish=False):
    seen = Sighting(frozenset(certain), frozenset(doubtful))
    return track(things or list(before), before, seen, may_vanish=may_vanish, neighbours=_neighbours)


def _first(anchors, certain, *, things=("a", "b"), may_vanish=False):
    return confirm(list(things), anchors, Sighting(frozenset(certain)), may_vanish=may_vanish)


EVERYWHERE = {f"p{row}{column}" for row in range(5) for column in range(5)}
cells = st.sampled_from(sorted(EVERYWHERE))


@given(st.lists(cells, min_size=1, max_size=8, unique=True), st.data())
@thorough(200)
def test_one_move_at_a_time_is_always_followed(start, data):
    places = {f"stone-{i}": cell for i, cell in enumerate(start)}
    for _ in range(4):
        thing = data.draw(st.sampled_from(sorted(places)))
        target = data.draw(st.sampled_from(sorted(EVERYWHERE - set(places.values()))))
        moved = {**places, thing: target}
        tracked = _track(places, moved.values())
        assert tracked.places == moved
        assert not tracked.undecided
        places = moved


@given(st.lists(cells, min_size=2, max_size=6, unique=True), st.data())
@thorough(200)
def test_what_is_decided_about_several_neighbouring_moves_is_true(start, data):
    """Things that left their place for a free neighbouring one: told apart rightly, or reported."""
    places = {f"stone-{i}": cell for i, cell in enumerate(start)}
    taken, moved = set(start), {}
    for thing, cell in places.items():
        free = [one for one in sorted(EVERYWHERE) if _neighbours(cell, one) and one not in taken]
        moved[thing] = data.draw(st.sampled_from([cell, *free]))
        taken.add(moved[thing])
    tracked = _track(places, moved.values())
    assert set(tracked.places) | set(tracked.undecided) == set(places)
    assert all(moved[thing] == place for thing, place in tracked.places.items())
    assert all(moved[thing] in maybe for thing, maybe in tracked.undecided.items())


TWO, NEITHER = {"a": "p00", "b": "p11"}, {"a": None, "b": None}
FAR, ONE, GONE = {"a": "p00", "b": "p44"}, {"a": "p00"}, {"a": None, "b": "p11"}


def _either(*places, things="ab"):
    return {thing: set(places) for thing in things}


@pytest.mark.parametrize(
    ("tracked", "places", "undecided"),
    [
        # two that could have swapped ways, and a third one that stays
        (partial(_track, TWO, {"p01", "p10"}), {}, _either("p01", "p10")),
        (partial(_track, {**TWO, "c": "p33"}, {"p01", "p10", "p33"}), {"c": "p33"}, _either("p01", "p10")),
        # a can only have gone to p01; b and c may have swapped ways
        (
            partial(_track, {"a": "p00", "b": "p33", "c": "p44"}, {"p01", "p34", "p43"}),
            {"a": "p01"},
            _either("p34", "p43", things="bc"),
        ),
        # only one way is short
        (partial(_track, FAR, {"p01", "p43"}), {"a": "p01", "b": "p43"}, {}),
        # a wrong number of things
        (partial(_track, TWO, {"p00"}), {}, NEITHER),
        (partial(_track, TWO, {"p00", "p11", "p22"}), {}, NEITHER),
        # a doubtful place: one is missing, none is missing, there are as many places as things without it
        (partial(_track, TWO, {"p00"}, {"p12"}), ONE, {"b": {"p12"}}),
        (partial(_track, ONE, {"p00"}, {"p12"}), ONE, {}),
        (partial(_track, FAR, {"p01", "p43"}, {"p22"}), {}, _either("p01", "p43", "p22")),
        # what may vanish does, stays away, and has come back where it must have; moved or put back is undecided
        (partial(_track, TWO, {"p11"}, may_vanish=True), GONE, {}),
        (partial(_track, GONE, {"p11"}, may_vanish=True), GONE, {}),
        (partial(_track, GONE, {"p11", "p33"}, may_vanish=True), {"a": "p33", "b": "p11"}, {}),
        (partial(_track, GONE, {"p33"}, may_vanish=True), {}, _either("p33")),
        # equal things in one place cannot be counted
        (partial(_track, {"a": "p00", "b": "p00"}, {"p00"}, may_vanish=True), {}, _either("p00")),
        # a lost name is found by elimination, and may be anywhere
        (partial(_track, ONE, {"p00", "p33"}, things=["a", "b"]), {"a": "p00", "b": "p33"}, {}),
        (
            partial(_track, FAR, {"p01", "p22", "p43"}, things=["a", "b", "c"]),
            {"a": "p01", "b": "p43", "c": "p22"},
            {},
        ),
        # in the first image names come from confirmed anchors; without any, only a single thing is named
        (partial(_first, TWO, {"p00", "p11"}), TWO, {}),
        (partial(_first, TWO, {"p00", "p22"}), ONE, {"b": {"p11", "p22"}}),
        (partial(_first, {}, {"p00"}, things=["a"]), ONE, {}),
        (partial(_first, {}, set(), things=["a"], may_vanish=True), {"a": None}, {}),
        (partial(_first, {}, {"p00", "p11"}), {}, _either("p00", "p11")),
        (partial(_first, ONE, {"p00", "p11", "p22"}), {}, NEITHER),
        (partial(_first, ONE, {"p00"}), {}, NEITHER),
    ],
)
def test_names_are_kept_where_one_way_explains_all_and_else_undecided(tracked, places, undecided):
    found = tracked()
    assert found.places == places
    assert found.undecided == undecided


@pytest.mark.parametrize(("number", "matched"), [(6, True), (7, False)])
def test_so_many_things_are_matched_and_no_more(number, matched):
    before = {f"t{i}": f"p{i}0" for i in range(number)}
    after = {f"t{i}": f"p{i}1" for i in range(number)}
    beside = {"may_vanish": False, "neighbours": lambda one, other: one[:-1] == other[:-1]}
    tracked = track(list(before), before, Sighting(set(after.values())), **beside)
    assert tracked.places == (after if matched else {})
