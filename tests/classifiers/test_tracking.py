"""Identity is followed, never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.tracking import Sighting, confirm, track
from tests.profiles import thorough

SIDE = 5


def _name(row: int, column: int) -> str:
    return f"p{row}{column}"


def _neighbours(one: str, other: str) -> bool:
    return abs(int(one[1]) - int(other[1])) + abs(int(one[2]) - int(other[2])) == 1


def _track(before, certain, doubtful=(), *, things=None, may_vanish=False):
    return track(
        things or list(before),
        before,
        Sighting(frozenset(certain), frozenset(doubtful)),
        may_vanish=may_vanish,
        neighbours=_neighbours,
    )


EVERYWHERE = {_name(row, column) for row in range(SIDE) for column in range(SIDE)}
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
        free = [
            _name(r, c)
            for r in range(SIDE)
            for c in range(SIDE)
            if _neighbours(cell, _name(r, c)) and _name(r, c) not in taken
        ]
        moved[thing] = data.draw(st.sampled_from([cell, *free]))
        taken.add(moved[thing])
    tracked = _track(places, moved.values())
    assert set(tracked.places) | set(tracked.undecided) == set(places)
    assert all(moved[thing] == place for thing, place in tracked.places.items())
    assert all(moved[thing] in maybe for thing, maybe in tracked.undecided.items())


def test_two_that_could_have_swapped_ways_are_undecided():
    tracked = _track({"a": "p00", "b": "p11"}, {"p01", "p10"})
    assert tracked.places == {}
    assert tracked.undecided == {"a": {"p01", "p10"}, "b": {"p01", "p10"}}


def test_several_moves_are_matched_when_only_one_way_is_short():
    tracked = _track({"a": "p00", "b": "p44"}, {"p01", "p43"})
    assert tracked.places == {"a": "p01", "b": "p43"}


def test_a_third_thing_that_stays_keeps_its_name_among_undecided_ones():
    tracked = _track({"a": "p00", "b": "p11", "c": "p33"}, {"p01", "p10", "p33"})
    assert tracked.places == {"c": "p33"}
    assert set(tracked.undecided) == {"a", "b"}


@pytest.mark.parametrize("certain", [{"p00"}, {"p00", "p11", "p22"}])
def test_a_wrong_number_of_things_leaves_all_undecided(certain):
    tracked = _track({"a": "p00", "b": "p11"}, certain)
    assert tracked.places == {}
    assert tracked.undecided == {"a": None, "b": None}


def test_a_doubtful_place_leaves_only_the_missing_thing_undecided():
    tracked = _track({"a": "p00", "b": "p11"}, {"p00"}, {"p12"})
    assert tracked.places == {"a": "p00"}
    assert tracked.undecided == {"b": {"p12"}}


def test_a_doubtful_place_is_no_matter_when_everything_is_accounted_for():
    tracked = _track({"a": "p00"}, {"p00"}, {"p12"})
    assert tracked.places == {"a": "p00"}
    assert not tracked.undecided


def test_things_that_may_vanish_do():
    tracked = _track({"a": "p00", "b": "p11"}, {"p11"}, may_vanish=True)
    assert tracked.places == {"a": None, "b": "p11"}
    assert _track(tracked.places, {"p11"}, may_vanish=True).places == {"a": None, "b": "p11"}


def test_a_vanished_thing_that_must_have_come_back_has():
    assert _track({"a": None, "b": "p11"}, {"p11", "p33"}, may_vanish=True).places == {"a": "p33", "b": "p11"}


def test_moved_or_put_back_is_undecided():
    tracked = _track({"a": None, "b": "p11"}, {"p33"}, may_vanish=True)
    assert tracked.places == {}
    assert tracked.undecided == {"a": {"p33"}, "b": {"p33"}}


def test_equal_things_in_one_place_cannot_be_counted():
    tracked = _track({"a": "p00", "b": "p00"}, {"p00"}, may_vanish=True)
    assert tracked.places == {}
    assert tracked.undecided == {"a": {"p00"}, "b": {"p00"}}


def test_a_lost_name_is_found_by_elimination():
    tracked = _track({"a": "p00"}, {"p00", "p33"}, things=["a", "b"])
    assert tracked.places == {"a": "p00", "b": "p33"}


def test_names_come_from_confirmed_anchors():
    tracked = confirm(["a", "b"], {"a": "p00", "b": "p11"}, Sighting({"p00", "p11"}), may_vanish=False)
    assert tracked.places == {"a": "p00", "b": "p11"}


def test_an_anchor_that_is_not_confirmed_leaves_its_thing_undecided():
    tracked = confirm(["a", "b"], {"a": "p00", "b": "p11"}, Sighting({"p00", "p22"}), may_vanish=False)
    assert tracked.places == {"a": "p00"}
    assert tracked.undecided == {"b": {"p11", "p22"}}


def test_without_anchors_only_a_single_thing_is_named():
    assert confirm(["a"], {}, Sighting({"p00"}), may_vanish=False).places == {"a": "p00"}
    assert confirm(["a"], {}, Sighting(set()), may_vanish=True).places == {"a": None}
    assert confirm(["a", "b"], {}, Sighting({"p00", "p11"}), may_vanish=False).places == {}


@pytest.mark.parametrize("certain", [{"p00", "p11", "p22"}, {"p00"}])
def test_a_wrong_number_in_the_first_image_leaves_all_undecided(certain):
    tracked = confirm(["a", "b"], {"a": "p00"}, Sighting(certain), may_vanish=False)
    assert tracked.places == {}
    assert tracked.undecided == {"a": None, "b": None}


def test_as_many_places_as_things_are_not_matched_while_another_place_is_doubtful():
    tracked = _track({"a": "p00", "b": "p44"}, {"p01", "p43"}, {"p22"})
    assert tracked.places == {}
    assert tracked.undecided == {"a": {"p01", "p43", "p22"}, "b": {"p01", "p43", "p22"}}


def test_a_place_that_was_matched_is_not_among_those_in_question():
    """a can only have gone to p01; b and c may have swapped ways."""
    tracked = _track({"a": "p00", "b": "p33", "c": "p44"}, {"p01", "p34", "p43"})
    assert tracked.places == {"a": "p01"}
    assert tracked.undecided == {"b": {"p34", "p43"}, "c": {"p34", "p43"}}


@pytest.mark.parametrize(("number", "matched"), [(6, True), (7, False)])
def test_so_many_things_are_matched_and_no_more(number, matched):
    before = {f"t{i}": f"p{i}0" for i in range(number)}
    after = {f"t{i}": f"p{i}1" for i in range(number)}
    tracked = track(
        list(before),
        before,
        Sighting(set(after.values())),
        may_vanish=False,
        neighbours=lambda one, other: one[:-1] == other[:-1],
    )
    assert tracked.places == (after if matched else {})


def test_a_thing_without_a_last_place_may_be_anywhere():
    tracked = _track({"a": "p00", "b": "p44"}, {"p01", "p22", "p43"}, things=["a", "b", "c"])
    assert tracked.places == {"a": "p01", "b": "p43", "c": "p22"}
