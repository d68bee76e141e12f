"""Records of messages: noted by the switch, taken out as lines of JSON by another thread.

Law: one thread takes, and only it names routers; any thread may use `call` and `lost`. C formats with Python's lock
released, so that taking a million records holds no other thread up.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.native.seed import random_seed
from tamis.native.table import Table

RING_BYTES: Final = 8 * 1024 * 1024
"""Bytes of the ring, room for tens of thousands of messages: what a busy router passes while the thread that takes
waits."""
LINES_BYTES: Final = 1024 * 1024
ALL: Final = 2**64 - 1

_Cdata = Any  # cffi's types exist only at run time


class RecordRing:
    """A ring of records. `prefix` is how each line begins, up to the value of `t_us`. Messages that `wanted` matches
    are recorded (a table of the switch's thread), or without it those whose id is sampled below `threshold`.
    `kept_prefix`: how each line begins that says what became of a kept message; without it none does."""

    def __init__(self, prefix: bytes, threshold: int, wanted: Table | None = None, kept_prefix: bytes = b"") -> None:
        self._wanted = wanted
        options = {
            "prefix": ffi.from_buffer(prefix),
            "prefix_size": len(prefix),
            "kept_prefix": ffi.from_buffer(kept_prefix),
            "kept_prefix_size": len(kept_prefix),
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
        """Free everything; neither the switch nor a thread may use the records any more."""
        if self._records is not None:
            ffi.release(self._records)
            self._records = None
        if self._wanted is not None:
            self._wanted.close()

    def _make_room(self, size: int) -> None:
        self._room = size
        self._lines = ffi.new("uint8_t[]", size)

    def wait(self, timeout_ms: int) -> None:
        """Wait until there is much to take, another thread calls, or `timeout_ms` are over."""
        lib.tm_records_wait(self.c, timeout_ms)

    def call(self) -> None:
        """End a wait."""
        lib.tm_records_call(self.c)

    @property
    def end(self) -> int:
        """The position up to which messages have been noted, for `take`."""
        return int(lib.tm_records_end(self.c))

    def name(self, number: int, shown: bytes, hops: int) -> None:
        """Have lines call the router `number` `shown` (a JSON string) from now on; `hops` links lie between it and
        here."""
        check(lib.tm_records_name(self.c, number, ffi.from_buffer(shown), len(shown), hops))

    def take(self, end: int) -> tuple[memoryview, int]:
        """Return lines up to `end`, and how many; they are valid until the next call. 0: none are left."""
        size, count = self._size, self._count
        result = lib.tm_records_take(self.c, end, self._lines, self._room, size, count)
        if result == lib.TM_TOO_MANY:
            self._make_room(2 * size[0])
            result = lib.tm_records_take(self.c, end, self._lines, self._room, size, count)
        check(result)
        return memoryview(ffi.buffer(self._lines, size[0])), int(count[0])

    @property
    def lost(self) -> int:
        """How many records there was no room for, in all."""
        return int(lib.tm_records_lost(self.c))

    def validate(self) -> None:
        """Check every invariant of the structures in C, while nothing is noted; a RuntimeError says which is broken."""
        reason = ffi.new("char **")
        if lib.tm_records_validate(self.c, reason) == lib.TM_MISUSED:
            raise RuntimeError(f"records: {ffi.string(reason[0]).decode()}")
