"""Fast parsing of the DELIVER frames that a client mostly receives, by `tm_deliveries_walk`.

Law: a walker serves one connection; each call overwrites its memory.
"""

from __future__ import annotations

from typing import Final

from tamis.native._tm import ffi, lib

ROWS_MAX: Final = 4_096
"""Most frames of one call: as many as one read from a socket has; 64 KiB of memory."""


class DeliveryWalker:
    def __init__(self) -> None:
        self._ends = ffi.new("uint32_t[]", ROWS_MAX)
        self._ids = ffi.new("uint32_t[]", ROWS_MAX)
        self._positions = ffi.new("uint64_t[]", ROWS_MAX)

    def walk(self, data: bytes) -> tuple[list[int], list[int], list[int]]:
        """Return three lists about the DELIVER frames at the begin of `data` that satisfy one subscription or consumer:
        the end of each frame, the id of its subscription or consumer, and its position, 0 without a durable
        subscription. Stop at the first other frame."""
        ends, ids, positions = self._ends, self._ids, self._positions
        count = lib.tm_deliveries_walk(ffi.from_buffer(data), len(data), ends, ids, positions, ROWS_MAX)
        return ffi.unpack(ends, count), ffi.unpack(ids, count), ffi.unpack(positions, count)
