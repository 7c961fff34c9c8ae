"""Failures of a peer are rows; where the peers are installed, they learn and are scored; so is AMLGym's contest."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import ActionSchema, Model
from experiments import amlgym, peers
from experiments.peers import OFFLINE, ONLINE, contest, summary
from experiments.tables import Row
from tests.commands import refused

MISSING = find_spec("amlgym") is None or find_spec("olam") is None
installed = pytest.mark.skipif(MISSING, reason="needs the extra peers")


def learned(peer: str, seconds: float = 100) -> Row:
    return contest(env="gripper", peer=peer, seed=0, steps=50, seconds=seconds, size=1)


@pytest.mark.skipif(not MISSING, reason="the peers are there")
@pytest.mark.parametrize("name", ["peers", "amlgym"])
def test_missing_peers_are_reported_in_one_line(name: str, tmp_path: Path) -> None:
    assert 'pip install "aam-vision[peers]"' in refused(f"experiments.{name}", cwd=tmp_path, kept=tmp_path)


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


def test_peers_get_names_that_they_can_read_and_keywords_as_they_are(tmp_path: Path) -> None:
    truth, states = peers.prepared(tmp_path, "termes", 1, 0)
    assert ":negative-preconditions" in (tmp_path / "domain.pddl").read_text()
    assert not any("_" in predicate.name for predicate in truth.vocabulary.predicates)
    assert any(action.negative for action in truth.actions)
    assert states


@pytest.mark.parametrize(
    ("course", "found"),
    [
        ({0: "wrong", 2: "right", 3: "wrong", 5: "right", 8: "right"}, ("learned", True, 5)),
        ({0: "right", 2: "nonsense", 4: "right"}, ("learned", True, 4)),
        ({7: "nonsense"}, ("no model", None, None)),
    ],
    ids=["right by chance, and then changed", "unreadable on the way", "unreadable in the end"],
)
def test_a_model_is_right_from_when_it_stays_right(
    course: dict[int, str], found: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def learns(folder: Path, seconds: float, *arguments: str) -> tuple[str, str]:
        right = (folder / "domain.pddl").read_text()
        truth = read_domain(folder / "domain.pddl")
        wrong = domain_text(Model(truth.vocabulary, tuple(map(ActionSchema, truth.headers))))
        texts = {"right": right, "wrong": wrong, "nonsense": "(define (domain of nonsense))"}
        told = [(steps, texts[name]) for steps, name in course.items()]
        (folder / "learn.json").write_text(json.dumps({"steps": 9, "claims": True, "course": told}))
        (folder / "learned.pddl").write_text(told[-1][1])
        return ("learned", "") if arguments[0] == "learn" else ("crashed", "no metrics")

    monkeypatch.setattr(peers, "_process", learns)
    row = learned("anyone")
    assert (row["ended"], row.get("equivalent"), row.get("right_after")) == found
    assert row["steps_taken"] == 9
    assert ("learned_compared.pddl" in row["why"]) is (row["ended"] == "no model")


def test_a_false_claim_is_counted_and_a_crash_costs_no_mean() -> None:
    claimed = {"ended": "learned", "claims": True}
    right = {**claimed, "steps_taken": 8, "equivalent": True, "right_after": 6, "solving": 1.0}
    wrong = {**claimed, "steps_taken": 9, "equivalent": False, "solving": 0.5}
    runs = (right, wrong, {"ended": "crashed", "why": "KeyError"})
    table = summary("T", [{"env": "gripper", "peer": "OLAM", "learning_s": 1.0, **run} for run in runs])
    shown = dict(zip(table.columns, *table.rows, strict=True))
    assert (shown["claims to be done"], shown["false claims"], shown["equivalent"]) == ("2/2", "1/2", "1/3")
    assert (shown["right after"], shown["steps"]) == ("6", "8.5 (8-9)")
    assert (shown["solving"], shown["ended"]) == (0.75, "2 learned, 1 crashed")
    assert shown["syntactic P"] is None


@installed
@pytest.mark.parametrize("peer", [*ONLINE, *OFFLINE])
def test_every_peer_learns_and_is_scored(peer: str) -> None:
    row = learned(peer)
    assert (row["ended"], row["why"]) == ("learned", "")
    assert 0 < row["steps_taken"] <= 50
    assert 0 <= row["solving"] <= 1
    if peer in ONLINE:
        assert row["right_after"] is None or 0 < row["right_after"] <= row["steps_taken"]
    if peer in ("this toolkit", "OLAM"):
        assert (row["claims"], row["equivalent"], row["syntactic_recall"]) == (True, True, 1)
        assert row["right_after"] is not None


@installed
def test_a_domain_of_amlgym_is_learned_and_scored() -> None:
    job = {"env": "grippers", "problem": 0, "seed": 0, "seconds": 100}
    row = amlgym.contest(peer="this toolkit", steps=100, to_solve=1, **job)
    assert (row["ended"], row["equivalent"]) == ("learned", True)
    assert row["right_after"] <= row["steps_taken"] <= 100
    assert (row["applicability_mean_recall"], row["solving"]) == (1, 1)


@installed
def test_a_domain_is_learned_from_traces_and_what_is_certain_is_true() -> None:
    job = {"problem": 0, "seed": 0, "steps": 0, "seconds": 100, "to_solve": 0, "test_states": 10}
    named = [{"env": "grippers", "peer": peer} for peer in amlgym.PASSIVE[:2]]
    own, sam = (amlgym.contest(passive=True, **one, **job) | one for one in named)
    assert own["ended"] == sam["ended"] == "learned"
    assert (own["equivalent"], own["falsely"], sam["falsely"]) == (True, 0, None)
    assert own["certain"] > 0
    assert amlgym.standing([own, sam]).rows[0] == ["SAM", 1, 1, 1, 1, 1, 1, 1, 1]
