"""Records of messages: the switch adds them, another thread takes them as lines of JSON.

Law: one thread takes records, and only it calls `name`; any thread may use `call` and `lost`. C formats the lines with
Python's global lock released, so that this blocks no other thread.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.native.seed import random_seed
from tamis.native.table import Table

RING_BYTES: Final = 8 * 1024 * 1024
"""Bytes of the ring: tens of thousands of messages, which a busy router forwards while the taking thread waits."""
LINES_BYTES: Final = 1024 * 1024
ALL: Final = 2**64 - 1

_Cdata = Any  # cffi's types exist only at run time


class RecordRing:
    """A ring of records. `prefix`: begin of each line, up to the value of `t_us`. With `wanted`, a table of the
    switch's thread, messages that it matches are recorded; without, those whose id is sampled below `threshold`.
    `stored_prefix`: begin of lines with the outcome of a stored message; without it there are none."""

    def __init__(self, prefix: bytes, threshold: int, wanted: Table | None = None, stored_prefix: bytes = b"") -> None:
        self._wanted = wanted
        options = {
            "prefix": ffi.from_buffer(prefix),
            "prefix_size": len(prefix),
            "stored_prefix": ffi.from_buffer(stored_prefix),
            "stored_prefix_size": len(stored_prefix),
            "wanted": wanted.c if wanted is not None else ffi.NULL,
            "share": threshold,
            "hash_seed": random_seed(),
            "ring_bytes": RING_BYTES,
        }
        made = ffi.new("tm_records **")
        check(lib.tm_records_new(ffi.new("tm_records_options *", options), made))
        self._records: _Cdata | None = ffi.gc(made[0], lib.tm_records_free)
        self._size, self._count = ffi.new("size_t *"), ffi.new("uint64_t *")
        self._make_room(LINES_BYTES)

    @property
    def c(self) -> _Cdata:
        if self._records is None:
            raise ValueError("the records are closed")
        return self._records

    def close(self) -> None:
        """Free the records; neither the switch nor a thread may use them afterwards."""
        if self._records is not None:
            ffi.release(self._records)
            self._records = None
        if self._wanted is not None:
            self._wanted.close()

    def _make_room(self, size: int) -> None:
        self._room = size
        self._lines = ffi.new("uint8_t[]", size)

    def wait(self, timeout_ms: int) -> None:
        """Wait until many records are ready, another thread uses `call`, or `timeout_ms` have passed."""
        lib.tm_records_wait(self.c, timeout_ms)

    def call(self) -> None:
        """End the wait of the taking thread."""
        lib.tm_records_call(self.c)

    @property
    def end(self) -> int:
        """The position after the last record, for `take`."""
        return int(lib.tm_records_end(self.c))

    def name(self, number: int, shown: bytes, hops: int) -> None:
        """Set the name of router `number` in later lines to `shown` (a JSON string), and its distance to `hops`
        links."""
        check(lib.tm_records_name(self.c, number, ffi.from_buffer(shown), len(shown), hops))

    def take(self, end: int) -> tuple[memoryview, int]:
        """Return lines up to `end` and their number, 0 if none are left. The lines are valid until the next call."""
        size, count = self._size, self._count
        result = lib.tm_records_take(self.c, end, self._lines, self._room, size, count)
        if result == lib.TM_TOO_MANY:
            self._make_room(2 * size[0])
            result = lib.tm_records_take(self.c, end, self._lines, self._room, size, count)
        check(result)
        return memoryview(ffi.buffer(self._lines, size[0])), int(count[0])

    @property
    def lost(self) -> int:
        """The number of records that found no room, in all."""
        return int(lib.tm_records_lost(self.c))

    def validate(self) -> None:
        """Check every invariant of the structures in C, while no record is added; raise RuntimeError for a violated
        one."""
        reason = ffi.new("char **")
        if lib.tm_records_validate(self.c, reason) == lib.TM_MISUSED:
            raise RuntimeError(f"records: {ffi.string(reason[0]).decode()}")
