"""A session for pictures from beginning to end; the weights are of no use after so few steps."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import plan_of
from aam_vision.classifiers.camera.running import weights_of
from aam_vision.classifiers.loading import load_perception
from aam_vision.classifiers.store import describe
from aam_vision.commandline import Progress
from aam_vision.errors import UnusableInput
from aam_vision.training.camera.corruptions import CORRUPTIONS
from aam_vision.training.camera.data import lessons
from aam_vision.training.camera.lesson import teach
from aam_vision.training.evaluation import evaluate_domain, speed
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings

from .drawn import SIZE, DrawnDomain

SETTINGS = TrainingSettings(steps=10, fast=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("piles")
    train_domain(DrawnDomain(), folder, SETTINGS, Progress(io.StringIO()))
    return folder


def test_a_session_writes_weights_that_are_read_again(folder) -> None:
    domain = DrawnDomain()
    perception = load_perception(domain.visual, domain.name, folder, remembered=0)
    assert isinstance(perception, CameraPerception)
    assert perception.card.picture == SIZE
    assert perception.card.network == "camera"
    assert perception.card.figures["unseen"]["states"] == 40
    assert (folder / "piles.safetensors").stat().st_size < 250_000
    assert "`on`" in (folder / "piles.md").read_text()


def test_the_same_seed_gives_the_same_weights() -> None:
    plan = plan_of(describe(DrawnDomain.visual))
    data = lessons(DrawnDomain(), plan, np.random.default_rng(0), 10)
    first, again, other = (
        weights_of(teach(plan, data, steps=3, seed=seed, progress=lambda done, loss: None)).tensors
        for seed in (0, 0, 1)
    )
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_masks_teach_where_things_are_in_few_steps() -> None:
    plan = plan_of(describe(DrawnDomain.visual))
    data = lessons(DrawnDomain(masks=True), plan, np.random.default_rng(0))
    network = teach(plan, data, steps=40, seed=0, progress=lambda done, loss: None)
    shares = data.where[:60].float().flatten(2)
    shows = shares.sum(2) > 0
    found = network(data.pictures[:60].float() / 255).maps.detach()
    down, across = np.indices(found.shape[2:])
    for axis, size in ((down, found.shape[2]), (across, found.shape[3])):
        flat = torch.from_numpy(axis.flatten()).float()
        true = (shares @ flat / shares.sum(2).clamp(min=1))[shows]
        read = (found.flatten(2).softmax(2) @ flat)[shows]
        assert (true - read).abs().median() < 0.05 * size


def test_evaluation_counts_every_picture_once_under_every_condition(folder) -> None:
    domain = DrawnDomain()
    perception = load_perception(domain.visual, domain.name, folder, remembered=0)
    scores = evaluate_domain(domain, perception, states=5, conditions=CORRUPTIONS)
    assert scores.keys() == {"unseen", *(f"unseen, {name}" for name in CORRUPTIONS)}
    for found in scores.values():
        assert found.states == 5 == found.exact + found.refused + found.wrong
    assert speed(domain, perception).single_ms > 0


def test_what_only_boards_have_is_refused(tmp_path) -> None:
    for changed in (replace(SETTINGS, only="clear"), replace(SETTINGS, images=tmp_path)):
        with pytest.raises(UnusableInput, match="is for boards"):
            train_domain(DrawnDomain(), tmp_path, changed, Progress(io.StringIO()))
