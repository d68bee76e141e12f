"""A new keep takes over what is in the log: the steps of it, for the thread that may wait and for the switch's.

Law: `find` and `read` wait for the disk; `mark`, `put` and `join` are the switch's. They come in the order of
tm_keeps_api.h, and one at a time.
"""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.keeps import SwitchKeeps
from tamis.native.log import Log, LogBusy, check_log, reach_of
from tamis.native.table import Table
from tamis.protocol.messages import MessageId

READ_BYTES: Final = 4 << 20
"""Of records that are read at a time; a record has fewer."""
READ_RECORDS: Final = 1 << 16
"""Records that one step looks at."""


class KeepStart:
    """What keep `number`, which has no filters yet, takes over: what the filters of `wanted` (interface 0, its own)
    match and came at `since_us` (Unix microseconds) or later."""

    def __init__(self, keeps: SwitchKeeps, log: Log, number: int, wanted: Table, since_us: int = 0) -> None:
        self._keeps, self._log, self._number, self._wanted = keeps, log, number, wanted
        self._c = ffi.new("tm_keep_start *", {"since_us": since_us})
        self._reach = reach_of(since_us)
        self._place, self._replayed = ffi.new("tm_log_place *"), ffi.new("tm_log_replayed *")
        self._read, self._size = ffi.new("uint8_t[]", READ_BYTES), ffi.new("size_t *")
        self._put, self._used = 0, ffi.new("size_t *")

    def close(self) -> None:
        """Free what it holds."""
        self._wanted.close()

    def find(self, after: MessageId) -> bool:
        """Look at the next records for the message `after`, up to which nothing is taken over; True: it is found, or
        is not there."""
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
        """Say that what comes from now on may not be read by the next `read`."""
        lib.tm_keep_mark(self._keeps.c, self._c)

    def read(self) -> bool:
        """Read on in the log; True: that is all that is on disk. Raises LogFailed where it cannot be read."""
        check_log(
            lib.tm_log_replay(
                *(self._log.c, self._wanted.c, self._reach, READ_RECORDS, self._place),
                *(self._read, READ_BYTES, self._size, self._replayed),
            )
        )
        self._put = 0
        return bool(self._replayed.is_all)

    def put(self) -> bool:
        """Append some of what was read; True: all of it. Raises LogFull, LogFailed and OutOfMemory."""
        left = self._size[0] - self._put
        if left == 0:
            return True
        result = lib.tm_keep_seed(self._keeps.c, self._number, self._c, self._read + self._put, left, self._used)
        self._put += self._used[0]
        if result != lib.TM_LOG_BUSY:
            check_log(result)
        return bool(self._put == self._size[0])

    def join(self) -> bool:
        """Append what came since `mark`, and give the keep its filters; False: too much came, so nothing is appended.
        Raises what `put` raises."""
        try:
            check_log(lib.tm_keep_join(self._keeps.c, self._number, self._c, self._wanted.c))
        except LogBusy:
            return False
        return True
