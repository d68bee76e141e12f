"""The frames a client mostly receives, found in C: see `tm_deliveries_walk`.

Law: one walker serves one connection; its memory is filled anew by each call.
"""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib

ROWS_MAX: Final = 4_096
"""Frames of one call: as many as one read from a socket holds, and 32 KiB of memory."""


class DeliveryWalker:
    def __init__(self) -> None:
        self._ends = ffi.new("uint32_t[]", ROWS_MAX)
        self._ids = ffi.new("uint32_t[]", ROWS_MAX)

    def walk(self, data: bytes) -> tuple[list[int], list[int]]:
        """Return where each of the plain DELIVER frames that `data` begins with ends, and the one subscription of
        each."""
        count = lib.tm_deliveries_walk(ffi.from_buffer(data), len(data), self._ends, self._ids, ROWS_MAX)
        return ffi.unpack(self._ends, count), ffi.unpack(self._ids, count)
