"""A session for pictures from beginning to end; the weights are of no use after so few steps."""

from __future__ import annotations

import csv
import io
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from aam_vision.classifiers.camera.network import network_of, new_network
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import plan_of
from aam_vision.classifiers.loading import load_perception
from aam_vision.classifiers.store import describe, read
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.training import assessment
from aam_vision.training.assessment import evaluate_domain, speed
from aam_vision.training.corruptions import CAMERA_CORRUPTIONS
from aam_vision.training.pictures import Lessons, lessons
from aam_vision.training.session import train_domain
from aam_vision.training.tasks import PictureBatches, PlaceTask
from aam_vision.training.trainer import CELLS, TrainingOptions, teach
from tests.classifiers.camera.piles import VOCABULARY
from tests.profiles import first, some

from .drawn import FEW_STEPS, SIZE, DrawnDomain


def test_a_session_writes_weights_that_are_read_again(trained) -> None:
    domain = DrawnDomain()
    perception = load_perception(domain.visual, domain.name, trained, remembered=0)
    assert isinstance(perception, CameraPerception)
    assert perception.card.picture == SIZE
    assert perception.card.network == "camera"
    assert perception.card.figures["unseen"]["states"] == 40
    assert (trained / "piles.safetensors").stat().st_size < 250_000
    assert "`on`" in (trained / "piles.md").read_text()


def test_masks_teach_where_things_are_in_few_steps() -> None:
    plan = plan_of(describe(DrawnDomain.visual))
    data = lessons(DrawnDomain(masks=True), plan, np.random.default_rng(0), 2)
    network = teach(PlaceTask(plan), data, steps=25, seed=0, progress=lambda done, loss: None)
    shares = data.where[:60].float().flatten(2)
    shows = shares.sum(2) > 0
    found = network(data.pictures[:60].float() / 255).maps.detach()
    down, across = np.indices(found.shape[2:])
    for axis, size in ((down, found.shape[2]), (across, found.shape[3])):
        flat = torch.from_numpy(axis.flatten()).float()
        true = (shares @ flat / shares.sum(2).clamp(min=1))[shows]
        read = (found.flatten(2).softmax(2) @ flat)[shows]
        assert (true - read).abs().median() < 0.05 * size


def test_evaluation_counts_every_picture_once_under_every_condition(trained, monkeypatch) -> None:
    for name, value in (("ROUNDS", 1), ("TIMED", 4)):
        monkeypatch.setattr(assessment, name, value)
    domain, conditions = DrawnDomain(), dict(some(2, [*CAMERA_CORRUPTIONS.items()]))
    perception = load_perception(domain.visual, domain.name, trained, remembered=0)
    scores = evaluate_domain(domain, perception, states=5, conditions=conditions)
    assert scores.keys() == {"unseen", *(f"unseen, {name}" for name in conditions)}
    for found in scores.values():
        assert found.states == 5 == found.exact + found.refused + found.wrong
    assert speed(domain, perception).single_ms > 0


def test_what_only_boards_have_and_what_is_found_is_not_trained(trained, tmp_path) -> None:
    for told, changes in (
        ("are for boards", {"network": "separate"}),
        ("train all of them", {"only": "seen", "base": trained}),
        ("not a perceived predicate", {"only": "free", "base": trained}),
    ):
        with pytest.raises(UnusableInput, match=told):
            train_domain(DrawnDomain(), tmp_path, replace(FEW_STEPS, **changes), Progress(io.StringIO()))


class _Poorer(DrawnDomain):
    """The same without one predicate."""

    def __init__(self, predicate):
        super().__init__()
        entries = tuple(entry for entry in VOCABULARY.entries if entry.predicate.name != predicate)
        self.visual = replace(VOCABULARY, entries=entries, constraints=())


@pytest.mark.parametrize("predicate", first(1, ["on", "clear", "dark"]))
def test_a_predicate_is_added_and_all_others_stay_bit_by_bit(predicate, tmp_path) -> None:
    poorer, domain, told = _Poorer(predicate), DrawnDomain(), Progress(io.StringIO())
    train_domain(poorer, tmp_path / "old", FEW_STEPS, told)
    settings = replace(FEW_STEPS, only=predicate, base=tmp_path / "old", seed=1)
    train_domain(domain, tmp_path / "new", settings, told)
    (old, before), (new, after) = (
        read(one.visual, "piles", tmp_path / name) for one, name in ((poorer, "old"), (domain, "new"))
    )
    network, base = (network_of(plan_of(card.vocabulary), w) for w, card in ((new, after), (old, before)))
    fresh = new_network(plan_of(after.vocabulary), 1)
    others = [head for head in base.plan.heads if head != predicate]
    mine = deepcopy(network)
    mine.adopt(base, others)
    for name, tensor in mine.state_dict().items():
        assert torch.equal(tensor, network.state_dict()[name]), name
    (layer,) = [name for name, heads in network.outputs.items() if predicate in heads]
    row = network.outputs[layer].index(predicate)
    weight = f"{layer}.weight"
    assert not torch.equal(network.state_dict()[weight][row], fresh.state_dict()[weight][row])
    assert all(after.thresholds[head] == before.thresholds[head] for head in others)


def _weights(folder):
    return (folder / "piles.safetensors").read_bytes()


@pytest.mark.skipif(torch.cuda.is_available(), reason="GPUs add up the gradients of grid_sample in any order")
def test_a_resumed_run_gives_the_weights_of_one_that_was_never_interrupted(
    trained, tmp_path, monkeypatch
) -> None:
    """The same seed gives the same weights: neither checkpoints nor looks change them."""
    half = tmp_path / "half"

    class Stopped(Exception):
        pass

    class Impatient(Progress):
        def step(self, done, steps, told):
            if done == 6:
                raise Stopped

    monkeypatch.setattr(PlaceTask, "check", 4)
    with pytest.raises(Stopped):
        train_domain(DrawnDomain(), half, FEW_STEPS, Impatient(io.StringIO()), TrainingOptions(half))
    checkpoint = half / "checkpoints" / "last.ckpt"
    assert torch.load(checkpoint, weights_only=True)["global_step"] == 4
    options = TrainingOptions(tmp_path / "rest", checkpoint)
    train_domain(DrawnDomain(), tmp_path / "rest", FEW_STEPS, Progress(io.StringIO()), options)
    assert _weights(tmp_path / "rest") == _weights(trained)
    with (tmp_path / "rest" / "logs" / "metrics.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if row["held_loss"])
    for head in plan_of(describe(DrawnDomain.visual)).heads:
        assert sum(float(row[f"{head}/{cell}"]) for cell in CELLS) > 0
    changed = replace(FEW_STEPS, steps=5)
    with pytest.raises(UnusableInput, match="of another number or of all"):
        train_domain(DrawnDomain(), tmp_path / "rest", changed, Progress(io.StringIO()), options)


def test_answers_by_classifier_are_those_of_the_plan() -> None:
    plan = plan_of(describe(DrawnDomain.visual))
    values = torch.arange(2 * plan.size).reshape(2, plan.size)
    found = PlaceTask(plan).by_head(values, -1)
    for row, places in zip(found.unbind(1), plan.places.values(), strict=True):
        assert torch.equal(row[:, : len(places)], values[:, places])
        assert (row[:, len(places) :] == -1).all()


def test_harder_pictures_are_learned_from_more_often_and_the_order_goes_on_from_where_it_stopped() -> None:
    # the label of each picture is its number
    data = Lessons(
        torch.zeros(40, 3, 8, 8, dtype=torch.uint8),
        torch.arange(40)[:, None],
        (8, 8),
        torch.zeros(40, 1, 2, 2, dtype=torch.uint8),
    )
    orders = [PictureBatches(data, 3) for _ in range(2)]
    seen = torch.zeros(40)
    for step in range(60):
        batches = [order.batch() for order in orders]
        for one, other in zip(*batches, strict=True):
            assert torch.equal(one, other)
        numbers = batches[0][-1][:, 0]
        for order in orders:
            order.read(numbers.float())
        seen[numbers] += 1
        if step == 20:
            orders[1] = PictureBatches(data, 4)
            orders[1].restore(orders[0].state(), step)
    assert seen[:20].max() < seen[20:].min()
    assert seen.min() > 0
