"""Training goes on by itself, in rounds, until all unseen pictures are read rightly or more of it does not help."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.support.commandline import Progress
from aam_vision.support.wording import counted
from aam_vision.training.cells import CellTask
from aam_vision.training.session import PATIENCE, Rounds, train_domain
from aam_vision.training.settings import MOST_ROUNDS, TrainingSettings
from aam_vision.training.trainer import Examined, TrainingOptions, teach

from .test_own import CORRIDOR
from .toys import toy_boards

ROUND = 6


def _taught(steps, enough, options=None):
    """The weights, and those at the end of every round."""
    ends = {}

    def examine(network, done):
        ends[done] = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        return enough(done)

    network = teach(
        CellTask("ab"),
        toy_boards(20),
        steps=steps,
        seed=5,
        progress=lambda *_: None,
        options=options,
        examined=Examined(ROUND, examine),
    )
    return network.state_dict(), ends


def _same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_limit_of_steps_changes_nothing_but_how_long_training_goes_on():
    alone = teach(CellTask("ab"), toy_boards(20), steps=ROUND, seed=5, progress=lambda *_: None)
    stopped, ends = _taught(4 * ROUND, lambda done: done == ROUND)
    assert list(ends) == [ROUND]
    assert _same(stopped, alone.state_dict())
    _, longer = _taught(2 * ROUND, lambda done: False)
    _, longest = _taught(3 * ROUND, lambda done: False)
    assert list(longest) == [ROUND, 2 * ROUND, 3 * ROUND]
    assert all(_same(longer[done], longest[done]) for done in longer)
    assert _same(longest[ROUND], stopped)
    assert not _same(longest[2 * ROUND], longest[ROUND])


def test_a_run_whose_limit_was_too_low_is_resumed_with_a_higher_one(tmp_path):
    _taught(ROUND, lambda done: False, TrainingOptions(tmp_path))
    last = TrainingOptions(resume=tmp_path / "checkpoints" / "last.ckpt")
    resumed, ends = _taught(2 * ROUND, lambda done: False, last)
    assert list(ends) == [2 * ROUND]
    assert _same(resumed, _taught(2 * ROUND, lambda done: False)[0])


def test_what_stops_within_a_round_is_examined_too():
    assert 0 < min(_taught(100_000, lambda done: False, TrainingOptions(max_seconds=0.01))[1]) <= ROUND


def _trained(folder: Path, domain, settings: TrainingSettings):
    told = io.StringIO()
    files = train_domain(domain, folder, settings, Progress(told))
    return json.loads(files.card.read_text())["figures"], told.getvalue()


def test_training_goes_on_until_all_is_read_and_the_card_says_so(tmp_path):
    slow = replace(CORRIDOR, round_steps=15)
    figures, told = _trained(tmp_path, slow, TrainingSettings())
    assert figures["unseen"]["exact"] == figures["unseen"]["states"] == 64
    assert 15 < figures["steps"] < 15 * MOST_ROUNDS, "it takes several rounds, and stops by itself"
    assert "unseen pictures misread: training goes on" in told
    assert "corridor: 64 of 64 unseen pictures read rightly" in told
    assert "warning" not in told


@pytest.fixture(scope="module")
def poor(tmp_path_factory):
    """Classifiers of the corridor after ten steps: their folder, figures, and what was told."""
    folder = tmp_path_factory.mktemp("poor")
    return folder, *_trained(folder, CORRIDOR, TrainingSettings(steps=10))


def test_a_limit_that_is_too_low_is_named(poor):
    _, figures, told = poor
    right = figures["unseen"]["exact"]
    assert right < 64
    assert f"warning: {right} of 64 unseen pictures read rightly: runs with these classifiers" in told
    assert "train longer (--steps 20)" in told


def test_training_that_stands_still_ends_and_the_best_round_counts(poor):
    perception, told = BoardPerception.load(CORRIDOR.visual, "corridor", poor[0]), io.StringIO()
    network = CellTask(CORRIDOR.visual.cell_heads()).network(0)
    rounds = Rounds(
        CORRIDOR, TrainingSettings(), 64, lambda own: (perception.card, perception), Progress(told)
    )
    verdicts = [rounds.examined.enough(network, number) for number in range(1, PATIENCE + 2)]
    assert verdicts == [False] * PATIENCE + [True]
    assert rounds.best.steps == 1
    assert rounds.best.misread > 0
    rounds.tell()
    assert f"{counted(PATIENCE, 'more round')} of training did not help" in told.getvalue()
    assert "label some (python -m aam_vision.training.label)" in told.getvalue()
