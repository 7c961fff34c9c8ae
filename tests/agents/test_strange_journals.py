"""A journal of a stranger does nothing but be refused in one line."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.cached import Cache
from aam_vision.agents.journal import MAX_BYTES, NAME, Journal
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.support.errors import AccessViolation, UnusableInput
from tests.profiles import thorough

from .recorded import act, copy, replay


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
    with pytest.raises(UnusableInput, match=told) as refused:
        replay(tmp_path)
    assert "\n" not in str(refused.value)


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
    with pytest.raises(UnusableInput) as refused:
        Journal.open(tmp_path)
    assert "\n" not in str(refused.value)
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
