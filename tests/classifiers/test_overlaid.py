"""Things over others: recognised where every pixel is explained, and never as something that they are not."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.looks import NO_LABEL, LabelledLooks
from aam_vision.classifiers.overlaid import MOST_LOOKS, Overlays
from tests.profiles import thorough

SIDE = 18
"""Of a look, with a pixel around the cell."""

CAR, FULL, MARK = range(3)
ROAD, PARK, LAWN = (230, 228, 224), (200, 60, 60), (40, 150, 60)
YELLOW, GREEN, RED = (230, 200, 80), (90, 180, 120), (210, 40, 30)


@dataclass(frozen=True)
class Drawing:
    """A cell: its ground, a frame that marks it, and a car.

    Args:
        ground: its colour.
        mark: whether it is framed.
        car: the colour of the car; None if there is none.
        lamp: the colour of its lamp; None if it has none.
        soft: how much of the ground shines through the border of the car.
    """

    ground: tuple[int, int, int]
    mark: bool = False
    car: tuple[int, int, int] | None = None
    lamp: tuple[int, int, int] | None = None
    soft: float = 0.4

    def pixels(self):
        """(3, SIDE, SIDE)."""
        board = np.empty((SIDE, SIDE, 3))
        board[:] = self.ground
        if self.mark:
            board[3:-3, 3:-3] = (20, 20, 30)
            board[4:-4, 4:-4] = self.ground
        if self.car is not None:
            beneath = board[6:12, 5:13].copy()
            board[6:12, 5:13] = self.soft * beneath + (1 - self.soft) * np.array(self.car)
            board[7:11, 6:12] = self.car
            if self.lamp is not None:
                board[8:10, 8:10] = self.lamp
        return np.round(board).astype(np.uint8).transpose(2, 0, 1)

    def labels(self, full=False):
        """(heads,): whether there is a car, whether it is full, and whether the cell is marked."""
        return [int(self.car is not None), int(full) if self.car is not None else NO_LABEL, int(self.mark)]


def labelled(*places, asked=None):
    """Looks of drawings with their labels: (drawing, labels) each."""
    return LabelledLooks(
        np.stack([drawing.pixels() for drawing, _ in places]),
        np.arange(len(places), dtype=np.int32),
        np.arange(len(places), dtype=np.int32),
        np.ones((len(places), 3), bool) if asked is None else np.array(asked, bool),
        np.array([labels for _, labels in places], np.int8),
        np.full(len(places), 3, np.float32),
    )


def plain(*drawings):
    """Drawings with empty cars."""
    return [(drawing, drawing.labels()) for drawing in drawings]


def shown(known, drawing):
    """What a cell shows, as labels; None where they do not agree."""
    (found,) = Overlays(known).explain(drawing.pixels()[None], np.ones(3, bool))
    if found is None:
        return None
    return [None if open_ else int(label) for label, open_ in zip(found.labels, found.open, strict=True)]


CAR_ON_TWO = plain(
    Drawing(ROAD),
    Drawing(ROAD, car=YELLOW),
    Drawing(PARK),
    Drawing(PARK, car=YELLOW),
    Drawing(LAWN),
    Drawing(LAWN, mark=True),
)
"""A car on two grounds, and a third without one, framed or not."""


def test_a_car_is_known_upon_ground_on_which_it_was_never_labelled():
    known = labelled(*CAR_ON_TWO)
    assert shown(known, Drawing(LAWN, car=YELLOW)) == [1, 0, 0]
    assert shown(known, Drawing(LAWN, mark=True, car=YELLOW)) == [1, 0, 1]


def test_what_a_labelled_ground_never_showed_is_not_explained():
    known = labelled(*CAR_ON_TWO)
    assert shown(known, Drawing(PARK, mark=True, car=YELLOW)) is None  # this frame was seen on a lawn alone
    assert shown(known, Drawing((40, 60, 150), car=YELLOW)) is None


def test_a_cell_without_a_thing_is_not_explained_by_one():
    known = labelled(*CAR_ON_TWO)
    assert shown(known, Drawing(PARK, mark=True)) is None


@pytest.mark.parametrize("soft", [0.0, 0.2, 0.7])
def test_another_car_is_not_taken_for_the_labelled_one(soft):
    known = labelled(
        *plain(*(Drawing(ground, car=car, soft=soft) for ground in (ROAD, PARK) for car in (None, YELLOW))),
        *plain(Drawing(LAWN)),
    )
    assert shown(known, Drawing(LAWN, car=YELLOW, soft=soft)) == [1, 0, 0]
    assert shown(known, Drawing(LAWN, car=GREEN, soft=soft)) is None
    assert shown(known, Drawing(LAWN, car=YELLOW, lamp=RED, soft=soft)) is None


def test_a_lamp_in_the_colour_of_the_ground_is_not_taken_for_one_that_shines_through():
    """All pixels of a lit lamp are those of the ground beneath, which was never labelled with a car."""
    known = labelled(*plain(Drawing(ROAD), Drawing(ROAD, car=YELLOW), Drawing(PARK)))
    assert shown(known, Drawing(PARK, car=YELLOW, lamp=PARK)) is None
    on_two = labelled(*CAR_ON_TWO)
    assert shown(on_two, Drawing(LAWN, car=YELLOW, lamp=LAWN)) is None


def test_a_thing_that_is_thin_is_not_known_upon_ground_that_may_shine_through_it():
    """In grey, a darker wire upon black has the pixels of a brighter one through which black shines."""

    def wire(ground, brightness=None):
        board = np.full((SIDE, SIDE, 3), ground, np.uint8)
        if brightness is not None:
            board[8:9, 4:14] = brightness
        return board.transpose(2, 0, 1)

    looks = np.stack([wire(255), wire(255, 128), wire(0)])
    known = LabelledLooks(
        looks,
        np.arange(3, dtype=np.int32),
        np.arange(3, dtype=np.int32),
        np.ones((3, 1), bool),
        np.array([[0], [1], [0]], np.int8),
        np.full(3, 3, np.float32),
    )
    assert Overlays(known).explain(wire(0, 64)[None], np.ones(1, bool)) == [None]


def test_what_pairs_do_not_agree_on_is_open():
    """The mark is a dot that a car covers: with it or without it beneath, the pixels are the same."""

    def dotted(drawing):
        pixels = drawing.pixels()
        pixels[:, 8:10, 8:10] = 20
        return pixels

    drawings = [
        Drawing(ROAD),
        Drawing(ROAD, car=YELLOW),
        Drawing(PARK),
        Drawing(PARK, car=YELLOW),
        Drawing(LAWN),
    ]
    looks = np.stack([*(drawing.pixels() for drawing in drawings), dotted(Drawing(LAWN))])
    number = np.arange(len(looks), dtype=np.int32)
    known = LabelledLooks(
        looks,
        number,
        number,
        np.ones((len(looks), 3), bool),
        np.array([*(drawing.labels() for drawing in drawings), [0, NO_LABEL, 1]], np.int8),
        np.full(len(looks), 3, np.float32),
    )
    assert shown(known, Drawing(LAWN, car=YELLOW)) == [1, 0, None]


def test_of_what_is_never_labelled_beneath_a_thing_nothing_is_said():
    hidden = [(Drawing(PARK, car=YELLOW), [1, 0, NO_LABEL])]
    known = labelled(
        *plain(Drawing(ROAD), Drawing(PARK), Drawing(LAWN)),
        (Drawing(ROAD, car=YELLOW), [1, 0, NO_LABEL]),
        *hidden,
    )
    assert shown(known, Drawing(LAWN, car=YELLOW)) == [1, 0, NO_LABEL]


def test_a_thing_is_known_in_places_of_which_more_is_asked():
    """Roads are not asked about marks; parks and lawns are, and no car was labelled on either."""
    drawings = [Drawing(ROAD), Drawing(ROAD, car=YELLOW, soft=0), Drawing(LAWN, mark=True)]
    labels = [[0, NO_LABEL, NO_LABEL], [1, 0, NO_LABEL], [0, NO_LABEL, 1]]
    asked = [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    known = labelled(*zip(drawings, labels, strict=True), asked=asked)
    assert (
        shown(known, Drawing(LAWN, mark=True, car=YELLOW, soft=0)) is None
    )  # its border was seen on one ground
    more = labelled(
        *zip(drawings, labels, strict=True),
        (Drawing(PARK), [0, NO_LABEL, NO_LABEL]),
        (Drawing(PARK, car=YELLOW, soft=0), [1, 0, NO_LABEL]),
        asked=[*asked, [1, 1, 0], [1, 1, 0]],
    )
    assert shown(more, Drawing(LAWN, mark=True, car=YELLOW, soft=0)) == [1, 0, 1]


def test_many_labelled_looks_are_not_put_together():
    """Comparing all of them with each other would take long."""
    many = [Drawing((number % 256, number // 256, 9)) for number in range(MOST_LOOKS)]
    assert shown(labelled(*CAR_ON_TWO, *plain(*many)), Drawing(LAWN, car=YELLOW)) is None


colours = st.tuples(*[st.integers(0, 255)] * 3)


@thorough(60)
@given(
    grounds=st.lists(colours, min_size=3, max_size=3, unique=True),
    cars=st.lists(colours, min_size=2, max_size=2, unique=True),
    soft=st.floats(0, 0.8),
)
def test_no_car_is_taken_for_another_one_whatever_the_colours(grounds, cars, soft):
    """Both cars are labelled on two grounds; what is said of either on a third one is right, and so it is of none."""
    empty, full = cars
    known = labelled(
        *plain(*(Drawing(ground) for ground in grounds)),
        *plain(*(Drawing(ground, car=empty, soft=soft) for ground in grounds[:2])),
        *(
            (drawing, drawing.labels(full=True))
            for drawing in (Drawing(ground, car=full, soft=soft) for ground in grounds[:2])
        ),
    )
    truth = {
        Drawing(grounds[2], car=empty, soft=soft): [1, 0, 0],
        Drawing(grounds[2], car=full, soft=soft): [1, 1, 0],
        Drawing(grounds[2], mark=True): [0, NO_LABEL, 1],
    }
    pixels = [drawing.pixels().astype(float) for drawing in truth]
    for drawing, wanted in truth.items():
        found = shown(known, drawing)
        like = [np.sqrt(((drawing.pixels() - other) ** 2).mean()) for other in pixels]
        if found is not None and sorted(like)[1] > 4:  # drawings that look the same cannot be told apart
            assert all(said in (None, label) for said, label in zip(found, wanted, strict=True))
