"""How fast messages are read from the log for homes that were away: one megabyte after another while nothing else
passes through this router; otherwise a little at a time, so that live messages pass between two of them.

Law: homes share the rate. It is at least BYTES_S, and each home that is behind gets twice what is appended to the log
meanwhile, so that it never falls further behind because of it.
"""

from __future__ import annotations

from typing import Final

from tamis.native.custody import Traffic

BYTES_S: Final = 100 << 20
"""Bytes a second that homes which catch up share, beside live messages."""
READ_BYTES: Final = 1 << 20
"""Bytes of one request to the log."""
SHARED_READ_BYTES: Final = 128 << 10
"""Bytes of one request at BYTES_S, beside live messages."""
LATE_US: Final = 2_000
"""How late a request may come without loss of rate; timers are this late."""


class CatchUpPace:
    def __init__(self) -> None:
        self._rate = 0
        """Bytes a second; 0: not bounded."""
        self._free_us = self._heard_us = 0
        self._heard: Traffic | None = None

    @property
    def read_bytes(self) -> int:
        """The bytes of the next request."""
        return min(READ_BYTES, SHARED_READ_BYTES * self._rate // BYTES_S) if self._rate else READ_BYTES

    def wait_us(self, now_us: int) -> int:
        """Return after what time the next request may be made; 0: at once."""
        return max(0, self._free_us - now_us) if self._rate else 0

    def spend(self, size: int, now_us: int) -> None:
        """Count a request of `size` bytes."""
        if self._rate:
            self._free_us = max(self._free_us, now_us - LATE_US) + size * 1_000_000 // self._rate

    def hear(self, traffic: Traffic, behind: int, now_us: int) -> None:
        """Set the rate by what this router has received and appended since the last call, while `behind` homes are
        behind."""
        before, passed_us = self._heard, now_us - self._heard_us
        self._heard, self._heard_us = traffic, now_us
        if before is None or traffic.received == before.received:
            self._rate = 0
        elif passed_us > 0:
            appended = (traffic.appended - before.appended) * 1_000_000 // passed_us
            self._rate = max(BYTES_S, 2 * behind * appended)
