"""A small training session from end to end, twice; and what belongs to it: the pace, resuming, logs, other architectures."""

import csv
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL, Defined
from aam_vision.classifiers.networks import RESNET18, SEPARATE, SHARED, make_network
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import describe, load, save, weaknesses
from aam_vision.envs import board
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Predicate
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.training import session
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings
from aam_vision.training.tasks import CellTask
from aam_vision.training.trainer import (
    CELLS,
    Confusion,
    Examined,
    Lesson,
    StartingPoint,
    TrainingOptions,
    teach,
)

from .toys import toy_boards

STEPS = 12


def _doors(**changes):
    """Doors with less to draw."""
    doors = board_domain("doors")
    usual = {"held_out": doors.held_out[:1], "interrogated": doors.held_out[:1], "shapes": ((6, 7),)}
    return replace(doors, **{**usual, **changes})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two sessions with one seed: their folder, files, first card, and what was told."""
    folder, told = tmp_path_factory.mktemp("training"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "SYNTHETIC", 16)
        patch.setattr(board, "STATES_PER_LAYOUT", 8)
        patch.setattr(session, "STATES", 40)
        patch.chdir(folder)
        settings = TrainingSettings(seed=3, steps=STEPS)
        files = [train_domain(_doors(), folder / name, settings, Progress(told)) for name in ("one", "again")]
    return folder, files, json.loads(files[0].card.read_text()), told.getvalue()


def test_the_weights_can_be_used_and_the_card_tells_what_was_measured(runs):
    folder, files, card, _ = runs
    perception = BoardPerception.load(_doors().visual, "doors", folder / "one")
    assert perception.card.seed == card["seed"] == 3
    unseen = card["figures"]["unseen"]
    assert card["figures"]["steps"] == STEPS
    assert unseen["states"] > 35
    assert 0 <= unseen["exact_match"] <= 1
    assert set(card["temperatures"]) == set(_doors().visual.cell_heads())
    text = files[0].card.with_suffix(".md").read_text()
    assert card["weights_sha256"] in text
    assert f"| unseen | {unseen['states']} |" in text
    assert all(f"`{name}`" in text for name in card["vocabulary"]["predicates"])


def test_the_same_seed_gives_the_same_weights_bit_by_bit_and_nothing_else_is_left_behind(runs):
    folder, (one, again), _, told = runs
    assert one.weights.read_bytes() == again.weights.read_bytes()
    first, second = (json.loads(files.card.read_text()) for files in (one, again))
    del first["figures"], second["figures"]  # they hold times
    assert first == second
    assert sorted(path.name for path in folder.iterdir()) == ["again", "one"]
    names = sorted(path.name for path in (folder / "one").iterdir())
    assert names == ["doors.json", "doors.md", "doors.safetensors"]
    assert f"{STEPS}/{STEPS} loss" in told
    assert "unseen pictures read rightly: runs with these classifiers of doors take some misread" in told


def test_every_classifier_has_figures_of_its_own_and_poor_ones_are_named(runs):
    """Twelve steps are too few."""
    _, files, _, told = runs
    network, card = load(_doors().visual, "doors", files[0].card.parent)
    unseen, positives = card.figures["unseen"], card.figures["positives"]
    assert list(unseen["classifiers"]) == list(positives) == list(network.heads)
    assert all(positives.values())
    for counts in unseen["classifiers"].values():
        assert 0 <= counts["wrong"] <= counts["pictures"] <= unseen["states"]
        assert counts["wrong"] <= counts["missed"] + counts["invented"]
    text = files[0].card.with_suffix(".md").read_text()
    assert weaknesses(card)
    for line in weaknesses(card):
        assert f"**{line}.**" in text
        assert f"warning: {line}\n" in told


def test_global_random_state_is_not_touched():
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    one, other = (CellTask(_doors().visual.cell_heads()).network(seed).state_dict() for seed in (0, 1))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    assert torch.equal(before, torch.get_rng_state())
    assert (numpy_before == np.random.get_state()[1]).all()  # noqa: NPY002


def test_test_layouts_are_never_trained_on(monkeypatch):
    for name in ("sokoban", "doors"):
        domain, drawn = board_domain(name), []
        monkeypatch.setattr(
            board.BoardDomain, "_pictures", lambda _, layout, *__, drawn=drawn: drawn.append(layout)
        )
        domain.lessons(np.random.default_rng(0))
        assert {layout.name.split("/")[1] for layout in drawn} == {"train", "synthetic"}
        assert len(drawn) == len(domain.trained_on) + board.SYNTHETIC
    assert session.CALIBRATION_SHARE > 1


class _Interrupted(Exception):
    pass


def _taught(steps, options=None, stop=None, **more):
    def progress(done, loss):
        if done == stop:
            raise _Interrupted

    boards = toy_boards(20)
    taught, held = (boards, ()) if more else (boards[2:], boards[:2])
    task = CellTask("ab")
    network = teach(task, taught, steps=steps, seed=5, progress=progress, held=held, options=options, **more)
    return network.state_dict()


def test_a_resumed_run_gives_the_weights_of_one_that_was_never_interrupted_or_looked_at(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(CellTask, "check", 4)
    whole = _taught(12, TrainingOptions(tmp_path / "whole"))
    with pytest.raises(_Interrupted):
        _taught(12, TrainingOptions(tmp_path / "half"), stop=7)
    last = tmp_path / "half" / "checkpoints" / "last.ckpt"
    resumed = _taught(12, TrainingOptions(tmp_path / "half", resume=last))
    plain, watched = _taught(12), _taught(12, TrainingOptions(tmp_path / "seen", tensorboard=True))
    assert all(torch.equal(whole[name], one[name]) for name in whole for one in (resumed, plain, watched))
    assert (tmp_path / "seen" / "logs" / "metrics.csv").is_file()
    kept = tmp_path / "whole" / "checkpoints"
    assert sorted(path.name for path in kept.iterdir()) == ["best.ckpt", "last.ckpt"]
    with pytest.raises(UnusableInput, match="of another number or of all"):
        _taught(12, TrainingOptions(resume=kept / "last.ckpt"))


def test_logs_tell_the_confusion_of_every_classifier_and_show_boards(tmp_path, monkeypatch):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    monkeypatch.setattr(CellTask, "check", 5)
    boards = toy_boards(20)
    _taught(10, TrainingOptions(tmp_path, tensorboard=True))
    with (tmp_path / "logs" / "metrics.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["held_loss"]]
    assert len(rows) == 2
    held = torch.stack([board.labels for board in boards[:2]])
    for number, head in enumerate("ab"):
        cells = {cell: float(rows[-1][f"{head}/{cell}"]) for cell in CELLS}
        assert sum(cells.values()) == held[:, number].numel()
        assert cells["yes as yes"] + cells["yes as no"] == (held[:, number] == 1).sum()
    seen = events.EventAccumulator(str(tmp_path / "logs"))
    seen.Reload()
    assert seen.Tags()["images"]
    assert "a/no as yes" in seen.Tags()["scalars"]
    assert seen.Tags()["tensors"]


def test_confusion_leaves_out_what_has_no_label():
    confusion = Confusion(["a"])
    confusion.add(torch.tensor([[[1.0, -1.0, 1.0, -1.0, 1.0]]]), torch.tensor([[[1, 1, 0, 0, NO_LABEL]]]))
    assert confusion.counts.tolist() == [[1, 1, 1, 1]]


def test_training_stops_when_its_time_is_up():
    steps = []
    options = TrainingOptions(max_seconds=0.3)
    told = {"steps": 100_000, "seed": 0, "progress": lambda done, loss: steps.append(done)}
    teach(CellTask("ab"), toy_boards(20), options=options, **told)
    assert 0 < len(steps) < 100_000


@pytest.mark.parametrize("content", [b"", b"no checkpoint", None])
def test_a_checkpoint_that_is_none_is_refused(content, tmp_path):
    file = tmp_path / "last.ckpt"
    if content is None:
        torch.save({"global_step": 3}, file)
    else:
        file.write_bytes(content)
    with pytest.raises(UnusableInput, match="no checkpoint of this training"):
        _taught(6, TrainingOptions(resume=file))


def test_what_is_not_there_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(UnusableInput, match="devices many"):
        _taught(6, TrainingOptions(devices="many"))
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(UnusableInput, match=r"pip install 'aam-vision\[tensorboard\]'"):
        _taught(10, TrainingOptions(tmp_path, tensorboard=True))


@pytest.mark.parametrize("warm_up", [0.1, 0.25, 0.3])
def test_the_rate_rises_and_falls_in_rounds_of_any_length(warm_up):
    for steps in [*range(1, 12), 20, 39, 40]:
        task = CellTask("ab")
        task.rate, task.warm_up = 0.1, warm_up
        rounds = Examined(steps, lambda network, done: False)
        lesson = Lesson(task, task.network(0), task.source(toy_boards(1), 0), (), lambda *_: None, rounds)
        chosen, rates = lesson.configure_optimizers(), []
        for _ in range(2 * steps):
            rates.append(chosen["optimizer"].param_groups[0]["lr"])
            chosen["optimizer"].step()
            chosen["lr_scheduler"]["scheduler"].step()
        assert rates[:steps] == pytest.approx(rates[steps:])
        assert 0 < max(rates) <= 0.1
        assert rates[steps - 1] <= rates[0] or steps == 1


def test_one_classifier_is_trained_anew_and_the_others_stay_bit_by_bit():
    base = CellTask("ab").network(1).eval()
    before = {name: tensor.clone() for name, tensor in base.state_dict().items()}
    for name, tensor in _taught(6, start=StartingPoint(base=base, only=("b",))).items():
        assert torch.equal(base.state_dict()[name], before[name])
        if name.startswith("trunk"):
            assert torch.equal(tensor, before[name])
        else:
            assert torch.equal(tensor[0], before[name][0])
            assert not torch.equal(tensor[1], before[name][1])


def test_a_predicate_that_the_weights_lack_is_added_on_their_trunk(tmp_path, monkeypatch):
    """Doors as shipped, but for ``unlocked``: trained for a moment on that trunk, it reads unseen layouts."""
    monkeypatch.setattr(board, "SYNTHETIC", 30)
    monkeypatch.setattr(session, "STATES", 30)
    doors = _doors(held_out=board_domain("doors").held_out[:2], shapes=((6, 7), (9, 6)))
    entries = tuple(e for e in doors.visual.entries if e.predicate.name != "unlocked")
    poorer = replace(doors.visual, entries=entries)
    shipped, card = load(doors.visual, "doors")
    network = make_network(SHARED, poorer.cell_heads())
    network.adopt(shipped, poorer.cell_heads())
    save(network, replace(card, vocabulary=describe(poorer)), tmp_path / "old")
    with pytest.raises(UnusableInput, match="predicate unlocked is absent there"):
        load(doors.visual, "doors", tmp_path / "old")
    # the vocabulary may have other changes, too
    nowhere = Defined(Predicate("nowhere", ("key",)), lambda scene, seen: ((), ()), "a key that is not seen")
    richer = replace(doors.visual, entries=(*doors.visual.entries, nowhere))
    doors.__dict__["visual"] = richer  # of a cached property
    settings = TrainingSettings(steps=100, only="unlocked", base=tmp_path / "old")
    train_domain(doors, tmp_path / "new", settings, Progress(io.StringIO()))
    grown, found = load(doors.visual, "doors", tmp_path / "new")
    mine = make_network(SHARED, poorer.cell_heads())
    mine.adopt(grown, poorer.cell_heads())
    assert all(torch.equal(tensor, network.state_dict()[name]) for name, tensor in mine.state_dict().items())
    assert all(found.thresholds[head] == card.thresholds[head] for head in poorer.cell_heads())
    assert found.figures["unseen"]["wrong"] == 0
    assert found.figures["unseen"]["exact_match"] > 0.9


def test_separate_networks_are_trained_and_used_by_the_same_code(tmp_path, monkeypatch):
    monkeypatch.setattr(board, "SYNTHETIC", 8)
    monkeypatch.setattr(session, "STATES", 10)
    domain, settings = _doors(), TrainingSettings(steps=4, network=SEPARATE)
    files = train_domain(domain, tmp_path, settings, Progress(io.StringIO()))
    assert "network `separate`" in files.card.with_suffix(".md").read_text()
    perception = BoardPerception.load(domain.visual, "doors", tmp_path)
    layout = domain.load(*domain.held_out[0])
    frame = domain.drawing(layout).frame(layout.initial)
    assert perception.look(frame, domain.scene(layout)).state.objects == layout.objects


def test_resnet18_learns_and_is_loaded_as_it_was_saved(tmp_path):
    visual = board_domain("doors").visual
    boards = [replace(board, labels=board.labels[[0, 1, 0]]) for board in toy_boards(2, (128, 192))]
    task = CellTask(visual.cell_heads(), RESNET18)
    network = teach(task, boards, steps=2, seed=0, progress=lambda *_: None)
    _, card = load(visual, "doors")
    save(network, replace(card, network=RESNET18), tmp_path)
    again, _ = load(visual, "doors", tmp_path)
    pixels = boards[0].pixels[None] / 255
    with torch.inference_mode():
        assert torch.allclose(network(pixels), again(pixels), rtol=1e-3, atol=1e-3)
