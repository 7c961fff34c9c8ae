"""A journal survives its process."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.journal import FORMAT, NAME, WENT_ON, Journal, NothingRecorded, Row
from aam_vision.support.errors import UnusableInput

from .recorded import act


def test_an_entry_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    """Whatever comes after it: the file is copied as a crash would leave it, the connection still open."""
    row = Row("query", {"from": [1, 1]}, {"executed": 0}, [None])
    with Journal.create(tmp_path / ".", {}, {}) as journal:
        for number in (1, 2, 3):
            journal.add("states", number, 1, {"true": [], "unknown": []})
            journal.write(number, row)
            crashed = tmp_path / f"crash-{number}"
            crashed.mkdir()
            for file in tmp_path.glob(f"{NAME}*"):
                shutil.copy(file, crashed)
            with Journal.open(crashed) as copy:
                assert copy.rows() == [row] * number
                assert len(list(copy.contents("states"))) == number


@pytest.mark.parametrize("finished", [False, True])
def test_an_earlier_run_is_overwritten_by_force_only(tmp_path: Path, finished: bool) -> None:
    act(tmp_path)
    if finished:
        with Journal.open(tmp_path) as journal:
            journal.note("finished", "complete")
    with pytest.raises(
        UnusableInput, match="holds a finished run; name" if finished else "unfinished run; resume"
    ):
        Journal.create(tmp_path, {}, {})
    with Journal.open(tmp_path) as journal:
        assert journal.rows() != []
    with Journal.create(tmp_path, {"seed": 2}, {}, force=True) as journal:
        assert journal.rows() == []


def test_a_journal_in_use_is_refused(tmp_path: Path) -> None:
    with Journal.create(tmp_path, {}, {}), pytest.raises(UnusableInput, match="another process"):
        Journal.open(tmp_path)


def test_a_run_that_never_began_is_said_to_have_nothing_recorded(tmp_path: Path) -> None:
    with pytest.raises(NothingRecorded, match="nothing is recorded"):
        Journal.open(tmp_path)
    (tmp_path / NAME).touch()
    with pytest.raises(NothingRecorded):
        Journal.open(tmp_path)
    connection = sqlite3.connect(tmp_path / NAME)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(NothingRecorded):
        Journal.open(tmp_path)


def test_the_application_id_spells_our_name() -> None:
    assert FORMAT.application.to_bytes(4, "big") == b"AAMV"


def test_what_a_run_was_asked_for_is_kept_with_the_versions(tmp_path: Path) -> None:
    asked = {"env": "gripper", "chance": False}
    Journal.create(tmp_path, asked, {"d.pddl": "abc"}).close()
    with Journal.open(tmp_path) as journal:
        assert (journal.about("arguments"), journal.about("inputs")) == (asked, {"d.pddl": "abc"})
        versions = journal.about("versions")
        assert set(versions) == {"aam-vision", "numpy", "python"}
        assert versions["numpy"] == np.__version__


def test_a_run_that_has_gone_on_counts_as_one_with_chance_if_that_explained_it(tmp_path: Path) -> None:
    asked = {"env": "gripper", "chance": False}
    with Journal.create(tmp_path, asked, {}) as journal:
        assert journal.options() == asked
        journal.note(WENT_ON, {"after": 3, "explained": False})
        assert journal.options() == asked
        journal.note(WENT_ON, {"after": 3, "explained": True})
        assert journal.options() == {"env": "gripper", "chance": True}


def test_the_limit_on_the_size_of_a_file_is_the_largest_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Journal.create(tmp_path, {}, {}).close()
    size = max(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr("aam_vision.agents.journal.MAX_BYTES", size)
    Journal.open(tmp_path).close()
    monkeypatch.setattr("aam_vision.agents.journal.MAX_BYTES", size - 1)
    with pytest.raises(UnusableInput, match="larger than"):
        Journal.open(tmp_path)
