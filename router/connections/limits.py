"""Limits of connections and open files, by kind.

Law: links, administration and files have places that clients cannot use. Pending connections have places of their own,
a tenth as many as clients. The descriptors that the system allows are divided before any peer connects.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from tamis.configs.settings import RouterSettings
from tamis.native.switch_values import CONNECTIONS_MAX
from tamis.serving.cannot_start import CannotStart

GREETING_MIN: Final = 64
GREETING_MAX: Final = 10_000
ADMIN_MAX: Final = 40
"""Connections for administration, at most."""
ADMIN_MIN: Final = 5
LINK_GREETING_MIN: Final = 16
PER_LINK: Final = 4
"""Descriptors of a link: two handles on the socket of its session, and two on that of the session it replaces."""
CONNECTIONS_PER_LINK: Final = 2
FILES: Final = 12
"""Descriptors of files: records and their folder, a file being compressed and its result, epoch, settings, tokens,
certificate."""
LOG_FILES: Final = 8
"""Descriptors of a log of stored messages besides its segments: folders, a spare segment, a checkpoint, signals."""
CLOSING: Final = 256
"""Places of connections that have ended in the switch and whose end is not handled yet."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Places of each kind. `clients`: admitted clients; `greeting`: clients not admitted yet; `link_greeting`:
    neighbours not admitted yet; `log`: descriptors of the log of stored messages, one for each segment and some."""

    clients: int
    greeting: int
    links: int
    link_greeting: int
    admin: int = ADMIN_MAX
    log: int = 0

    @property
    def connections(self) -> int:
        """The number of connections in the switch, of all kinds."""
        wanted = self.clients + self.greeting + CONNECTIONS_PER_LINK * self.links + self.link_greeting + CLOSING
        return min(CONNECTIONS_MAX, wanted)


def places_of(settings: RouterSettings) -> ConnectionLimits:
    """Return the limits in the settings."""
    clients, links = settings.limits.connections, len(settings.links)
    greeting = max(GREETING_MIN, min(GREETING_MAX, clients // 10))
    durable = settings.durable
    log = LOG_FILES + durable.bytes // durable.segment_bytes if durable is not None else 0
    return ConnectionLimits(clients, greeting, links, max(LINK_GREETING_MIN, 2 * links) if links else 0, log=log)


def fitted(wanted: ConnectionLimits, descriptors: int) -> ConnectionLimits:
    """Return the limits `wanted`, reduced to what `descriptors` allow. Raise CannotStart if no client is left."""
    link_greeting = min(wanted.link_greeting, max(2, descriptors // 8)) if wanted.links else 0
    log = min(wanted.log, descriptors // 4)
    taken = PER_LINK * wanted.links + link_greeting + log + FILES + 1
    admin = min(ADMIN_MAX, max(ADMIN_MIN, (descriptors - taken) // 4))
    left = descriptors - taken - admin
    greeting = min(wanted.greeting, max(2, left // 4))
    clients = min(wanted.clients, left - greeting)
    if clients < 1:
        least = taken + ADMIN_MIN + 3
        raise CannotStart(f"the system allows {descriptors} more open files; this router needs at least {least}")
    return ConnectionLimits(clients, greeting, wanted.links, link_greeting, admin, log)


def open_descriptors() -> int:
    """Return the number of open descriptors of this process."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - minus the descriptor of this listing
