"""Which address to try next, and after how long.

Law: addresses are tried in order, from the first after every cut; the pause comes before each further round, doubles,
and is drawn between half and the whole of itself, so that the clients of a router that died do not return as one. After
a cut it begins short again, however long it had become before the connection was made, unless connections end again and
again before they have lasted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tamis.client.address import Endpoint

PAUSE_S_MIN: Final = 0.05
REDIAL_S: Final = 2.0
"""The longest pause, by default: a router that is started again has its clients back so soon."""
REDIAL_S_MAX: Final = 3_600.0
STEADY_S: Final = 5.0
"""Seconds that a connection has to be open to have lasted."""
_DOUBLINGS_MAX: Final = 32


class Redial:
    def __init__(
        self, addresses: tuple[Endpoint, ...], random: Callable[[], float], pause_s_max: float = REDIAL_S
    ) -> None:
        """`random` gives numbers from 0 to 1."""
        self._addresses = addresses
        self._random = random
        self._next = 0  # the address to try
        self._pause_s_max = pause_s_max
        self._pause_s = 0.0
        self._unsteady = 0  # connections in a row that did not last
        self._opened_at: float | None = None
        self.failures: dict[Endpoint, str] = {}
        """Address -> why it failed at its last try since a connection was open."""
        self.rounds = 0
        """How often all addresses have failed since a connection was open."""

    def next(self) -> tuple[Endpoint, float]:
        """Return the address to try, and the seconds to wait before."""
        pause_s = self._pause_s * (0.5 + self._random() / 2) if self._next == 0 else 0.0
        return self._addresses[self._next], pause_s

    @property
    def address(self) -> Endpoint:
        """The address of `next`: that of the connection, while there is one."""
        return self._addresses[self._next]

    def opened(self, now: float) -> None:
        self._opened_at = now
        self.failures.clear()
        self.rounds = 0

    def ended(self, reason: str, now: float) -> None:
        """Take in that the attempt has failed, or the connection was cut."""
        if self._opened_at is None:
            self._failed(reason)
        else:
            self._unsteady = 0 if now - self._opened_at >= STEADY_S else min(self._unsteady + 1, _DOUBLINGS_MAX)
            self._pause_s = min(PAUSE_S_MIN * 2 ** max(0, self._unsteady - 1), self._pause_s_max)
            self._next = 0
        self._opened_at = None

    def _failed(self, reason: str) -> None:
        self.failures[self._addresses[self._next]] = reason
        self._next = (self._next + 1) % len(self._addresses)
        if self._next == 0:
            self.rounds += 1
            self._pause_s = self._longer()

    def _longer(self) -> float:
        return min(max(PAUSE_S_MIN, 2 * self._pause_s), self._pause_s_max)
