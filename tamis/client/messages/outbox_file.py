"""A publisher's outbox in a file: messages without an answer, and the counters that were reserved.

Law: everything before a `commit` is on disk when `commit` returns. A counter is reserved on disk, in blocks, before it
is used, so no two messages share one, even if the program, the clock or the machine fails. The file belongs to one
publisher name and is used by one process at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tamis.client.errors import OutboxFailed
from tamis.protocol.errors import Refused

OUTBOX_BYTES_MAX: Final = 256 * 2**20
"""The most bytes of frames without an answer; a message beyond them is refused."""
BLOCK: Final = 65_536
"""Counters that are reserved at a time."""
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS publisher (name TEXT NOT NULL, reserved INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS message (counter INTEGER PRIMARY KEY, frame BLOB NOT NULL)",
)


class OutboxFile:
    """The file at `path`, which is created if there is none. `first_counter`: the first counter of a new file."""

    def __init__(self, path: Path, name: str, first_counter: int) -> None:
        self._path = path
        try:
            self._open(name, first_counter)
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                who = "another process or another client of this process uses it"
                raise Refused(f"outbox {path}: {who}; an outbox belongs to one publisher at a time") from None
            raise Refused(f"outbox {path}: {error}; expected the file of an outbox, or a path without a file") from None
        self.bytes = self._one("SELECT coalesce(sum(length(frame)), 0) FROM message")

    def _open(self, name: str, first_counter: int) -> None:
        self._file = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"):
                self._file.execute(f"PRAGMA {setting}")
            self._file.execute("BEGIN EXCLUSIVE")
            for table in _TABLES:
                self._file.execute(table)
            self._know(name, first_counter)
            self._file.execute("COMMIT")
        except BaseException:
            self._file.close()
            raise

    def _know(self, name: str, first_counter: int) -> None:
        found = self._file.execute("SELECT name, reserved FROM publisher").fetchone()
        if found is None:
            self._file.execute("INSERT INTO publisher VALUES (?, ?)", (name, first_counter))
            found = name, first_counter
        if found[0] != name:
            raise Refused(f"outbox {self._path} belongs to publisher {found[0]!r}, not of {name!r}")
        self.reserved = int(found[1])
        """No counter from here on was ever used."""

    def saved(self) -> Iterator[tuple[int, bytes]]:
        """Yield the messages without an answer, by counter."""
        yield from self._file.execute("SELECT counter, frame FROM message ORDER BY counter").fetchall()

    def reserve(self, counter: int) -> None:
        """Make sure that `counter` and all below it are reserved on disk, by whole blocks."""
        if counter >= self.reserved:
            self.reserved = counter + BLOCK
            self._do(lambda file: file.execute("UPDATE publisher SET reserved = ?", (self.reserved,)))
            self.commit()

    def check_room(self, size: int) -> None:
        if self.bytes + size > OUTBOX_BYTES_MAX:
            most = f"{OUTBOX_BYTES_MAX:,} bytes of messages without an answer"
            raise Refused(
                f"outbox {self._path} holds at most {most}; this one has {size:,} and {self.bytes:,} are held"
            )

    def put(self, counter: int, frame: bytes) -> None:
        self.bytes += len(frame)
        self._do(lambda file: file.execute("INSERT INTO message VALUES (?, ?)", (counter, frame)))

    def drop(self, counter: int, size: int) -> None:
        """Remove a message of `size` bytes, which has its answer."""
        self.bytes -= size
        self._do(lambda file: file.execute("DELETE FROM message WHERE counter = ?", (counter,)))

    def commit(self) -> None:
        """Return when all changes are on disk. OutboxFailed if it is unknown whether they are."""
        if self._file.in_transaction:
            self._try(lambda file: file.execute("COMMIT"))

    def close(self) -> None:
        self.commit()
        self._file.close()

    def _do(self, what: Callable[[sqlite3.Connection], object]) -> None:
        if not self._file.in_transaction:
            self._try(lambda file: file.execute("BEGIN"))
        self._try(what)

    def _try(self, what: Callable[[sqlite3.Connection], object]) -> None:
        try:
            what(self._file)
        except sqlite3.Error as error:
            raise OutboxFailed(f"outbox {self._path} cannot be written: {error}") from None

    def _one(self, question: str) -> int:
        row: Any = self._file.execute(question).fetchone()
        return int(row[0])
