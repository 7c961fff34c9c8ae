"""The journal: ``transcript.sqlite``, in which every answer is safe before anything is concluded from it.

An SQLite database in WAL mode, one transaction per answer: whenever the process is killed, what was answered is there
and nothing is half there. It holds the run's arguments and the exchanges as the engine saw them (perceived states,
unknown atoms included), never a ground truth. A file is read only if its schema is ours to the letter, so no view or
trigger of a stranger's runs, and nothing in it names a place to write to or a program to start.
"""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aam_vision
from aam_vision.agents.encoding import Malformed, dumps, loads
from aam_vision.errors import UnusableInput

NAME = "transcript.sqlite"
SCHEMA = 1
"""Its number, which grows when the tables change."""
APPLICATION = 0x41414D56
"""SQLite's application id of our journals: "AAMV"."""
MAX_BYTES = 2_000_000_000
"""Larger journals are not read."""
MAX_VALUE = 64_000_000
"""Bytes in one field at most."""
TABLES = {
    "about": "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "objects": "CREATE TABLE objects (number INTEGER PRIMARY KEY, content TEXT NOT NULL)",
    "states": "CREATE TABLE states (number INTEGER PRIMARY KEY, objects INTEGER NOT NULL, content TEXT NOT NULL)",
    "entries": "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, question TEXT NOT NULL, "
    "answer TEXT NOT NULL, random TEXT NOT NULL)",
}


class Row(NamedTuple):
    """One exchange: what was asked, the answer, and the random generators' states after it."""

    kind: str
    question: Any
    answer: Any
    random: Any


class NothingRecorded(UnusableInput):
    """Raised when a run was ended before its journal was begun: there is nothing to go on with."""


class Journal:
    """An open journal. Only one process at a time can have it open.

    States and sets of objects are kept once, under numbers of their own.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._pending: list[tuple[str, tuple[object, ...]]] = []

    @classmethod
    def create(cls, folder: Path, arguments: Mapping[str, Any], inputs: Mapping[str, str]) -> Journal:
        """A new journal in a folder, in place of that of a finished run.

        Args:
            folder: where the run writes to.
            arguments: the options of the run.
            inputs: the files that they name, and their digests.

        Raises:
            UnusableInput: the folder holds the journal of an unfinished run, or something else of that name.
        """
        path = folder / NAME
        _no_links(path)
        if path.exists() and path.stat().st_size:
            try:
                with cls.open(folder) as older:
                    finished = older.finished
            except NothingRecorded:
                finished = True
            if not finished:
                raise UnusableInput(
                    f"{path}: holds an unfinished run; go on with it by --resume {folder}, or give another --out"
                )
        for ending in ("-wal", "-shm", "-journal", ""):
            path.with_name(NAME + ending).unlink(missing_ok=True)
        with _readable(path):
            journal = cls(path, _connect(path))
            connection = journal._connection
            _own(connection)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in TABLES.values():
                connection.execute(table)
            versions = {
                "aam-vision": aam_vision.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            }
            connection.executemany(
                "INSERT INTO about VALUES (?, ?)",
                [
                    ("arguments", dumps(dict(arguments))),
                    ("inputs", dumps(dict(inputs))),
                    ("versions", dumps(versions)),
                ],
            )
            connection.execute("COMMIT")
        return journal

    @classmethod
    def open(cls, folder: Path) -> Journal:
        """The journal of an earlier run.

        Raises:
            NothingRecorded: it was never begun.
            UnusableInput: it is none, is damaged, of a newer version, or open in another process.
        """
        path = folder / NAME
        _no_links(path)
        if not path.is_file() or path.stat().st_size == 0:
            raise NothingRecorded(f"{path}: nothing is recorded there; start the run again, without --resume")
        if path.stat().st_size > MAX_BYTES:
            raise UnusableInput(f"{path}: larger than {MAX_BYTES} bytes; give a transcript of aam-vision")
        with _readable(path):
            journal = cls(path, _connect(path))
            try:
                journal._check_schema()
                _own(journal._connection)
            except BaseException:
                journal.close()
                raise
        return journal

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the file to others."""
        self._connection.close()

    def _check_schema(self) -> None:
        get = self._connection.execute
        (application,), (schema,) = (
            get("PRAGMA application_id").fetchone(),
            get("PRAGMA user_version").fetchone(),
        )
        if (application, schema) == (0, 0) and not get("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise NothingRecorded(
                f"{self.path}: nothing is recorded there; start the run again, without --resume"
            )
        if application != APPLICATION:
            raise UnusableInput(f"{self.path}: no transcript of aam-vision; give the folder of a run")
        if schema > SCHEMA:
            raise UnusableInput(
                f"{self.path}: written by a newer aam-vision (schema {schema}, known is {SCHEMA}); upgrade this one"
            )
        found = dict(get("SELECT name, sql FROM sqlite_master LIMIT 100").fetchall())
        if found != TABLES:
            raise UnusableInput(f"{self.path}: its tables are not those of a transcript; it cannot be used")

    # --- what is in it -------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether the run went to its end and its results were written."""
        return self.about("finished") is not None

    def about(self, name: str) -> Any:
        """What is said about the run as a whole, None if nothing is."""
        with _readable(self.path):
            found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
            return None if found is None else loads(found[0])

    def note(self, name: str, value: object) -> None:
        """Say something about the run as a whole."""
        with _readable(self.path):
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, dumps(value)))

    def rows(self) -> list[Row]:
        """All exchanges, in order.

        Raises:
            UnusableInput: one is missing or damaged.
        """
        with _readable(self.path):
            query = "SELECT number, kind, question, answer, random FROM entries ORDER BY number"
            found = []
            for expected, (number, kind, *texts) in enumerate(self._connection.execute(query), 1):
                if number != expected:
                    raise Malformed(f"entry {expected} is missing")
                found.append(Row(kind, *map(loads, texts)))
            return found

    def contents(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The numbered rows of ``objects`` or ``states``, in order, what is JSON decoded.

        Raises:
            UnusableInput: one is missing or damaged.
        """
        with _readable(self.path):
            rows = self._connection.execute(f"SELECT * FROM {table} ORDER BY number").fetchall()
            for expected, (number, *others, content) in enumerate(rows, 1):
                if number != expected:
                    raise Malformed(f"{table} {expected} are missing")
                yield (*others, loads(content))

    # --- writing -------------------------------------------------------------------------------------------------

    def add(self, table: str, *values: object) -> None:
        """A row of ``objects`` or ``states``, to be written together with the next entry."""
        marks = ", ".join("?" * len(values))
        *numbers, content = values
        self._pending.append((f"INSERT INTO {table} VALUES ({marks})", (*numbers, dumps(content))))

    def write(self, number: int, row: Row) -> None:
        """An entry and all that it speaks of, in one transaction.

        Raises:
            UnusableInput: it cannot be written.
        """
        entry = (number, row.kind, dumps(row.question), dumps(row.answer), dumps(row.random))
        with _readable(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, values in self._pending:
                self._connection.execute(statement, values)
            self._connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entry)
            self._connection.execute("COMMIT")
        self._pending.clear()


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that runs nothing that the file may ask for, and changes nothing yet."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection


def _own(connection: sqlite3.Connection) -> None:
    """Write ahead, and wait for no disk: only a crash of the whole machine may cost the last answers."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Every failure of SQLite, and every value that is not as we write it, in one line."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise UnusableInput(
                f"{path}: another process has it open; wait for that run, or end it"
            ) from None
        raise UnusableInput(f"{path}: cannot be used ({error})") from None
    except (sqlite3.Error, Malformed, ValueError, TypeError) as error:
        raise UnusableInput(
            f"{path}: damaged, or no transcript of aam-vision ({error}); it cannot be used"
        ) from None


def _no_links(path: Path) -> None:
    """A link would lead out of the folder that may be written to."""
    for ending in ("", "-wal", "-shm", "-journal"):
        if path.with_name(path.name + ending).is_symlink():
            raise UnusableInput(f"{path}: is or has a symbolic link, which is not followed; give a real file")
