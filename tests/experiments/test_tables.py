"""Columns say what becomes of the values of a group, and a table is the same wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.tables import (
    Summary,
    Table,
    as_named,
    average,
    part,
    per,
    pooled,
    queries_figure,
    share,
    spread_of,
    told,
    total,
)
from tests.commands import called, refused


def test_a_table_is_the_same_in_csv_and_markdown_and_keeps_its_order_of_columns() -> None:
    table = Table("T", ["a", "b"], [["x|y", 1.5], ["z", None]])
    assert table.csv() == "a,b\nx|y,1.5\nz,\n"
    assert table.markdown() == "| a | b |\n| --- | ---: |\n| x\\|y | 1.5 |\n| z | - |\n"
    assert Table("T", ["a", "b", "c"], [[1, 2, 3]]).only(["c", "a"]) == Table("T", ["a", "c"], [[1, 3]])
    assert table.only(()) == table


def test_columns_tell_what_becomes_of_the_values_of_a_group() -> None:
    columns = {
        "name": "name",
        "right": share("right"),
        "total": total("number"),
        "mean": average("number", 1),
        "each": per("number", lambda row: 1, 2),
        "spread": spread_of("number"),
        "runs": len,
    }
    rows = [
        {"name": "a", "right": True, "number": 1},
        {"name": "b", "right": None, "number": None},
        {"name": "a", "right": False, "number": 2},
        {"name": "a", "right": None, "number": 4},
        {"name": "c", "error": "late"},
        {"name": "c", "right": True, "number": 2},
    ]
    table = Summary("T", columns, by=("name",))(rows)
    assert table.columns == [*columns]
    assert table.rows == [
        ["a", "1/2", 7, 2.3, 2.33, "2.333 (1-4)", 3],
        ["b", None, 0, None, 0.0, "-", 1],
        ["c", "1/1", 2, 2, 2, "2", 2],
    ], "a failed job counts in no column but the number of runs"


def test_a_summary_without_groups_has_a_line_for_every_row() -> None:
    made = Summary("T", {**as_named("a", "b"), **as_named("c", column=spread_of)})
    assert made([{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 4}]).rows == [[1, 2, "3"], [1, 3, "4"]]
    assert made([]).columns == ["a", "b", "c"]


def test_batches_are_added_and_their_lists_joined() -> None:
    rows = [{"ended": {"open": 2}, "seeds": [1]}, {"ended": {"open": 1, "proven": 3}, "seeds": [4, 5]}]
    assert [total(part(name, "ended"))(rows) for name in ("open", "proven", "unknown")] == [3, 3, 0]
    assert pooled(rows, "seeds") == [1, 4, 5]


def test_rows_are_printed_as_they_come_below_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    coming = told({"a": number, "b": "x"} for number in range(2))
    next(coming)
    assert capsys.readouterr().out == "a\tb\n0\tx\n"
    assert list(coming) == [{"a": 1, "b": "x"}]
    assert capsys.readouterr().out == "1\tx\n"


def test_a_figure_changes_only_with_its_data(tmp_path: Path) -> None:
    asked = {"env": "gripper", "planner": "pyperplan", "lower_bound": 6}
    rows = [{**asked, "policy": "economical", "queries": queries} for queries in (6, 7)]
    for name in ("one.svg", "two.svg"):
        queries_figure({"gripper": 17}, [*rows, {**asked, "policy": "aia", "queries": 11}], tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "lower bound" in (tmp_path / "one.svg").read_text()


def test_the_short_page_is_made_of_results(tmp_path: Path) -> None:
    common = {"env": "gripper", "lower_bound": 6, "exact": True}
    job = {"env": "gripper", "peer": "OLAM", "steps": 200}
    right = {"ended": "learned", "steps_taken": 8, "equivalent": True, "right_after": 7}
    found = {
        "table1": [
            {**common, "policy": "economical", "queries": 6},
            {**common, "policy": "aia", "queries": 11},
            {**common, "policy": "aia", "error": "over its limit"},
        ],
        "peers": [{**job, **right}, {**job, "ended": "crashed"}],
    }
    for name, rows in found.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps(rows))
    called("experiments.headline", "--results", tmp_path, "--out", tmp_path / "docs", cwd=tmp_path, code=0)
    page = (tmp_path / "docs" / "README.md").read_text()
    assert "| gripper | 17 | 6 | 11 | 6 | 2/2 |" in page
    assert "| gripper | 7 of 8; 1/2 |" in page
    assert "simulators.md" not in page
    said = refused("experiments.headline", "--results", "none", "--out", "docs", cwd=tmp_path, kept=tmp_path)
    assert "run the experiments first" in said
