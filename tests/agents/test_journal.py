"""A journal and a cache of answers survive their process, and those of a stranger do nothing but be refused in one line."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.cached import Cache, CachedAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.journal import MAX_BYTES, NAME, WENT_ON, Journal, NothingRecorded, Row, WentOn
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.policies.economical import EconomicalPolicy, Walker
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.resuming import Recorded
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.support.errors import AccessViolation, UnusableInput
from tests import domains
from tests.commands import contents
from tests.domains import Domain
from tests.profiles import thorough
from tests.refusals import told_by

from .programs import learned

BUDGET = Budget(queries=2, steps=200)


def run(journal: Journal) -> None:
    """A short interrogation, or what the journal holds of it once more."""
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    agent = SymbolicAgent(packaged.load("gripper"), [problem.initial], Access.SNAPSHOT)
    journalled = JournalledAgent(agent, journal)
    policy = Recorded(EconomicalPolicy(walker=Walker(limit=20)), journalled)
    interrogate(journalled, policy, np.random.default_rng(0), budget=BUDGET)


def act(folder: Path) -> None:
    with Journal.create(folder, {"seed": 1}, {}) as journal:
        run(journal)


def replay(folder: Path) -> None:
    with Journal.open(folder) as journal:
        journal.about("arguments")
        run(journal)


def copy(recorded: Path, to: Path) -> sqlite3.Connection:
    shutil.copy(recorded / NAME, to / NAME)
    return sqlite3.connect(to / NAME, isolation_level=None)


def test_an_entry_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    """The file is copied as a crash would leave it, the connection still open."""
    row = Row("query", {"from": [1, 1]}, {"executed": 0}, [None])
    with Journal.create(tmp_path / ".", {}, {}) as journal:
        for number in (1, 2, 3):
            journal.add("states", number, 1, {"true": [], "unknown": []})
            journal.write(number, row, number - 1)
            crashed = tmp_path / f"crash-{number}"
            crashed.mkdir()
            for file in tmp_path.glob(f"{NAME}*"):
                shutil.copy(file, crashed)
            with Journal.open(crashed) as copy:
                assert copy.rows() == [row] * number
                assert len(list(copy.contents("states"))) == number
    with sqlite3.connect(tmp_path / NAME) as connection:
        assert connection.execute("SELECT * FROM workers").fetchall() == [(2, 1), (3, 2)], "0 if there is one"


@pytest.mark.parametrize("finished", [False, True])
def test_an_earlier_run_is_overwritten_by_force_only(tmp_path: Path, finished: bool) -> None:
    act(tmp_path)
    if finished:
        with Journal.open(tmp_path) as journal:
            journal.note("finished", "complete")
    why = "holds a finished run; name" if finished else "unfinished run; resume"
    told_by(lambda: Journal.create(tmp_path, {}, {}), why)
    with Journal.open(tmp_path) as journal:
        assert journal.rows() != []
    with Journal.create(tmp_path, {"seed": 2}, {}, force=True) as journal:
        assert journal.rows() == []


def test_a_journal_in_use_is_refused(tmp_path: Path) -> None:
    with Journal.create(tmp_path, {}, {}):
        told_by(lambda: Journal.open(tmp_path), "another process")


def test_a_run_that_never_began_is_said_to_have_nothing_recorded(tmp_path: Path) -> None:
    for begin in (
        lambda: None,
        (tmp_path / NAME).touch,
        lambda: _changed(tmp_path, "PRAGMA journal_mode = WAL"),
    ):
        begin()
        with pytest.raises(NothingRecorded, match="nothing is recorded"):
            Journal.open(tmp_path)


def _changed(folder: Path, change: str) -> None:
    with closing(sqlite3.connect(folder / NAME, isolation_level=None)) as connection:
        connection.executescript(change)


def test_what_a_run_was_asked_for_is_kept_with_the_versions(tmp_path: Path) -> None:
    asked = {"env": "gripper", "chance": False}
    Journal.create(tmp_path, asked, {"d.pddl": "abc"}).close()
    with Journal.open(tmp_path) as journal:
        assert (journal.about("arguments"), journal.about("inputs")) == (asked, {"d.pddl": "abc"})
        versions = journal.about("versions")
    assert set(versions) == {"aam-vision", "numpy", "python"}
    assert versions["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("told", "chance"),
    [
        ({"explained": False}, False),
        ({"explained": True}, True),
        ({"explained": True, "fact": {"name": "x"}}, False),
        ({"explained": True, "anew": True}, False),
        ({"explained": True, "constants": {"k": "box"}, "deterministic": True}, False),
    ],
)
def test_a_run_that_has_gone_on_counts_as_one_with_chance_if_that_explained_it(
    tmp_path: Path, told: dict[str, Any], chance: bool
) -> None:
    asked = {"env": "gripper", "chance": False}
    with Journal.create(tmp_path, asked, {}) as journal:
        assert (journal.went_on(), journal.options()) == (None, asked)
        journal.note(WENT_ON, {"after": 3, **told})
        assert journal.went_on() == WentOn(3, **told)
        assert journal.options() == {"env": "gripper", "chance": chance}


def test_the_limit_on_the_size_of_a_file_is_the_largest_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Journal.create(tmp_path, {}, {}).close()
    size = max(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr("aam_vision.agents.journal.MAX_BYTES", size)
    Journal.open(tmp_path).close()
    monkeypatch.setattr("aam_vision.agents.journal.MAX_BYTES", size - 1)
    told_by(lambda: Journal.open(tmp_path), "larger than")


# --- a journal of a stranger does nothing but be refused in one line ---------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    act(folder)
    replay(folder)
    return folder


_BOMB = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, '', '', '', '' FROM n"
_ANSWERS = [
    ("'import os'", "no JSON"),
    ("'[1e999]'", "damaged"),
    ("'{\"executed\": NaN}'", "NaN"),
    ('\'{"executed": 99, "final": []}\'', "99 of"),
    ('\'{"executed": true, "final": []}\'', "executed"),
    ("'{\"executed\": 0}'", "damaged"),
    ("zeroblob(1000000)", "damaged"),
]


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
        *((f"UPDATE entries SET answer = {one} WHERE kind = 'query'", told) for one, told in _ANSWERS),
        ("UPDATE entries SET question = '{}' WHERE kind = 'query'", "not what is asked|no 'from'"),
        ("UPDATE entries SET kind = 'eval' WHERE kind = 'query'", "not what is asked"),
        ("UPDATE entries SET random = '[{\"bit_generator\": \"os.system\"}]' WHERE kind = 'walk'", "random"),
        ("UPDATE entries SET random = '[{}]' WHERE kind = 'walk'", "random"),
        ('UPDATE states SET content = \'{"true": [["at"]]}\'', "arguments instead of"),
        ('UPDATE states SET content = \'{"true": [["is-god"]]}\'', "not a predicate"),
        ("UPDATE states SET objects = 7", "no number 7"),
        ('UPDATE objects SET content = \'{"ball1": "weapon"}\'', "not declared"),
    ],
)
def test_a_changed_journal_is_refused(recorded: Path, tmp_path: Path, change: str, told: str) -> None:
    copy(recorded, tmp_path).close()
    _changed(tmp_path, change)
    told_by(lambda: replay(tmp_path), told)


def _both_refuse(folder: Path, why: str | None) -> None:
    told_by(lambda: Journal.open(folder), why)
    told_by(lambda: Journal.create(folder, {}, {}), why)


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda path: path.write_bytes(b"not a database, but long enough to be taken for one" * 100), None),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(2000)), None),
        (lambda path: path.mkdir(), None),
        (lambda path: _changed(path.parent, "CREATE TABLE precious (a)"), "no transcript"),
    ],
)
def test_another_file_is_refused_and_left_alone(
    tmp_path: Path, write: Callable[[Path], None], told: str | None
) -> None:
    write(tmp_path / NAME)
    before = contents(tmp_path)
    _both_refuse(tmp_path, told)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
def test_links_out_of_the_folder_are_not_followed(recorded: Path, tmp_path: Path, ending: str) -> None:
    copy(recorded, tmp_path).close()
    outside = tmp_path / "outside"
    (tmp_path / NAME).rename(outside) if not ending else outside.write_text("precious")
    (tmp_path / (NAME + ending)).symlink_to(outside)
    before = outside.read_bytes()
    _both_refuse(tmp_path, "symbolic link")
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
        rows = [(number, "x" * 4000) for number in range(1000, 1030)]
        connection.executemany("INSERT INTO objects VALUES (?, ?)", rows)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    (run / f"{NAME}-journal").write_bytes(_hot_journal(precious))
    told_by(lambda: Journal.open(run), "-journal" if large else "nothing is recorded")
    if not large:
        Journal.create(run, {}, {}).close()
    (tmp_path / "cache-journal").write_bytes(_hot_journal(precious))
    told_by(lambda: Cache(tmp_path / "cache"), "a trap")
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("ending", ["", "-wal", "-journal", "-shm"])
def test_files_that_are_too_large_or_none_are_not_opened(recorded: Path, tmp_path: Path, ending: str) -> None:
    copy(recorded, tmp_path).close()
    path = tmp_path / (NAME + ending)
    with path.open("ab") as file:
        file.truncate(MAX_BYTES + 1)
    told_by(lambda: Journal.open(tmp_path), "larger than")
    path.unlink()
    os.mkfifo(path)
    told_by(lambda: Journal.open(tmp_path), "no file")


def test_more_values_than_memory_holds_are_refused(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(recorded, tmp_path).close()
    monkeypatch.setattr("aam_vision.agents.journal.MAX_PARTS", 100)
    with Journal.open(tmp_path) as journal:
        told_by(journal.rows, "more than 100 values")


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


VALUES = (
    st.none() | st.booleans() | st.integers(-3, 10) | st.sampled_from(["at", "ball1", "room1", "query", ""])
)
KEYS = st.sampled_from(["from", "plan", "executed", "final", "steps", "true", "unknown"])
JSON = st.recursive(
    VALUES, lambda one: st.lists(one, max_size=4) | st.dictionaries(KEYS, one, max_size=4), max_leaves=8
)
COLUMNS = ["entries SET question", "entries SET answer", "entries SET random", "states SET content"]


@thorough(150)
@given(st.sampled_from(COLUMNS), st.integers(1, 8), JSON)
def test_no_json_of_a_stranger_is_more_than_a_refusal(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, column: str, number: int, value: object
) -> None:
    folder = tmp_path_factory.mktemp("strange")
    connection = copy(recorded, folder)
    connection.execute(f"UPDATE {column} = ? WHERE number = ?", (json.dumps(value), number))
    connection.close()
    _replay_or_refuse(folder)


class Listening(AgentDecorator):
    """Hears what reaches the agent."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Response:
        self.asked.append(query)
        return self.agent.ask(query)


def _run(agent: Agent) -> Result:
    return learned(agent, Budget(100, 500))


def _cached(domain: Domain, path: Path, identity: str) -> tuple[Result, Listening]:
    listening = Listening(SymbolicAgent(domain.model, domain.problems))
    with closing(Cache(path)) as cache:
        return _run(CachedAgent(listening, cache, identity)), listening


@thorough(25)
@given(domains.domains())
def test_a_kept_answer_is_not_asked_for_in_another_run(one: Domain) -> None:
    plain = _run(SymbolicAgent(one.model, one.problems))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        _cached(one, path, "other")
        first, asked = _cached(one, path, "one")
        assert len(asked.asked) == plain.counts.queries, "answers of another agent are none of this one"
        again, silence = _cached(one, path, "one")
    assert silence.asked == []
    for result in (first, again):
        assert result.transcript == plain.transcript
        assert (result.model, result.counts) == (plain.model, plain.counts)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "answers"
    _gripper(path)
    return path


def _gripper(path: Path) -> None:
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    with closing(Cache(path)) as cache:
        _run(CachedAgent(SymbolicAgent(packaged.load("gripper"), [problem.initial]), cache, "gripper"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("PRAGMA user_version = 2", "newer"),
        ("PRAGMA application_id = 7", "no cache"),
        ("CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END", "its tables"),
        ("UPDATE answers SET answer = 'exit()'", "no JSON"),
        ("UPDATE answers SET answer = '{\"executed\": 5}'", "steps executed"),
        ('UPDATE answers SET answer = \'{"executed": 0, "state": {"true": [["at"]]}}\'', "arguments"),
        ("UPDATE answers SET answer = zeroblob(100)", "damaged"),
    ],
)
def test_a_changed_file_is_refused_in_one_line(filled: Path, tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "answers"
    shutil.copy(filled, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(change)
    told_by(lambda: _gripper(path), told)


def test_two_runs_may_have_it_open(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    with closing(Cache(path)) as one, closing(Cache(path)) as other:
        one.put("a", "1")
        assert other.get("a") == "1"
        other.put("a", "2")
        assert one.get("a") == "1"


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.TRAJECTORY])
def test_an_agent_with_other_handles_is_refused(access: Access, tmp_path: Path) -> None:
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    agent = SymbolicAgent(packaged.load("gripper"), [problem.initial], access)
    with closing(Cache(tmp_path / "answers")) as cache:
        cached = CachedAgent(agent, cache, "gripper")
        told_by(lambda: cached.ask(Query(Situation(3, problem.initial), ())), r"^cache: needs")
