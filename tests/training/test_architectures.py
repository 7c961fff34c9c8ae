"""Networks of other architectures, trained by the same code."""

import io
from dataclasses import replace

import pytest
import torch

from aam_vision.classifiers.networks import RESNET18, SEPARATE
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import load, save
from aam_vision.envs import board
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import Progress
from aam_vision.training import session
from aam_vision.training.cells import CellTask
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings
from aam_vision.training.trainer import teach

from .toys import toy_boards


@pytest.fixture(scope="module")
def domain():
    """Doors with less to draw."""
    doors = board_domain("doors")
    return replace(doors, held_out=doors.held_out[:1], interrogated=doors.held_out[:1], shapes=((6, 7),))


def test_separate_networks_are_trained_and_used_by_the_same_code(domain, tmp_path, monkeypatch):
    monkeypatch.setattr(board, "SYNTHETIC", 16)
    monkeypatch.setattr(session, "STATES", 20)
    files = train_domain(
        domain, tmp_path, TrainingSettings(steps=10, network=SEPARATE), Progress(io.StringIO())
    )
    assert "network `separate`" in files.card.with_suffix(".md").read_text()
    perception = BoardPerception.load(domain.visual, "doors", tmp_path)
    layout = domain.load(*domain.held_out[0])
    frame = domain.drawing(layout).frame(layout.initial)
    assert perception.look(frame, domain.scene(layout)).state.objects == layout.objects


def test_resnet18_learns_and_is_loaded_as_it_was_saved(tmp_path):
    doors = board_domain("doors")
    heads = doors.visual.cell_heads()
    boards = [replace(board, labels=board.labels[[0, 1, 0]]) for board in toy_boards(2, (128, 192))]
    network = teach(CellTask(heads, RESNET18), boards, steps=10, seed=0, progress=lambda *_: None)
    _, card = load(doors.visual, "doors")
    save(network, replace(card, network=RESNET18), tmp_path)
    again, _ = load(doors.visual, "doors", tmp_path)
    pixels = boards[0].pixels[None] / 255
    with torch.inference_mode():
        assert torch.allclose(network(pixels), again(pixels), rtol=1e-3, atol=1e-3)
