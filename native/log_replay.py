"""A replay of the log in steps, concurrent with appends.

Law: a step blocks on the disk, so an event loop must not run it. One thread runs the steps of all replays of a log with
one buffer, and the log is closed after the last step. A step returns at most STEP_BYTES, or one record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tamis.native._tm import ffi, lib
from tamis.native.log import TIME_MAX, Log, check_log, reach_of
from tamis.native.table import Table

STEP_BYTES: Final = 256 << 10
"""Most bytes of records that one step returns, unless the first one alone is longer."""
RECORD_BYTES_MAX: Final = 2 << 20
"""More bytes than any record has."""
STEP_RECORDS: Final = 1 << 15
"""Most records that one step examines."""


class ReplayedRecord(NamedTuple):
    """A message in the log: its number, arrival time (Unix microseconds), and frame as received."""

    n: int
    t_us: int
    frame: bytes


class StepBuffer:
    """The buffer into which the steps of one thread read."""

    def __init__(self) -> None:
        self.c, self.size = ffi.new("uint8_t[]", RECORD_BYTES_MAX), ffi.new("size_t *")


class LogReplay:
    """The messages in `log` that arrived between `since_us` and `until_us` (Unix microseconds), in order of the log.
    `residual`: the verified program that decides about those that a filter matches; b"" if there is none."""

    def __init__(self, log: Log, since_us: int = 0, until_us: int = TIME_MAX, residual: bytes = b"") -> None:
        self._program = ffi.from_buffer(residual) if residual else ffi.NULL
        self._log, self._reach = log, reach_of(since_us, until_us, program=self._program)
        self._place, self._replayed = ffi.new("tm_log_place *"), ffi.new("tm_log_replayed *")
        self.is_over = False
        """Whether all records on disk have been examined."""

    def step(self, wanted: Table, found_max: int, buffer: StepBuffer) -> list[ReplayedRecord]:
        """Examine the next records, and return at most `found_max` (1 or more) that match the filters of interface 0 of
        `wanted`. Raise LogFailed if the disk cannot be read."""
        self._look(wanted, found_max, buffer, STEP_BYTES)
        if not buffer.size[0] and not self.is_over and self._replayed.looked_at < STEP_RECORDS:
            self._look(wanted, 1, buffer, RECORD_BYTES_MAX)
        return list(_records(buffer))

    def _look(self, wanted: Table, found_max: int, buffer: StepBuffer, capacity: int) -> None:
        self._reach.found_max = min(found_max, STEP_RECORDS)
        check_log(
            lib.tm_log_replay(
                *(self._log.c, wanted.c, self._reach, STEP_RECORDS, self._place),
                *(buffer.c, capacity, buffer.size, self._replayed),
            )
        )
        self.is_over = bool(self._replayed.is_all)


def _records(buffer: StepBuffer) -> Iterator[ReplayedRecord]:
    at = 0
    while at < buffer.size[0]:
        c = ffi.cast("tm_log_record *", buffer.c + at)
        homes = ffi.cast("tm_log_home *", ffi.cast("uint32_t *", c + 1) + (c.durables + 1) // 2 * 2)
        yield ReplayedRecord(int(c.n), int(c.t_us), bytes(ffi.buffer(homes + c.homes, c.body_size)))
        at += c.size
