"""Which address to try next, and after how long.

Law: addresses are tried in order, from the first after every cut; the pause comes before each further round, doubles,
and is drawn between half and the whole of itself, so that the clients of a router that died do not return as one. Only
a connection that has lasted makes the pause short again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tamis.client.address import Endpoint

PAUSE_S_MIN: Final = 0.05
PAUSE_S_MAX: Final = 5.0
STEADY_S: Final = PAUSE_S_MAX
"""Seconds that a connection has to be open for the next pause to be short."""


class Redial:
    def __init__(self, addresses: tuple[Endpoint, ...], random: Callable[[], float]) -> None:
        """`random` gives numbers from 0 to 1."""
        self._addresses = addresses
        self._random = random
        self._next = 0  # the address to try
        self._pause_s = 0.0
        self._opened_at: float | None = None
        self.failures: dict[Endpoint, str] = {}
        """Address -> why it failed at its last try since a connection was open."""
        self.rounds = 0
        """How often all addresses have failed since a connection was open."""

    def next(self) -> tuple[Endpoint, float]:
        """Return the address to try, and the seconds to wait before."""
        pause_s = self._pause_s * (0.5 + self._random() / 2) if self._next == 0 else 0.0
        return self._addresses[self._next], pause_s

    def opened(self, now: float) -> None:
        self._opened_at = now
        self.failures.clear()
        self.rounds = 0

    def ended(self, reason: str, now: float) -> None:
        """Take in that the attempt has failed, or the connection was cut."""
        if self._opened_at is None:
            self._failed(reason)
        else:
            lasted = now - self._opened_at >= STEADY_S
            self._pause_s = PAUSE_S_MIN if lasted else self._longer()
            self._next = 0
        self._opened_at = None

    def _failed(self, reason: str) -> None:
        self.failures[self._addresses[self._next]] = reason
        self._next = (self._next + 1) % len(self._addresses)
        if self._next == 0:
            self.rounds += 1
            self._pause_s = self._longer()

    def _longer(self) -> float:
        return min(max(PAUSE_S_MIN, 2 * self._pause_s), PAUSE_S_MAX)
