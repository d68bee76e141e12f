"""Signs of life, both ways.

Law: a PING goes out when nothing was sent for a third of the peer's hold time; the peer counts as dead when nothing
came from it for this client's hold time. While the client does not read, it cannot know, and does not judge.
"""

from __future__ import annotations

from typing import Final

PINGS_PER_HOLD: Final = 3


class Liveness:
    def __init__(self, hold_s: float, now: float) -> None:
        self._hold_s = hold_s
        self._peer_hold_s = hold_s  # until it has said its own
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
        """Note whether the client reads; when it begins again, the peer's time begins again."""
        if is_reading and not self._is_reading:
            self._heard_at = now
        self._is_reading = is_reading

    @property
    def deadline(self) -> float:
        """When to look again whether a PING is due or the peer is dead."""
        ping_at = self._sent_at + self._peer_hold_s / PINGS_PER_HOLD
        return min(ping_at, self._heard_at + self._hold_s) if self._is_reading else ping_at

    def must_ping(self, now: float) -> bool:
        return now - self._sent_at >= self._peer_hold_s / PINGS_PER_HOLD

    def is_dead(self, now: float) -> bool:
        return self._is_reading and now - self._heard_at >= self._hold_s
