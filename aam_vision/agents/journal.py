"""The journal: ``transcript.sqlite``, which has every answer safe before anything is concluded from it.

An SQLite database in WAL mode, one transaction per answer: whenever the process is killed, all answers are there, and
none in part. It holds the run's arguments and the exchanges as the engine saw them (perceived states, unknown atoms
included), never a ground truth. Nothing in it decides which files are written or which program is started.
"""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aam_vision
from aam_vision.agents.database import ENDINGS, Format, create, guarded, open_checked, refuse_links
from aam_vision.agents.encoding import Malformed, dumps, loads, parts
from aam_vision.errors import UnusableInput

NAME = "transcript.sqlite"
OPERATORS = "operators"
"""Folder of a second journal, in the folder of a run that knew only controls: what was seen of its operators."""
MAX_PARTS = 40_000_000
"""Values in all exchanges, objects and states together, at most; so many take some gigabytes of memory."""
FORMAT = Format(
    "transcript",
    application=0x41414D56,  # "AAMV"
    version=3,
    tables={
        "about": "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "objects": "CREATE TABLE objects (number INTEGER PRIMARY KEY, content TEXT NOT NULL)",
        "states": "CREATE TABLE states (number INTEGER PRIMARY KEY, objects INTEGER NOT NULL, content TEXT NOT NULL)",
        "moves": "CREATE TABLE moves (number INTEGER PRIMARY KEY, content TEXT NOT NULL)",
        "workers": "CREATE TABLE workers (entry INTEGER PRIMARY KEY, worker INTEGER NOT NULL)",
        "entries": "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, question TEXT NOT NULL, "
        "answer TEXT NOT NULL, random TEXT NOT NULL)",
    },
    added={"moves": 2, "workers": 3},
)


class Row(NamedTuple):
    """One exchange: what was asked, the answer, and the random generators' states after it."""

    kind: str
    question: Any
    answer: Any
    random: Any


class NothingRecorded(UnusableInput):
    """Raised when a run ended before its journal was begun: there is nothing to resume."""


class Journal:
    """An open journal. Only one process at a time can open it.

    States and sets of objects are kept once, under numbers of their own.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._pending: list[tuple[str, tuple[object, ...]]] = []
        self._parts: dict[str, int] = {}

    @classmethod
    def create(
        cls, folder: Path, arguments: Mapping[str, Any], inputs: Mapping[str, str], *, force: bool = False
    ) -> Journal:
        """A new journal in a folder.

        Args:
            folder: where the run writes to.
            arguments: the options of the run.
            inputs: the files that they name, and their digests.
            force: whether the journal of an earlier run may be replaced.

        Raises:
            UnusableInput: the folder holds the journal of an earlier run, or something else of that name.
        """
        path = folder / NAME
        cls.check_unused(folder, force=force)
        for ending in ENDINGS:
            path.with_name(NAME + ending).unlink(missing_ok=True)
        versions = {
            "aam-vision": aam_vision.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        about = {"arguments": dict(arguments), "inputs": dict(inputs), "versions": versions}
        with _guarded(path):
            connection = create(path, FORMAT, exclusive=True)
            rows = [(name, dumps(value)) for name, value in about.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
            connection.execute("COMMIT")
        return cls(path, connection)

    @classmethod
    def check_unused(cls, folder: Path, *, force: bool = False) -> None:
        """Refuse a folder that holds an earlier run.

        Args:
            folder: where another run is to write to.
            force: whether the journal of an earlier run may be replaced.

        Raises:
            UnusableInput: the folder holds the journal of an earlier run, or something else of that name.
        """
        try:
            with cls.open(folder) as older:
                finished = older.finished
        except NothingRecorded:
            return
        if not force:
            kind, instead = ("a finished", "name") if finished else ("an unfinished", "resume it, name")
            raise UnusableInput(
                f"{folder}: holds {kind} run; {instead} another folder, or give --force to overwrite it"
            )

    @classmethod
    def open(cls, folder: Path) -> Journal:
        """The journal of an earlier run.

        Raises:
            NothingRecorded: it was never begun.
            UnusableInput: it is not a journal, is damaged, of a newer version, or open in another process.
        """
        path = folder / NAME
        refuse_links(path)
        with _guarded(path):
            connection = open_checked(path, FORMAT, exclusive=True)
        if connection is None:
            raise NothingRecorded(f"{path}: nothing is recorded there; start a new run instead of resuming")
        return cls(path, connection)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @property
    def version(self) -> int:
        """The version of the tables."""
        with _guarded(self.path):
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            return int(version)

    # --- what is in it -------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether the run went to its end and its results were written."""
        return self.about("finished") is not None

    def about(self, name: str) -> Any:
        """A note about the run as a whole; None if there is none of that name."""
        with _guarded(self.path):
            found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
            return None if found is None else loads(found[0])

    def note(self, name: str, value: object) -> None:
        """Keep a note about the run as a whole."""
        with _guarded(self.path):
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, dumps(value)))

    def rows(self) -> list[Row]:
        """All exchanges, in order.

        Raises:
            UnusableInput: one is missing or damaged.
        """
        with _guarded(self.path):
            query = "SELECT number, kind, question, answer, random FROM entries ORDER BY number"
            found = []
            self._parts["entries"] = 0
            for expected, (number, kind, *texts) in enumerate(self._connection.execute(query), 1):
                if number != expected:
                    raise Malformed(f"entry {expected} is missing")
                found.append(Row(kind, *[self._load("entries", text) for text in texts]))
            return found

    def contents(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The numbered rows of ``objects``, ``states`` or ``moves``, in order, decoded from JSON.

        Raises:
            UnusableInput: one is missing or damaged.
        """
        if FORMAT.added.get(table, 0) > self.version:
            return
        with _guarded(self.path):
            # row by row: a page of an untrusted file may be the child of many others
            rows = self._connection.execute(f"SELECT * FROM {table} ORDER BY number")
            self._parts[table] = 0
            for expected, (number, *others, content) in enumerate(rows, 1):
                if number != expected:
                    raise Malformed(f"{table} {expected} are missing")
                yield (*others, self._load(table, content))

    def _load(self, table: str, text: str) -> Any:
        self._parts[table] += parts(text)
        if sum(self._parts.values()) > MAX_PARTS:
            raise Malformed(f"more than {MAX_PARTS} values in all")
        return loads(text)

    # --- writing -------------------------------------------------------------------------------------------------

    def add(self, table: str, *values: object) -> None:
        """A row of ``objects``, ``states`` or ``moves``, to be written together with the next entry."""
        marks = ", ".join("?" * len(values))
        *numbers, content = values
        self._pending.append((f"INSERT INTO {table} VALUES ({marks})", (*numbers, dumps(content))))

    def write(self, number: int, row: Row, worker: int = 0) -> None:
        """Write an entry and all that it refers to, in one transaction; and which worker answered, if there are several.

        Raises:
            UnusableInput: it cannot be written.
        """
        entry = (number, row.kind, dumps(row.question), dumps(row.answer), dumps(row.random))
        with _guarded(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, values in self._pending:
                self._connection.execute(statement, values)
            self._connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entry)
            if worker:
                self._connection.execute("INSERT INTO workers VALUES (?, ?)", (number, worker))
            self._connection.execute("COMMIT")
        self._pending.clear()


def _guarded(path: Path) -> AbstractContextManager[None]:
    return guarded(path, FORMAT)
