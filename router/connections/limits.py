"""How many connections and open files there may be, of each kind.

Law: links, administration and files have places that no client can take. Connections that have not greeted have places
of their own, a tenth as many as clients have. The descriptors that the system allows are divided before any peer
connects, and one is kept spare, by which connections past the limit are told that the router is full.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tamis.configs.settings import RouterSettings
from tamis.native.switch_values import CONNECTIONS_MAX
from tamis.router.daemon.cannot_start import CannotStart

GREETING_MIN: Final = 64
GREETING_MAX: Final = 10_000
ADMIN_MAX: Final = 40
"""Connections for administration; 8 of these places are for health checks and metrics alone."""
ADMIN_MIN: Final = 5
LINK_GREETING_MIN: Final = 16
PER_LINK: Final = 4
"""Descriptors: a session's socket and this router's second handle on it, and the same of the session that it
replaces."""
CONNECTIONS_PER_LINK: Final = 2
FILES: Final = 12
"""Descriptors: records and their folder, a file being compressed and its result, epoch, settings, tokens,
certificate."""
LOG_FILES: Final = 8
"""Descriptors of a log of kept messages beside its segments: its folders, a spare segment, a checkpoint, signals."""
CLOSING: Final = 256
"""Connections of the switch that have ended and whose end has not been handled yet."""
_READ_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Places of each kind. `clients` are those let in, `greeting` those not let in yet; `link_greeting` are neighbours
    not let in yet. `log` are the descriptors that the log of kept messages may take, one for each segment."""

    clients: int
    greeting: int
    links: int
    link_greeting: int
    admin: int = ADMIN_MAX
    log: int = 0

    @property
    def connections(self) -> int:
        """Connections that the switch has room for, in all."""
        wanted = self.clients + self.greeting + CONNECTIONS_PER_LINK * self.links + self.link_greeting + CLOSING
        return min(CONNECTIONS_MAX, wanted)


def places_of(settings: RouterSettings) -> ConnectionLimits:
    """Return the places that the settings ask for."""
    clients, links = settings.limits.connections, len(settings.links)
    greeting = max(GREETING_MIN, min(GREETING_MAX, clients // 10))
    kept = settings.kept
    log = LOG_FILES + kept.bytes // kept.segment_bytes if kept is not None else 0
    return ConnectionLimits(clients, greeting, links, max(LINK_GREETING_MIN, 2 * links) if links else 0, log=log)


def fitted(wanted: ConnectionLimits, descriptors: int) -> ConnectionLimits:
    """Return as many of the `wanted` places as `descriptors` are enough for; CannotStart if that leaves no client."""
    link_greeting = min(wanted.link_greeting, max(2, descriptors // 8)) if wanted.links else 0
    log = min(wanted.log, descriptors // 4)
    taken = PER_LINK * wanted.links + link_greeting + log + FILES + 1
    admin = min(ADMIN_MAX, max(ADMIN_MIN, (descriptors - taken) // 4))
    left = descriptors - taken - admin
    greeting = min(wanted.greeting, max(2, left // 4))
    clients = min(wanted.clients, left - greeting)
    if clients < 1:
        least = taken + ADMIN_MIN + 3
        raise CannotStart(f"the system allows {descriptors} more open files, and this router needs {least} at least")
    return ConnectionLimits(clients, greeting, wanted.links, link_greeting, admin, log)


def open_descriptors() -> int:
    """Return how many descriptors this process has open now."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - the one that reads the folder is left out


class ReserveDescriptor:
    """A descriptor that is kept for the moment when the system has no other."""

    def __init__(self) -> None:
        self._descriptor = _any_descriptor()

    def accept(self, listener: socket.socket, said: bytes) -> bool:
        """Accept one connection, send it `said`, and close it. False: there is no spare descriptor, or no connection
        waits."""
        if self._descriptor is None:
            self._descriptor = _any_descriptor()
            return False
        os.close(self._descriptor)
        self._descriptor = None
        try:
            turn_away(listener.accept()[0], said)
        except OSError:
            return False
        finally:
            self._descriptor = _any_descriptor()
        return True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def turn_away(sock: socket.socket, said: bytes) -> None:
    """Close a connection that has just been accepted; send `said` first, if the socket takes it at once."""
    with sock, suppress(OSError):
        sock.setblocking(False)
        sock.send(said)
        sock.recv(_READ_BYTES)  # closing a socket with unread bytes would take away what was sent


def _any_descriptor() -> int | None:
    try:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
