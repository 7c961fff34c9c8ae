"""A run's folder of a stranger: whatever a value in it is changed to, it is told, or refused in one line."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from aam_vision.agents.journal import NAME
from aam_vision.report import terminal
from aam_vision.report.account import account_of
from aam_vision.report.ending import read_figures
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from aam_vision.support.errors import UnusableInput
from tests.finished import ChanceRuns, Runs, copied, result_of
from tests.profiles import thorough
from tests.refusals import told_by

MARKUP = "<script>alert(1)</script>"
PLAIN = st.sampled_from(
    (
        *(None, True, -1, 0, 1, 10**12, 10**400, -(10**30), 0.5, 1e308),
        *("", "at", "\x1b[2J", "\ud800", "../x", MARKUP),
        *([], {}, [[]], {"a": []}),
    )
)
"""Replacements for a value; JSON has all of these."""
TEXTS = st.sampled_from(["", "[]", "{", "{}", "7", "\x00", '[{"operator": "press-on"}]'])
"""Replacements for a file."""
VALUES = {"about": ("name", "value"), "objects": ("number", "content"), "states": ("number", "content")}
VALUES |= {f"entries {column}": ("number", column) for column in ("question", "answer", "random")}


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Something else somewhere within."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 7)):
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        key = draw(st.sampled_from(keys))
        copied = dict(value) if isinstance(value, dict) else list(value)
        if draw(st.integers(0, 9)):
            copied[key] = _changed(draw, value[key])
        else:
            del copied[key]
        return copied
    return draw(PLAIN)


def _change(draw: st.DrawFn, folder: Path) -> None:
    """A value of the journal, of the figures or of the mapping of controls, or one of these files as a whole."""
    files = [file.name for file in (folder / "result.json", folder / "controls.json") if file.exists()]
    place = draw(st.sampled_from([*VALUES, "about", *files]))
    if place in files:
        file = folder / place
        text = file.read_text()
        try:
            changed = json.dumps(_changed(draw, json.loads(text))) if draw(st.integers(0, 5)) else draw(TEXTS)
        except json.JSONDecodeError:  # of an earlier change
            changed = draw(TEXTS)
        file.write_text(changed)
        return
    key, column = VALUES[place]
    table = place.split()[0]
    with contextlib.closing(sqlite3.connect(folder / NAME, isolation_level=None)) as connection:
        rows = connection.execute(f"SELECT {key}, {column} FROM {table} ORDER BY {key}").fetchall()
        name, text = rows[draw(st.integers(0, len(rows) - 1))]
        changed = json.dumps(_changed(draw, json.loads(text)))
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed, name))


def _told(folder: Path) -> str:
    console = Console(file=io.StringIO(), highlight=False, markup=False)
    try:
        account = account_of(read_run(folder))
        terminal.overview(account, console)
        shown = page(account)
        shown.encode("utf-8", "strict")
        assert MARKUP not in shown
        assert "\x1b" not in shown
    except UnusableInput as error:
        return str(error)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().replace("\n", "")


@pytest.mark.parametrize(
    "note",
    [
        ("scenes", [{"loc-0-0": [10**400, 0, 0, 0]}]),
        ("scenes", [{"loc-0-0": [1e308] * 4}] * 1000),
        ("scenes", 7),
        ("sources", {"at": {"kind": "\x1b[2J", "meaning": "\ud800"}}),
        ("sources", [[]]),
        ("arguments", {"repeated_arguments": 1}),
        ("agent", {"access": "snapshot", "name": "x", "predicates": {"p": []}, "actions": {"a": []}}),
    ],
)
def test_malformed_notes_are_refused(note: tuple[str, object], run_of: Runs, tmp_path: Path) -> None:
    for name in (NAME, "result.json", "model.pddl"):
        shutil.copy(run_of("doors") / name, tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as connection:
        connection.execute("UPDATE about SET value = ? WHERE name = ?", (json.dumps(note[1]), note[0]))
    assert "\x1b" not in _told(tmp_path)


@pytest.fixture(params=["gripper", "doors", "chance", "controls"])
def whole(request: pytest.FixtureRequest, run_of: Runs, chance_run_of: ChanceRuns, lamps_run: Path) -> Path:
    """A run of each kind."""
    if request.param == "controls":
        return lamps_run
    return chance_run_of(within=0.3) if request.param == "chance" else run_of(request.param)


def test_a_changed_run_is_read_or_refused(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    @thorough(40)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        folder = tmp_path_factory.mktemp("changed")
        for name in (NAME, "result.json", "model.pddl", "controls.json", "operators"):
            if (whole / name).is_dir():
                shutil.copytree(whole / name, folder / name)
            elif (whole / name).exists():
                shutil.copy(whole / name, folder)
        for _ in range(data.draw(st.integers(1, 2))):
            data.draw(st.composite(_change)(folder))
        told = _told(folder)
        assert "\x1b" not in told
        assert "\n" not in told
        shutil.rmtree(folder)

    holds()


@pytest.mark.parametrize(
    ("whole", "change"),
    [
        ("gripper", {"env": 3}),
        *(("chance", change) for change in ({"why": None}, {"steps": "many"})),
        *(("controls", {"unexplained": value}) for value in ("two", None)),
        *(("controls", {"native_equivalent": value}) for value in ("all", 2)),
        *(("controls", change) for change in ({"native_steps": [1]}, {"certain_within": ""})),
        ("controls", {"certain_beyond": 3}),
    ],
    indirect=["whole"],
)
def test_figures_that_cannot_be_are_refused(whole: Path, change: dict[str, object], tmp_path: Path) -> None:
    copy = copied(whole, tmp_path, **change)
    assert "result.json: damaged" in told_by(lambda: read_run(copy))


def test_markup_in_any_figure_is_text_on_the_page(whole: Path, tmp_path: Path) -> None:
    copy = copied(whole, tmp_path)
    figures, texts = result_of(copy), {}
    for name in (name for name, value in figures.items() if isinstance(value, str)):
        (copy / "result.json").write_text(json.dumps({**figures, name: MARKUP}))
        with contextlib.suppress(UnusableInput):
            read_figures(copy / "result.json", chance="variational_distance" in figures)
            texts[name] = MARKUP
    assert {"env", "status", "why"} <= texts.keys()
    (copy / "result.json").write_text(json.dumps({**figures, **texts}))
    assert "damaged" not in _told(copy)
