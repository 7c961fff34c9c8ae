"""The video of a run: every step of every query once, refused ones marked, never too large."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.report import video as module
from aam_vision.report.album import FOLDER
from aam_vision.report.recorded import read_run
from aam_vision.report.video import video
from tests.finished import Runs, copied


def _frames(gif: bytes) -> list[np.ndarray]:
    with Image.open(io.BytesIO(gif), formats=["GIF"]) as image:
        found = []
        for number in range(image.n_frames):
            image.seek(number)
            found.append(np.asarray(image.convert("RGB")).astype(int))
    return found


def test_every_attempted_step_is_a_frame_and_refused_ones_are_red(run_of: Runs) -> None:
    run = read_run(run_of("doors"))
    entries = enumerate(run.transcript.entries)
    queries = [one for number, one in entries if isinstance(one, Asked) and number not in run.examined]
    refused = sum(entry.response.executed < len(entry.query.plan) for entry in queries)
    made = video(run)
    assert made is not None
    frames = _frames(made.gif)
    assert len(frames) == sum(1 + len(entry.actions) for entry in queries)
    assert made.about == f"{len(frames)} images of {len(queries)} queries"
    corners = [tuple(frame[1, 1]) for frame in frames]
    assert sum(red > 100 > green for red, green, _ in corners) == refused > 0
    assert len(made.gif) < module.MAX_BYTES


def test_frames_beyond_the_limit_are_left_out(run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FRAMES", 6)
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    made = video(read_run(run_of("doors")))
    assert made is not None
    assert len(_frames(made.gif)) <= 6
    assert "left out: all but the last 3 steps of every plan, and the last" in made.about
    assert "made smaller, 160 pixels wide" in made.about


def test_without_images_there_is_no_video(run_of: Runs, tmp_path) -> None:
    assert video(read_run(copied(run_of("doors"), tmp_path, FOLDER))) is None
    assert video(read_run(run_of("gripper"))) is None
