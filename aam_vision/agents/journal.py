"""The journal: ``transcript.sqlite``, which has every answer safe before anything is concluded from it.

An SQLite database in WAL mode, one transaction per answer: whenever the process is killed, all answers are there, and
none in part. It holds the run's arguments and the exchanges as the engine saw them (perceived states, unknown atoms
included), never a ground truth. Nothing in it decides which files are written or which program is started.
"""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aam_vision
from aam_vision.agents.encoding import Malformed, dumps, loads, parts
from aam_vision.agents.encoding import field as read
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resources import ResourcesSpent

# SQLite files of a strict format: exactly ours, or refused in one line.
#
# A file may be anybody's. Its tables are compared with ours before anything is read, so no view and no trigger of a
# stranger ever runs; no file is changed before it is known to be ours; links that lead elsewhere are not followed.


MAX_BYTES = 1_000_000_000
"""Bytes of a file, and of the files that SQLite puts beside it, at most."""
MAX_VALUE = 32_000_000
"""Bytes in one field at most."""
SMALLEST = 65_536
"""Bytes, at most, of a database that was cut short while it was made."""
ENDINGS = ("-wal", "-shm", "-journal", "")
"""Endings of the files that SQLite puts beside a database, and of the database itself."""


@dataclass(frozen=True)
class Format:
    """The marks of a database of ours."""

    name: str
    application: int
    """SQLite's application id."""
    version: int
    """Version of the tables; grows when they change."""
    tables: Mapping[str, str]
    """By table, the statement that makes it."""
    added: Mapping[str, int] = field(default_factory=dict)
    """The version since which there is a table, where that is not the first."""


def create(path: Path, kind: Format, *, exclusive: bool) -> sqlite3.Connection:
    """Make a database, in a transaction that is still open: commit it once everything that it must hold is written.

    Raises:
        UnusableInput: there is a rollback journal of that name already.
    """
    if (other := _beside(path, "-journal")).exists():
        raise UnusableInput(
            f"{other}: left over by another process, or a trap; delete it, or name another file"
        )
    connection = _connect(path, exclusive=exclusive)
    _write_ahead(connection)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {kind.application}")
    connection.execute(f"PRAGMA user_version = {kind.version}")
    for table in kind.tables.values():
        connection.execute(table)
    return connection


def open_checked(path: Path, kind: Format, *, exclusive: bool) -> sqlite3.Connection | None:
    """Open an existing database; None if nothing has ever been written into it.

    Raises:
        UnusableInput: it is a different database, or of a newer version.
    """
    for one in [_beside(path, ending) for ending in ENDINGS]:
        if one.exists() and not one.is_file():
            raise UnusableInput(f"{one}: no file; give a {kind.name} of aam-vision")
        if one.exists() and one.stat().st_size > MAX_BYTES:
            raise UnusableInput(f"{one}: larger than {MAX_BYTES} bytes; give a {kind.name} of aam-vision")
    if not path.exists() or path.stat().st_size == 0 or _cut_short(path, kind):
        return None
    connection = _connect(path, exclusive=exclusive)
    try:
        if not _ours(connection, path, kind):
            connection.close()
            return None
        _write_ahead(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _cut_short(path: Path, kind: Format) -> bool:
    """Whether the making of a database was cut short, so that nothing is in it.

    Raises:
        UnusableInput: it has a rollback journal for another reason. Ours never do: they write ahead. SQLite would
            play it back unasked, and delete the file that the journal of a stranger may name.
    """
    journal = _beside(path, "-journal")
    if not journal.exists():
        return False
    if path.stat().st_size > SMALLEST or _beside(path, "-wal").exists():
        raise UnusableInput(f"{journal}: no {kind.name} of aam-vision has such a file; it cannot be used")
    return True


def _ours(connection: sqlite3.Connection, path: Path, kind: Format) -> bool:
    """Whether the database is ours; False if it is empty."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    found = connection.execute("SELECT name, sql FROM sqlite_master LIMIT 100").fetchall()
    if (application, version, found) == (0, 0, []):
        return False
    if application != kind.application:
        raise UnusableInput(f"{path}: no {kind.name} of aam-vision")
    if version > kind.version:
        raise UnusableInput(
            f"{path}: written by a newer aam-vision (version {version} of the {kind.name}, "
            f"known is {kind.version}); upgrade this one"
        )
    expected = {name: sql for name, sql in kind.tables.items() if kind.added.get(name, 1) <= version}
    if dict(found) != expected:
        raise UnusableInput(f"{path}: its tables are not those of a {kind.name}; it cannot be used")
    return True


def _connect(path: Path, *, exclusive: bool) -> sqlite3.Connection:
    """A connection that runs no code of the file, and has changed nothing yet."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if exclusive:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write ahead without waiting for the disk: only a crash of the whole machine may cost the last entries."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


@contextmanager
def guarded(path: Path, kind: Format) -> Iterator[None]:
    """Raise every failure of SQLite, and every value that is not as we write it, in one line."""
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
            f"{path}: damaged, or no {kind.name} of aam-vision ({error}); it cannot be used"
        ) from None


def refuse_links(path: Path) -> None:
    """Refuse a link: it may lead out of the folder.

    Raises:
        UnusableInput: there is one.
    """
    for ending in ENDINGS:
        if _beside(path, ending).is_symlink():
            raise UnusableInput(f"{path}: is or has a symbolic link, which is not followed; give a real file")


NAME = "transcript.sqlite"
WENT_ON = "went on"
"""Name of the note that says after how many exchanges a run has gone on from a diagnosis, whether that explained the answers, and with
which invented fact or from which exchange on, if so."""
REFUSALS = "refusals"
"""Name of the note that lists the actions of which a refusal counts as an outcome, of a run that learns outcomes."""
OPERATORS = "operators"
"""Folder of a second journal, in the folder of a run that knew only controls: what was seen of its operators."""
AS_READ = "read"
"""Folder of a second journal, in the folder of a run that has gone on although looks err: what was certain of what was seen."""
MAX_PARTS = 40_000_000
"""Values in all exchanges, objects and states together, at most; so many take some gigabytes of memory."""
FULL = 0.9
"""The share of these after which a run is asked nothing more, so that its journal can still be read."""
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


class WentOn(NamedTuple):
    """After how many exchanges a run has gone on from a diagnosis, and whether that explained the answers."""

    after: int
    explained: bool
    fact: dict[str, Any] | None = None
    """The invented fact that explained them, as plain data, if one did."""
    anew: bool = False
    """Whether the agent has changed, and nothing that was exchanged before counts."""
    constants: dict[str, str] | None = None
    """By name the types of the constants by which the vocabulary was extended, if it was."""
    deterministic: bool = False
    """Whether these, ``divisions``, ``repeated``, ``delays`` or ``refused``, alone explained the answers."""
    divisions: list[Any] | None = None
    """The actions that are several in the model, as plain data, if any are."""
    repeated: bool = False
    """Whether facts may name one object twice since then."""
    delays: list[Any] | None = None
    """The effects that come later, as plain data, if any do."""
    looked: bool = False
    """Whether every situation was looked at until it was certain."""
    refused: list[Any] | None = None
    """The actions that are not in the model, if any are not."""

    @property
    def outcomes(self) -> bool:
        """Whether outcomes and cases explained the answers."""
        return self.explained and self.fact is None and not (self.anew or self.deterministic)


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

        ``inputs``: the files that they name, and their digests. ``force``: whether the journal of an earlier run may be replaced.

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

        ``force``: whether the journal of an earlier run may be replaced.

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

    def options(self) -> Any:
        """The options of the run; one that has gone on from a diagnosis to outcomes counts as one with chance."""
        found, further = self.about("arguments"), self.went_on()
        if isinstance(found, dict) and further is not None and further.outcomes:
            return {**found, "chance": True}
        return found

    def went_on(self) -> WentOn | None:
        """How the run has gone on from a diagnosis; None if it has not.

        Raises:
            UnusableInput: the note of that is damaged.
        """
        told = self.about(WENT_ON)
        with _guarded(self.path):
            if told is None:
                return None
            fact = read(told, "fact", dict) if "fact" in told else None
            anew, deterministic, repeated, looked = (
                read(told, name, bool) if name in told else False
                for name in ("anew", "deterministic", "repeated", "looked")
            )
            constants = read(told, "constants", dict) if "constants" in told else None
            divisions, delays, refused = (
                read(told, name, list) if name in told else None
                for name in ("divisions", "delays", "refused")
            )
            after, explained = read(told, "after", int), read(told, "explained", bool)
            how = fact, anew, constants, deterministic, divisions, repeated, delays, looked, refused
            return WentOn(after, explained, *how)

    def refusals(self, actions: Sequence[str]) -> tuple[str, ...]:
        """Those of the actions of which a refusal counts as an outcome (``REFUSALS``).

        Raises:
            UnusableInput: the note of that is damaged, or of another agent.
        """
        told = self.about(REFUSALS) or []
        with _guarded(self.path):
            if not isinstance(told, list) or any(one not in actions for one in told):
                raise Malformed("refusals are outcomes of actions that the agent does not have")
            return tuple(one for one in actions if one in told)

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
        self._count(table, text)
        if self._values > MAX_PARTS:
            raise Malformed(f"more than {MAX_PARTS} values in all")
        return loads(text)

    def _count(self, table: str, *texts: str) -> None:
        self._parts[table] = self._parts.get(table, 0) + sum(map(parts, texts))

    @property
    def _values(self) -> int:
        return sum(self._parts.values())

    def check_room(self) -> None:
        """Raises ResourcesSpent if no more exchanges can be kept, of those that were read and written here."""
        if self._values > FULL * MAX_PARTS:
            raise ResourcesSpent(f"the journal is full: it keeps {MAX_PARTS} values at most")

    # --- writing -------------------------------------------------------------------------------------------------

    def add(self, table: str, *values: object) -> None:
        """A row of ``objects``, ``states`` or ``moves``, to be written together with the next entry."""
        marks = ", ".join("?" * len(values))
        *numbers, content = values
        self._pending.append((f"INSERT INTO {table} VALUES ({marks})", (*numbers, text := dumps(content))))
        self._count(table, text)

    def write(self, number: int, row: Row, worker: int = 0) -> None:
        """Write an entry and all that it refers to, in one transaction; and which worker answered, if there are several.

        Raises:
            UnusableInput: it cannot be written.
        """
        texts = dumps(row.question), dumps(row.answer), dumps(row.random)
        self._count("entries", *texts)
        entry = (number, row.kind, *texts)
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
