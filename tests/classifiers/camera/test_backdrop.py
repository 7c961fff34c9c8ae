"""What is not the scene: drawn tables with things of two looks, and what else comes into the picture."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from aam_vision.agents.perception import Percept
from aam_vision.classifiers.camera.backdrop import CLIPPED, TINTED, Backdrop, Sight, cells_of, learned
from aam_vision.classifiers.camera.network import APART, LEAST, Raw, new_network, shown_twice
from aam_vision.classifiers.camera.perception import MOVED, CameraPerception
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.store import BACKDROP, weaknesses
from aam_vision.model.strips import Atom
from aam_vision.support.errors import AamWarning, UnusableInput

from .piles import LOOKS, VOCABULARY, scene
from .test_perception import CARD, PLAN

SIZE = 128
COLOURS = {"red": (210, 40, 40), "green": (40, 150, 60), "blue": (50, 70, 200), "ball": (230, 190, 40)}
WOOD, WALL, PINK = (190, 160, 120), (120, 125, 130), (240, 130, 180)
HALF = 8
Picture = NDArray[np.float64]
Spots = dict[str, tuple[int, int]]


def _table(rng: np.random.Generator) -> Picture:
    """A wall, and a table before it with a little grain."""
    picture = np.where(np.arange(SIZE)[:, None, None] < 30, WALL, WOOD) * np.ones((SIZE, SIZE, 1))
    return picture * rng.normal(1, 0.02, (SIZE, SIZE, 1))


def _put(picture: Picture, colour: tuple[int, ...], row: int, column: int) -> None:
    """A square thing, lighter above than below, with its shadow to the right."""
    own = np.s_[row - HALF : row + HALF, column - HALF : column + HALF]
    picture[row - HALF : row + HALF, column + HALF : column + HALF + 5] *= 0.6
    picture[own] = np.array(colour) * np.linspace(1, 0.7, 2 * HALF)[:, None, None]


def _drawn(rng: np.random.Generator, *looks: str) -> tuple[Picture, Spots]:
    """A picture with things in columns of their own, and where they are."""
    picture, spots = _table(rng), {}
    for look, column in zip(looks, rng.permutation([20, 48, 76, 104]).tolist(), strict=False):
        spots[look] = int(rng.integers(45, 90)), column + int(rng.integers(-2, 3))
        _put(picture, COLOURS[look], *spots[look])
    return picture, spots


def _as_seen(picture: Picture) -> torch.Tensor:
    return torch.from_numpy(picture.clip(0, 255) / 255).float().permute(2, 0, 1)[None]


def _cells(picture: Picture) -> NDArray[np.uint8]:
    return cells_of(_as_seen(picture))[0]


def _sights(spots: Spots) -> list[Sight]:
    return [(LOOKS.index(look), (column / SIZE, row / SIZE)) for look, (row, column) in spots.items()]


@pytest.fixture(scope="module")
def backdrop() -> Backdrop:
    """Learned from sixty pictures, kept as on a card, and twice what is strange in sixty others for a limit."""
    rng, cells, shows = np.random.default_rng(0), [], []
    for number in range(60):
        picture, spots = _drawn(rng, *rng.permutation(LOOKS)[: 1 + number % 4].tolist())
        cells.append(_cells(picture))
        shown = np.zeros((len(LOOKS), SIZE, SIZE), np.float32)
        for look, (row, column) in spots.items():
            shown[LOOKS.index(look), row - HALF : row + HALF, column - HALF : column + HALF] = 1
        shows.append(shown.reshape(len(LOOKS), SIZE // 2, 2, SIZE // 2, 2).mean((2, 4)))
    found, others = learned(np.stack(cells), np.stack(shows)), [_drawn(rng, *LOOKS) for _ in range(60)]
    most = max(found.strangeness(_cells(one), _sights(spots)).max() for one, spots in others)
    facts = json.loads(json.dumps(replace(found, most=2 * float(most)).facts()))
    return Backdrop.of_card(facts, len(LOOKS), (SIZE, SIZE), "table")


@settings(deadline=None)
@given(light=st.tuples(*[st.floats(0.7, 1.1)] * 3), seed=st.integers(0, 99))
def test_the_colour_of_a_light_is_taken_out_of_pictures(backdrop, light, seed) -> None:
    picture, _ = _drawn(np.random.default_rng(seed), *LOOKS)
    usual, seen = (_as_seen(one) for one in (picture, picture * light))
    plain, (tint,) = backdrop.untinted(seen)
    wanted = np.array(light) / np.exp(np.log(light).mean())
    if (tint == 1).all():
        assert torch.equal(plain, seen)
        assert np.abs(np.log(wanted)).max() < TINTED + 0.02
    else:
        np.testing.assert_allclose(tint, wanted, atol=0.02)
        bright = float(np.exp(np.log(light).mean()))  # how light it all is stays
        inside = seen * 255 < CLIPPED
        np.testing.assert_allclose(plain[inside], (usual * bright)[inside], atol=0.05)


def test_the_usual_light_and_darkness_change_nothing(backdrop) -> None:
    for picture in (_drawn(np.random.default_rng(0), "red")[0], np.zeros((SIZE, SIZE, 3))):
        plain, tints = backdrop.untinted(_as_seen(picture))
        assert (tints == 1).all()
        assert torch.equal(plain, _as_seen(picture))


def test_what_has_too_much_of_a_colour_for_a_light_stays_as_it_is(backdrop) -> None:
    picture, _ = _drawn(np.random.default_rng(0), "red")
    picture[40:] = (190, 40, 40)  # a cloth over the whole table
    plain, tints = backdrop.untinted(_as_seen(picture))
    assert (tints == 1).all()
    assert torch.equal(plain, _as_seen(picture))


def test_a_light_of_another_colour_is_told_once(backdrop) -> None:
    perception = _perception({BACKDROP: backdrop.facts()})
    picture, _ = _drawn(np.random.default_rng(0), "red")
    tinted = (picture * (1, 0.9, 0.7)).clip(0, 255).astype(np.uint8)
    told = r"another colour .* \(red \+17%, green \+5%, blue -18%\): it is taken out"
    with pytest.warns(AamWarning, match=told) as warned:
        perception.answers([tinted, tinted, tinted], scene("red"))
    assert len(warned) == 1


@pytest.mark.parametrize("light", [(1, 1, 1), (0.6, 0.6, 0.6), (1.4, 1.4, 1.4), (1.1, 1, 0.9)], ids=str)
def test_the_scene_is_explained_in_any_light_and_by_a_camera_that_moved_a_little(backdrop, light) -> None:
    for seed in range(10):
        picture, spots = _drawn(np.random.default_rng([1, seed]), *LOOKS[: 1 + seed % 4])
        assert not backdrop.unexplained(_cells(picture * light), _sights(spots))
        moved = {look: (row + 3, column + 4) for look, (row, column) in spots.items()}
        shifted = np.pad(picture, ((3, 0), (4, 0), (0, 0)), mode="edge")[:SIZE, :SIZE]
        assert not backdrop.unexplained(_cells(shifted * light), _sights(moved))


@pytest.mark.parametrize("light", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("colour", [PINK, COLOURS["blue"], COLOURS["red"]], ids=str)
def test_another_thing_is_found_where_it_is_whether_its_colour_is_known_or_not(
    backdrop, colour, light
) -> None:
    """A second red thing is as strange as one of a colour that nothing in the scene has."""
    for seed in range(5):
        picture, spots = _drawn(np.random.default_rng([2, seed]), "red", "green")
        _put(picture, colour, 110, 60)
        (part,) = backdrop.unexplained(_cells(picture * light), _sights(spots))
        rows, columns = (2 * places.mean() + 1 for places in np.nonzero(part))
        assert abs(rows - 110) < HALF
        assert abs(columns - 60) < HALF


def test_a_thing_that_was_taken_for_another_one_is_strange(backdrop) -> None:
    picture, spots = _drawn(np.random.default_rng(3), "red")
    assert backdrop.unexplained(_cells(picture), _sights({"green": spots["red"]}))


def _perception(card_says: dict[str, object]) -> CameraPerception:
    card = replace(CARD, figures=card_says, picture=(SIZE, SIZE))
    return CameraPerception(VOCABULARY, weights_of(new_network(PLAN, 0)), card)


def _read(
    perception: CameraPerception, picture: Picture, spots: Spots, *looks: str, twice: str = ""
) -> Percept:
    """The picture of a scene read by a network that finds the things where they are, each on the table and clear, and one ``twice``."""
    logits = np.full(PLAN.size, -9, np.float32)
    positions = np.full((len(LOOKS), 2), 0.5, np.float32)
    for look, (across, down) in _sights(spots):
        logits[look], positions[look] = 9, (across, down)
    for head in ("on-table", "clear"):
        logits[PLAN.places[head]] = 9
    one = scene(*looks)
    raw = Raw(logits, positions, _cells(picture), np.array([look == twice for look in LOOKS]))
    return perception.read(perception._about(raw, one, None), one)


def test_only_what_something_strange_may_hide_is_unknown_and_the_reason_is_told(backdrop) -> None:
    perception = _perception({BACKDROP: backdrop.facts()})
    rng, spots = np.random.default_rng(4), {"red": (60, 20), "green": (60, 100)}

    def seen(*put: tuple[tuple[int, ...], int, int]) -> Percept:
        picture = _table(rng)
        for look, spot in spots.items():
            _put(picture, COLOURS[look], *spot)
        for one in put:
            _put(picture, *one)
        return _read(perception, picture, spots, "red", "green")

    assert seen().unlike == ()
    assert not seen().refused
    away, beside = seen((PINK, 110, 60)), seen((PINK, 60, 36))
    (told,) = away.unlike
    assert told.startswith("something at row 1")
    assert told.endswith("that is none of the known things")
    assert away.state == seen().state, "it is too far away to hide anything"
    assert beside.refused
    assert {Atom("clear", ("thing-0",)), Atom("on-table", ("thing-0",))} <= beside.state.unknown
    assert Atom("clear", ("thing-1",)) in beside.state.true
    assert beside.unlike[-1] == "thing-0 may be hidden"


def test_a_look_in_two_places_says_nothing_of_its_thing_and_is_told(backdrop) -> None:
    perception = _perception({BACKDROP: backdrop.facts()})
    picture, spots = _drawn(np.random.default_rng(6), "red", "green")
    once, twice = (_read(perception, picture, spots, "red", "green", twice=one) for one in ("blue", "red"))
    assert not once.unlike
    assert not once.refused
    assert twice.refused
    assert twice.unlike == ("another thing that looks like thing-0",)
    assert Atom("clear", ("thing-0",)) in twice.state.unknown
    assert Atom("clear", ("thing-1",)) in twice.state.true


@given(
    places=st.lists(st.tuples(*[st.integers(0, 23)] * 2), min_size=2, max_size=2),
    height=st.floats(-3, 3),
)
def test_two_high_places_of_a_map_are_told_apart_by_what_a_thing_reaches(places, height) -> None:
    maps = np.full((1, 24, 24), -5, np.float32)
    (maps[0][places[0]], maps[0][places[1]]) = 4, height
    away = np.abs(np.subtract(*places)) / 24 > APART * 0.1
    wanted = bool(away.any()) and height > LEAST
    assert shown_twice(maps, np.full((1, 2), 0.1, np.float32)).tolist() == [wanted]


def test_where_most_is_strange_the_camera_is_named_and_nothing_is_believed(backdrop) -> None:
    perception = _perception({BACKDROP: backdrop.facts()})
    picture, spots = _drawn(np.random.default_rng(5), "red", "green")
    mirrored = picture[::-1, :, [2, 0, 1]]
    covered, sights = _table(np.random.default_rng(5)), {"red": (60, 110)}
    covered[:, :40] = PINK
    _put(covered, COLOURS["red"], *sights["red"])  # far from the cloth
    for percept in (
        _read(perception, mirrored, spots, "red", "green"),
        _read(perception, covered, sights, "red"),
    ):
        assert percept.unlike == (MOVED,)
        assert percept.refused
        assert not percept.state.true
        assert not percept.positions


def test_a_damaged_card_is_refused_and_one_without_a_backdrop_says_what_it_cannot_tell(backdrop) -> None:
    changes = {"colours": "AAAA"}, {"tones": 3}, {"most": None}, {"most": "nan"}
    for wrong in ([1], {}, *({**backdrop.facts(), **changed} for changed in changes)):
        with pytest.raises(UnusableInput, match="the card of piles is damaged"):
            _perception({BACKDROP: wrong})
    without = _perception({})
    assert "a hand or an unknown thing in a picture is not noticed" in " ".join(weaknesses(without.card))
    picture, spots = _drawn(np.random.default_rng(6), "red")
    _put(picture, PINK, 110, 60)
    assert _read(without, picture, spots, "red").unlike == ()


def test_without_outlines_the_backdrop_is_compared_and_things_are_not() -> None:
    rng = np.random.default_rng(7)
    drawn = [_drawn(rng, "red", "green") for _ in range(40)]
    cells = np.stack([_cells(picture) for picture, _ in drawn])
    found = learned(cells, np.full((40, len(LOOKS), SIZE // 2, SIZE // 2), np.nan, np.float32))
    found = Backdrop.of_card({**found.facts(), "most": 0.02}, len(LOOKS), (SIZE, SIZE), "table")
    picture, spots = drawn[0]
    assert not found.unexplained(cells[0], _sights(spots))
    _put(picture, PINK, 110, 60)
    assert found.unexplained(_cells(picture), _sights(spots))
