"""From no label to a model: ``run --label``."""

import json

import pytest

from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import with_labels
from aam_vision.run.labelling_note import labelled
from aam_vision.training.labelling import boards, pool
from aam_vision.training.labelling.pool import walk

from .commands import refusal


@pytest.fixture
def learned(tmp_path, monkeypatch):
    """What the simulator's answers teach in a moment: the classifiers, and the lines of labels."""
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(boards, "FREE", 6)
    monkeypatch.setattr(pool, "walk", lambda *given: walk(*given[:3], 20))

    def learn(**options):
        given = Arguments(env="slidetile", label=True, labels="simulator", **options)
        weights = with_labels(given, tmp_path / "run").classifiers
        assert weights == tmp_path / "run" / "labels"
        read(board_domain("slidetile").visual, "slidetile", weights)
        return weights, [json.loads(line) for line in (weights / "labels.jsonl").read_text().splitlines()]

    return learn


def test_the_run_reads_with_what_it_learned_and_tells_the_labels(learned):
    weights, lines = learned(pictures=3)
    places, heads = 9, 9
    counts = {"labelled_pictures": len(lines), "labelled_atoms": len(lines) * places * heads}
    assert labelled(weights) == counts


def test_an_earlier_run_is_not_labelled_over(tmp_path):
    (tmp_path / "result.json").write_text(json.dumps({}))
    asked = ("--env", "sokoban", "--label", "--labels", "simulator", "--out", tmp_path)
    assert "holds result.json" in refusal(*asked, cwd=tmp_path)
    assert not (tmp_path / "labels").exists()
