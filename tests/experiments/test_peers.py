"""Failures of a peer are rows; where the peers are installed, they learn and are scored."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import ActionSchema, Model
from experiments import peers as contests
from experiments.peers import OFFLINE, ONLINE, contest, summary
from experiments.tables import Row
from tests.commands import refused

installed = pytest.mark.skipif(
    find_spec("amlgym") is None or find_spec("olam") is None, reason="needs the extra peers"
)


def learned(peer: str, seconds: float = 100) -> Row:
    return contest(env="gripper", peer=peer, seed=0, steps=50, seconds=seconds, size=1)


@pytest.mark.skipif(find_spec("amlgym") is not None, reason="the peers are there")
def test_missing_peers_are_reported_in_one_line(tmp_path: Path) -> None:
    assert 'pip install "aam-vision[peers]"' in refused("experiments.peers", cwd=tmp_path, kept=tmp_path)


def test_a_crash_and_a_hang_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = learned("nobody")
    assert crashed["ended"] == "crashed"
    assert "Error" in crashed["why"]
    hangs = tmp_path / "python"
    hangs.write_text("#!/bin/sh\nsleep 600\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(hangs))
    hung = learned("OLAM", seconds=0.2)
    assert (hung["ended"], hung["why"]) == ("out of time", "over 0.2 s")


def test_text_that_is_not_a_model_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def writes_nonsense(folder: Path, seconds: float, *arguments: str) -> tuple[str, str]:
        (folder / "learn.json").write_text('{"steps": 7, "claims": true, "cpu_s": 0.1}')
        (folder / "learned.pddl").write_text("(define (domain of nonsense))")
        return "learned", ""

    monkeypatch.setattr(contests, "_process", writes_nonsense)
    row = learned("anyone")
    assert (row["ended"], row["steps_taken"]) == ("no model", 7)
    assert "learned_compared.pddl" in row["why"]


def test_peers_get_names_that_they_can_read_and_keywords_as_they_are(tmp_path: Path) -> None:
    truth, states = contests.prepared(tmp_path, "termes", 1, 0)
    text = (tmp_path / "domain.pddl").read_text()
    assert ":negative-preconditions" in text
    assert not any("_" in predicate.name for predicate in truth.vocabulary.predicates)
    assert any(action.negative for action in truth.actions)
    assert states


@pytest.mark.parametrize(
    ("course", "right_after"),
    [("wrong right wrong right right", 5), ("right nonsense right", 4)],
    ids=["right by chance, and then changed", "unreadable on the way"],
)
def test_a_model_is_right_from_when_it_stays_right(
    course: str, right_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = {3: [0, 2, 4], 5: [0, 2, 3, 5, 8]}[len(course.split())]

    def learns(folder: Path, seconds: float, *arguments: str) -> tuple[str, str]:
        right = (folder / "domain.pddl").read_text()
        truth = read_domain(folder / "domain.pddl")
        wrong = domain_text(Model(truth.vocabulary, tuple(map(ActionSchema, truth.headers))))
        texts = {"right": right, "wrong": wrong, "nonsense": "(define (domain of nonsense))"}
        told = [*zip(steps, map(texts.get, course.split()), strict=True)]
        (folder / "learn.json").write_text(json.dumps({"steps": 9, "claims": True, "course": told}))
        (folder / "learned.pddl").write_text(right)
        return ("learned", "") if arguments[0] == "learn" else ("crashed", "no metrics")

    monkeypatch.setattr(contests, "_process", learns)
    row = learned("anyone")
    assert (row["ended"], row["equivalent"], row["right_after"]) == ("learned", True, right_after)


def test_a_false_claim_is_counted_and_a_crash_costs_no_mean() -> None:
    right = {
        "ended": "learned",
        "steps_taken": 8,
        "claims": True,
        "equivalent": True,
        "right_after": 6,
        "solving": 1.0,
    }
    wrong = {"ended": "learned", "steps_taken": 9, "claims": True, "equivalent": False, "solving": 0.5}
    rows = [
        {"env": "gripper", "peer": "OLAM", "learning_s": 1.0, **run}
        for run in (right, wrong, {"ended": "crashed", "why": "KeyError"})
    ]
    (line,) = summary("T", rows).rows
    shown = dict(zip(summary("T", rows).columns, line, strict=True))
    assert (shown["claims to be done"], shown["false claims"], shown["equivalent"]) == ("2/2", "1/2", "1/3")
    assert (shown["right after"], shown["steps"]) == ("6", "8.5 (8-9)")
    assert (shown["solving"], shown["ended"]) == (0.75, "2 learned, 1 crashed")
    assert shown["syntactic P"] is None


@installed
@pytest.mark.parametrize("peer", [*ONLINE, *OFFLINE])
def test_every_peer_learns_and_is_scored(peer: str) -> None:
    row = learned(peer)
    assert row["ended"] == "learned", row["why"]
    assert row["why"] == ""
    assert 0 < row["steps_taken"] <= 50
    assert 0 <= row["solving"] <= 1
    if peer in ONLINE:
        assert row["right_after"] is None or 0 < row["right_after"] <= row["steps_taken"]
    if peer in ("this toolkit", "OLAM"):
        assert row["right_after"] is not None
        assert row["claims"]
        assert row["equivalent"]
        assert row["syntactic_recall"] == 1
