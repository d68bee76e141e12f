"""What a client says about itself, with an event loop and without: its name, and where it is connected.

Law: this only looks; it may be asked at any time, from any thread.
"""

from __future__ import annotations

from typing import Protocol

from tamis.client.connection.core import ClientCore
from tamis.client.connection.settings import Settings


class RunningClient(Protocol):
    """What moves the bytes of a client that was opened."""

    @property
    def core(self) -> ClientCore: ...


class AboutClient:
    """The part of a client that is the same in `tamis` and `tamis.blocking`. `_running` is None until it is opened."""

    _settings: Settings
    _running: RunningClient | None

    @property
    def name(self) -> str:
        """The client's name, which is its identity as a publisher."""
        return self._settings.name

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection over which a router has let this client in."""
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
        """By how many seconds the clock here is ahead of the router's, give or take a round trip, as the router said in
        its last sign of life, and says at the end of `drain`; None: it has not said."""
        ahead_us = self._running.core.clock_ahead_us if self._running is not None else None
        return None if ahead_us is None else ahead_us / 1e6
