"""The figure is redrawn from jobs that are done once, and says what it counts."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.model import domains
from aam_vision.model.strips import lifted_atoms
from experiments.fama import FAMA, curves, draw, fama_table, measure, overlap
from experiments.tables import Row
from tests.commands import called


def test_the_command_draws_both_methods_beside_the_paper_and_goes_on_where_it_was(tmp_path: Path) -> None:
    options = ("--domain", "gripper", "--seeds", "2", "--solver-seeds", "2", "--traces", "5")
    options += ("--processes", "1", "--out", str(tmp_path))
    first = called("experiments.fama", *options, cwd=tmp_path, code=0)
    with (tmp_path / "fama.csv").open(newline="") as file:
        lines = {line["traces"]: line for line in csv.DictReader(file)}
    assert list(lines) == ["1", "2", "3", "5"]
    assert lines["2"]["paper"] == "1.0"
    assert lines["5"]["program"] == "0.75-0.95"
    with (tmp_path / "fama-aia.csv").open(newline="") as file:
        (*_, last) = csv.DictReader(file)
    assert (last["queries"], last["paper"], last["resolved"]) == ("15", "1.0", "1.000")
    page = (tmp_path / "fama.md").read_text()
    assert "| gripper | 1 |" in page
    assert "| gripper | 2 |" not in page, "the table has it, the page has few lines"
    figure = (tmp_path / "fama.svg").read_text()
    assert "FAMA, paper" in figure
    (tmp_path / "fama.svg").unlink()
    again = called("experiments.fama", *options, cwd=tmp_path)
    assert "6 of 6 jobs were done before" in again.stderr
    assert again.stdout == first.stdout
    assert (tmp_path / "fama.svg").read_text() == figure, "the same data give the same figure"


@pytest.fixture(scope="module")
def satellite() -> list[Row]:
    """Some traces of this agent are explained by no model of FAMA's: it deletes what it does not require."""
    job = {"env": "satellite", "seed": 2, "size": 2}
    options = {"fama": {"counts": [1, 30], "solver_seeds": 2}, "aia": {"walk_steps": 0}}
    jobs = [{**job, "method": method, **chosen} for method, chosen in options.items()]
    return [{**one, **measure(**one)} for one in jobs]


def test_a_run_can_be_repeated(satellite: list[Row]) -> None:
    again = measure(method="fama", env="satellite", seed=2, size=2, counts=[1, 30], solver_seeds=2)
    one, other = ([{**point, "seconds": 0} for point in run["points"]] for run in (again, satellite[0]))
    assert one == other


def test_traces_that_no_model_explains_are_counted_and_not_averaged(satellite: list[Row]) -> None:
    table = fama_table(satellite)
    lines = {line[1]: dict(zip(table.columns, line, strict=True)) for line in table.rows}
    assert (lines[1]["no model"], lines[30]["no model"]) == (0, 1)
    assert lines[30]["frugal"] == "-"
    assert lines[30]["overlap, true only"] != "-"
    figure = draw({"satellite": curves(satellite, "satellite")})
    assert "no model" in figure


def test_the_papers_measure_of_fama_is_the_overlap_of_literals() -> None:
    """Blocksworld after 5 traces: 22 of 27 literals found, 3 too many; published as 0.73."""
    truth = domains.load("blocksworld")
    assert overlap(truth, truth) == 1
    schema = truth.schema("stack")
    others = [atom for atom in lifted_atoms(truth.vocabulary, schema.header) if atom not in schema.positive]
    fewer = replace(schema, positive=schema.positive | {*others[:3]}, add=frozenset(), delete=frozenset())
    assert len(schema.add | schema.delete) == 5
    actions = tuple(fewer if action is schema else action for action in truth.actions)
    assert round(overlap(replace(truth, actions=actions), truth), 2) == 0.73
    assert FAMA["blocksworld"][5].accuracy == 0.73
