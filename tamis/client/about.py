"""Properties that both clients share: the name of the client, and where it is connected.

Law: reading a property changes nothing; any thread may read it at any time.
"""

from __future__ import annotations

from typing import Protocol

from tamis.client.connection.core import ClientCore
from tamis.client.connection.settings import Settings


class RunningClient(Protocol):
    """The running part of a client that was opened."""

    @property
    def core(self) -> ClientCore: ...


class AboutClient:
    """The properties that `tamis.Client` and `tamis.blocking.Client` share. `_running` is None until the client is
    opened."""

    _settings: Settings
    _running: RunningClient | None

    @property
    def name(self) -> str:
        """The client's name, which is its identity as a publisher."""
        return self._settings.name

    @property
    def is_connected(self) -> bool:
        """Whether the client has a connection over which a router has admitted it."""
        return self._running is not None and self._running.core.is_connected

    @property
    def router(self) -> str | None:
        """The name of the router that the client is connected to; None while it is not connected."""
        return self._running.core.router if self._running is not None and self.is_connected else None

    @property
    def address(self) -> str | None:
        """The address at which the client is connected; None while it is not connected."""
        return str(self._running.core.redial.address) if self._running is not None and self.is_connected else None

    @property
    def clock_ahead_s(self) -> float | None:
        """By how many seconds the clock of this machine is ahead of the clock of the router, up to the time of a round
        trip. A router sends its time in its signs of life and at the end of `drain`; None until one has."""
        ahead_us = self._running.core.clock_ahead_us if self._running is not None else None
        return None if ahead_us is None else ahead_us / 1e6
