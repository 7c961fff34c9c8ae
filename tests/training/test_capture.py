"""Pictures of a camera: each situation once, once nothing moves, and whatever the sensor's noise."""

import re

import numpy as np
import pytest

from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode, read_picture
from aam_vision.training import capture
from aam_vision.training.capture import still
from tests.commands import called

RNG = np.random.default_rng(3)


def _scene(number):
    scene = np.full((40, 56, 3), 150, np.uint8)
    scene[10:20, 4 * number : 4 * number + 8] = (200, 40, 30)
    return scene


def _look(number, sigma=1.5):
    scene = _scene(number)
    return (scene + RNG.normal(0, sigma, scene.shape)).clip(0, 255).round().astype(np.uint8)


def test_what_stands_still_is_kept_once():
    numbers = [0, 0, 0, 1, 2, 3, 3, 3, 4, 3, 3, 0, 0]  # it moves, a hand comes and goes, and it moves back
    kept = list(still(map(_look, numbers)))
    seen = [min(range(5), key=lambda number: np.abs(one.astype(int) - _scene(number)).sum()) for one in kept]
    assert seen == [0, 3, 0]


def _taken(folder, *arguments, code=0):
    return called("aam_vision.training.capture", *arguments, "--out", "pics", cwd=folder, code=code).stderr


def test_a_folder_stands_for_a_camera(tmp_path):
    for name in ("seen", "empty"):
        (tmp_path / name).mkdir()
    for place, number in enumerate([0, 0, 1, 1, 2]):
        (tmp_path / "seen" / f"{place}.png").write_bytes(encode(_look(number)))
    _taken(tmp_path, "--camera", "seen")
    out = tmp_path / "pics"
    assert sorted(path.name for path in out.iterdir()) == ["0001.png", "0002.png", "0003.png"]
    first = read_picture(out / "0001.png")
    assert (first == read_picture(tmp_path / "seen" / "0.png")).all()
    _taken(tmp_path, "--camera", "seen", "--pictures", "1")
    assert len(list(out.iterdir())) == 4
    assert (read_picture(out / "0001.png") == first).all(), "what is there stays"
    for camera, told in (("empty", "holds no picture"), ("no-such.mp4", "OpenCV|cannot be opened")):
        *_, error = _taken(tmp_path, "--camera", camera, code=2).strip().splitlines()
        assert re.search(told, error)


class _Source:
    """Shows two looks and then nothing, as OpenCV tells it."""

    def __init__(self):
        self.looks = iter([_scene(0)[:, :, ::-1], _scene(0)[:, :, ::-1]])

    def read(self):
        frame = next(self.looks, None)
        return frame is not None, frame


def test_a_camera_that_stops_is_told_and_a_recording_ends():
    looks = capture._of_camera(_Source(), "0", 0.0, recorded=False)
    assert (next(looks) == _scene(0)).all(), "red comes first"
    next(looks)
    with pytest.raises(UnusableInput, match="shows nothing any more"):
        next(looks)
    assert len(list(capture._of_camera(_Source(), "a.mp4", 0.0, recorded=True))) == 2
