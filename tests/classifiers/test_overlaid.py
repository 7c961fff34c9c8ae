"""Things over others: recognised where every pixel is explained, and never as something that they are not."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.looks import NO_LABEL, LabelledLooks
from aam_vision.classifiers.recognition import MOST_LOOKS, Overlays
from tests.profiles import thorough

SIDE = 18
"""Of a look, with a pixel around the cell."""

CAR, FULL, MARK = range(3)
ROAD, PARK, LAWN = (230, 228, 224), (200, 60, 60), (40, 150, 60)
YELLOW, GREEN, RED = (230, 200, 80), (90, 180, 120), (210, 40, 30)


@dataclass(frozen=True)
class Drawing:
    """A cell: its ground, a frame or a dot that marks it, and a car, through whose border ``soft`` of the ground shines."""

    ground: tuple[int, int, int]
    mark: bool = False
    car: tuple[int, int, int] | None = None
    lamp: tuple[int, int, int] | None = None
    soft: float = 0.4
    dot: bool = False

    def pixels(self):
        """(3, SIDE, SIDE)."""
        board = np.empty((SIDE, SIDE, 3))
        board[:] = self.ground
        if self.mark:
            board[3:-3, 3:-3] = (20, 20, 30)
            board[4:-4, 4:-4] = self.ground
        if self.dot:
            board[8:10, 8:10] = 20
        if self.car is not None:
            board[6:12, 5:13] = self.soft * board[6:12, 5:13] + (1 - self.soft) * np.array(self.car)
            board[7:11, 6:12] = self.car
            if self.lamp is not None:
                board[8:10, 8:10] = self.lamp
        return np.round(board).astype(np.uint8).transpose(2, 0, 1)

    def labels(self, full=False):
        """(heads,): whether there is a car, whether it is full, and whether the cell is marked."""
        return [int(self.car is not None), int(full) if self.car is not None else NO_LABEL, int(self.mark)]


def known(looks, labels, asked=None):
    """Labelled looks."""
    number, labels = np.arange(len(looks), dtype=np.int32), np.array(labels, np.int8)
    asked = np.ones(labels.shape, bool) if asked is None else np.array(asked, bool)
    return LabelledLooks(np.stack(looks), number, number, asked, labels, np.full(len(looks), 3, np.float32))


def labelled(*places, asked=None):
    """Looks of drawings with their labels: (drawing, labels) each."""
    drawings, labels = zip(*places, strict=True)
    return known([drawing.pixels() for drawing in drawings], labels, asked)


def plain(*drawings):
    """Drawings with empty cars."""
    return [(drawing, drawing.labels()) for drawing in drawings]


def shown(known, drawing):
    """What a cell shows, as labels; None where they do not agree."""
    (found,) = Overlays(known).explain(drawing.pixels()[None], np.ones(3, bool))
    if found is None:
        return None
    return [None if head in found.hidden else int(label) for head, label in enumerate(found.labels)]


CARS = plain(Drawing(ROAD), Drawing(ROAD, car=YELLOW), Drawing(PARK), Drawing(PARK, car=YELLOW))
CAR_ON_TWO = labelled(*CARS, *plain(Drawing(LAWN), Drawing(LAWN, mark=True)))
"""A car on two grounds, and a third without one, framed or not."""
CAR_ON_ONE = labelled(*CARS[:3])
DOTTED = labelled(*CARS, *plain(Drawing(LAWN)), (Drawing(LAWN, dot=True), [0, NO_LABEL, 1]))
HIDING = labelled(
    *((drawing, [1, 0, NO_LABEL] if drawing.car else drawing.labels()) for drawing, _ in CARS),
    *plain(Drawing(LAWN)),
)
MANY = labelled(*CARS, *plain(*(Drawing((one % 256, one // 256, 9)) for one in range(MOST_LOOKS))))


@pytest.mark.parametrize(
    ("looks", "drawing", "said"),
    [
        (CAR_ON_TWO, Drawing(LAWN, car=YELLOW), [1, 0, 0]),  # ground on which it was never labelled
        (CAR_ON_TWO, Drawing(LAWN, mark=True, car=YELLOW), [1, 0, 1]),
        (CAR_ON_TWO, Drawing(PARK, mark=True, car=YELLOW), None),  # this frame was seen on a lawn alone
        (CAR_ON_TWO, Drawing((40, 60, 150), car=YELLOW), None),
        (CAR_ON_TWO, Drawing(PARK, mark=True), None),  # without a thing it is not explained by one
        # a lamp in the colour of the ground is not taken for one that shines through
        (CAR_ON_ONE, Drawing(PARK, car=YELLOW, lamp=PARK), None),
        (CAR_ON_TWO, Drawing(LAWN, car=YELLOW, lamp=LAWN), None),
        (DOTTED, Drawing(LAWN, car=YELLOW), [1, 0, None]),  # with a dot beneath the pixels are the same
        (HIDING, Drawing(LAWN, car=YELLOW), [1, 0, NO_LABEL]),  # what is never labelled beneath a thing
        (MANY, Drawing(LAWN, car=YELLOW), None),  # comparing all with each other would take long
    ],
)
def test_a_thing_is_known_on_other_ground_where_every_pixel_is_explained(looks, drawing, said):
    assert shown(looks, drawing) == said


@pytest.mark.parametrize("soft", [0.0, 0.2, 0.7])
def test_another_car_is_not_taken_for_the_labelled_one(soft):
    cars = [Drawing(ground, car=car, soft=soft) for ground in (ROAD, PARK) for car in (None, YELLOW)]
    looks = labelled(*plain(*cars, Drawing(LAWN)))
    assert shown(looks, Drawing(LAWN, car=YELLOW, soft=soft)) == [1, 0, 0]
    assert shown(looks, Drawing(LAWN, car=GREEN, soft=soft)) is None
    assert shown(looks, Drawing(LAWN, car=YELLOW, lamp=RED, soft=soft)) is None


def test_a_thing_that_is_thin_is_not_known_upon_ground_that_may_shine_through_it():
    """In grey, a darker wire upon black has the pixels of a brighter one through which black shines."""

    def wire(ground, brightness):
        board = np.full((3, SIDE, SIDE), ground, np.uint8)
        board[:, 8:9, 4:14] = brightness
        return board

    looks = known([wire(255, 255), wire(255, 128), wire(0, 0)], [[0], [1], [0]])
    assert Overlays(looks).explain(wire(0, 64)[None], np.ones(1, bool)) == [None]


def test_a_thing_is_known_in_places_of_which_more_is_asked():
    """Roads are not asked about marks; parks and lawns are, and no car was labelled on either."""
    labels = [[0, NO_LABEL, NO_LABEL], [1, 0, NO_LABEL], [0, NO_LABEL, 1]]
    drawings = [Drawing(ROAD), Drawing(ROAD, car=YELLOW, soft=0), Drawing(LAWN, mark=True)]
    asked, looks = [[1, 1, 0], [1, 1, 0], [1, 1, 1]], Drawing(LAWN, mark=True, car=YELLOW, soft=0)
    places = [*zip(drawings, labels, strict=True)]
    assert shown(labelled(*places, asked=asked), looks) is None  # its border was seen on one ground
    places += [(Drawing(PARK), labels[0]), (Drawing(PARK, car=YELLOW, soft=0), labels[1])]
    assert shown(labelled(*places, asked=asked + asked[:2]), looks) == [1, 0, 1]


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
    on_two = [Drawing(ground, car=full, soft=soft) for ground in grounds[:2]]
    looks = labelled(
        *plain(*(Drawing(ground) for ground in grounds)),
        *plain(*(Drawing(ground, car=empty, soft=soft) for ground in grounds[:2])),
        *((drawing, drawing.labels(full=True)) for drawing in on_two),
    )
    truth = {
        Drawing(grounds[2], car=empty, soft=soft): [1, 0, 0],
        Drawing(grounds[2], car=full, soft=soft): [1, 1, 0],
        Drawing(grounds[2], mark=True): [0, NO_LABEL, 1],
    }
    pixels = [drawing.pixels().astype(float) for drawing in truth]
    for drawing, wanted in truth.items():
        found = shown(looks, drawing)
        like = [np.sqrt(((drawing.pixels() - other) ** 2).mean()) for other in pixels]
        if found is not None and sorted(like)[1] > 4:  # drawings that look the same cannot be told apart
            assert all(said in (None, label) for said, label in zip(found, wanted, strict=True))
