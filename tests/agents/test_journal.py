"""A journal survives its process."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.cached import Cache
from aam_vision.agents.journal import MAX_BYTES, NAME, WENT_ON, Journal, NothingRecorded, Row
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.support.errors import AccessViolation, UnusableInput
from tests.profiles import thorough
from tests.refusals import told_by

from .recorded import act, copy, replay


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


# A journal of a stranger does nothing but be refused in one line.


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    act(folder)
    replay(folder)
    return folder


_BOMB = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, '', '', '', '' FROM n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("PRAGMA user_version = 4", "newer"),
        ("PRAGMA application_id = 1", "no transcript"),
        ("CREATE TABLE more (a)", "its tables"),
        ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END", "its tables"),
        (f"DROP TABLE entries; CREATE VIEW entries AS {_BOMB}", "its tables"),
        ("DELETE FROM entries WHERE number = 2", "entry 2 is missing"),
        ("DELETE FROM states WHERE number = 2", "damaged"),
        ("UPDATE entries SET answer = 'import os' WHERE kind = 'query'", "no JSON"),
        ("UPDATE entries SET answer = '[1e999]' WHERE kind = 'query'", "damaged"),
        ("UPDATE entries SET answer = '{\"executed\": NaN}' WHERE kind = 'query'", "NaN"),
        (
            "UPDATE entries SET answer = '{\"executed\": 99, \"final\": []}' WHERE kind = 'query'",
            "99 steps of",
        ),
        (
            "UPDATE entries SET answer = '{\"executed\": true, \"final\": []}' WHERE kind = 'query'",
            "executed",
        ),
        ("UPDATE entries SET answer = '{\"executed\": 0}' WHERE kind = 'query'", "damaged"),
        ("UPDATE entries SET question = '{}' WHERE kind = 'query'", "not what is asked|no 'from'"),
        ("UPDATE entries SET kind = 'eval' WHERE kind = 'query'", "not what is asked"),
        ("UPDATE entries SET random = '[{\"bit_generator\": \"os.system\"}]' WHERE kind = 'walk'", "random"),
        ("UPDATE entries SET random = '[{}]' WHERE kind = 'walk'", "random"),
        ("UPDATE entries SET answer = zeroblob(1000000) WHERE kind = 'query'", "damaged"),
        ('UPDATE states SET content = \'{"true": [["at"]]}\'', "arguments instead of"),
        ('UPDATE states SET content = \'{"true": [["is-god"]]}\'', "not a predicate"),
        ("UPDATE states SET objects = 7", "no number 7"),
        ('UPDATE objects SET content = \'{"ball1": "weapon"}\'', "not declared"),
    ],
)
def test_a_changed_journal_is_refused_in_one_line(
    recorded: Path, tmp_path: Path, change: str, told: str
) -> None:
    connection = copy(recorded, tmp_path)
    connection.executescript(change)
    connection.close()
    told_by(lambda: replay(tmp_path), told)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_bytes(b"not a database, but long enough to be taken for one" * 100),
        lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(2000)),
        lambda path: path.mkdir(),
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / NAME
    write(path)
    before = path.read_bytes() if path.is_file() else None
    told_by(lambda: Journal.open(tmp_path))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / NAME)
    connection.execute("CREATE TABLE precious (a)")
    connection.commit()
    connection.close()
    before = (tmp_path / NAME).read_bytes()
    for use in (lambda: Journal.open(tmp_path), lambda: Journal.create(tmp_path, {}, {})):
        with pytest.raises(UnusableInput, match="no transcript"):
            use()
    assert (tmp_path / NAME).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
def test_links_that_lead_out_of_the_folder_are_not_followed(
    recorded: Path, tmp_path: Path, ending: str
) -> None:
    copy(recorded, tmp_path).close()
    outside = tmp_path / "outside"
    (tmp_path / NAME).rename(outside) if not ending else outside.write_text("precious")
    (tmp_path / (NAME + ending)).symlink_to(outside)
    before = outside.read_bytes()
    for use in (lambda: Journal.open(tmp_path), lambda: Journal.create(tmp_path, {}, {})):
        with pytest.raises(UnusableInput, match="symbolic link"):
            use()
    assert outside.read_bytes() == before


def _hot_journal(names: Path) -> bytes:
    """A rollback journal that SQLite would play back, and then delete the file that it names as above itself."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(names).encode()
    header = (magic + struct.pack(">5I", 0, 1234, 5, 512, 4096)).ljust(512, b"\0")
    above = struct.pack(">I", (0x40000000 // 4096) + 1) + name
    return header + above + struct.pack(">2I", len(name), sum(name)) + magic


@pytest.mark.parametrize("large", [False, True])
def test_a_rollback_journal_is_never_played_back(recorded: Path, tmp_path: Path, large: bool) -> None:
    """It is how a folder of a stranger would delete any file of the user's."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    connection = copy(recorded, run)
    if large:
        connection.executemany(
            "INSERT INTO objects VALUES (?, ?)", [(n, "x" * 4000) for n in range(1000, 1030)]
        )
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    (run / f"{NAME}-journal").write_bytes(_hot_journal(precious))
    with pytest.raises(UnusableInput, match="-journal" if large else "nothing is recorded"):
        Journal.open(run)
    if not large:
        Journal.create(run, {}, {}).close()
    assert precious.read_text() == "precious"
    (tmp_path / "cache-journal").write_bytes(_hot_journal(precious))
    with pytest.raises(UnusableInput, match="a trap"):
        Cache(tmp_path / "cache")
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("ending", ["", "-wal", "-journal", "-shm"])
def test_files_that_are_too_large_or_none_are_not_opened(recorded: Path, tmp_path: Path, ending: str) -> None:
    copy(recorded, tmp_path).close()
    path = tmp_path / (NAME + ending)
    with path.open("ab") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UnusableInput, match="larger than"):
        Journal.open(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UnusableInput, match="no file"):
        Journal.open(tmp_path)


def test_more_values_than_memory_holds_are_refused(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(recorded, tmp_path).close()
    monkeypatch.setattr("aam_vision.agents.journal.MAX_PARTS", 100)
    with Journal.open(tmp_path) as journal, pytest.raises(UnusableInput, match="more than 100 values"):
        journal.rows()


def _replay_or_refuse(folder: Path) -> None:
    """What is not refused as a file may still be refused as an agent: its answers contradict each other."""
    told = ""
    try:
        replay(folder)
    except (UnusableInput, Interrupted, AccessViolation) as refused:
        told = str(refused)
    assert "\n" not in told


@thorough(150)
@given(st.data())
def test_no_damage_to_the_bytes_is_more_than_a_refusal(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray((recorded / NAME).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.sampled_from([len(content)] * 3 + [5000, 100, 17]))]
    folder = tmp_path_factory.mktemp("damaged")
    (folder / NAME).write_bytes(content)
    _replay_or_refuse(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10) | st.sampled_from(["at", "ball1", "room1", "query", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["from", "plan", "executed", "final", "steps", "true", "unknown"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@thorough(150)
@given(
    st.sampled_from(
        [("entries", "question"), ("entries", "answer"), ("entries", "random"), ("states", "content")]
    ),
    st.integers(1, 8),
    JSON,
)
def test_no_json_of_a_stranger_is_more_than_a_refusal(
    recorded: Path,
    tmp_path_factory: pytest.TempPathFactory,
    where: tuple[str, str],
    number: int,
    value: object,
) -> None:
    folder = tmp_path_factory.mktemp("strange")
    connection = copy(recorded, folder)
    table, column = where
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE number = ?", (json.dumps(value), number))
    connection.close()
    _replay_or_refuse(folder)
