"""A replay of the log, step by step, beside whoever appends.

Law: a step reads a disk, so it is nothing for an event loop; one thread makes the steps of one replay, and the log is
closed after its last step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tamis.native._tm import ffi, lib
from tamis.native.log import TIME_MAX, Log, check_log, reach_of
from tamis.native.table import Table

STEP_BYTES: Final = 2 << 20
"""Bytes of records that one step returns at most; a record has fewer."""
STEP_RECORDS: Final = 1 << 15
"""Records that one step looks at."""


class ReplayedRecord(NamedTuple):
    """A message in the log: its number, when it came (Unix microseconds), and its frame as it travelled."""

    n: int
    t_us: int
    frame: bytes


class LogReplay:
    """The messages in `log` that `wanted` (filters of interface 0, this replay's alone) matches and that came from
    `since_us` to `until_us` (Unix microseconds), as they lie."""

    def __init__(self, log: Log, wanted: Table, since_us: int = 0, until_us: int = TIME_MAX) -> None:
        self._log, self._wanted, self._reach = log, wanted, reach_of(since_us, until_us)
        self._place, self._replayed = ffi.new("tm_log_place *"), ffi.new("tm_log_replayed *")
        self._buffer, self._size = ffi.new("uint8_t[]", STEP_BYTES), ffi.new("size_t *")
        self.is_over = False
        """Was that all that is on disk?"""

    def close(self) -> None:
        """Free what it holds."""
        self._wanted.close()

    def step(self) -> list[ReplayedRecord]:
        """Look at the next records, and return those that match. Raises LogFailed where the disk cannot be read."""
        check_log(
            lib.tm_log_replay(
                *(self._log.c, self._wanted.c, self._reach, STEP_RECORDS, self._place),
                *(self._buffer, STEP_BYTES, self._size, self._replayed),
            )
        )
        self.is_over = bool(self._replayed.is_all)
        return list(self._records())

    def _records(self) -> Iterator[ReplayedRecord]:
        at = 0
        while at < self._size[0]:
            c = ffi.cast("tm_log_record *", self._buffer + at)
            homes = ffi.cast("tm_log_home *", ffi.cast("uint32_t *", c + 1) + (c.keeps + 1) // 2 * 2)
            yield ReplayedRecord(int(c.n), int(c.t_us), bytes(ffi.buffer(homes + c.homes, c.body_size)))
            at += c.size
