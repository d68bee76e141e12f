"""Copies messages from the log to a new durable subscription, in steps.

Law: `find` and `read` block on the disk and run in another thread; `mark`, `put` and `join` run in the thread of the
switch. They are called in the order of tm_durables_api.h, one at a time.
"""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log, LogBusy, check_log, reach_of
from tamis.native.table import Table
from tamis.protocol.messages import MessageId

READ_BYTES: Final = 4 << 20
"""Most bytes of records read at a time; a record has fewer."""
READ_RECORDS: Final = 1 << 16
"""Most records examined in one step."""


class DurableStart:
    """The copy for subscription `number`, which has no filters yet: messages since `since_us` (Unix microseconds) that
    match the filters of interface 0 of `wanted`, and pass its residual program if there is one. It owns `wanted`."""

    def __init__(
        self,
        durables: SwitchDurables,
        log: Log,
        number: int,
        wanted: Table,
        since_us: int = 0,
        residual: bytes = b"",
    ) -> None:
        self._durables, self._log, self._number, self._wanted = durables, log, number, wanted
        self._program = ffi.from_buffer(residual) if residual else ffi.NULL
        self._c = ffi.new("tm_durable_start *", {"since_us": since_us, "program": self._program})
        self._reach = reach_of(since_us, program=self._program)
        self._place, self._replayed = ffi.new("tm_log_place *"), ffi.new("tm_log_replayed *")
        self._read, self._size = ffi.new("uint8_t[]", READ_BYTES), ffi.new("size_t *")
        self._put, self._used = 0, ffi.new("size_t *")

    def close(self) -> None:
        """Close the table of filters."""
        self._wanted.close()

    def find(self, after: MessageId) -> bool:
        """Search the next records for the message `after`; only messages after it are copied. Return True if it is
        found or the log does not have it, False if the search continues with the next call."""
        n = ffi.new("uint64_t *")
        found = lib.tm_log_find(
            *(self._log.c, after.origin, after.counter, READ_RECORDS, self._place, self._read, READ_BYTES, n),
            self._replayed,
        )
        check_log(found)
        self._c.after = n[0]
        is_over = bool(n[0] or self._replayed.is_all)
        if is_over:
            self._place[0] = ffi.new("tm_log_place *")[0]
        return is_over

    def mark(self) -> None:
        """Mark the present position: the next `read` may miss messages appended after it."""
        lib.tm_durable_mark(self._durables.c, self._c)

    def read(self) -> bool:
        """Read the next records of the log. Return whether all records on disk have been read. Raise LogFailed if the
        disk cannot be read."""
        check_log(
            lib.tm_log_replay(
                *(self._log.c, self._wanted.c, self._reach, READ_RECORDS, self._place),
                *(self._read, READ_BYTES, self._size, self._replayed),
            )
        )
        self._put = 0
        return bool(self._replayed.is_all)

    def put(self) -> bool:
        """Append some of the records read; return whether all of them are appended. Raise LogFull, LogFailed or
        OutOfMemory."""
        left = self._size[0] - self._put
        if left == 0:
            return True
        result = lib.tm_durable_seed(self._durables.c, self._number, self._c, self._read + self._put, left, self._used)
        self._put += self._used[0]
        if result != lib.TM_LOG_BUSY:
            check_log(result)
        return bool(self._put == self._size[0])

    def join(self) -> bool:
        """Append the messages since `mark` and set the filters of the subscription. Return False, with nothing
        appended, if these are too many. Raise the exceptions of `put`."""
        try:
            check_log(lib.tm_durable_join(self._durables.c, self._number, self._c, self._wanted.c))
        except LogBusy:
            return False
        return True
