"""SQLite files of a strict format: exactly ours, or refused in one line.

A file may be anybody's. Its tables are compared with ours before anything is read, so no view and no trigger of a
stranger ever runs; no file is changed before it is known to be ours; links that lead elsewhere are not followed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aam_vision.agents.encoding import Malformed
from aam_vision.errors import UnusableInput

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
