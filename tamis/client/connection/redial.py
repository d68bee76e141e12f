"""The choice of the next address to dial, and of the pause before.

Law: addresses are tried in order, from the first after every cut. A pause precedes each further round; it doubles, and
is drawn between half and all of its length, which spreads the clients of a router that died. After a cut the pause
starts short again, unless connections end repeatedly before STEADY_S.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tamis.client.connection.address import Endpoint, parse_address
from tamis.protocol.errors import Refused

PAUSE_S_MIN: Final = 0.05
REDIAL_S: Final = 2.0
"""The longest pause by default: the clients of a restarted router are back within this time."""
REDIAL_S_MAX: Final = 3_600.0
STEADY_S: Final = 5.0
"""Seconds after which an open connection counts as steady."""
_DOUBLINGS_MAX: Final = 32


class Redial:
    def __init__(
        self, addresses: tuple[Endpoint, ...], random: Callable[[], float], pause_s_max: float = REDIAL_S
    ) -> None:
        """`random` returns numbers from 0 to 1."""
        self._addresses = addresses
        self._random = random
        self._next = 0  # the address to try
        self._pause_s_max = pause_s_max
        self._pause_s = 0.0
        self._unsteady = 0  # consecutive connections that ended before STEADY_S
        self._opened_at: float | None = None
        self._moved_to: Endpoint | None = None  # the address of a connection that a handover has dialled
        self.failures: dict[Endpoint, str] = {}
        """Why each address failed at its last attempt since a connection was open."""
        self.rounds = 0
        """How often all addresses have failed since a connection was open."""

    def next(self) -> tuple[Endpoint, float]:
        """Return the address to try, and the seconds to wait before."""
        pause_s = self._pause_s * (0.5 + self._random() / 2) if self._next == 0 else 0.0
        return self._addresses[self._next], pause_s

    @property
    def address(self) -> Endpoint:
        """The address of the connection if there is one, else that of `next`."""
        return self._moved_to or self._addresses[self._next]

    def elsewhere(self, told: Sequence[str]) -> list[Endpoint]:
        """Return the other addresses that the client may move to; none if it was given a single address. Its own
        addresses come first, of these the ones that the router has sent; the router's other addresses follow in random
        order, without those that would give up TLS."""
        here, own = self.address, list(self._addresses)
        others = [address for text in told if (address := _parsed(text)) is not None]
        others = [address for address in others if address.is_encrypted or not here.is_encrypted]
        mine = sorted((address for address in own if address != here), key=lambda address: address not in others)
        rest = [address for address in dict.fromkeys(others) if address not in own and address != here]
        return mine + sorted(rest, key=lambda _: self._random()) if len(own) > 1 else []

    def moved(self, address: Endpoint, now: float) -> None:
        """Record that the current connection is one to `address`."""
        self._moved_to = address
        self.opened(now)

    def opened(self, now: float) -> None:
        self._opened_at = now
        self.failures.clear()
        self.rounds = 0

    def ended(self, reason: str, now: float) -> None:
        """Record that the attempt has failed, or that the connection was cut."""
        if self._opened_at is None:
            self._failed(reason)
        else:
            self._unsteady = 0 if now - self._opened_at >= STEADY_S else min(self._unsteady + 1, _DOUBLINGS_MAX)
            self._pause_s = min(PAUSE_S_MIN * 2 ** max(0, self._unsteady - 1), self._pause_s_max)
            self._next = 0
        self._opened_at = self._moved_to = None

    def _failed(self, reason: str) -> None:
        self.failures[self._addresses[self._next]] = reason
        self._next = (self._next + 1) % len(self._addresses)
        if self._next == 0:
            self.rounds += 1
            self._pause_s = self._longer()

    def _longer(self) -> float:
        return min(max(PAUSE_S_MIN, 2 * self._pause_s), self._pause_s_max)


def _parsed(text: str) -> Endpoint | None:
    """Return a TCP address that the router has sent; None if it is invalid or not of TCP."""
    try:
        address = parse_address(text)
    except Refused:
        return None
    return None if address.path else address
