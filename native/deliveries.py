"""The frames a client mostly receives, found in C: see `tm_deliveries_walk`.

Law: one walker serves one connection; its memory is filled again by each call.
"""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib

ROWS_MAX: Final = 4_096
"""Frames of one call: as many as one read from a socket holds, and 64 KiB of memory."""


class DeliveryWalker:
    def __init__(self) -> None:
        self._ends = ffi.new("uint32_t[]", ROWS_MAX)
        self._ids = ffi.new("uint32_t[]", ROWS_MAX)
        self._positions = ffi.new("uint64_t[]", ROWS_MAX)

    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return of each of the plain or kept DELIVER frames that `data` begins with where it ends, the one
        subscription or attachment that it is for, and its position, 0 of a plain one."""
        ends, ids, positions = self._ends, self._ids, self._positions
        count = lib.tm_deliveries_walk(ffi.from_buffer(data), len(data), ends, ids, positions, ROWS_MAX)
        return ffi.unpack(ends, count), ffi.unpack(ids, count), ffi.unpack(positions, count)
