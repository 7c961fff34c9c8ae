"""A small training session from end to end, twice."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.commandline import Progress
from aam_vision.envs.registry import board_domain
from aam_vision.training import data, session
from aam_vision.training.session import train_domain

STEPS = 12


@pytest.fixture(scope="module")
def domain():
    """Doors with less to draw."""
    doors = board_domain("doors")
    return replace(doors, held_out=doors.held_out[:1], interrogated=doors.held_out[:1], shapes=((6, 7),))


@pytest.fixture(scope="module")
def runs(domain, tmp_path_factory):
    """Two sessions with one seed, one with another."""
    folder = tmp_path_factory.mktemp("training")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SYNTHETIC", 16)
        patch.setattr(data, "STATES_PER_LAYOUT", 8)
        patch.chdir(folder)
        told = io.StringIO()
        files = [
            train_domain(domain, folder / name, seed=seed, steps=STEPS, threads=1, progress=Progress(told))
            for name, seed in (("one", 3), ("again", 3), ("other", 4))
        ]
    return folder, files, told.getvalue()


def test_the_weights_can_be_used(runs, domain):
    folder, files, _ = runs
    perception = BoardPerception.load(domain.visual, "doors", folder / "one")
    card = json.loads(files[0].card.read_text())
    assert perception.card.seed == card["seed"] == 3
    assert card["figures"]["steps"] == STEPS
    assert card["figures"]["unseen"]["states"] > 100
    assert 0 <= card["figures"]["unseen"]["exact_match"] <= 1
    assert set(card["temperatures"]) == set(domain.visual.cell_heads())


def test_the_same_seed_gives_the_same_weights_bit_by_bit(runs):
    _, (one, again, other), _ = runs
    assert one.weights.read_bytes() == again.weights.read_bytes()
    assert one.weights.read_bytes() != other.weights.read_bytes()
    first, second = (json.loads(files.card.read_text()) for files in (one, again))
    del first["figures"], second["figures"]  # they hold times
    assert first == second


def test_nothing_else_is_left_behind(runs):
    folder, _, _ = runs
    assert sorted(path.name for path in folder.iterdir()) == ["again", "one", "other"]
    assert sorted(path.name for path in (folder / "one").iterdir()) == ["doors.json", "doors.safetensors"]


def test_progress_is_told(runs):
    _, _, told = runs
    assert f"{STEPS}/{STEPS} loss" in told
    assert "states exact on unseen layouts" in told


def test_global_random_state_is_not_touched(domain):
    from aam_vision.training.lesson import new_network

    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    new_network(domain.visual.cell_heads(), 0)
    assert torch.equal(before, torch.get_rng_state())
    assert (numpy_before == np.random.get_state()[1]).all()  # noqa: NPY002


def test_test_layouts_are_never_trained_on(monkeypatch):
    for name in ("sokoban", "doors"):
        drawn = []
        domain = board_domain(name)
        monkeypatch.setattr(
            data, "pictures", lambda domain, layout, *_, drawn=drawn: drawn.append(layout) or []
        )
        data.lessons(domain, np.random.default_rng(0))
        origins = {layout.name.split("/")[1] for layout in drawn}
        assert origins == {"train", "synthetic"}
        assert len(drawn) == len(domain.trained_on) + data.SYNTHETIC
    assert session.CALIBRATION_SHARE > 1
