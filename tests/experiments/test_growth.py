"""Boards of any size can be played; a run in a large world tells its cost, and one over its limit is a line, too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aam_vision.model.query import Access
from aam_vision.report import evaluation
from aam_vision.support.errors import UnusableInput
from experiments.growth import (
    FAMILIES,
    WALLS,
    exponents,
    fitted,
    grown,
    peak_megabytes,
    sokoban_board,
    summary,
)
from tests.commands import called
from tests.envs.ground_truth import ground_truth_model
from tests.profiles import first


@pytest.mark.parametrize(("size", "stones", "seeds"), first(2, [(4, 1, 5), (7, 3, 5), (15, 5, 1)]))
def test_a_board_has_its_walls_and_stones_and_every_action_can_be_done_there(
    size: int, stones: int, seeds: int
) -> None:
    boards = [sokoban_board(size, stones, np.random.default_rng(seed)) for seed in range(seeds)]
    assert boards[0] == sokoban_board(size, stones, np.random.default_rng(0))
    assert len({*boards}) == seeds
    for board in boards:
        told = [atom.predicate for atom in board.true]
        assert len(board.objects.of_type("location")) == size * size
        assert told.count("clear") + told.count("at") == size * size - round(WALLS * size * size)
        assert told.count("is-stone") == told.count("is-goal") == stones == told.count("at") - 1
        truth = ground_truth_model("sokoban")
        states = evaluation.sample_states(truth, [board], 400, np.random.default_rng(0))
        done = {step.name for state in states for step in evaluation.successors(truth, state)}
        assert {"move", "push-to-nongoal"} <= done


def test_a_board_too_small_for_its_stones_is_refused() -> None:
    with pytest.raises(UnusableInput, match="2 x 2 cells with 2 stones"):
        sokoban_board(2, 2, np.random.default_rng(0))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_grows(family: str) -> None:
    kind = FAMILIES[family]
    agents = [kind.make(size, Access.SNAPSHOT, 0).agent for size in kind.sizes[:3]]
    sizes = [max(kind.objects(one.state) for one in agent.initial()) for agent in agents]
    assert sizes == sorted(set(sizes))
    assert set(kind.bounds) <= set(kind.sizes)


def test_a_run_tells_its_cost_and_that_its_model_is_right() -> None:
    job = {"family": "blocksworld", "size": 5, "access": "settable", "seed": 1, "max_steps": None}
    row = {**job, **grown(**job)}
    assert (row["status"], row["objects"], row["wrong"]) == ("complete", 5, 0)
    assert row["exact"]
    assert row["equivalent"]
    assert 10 < row["megabytes"] < peak_megabytes() + 0.1


def test_the_exponent_is_that_of_a_power() -> None:
    objects = [3, 10, 30, 100]
    assert fitted(objects, [0.2 * n**1.5 for n in objects]) == pytest.approx(1.5)
    assert fitted([7, 7], [1.0, 2.0]) is None


def test_runs_over_the_limit_are_in_the_table(tmp_path: Path) -> None:
    asked = ["--family", "blocksworld", "--access", "settable", "--processes", "1", "--size", "3", "--size"]
    called("experiments.growth", *asked, "9", "--out", tmp_path, cwd=tmp_path, code=0)
    rows = json.loads((tmp_path / "growth.json").read_text())
    assert [row["objects"] for row in rows] == [3, 9]
    page = (tmp_path / "growth.md").read_text()
    assert "## Exponents" in page
    assert "growth.svg" in page
    late = ("4", "--out", tmp_path / "late", "--job-seconds", "0.001")
    called("experiments.growth", *asked, *late, cwd=tmp_path, code=1)
    assert (tmp_path / "late" / "growth.md").read_text().count("| over the limit |") == 2
    job = {name: rows[1][name] for name in ("family", "size", "access", "seed")}
    rows[1] = {**job, "error": "over its limit of 1 s"}
    status = summary(rows).columns.index("status")
    assert [line[status] for line in summary(rows).rows] == ["complete", "over the limit"]
    assert exponents(rows).rows[0][-1] == "1/2"
