"""Liveness of a connection, in both directions.

Law: a PING is sent when nothing was sent for a third of the peer's hold time; the peer counts as dead when nothing
arrived from it for this client's hold time. While the client does not read, silence does not count.
"""

from __future__ import annotations

from typing import Final

PINGS_PER_HOLD: Final = 3


class Liveness:
    def __init__(self, hold_s: float, now: float) -> None:
        self._hold_s = hold_s
        self._peer_hold_s = hold_s  # until the peer sends its own
        self._sent_at = now
        self._heard_at = now
        self._is_reading = True

    def peer_holds(self, hold_s: float) -> None:
        self._peer_hold_s = hold_s

    def sent(self, now: float) -> None:
        self._sent_at = now

    def heard(self, now: float) -> None:
        self._heard_at = now

    def read(self, is_reading: bool, now: float) -> None:
        """Record whether the client reads; when it resumes, the peer's hold time starts again."""
        if is_reading and not self._is_reading:
            self._heard_at = now
        self._is_reading = is_reading

    @property
    def deadline(self) -> float:
        """When a PING may be due or the peer may be dead."""
        ping_at = self._sent_at + self._peer_hold_s / PINGS_PER_HOLD
        return min(ping_at, self._heard_at + self._hold_s) if self._is_reading else ping_at

    def must_ping(self, now: float) -> bool:
        return now - self._sent_at >= self._peer_hold_s / PINGS_PER_HOLD

    def is_dead(self, now: float) -> bool:
        return self._is_reading and now - self._heard_at >= self._hold_s
