"""AMLGym's contest: one row where it is installed, one line where it is not."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from experiments.amlgym import PASSIVE, contest, standing
from tests.commands import refused

MISSING = find_spec("amlgym") is None or find_spec("olam") is None


@pytest.mark.skipif(not MISSING, reason="AMLGym is there")
def test_where_it_is_missing_one_line_says_what_to_install(tmp_path: Path) -> None:
    assert 'pip install "aam-vision[peers]"' in refused("experiments.amlgym", cwd=tmp_path)


@pytest.mark.skipif(MISSING, reason="needs the extra peers")
def test_a_domain_is_learned_and_scored() -> None:
    row = contest(env="grippers", problem=0, peer="this toolkit", seed=0, steps=100, seconds=100, to_solve=1)
    assert row["ended"] == "learned"
    assert row["equivalent"]
    assert row["right_after"] <= row["steps_taken"] <= 100
    assert row["applicability_mean_recall"] == 1
    assert row["solving"] == 1


@pytest.mark.skipif(MISSING, reason="needs the extra peers")
def test_a_domain_is_learned_from_traces_and_what_is_certain_is_true() -> None:
    given = {
        "env": "grippers",
        "problem": 0,
        "seed": 0,
        "steps": 0,
        "seconds": 100,
        "to_solve": 0,
        "passive": True,
    }
    rows = [
        contest(peer=peer, test_states=10, **given) | {"env": "grippers", "peer": peer}
        for peer in PASSIVE[:2]
    ]
    assert [row["ended"] for row in rows] == ["learned", "learned"]
    assert (rows[0]["equivalent"], rows[0]["falsely"], rows[1]["falsely"]) == (True, 0, None)
    assert rows[0]["certain"] > 0
    line = standing(rows).rows[0]
    assert line == ["SAM", 1, 1, 1, 1, 1, 1, 1, 1]
