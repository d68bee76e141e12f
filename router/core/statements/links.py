"""The sessions with neighbours, as routing sees them.

Law: there is one session with a neighbour; a newer one replaces the older, and bodies that still arrive by the older
are ignored. A link is stated to other routers (LSA) only once this end holds all that the other held when it came up
(R4).

    no link --LinkUp--> catching up --answered, or digests agree--> synced --LinkDown--> no link
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.protocol.wire.routing_bodies import Body, UpdateReply
from tamis.protocol.wire.versions import PROTOCOL_VERSION

UNSENT_MAX: Final = 2
"""Bodies of a long reply that wait for one link: one that leaves and one behind it."""
RELAYED_MAX: Final = 48
"""Long bodies of other routers that wait for one link, about 48 MiB at most. Further ones are not forwarded to it, and
the neighbours compare when the waiting ones have left."""


@dataclass(slots=True)
class CoreLink:
    neighbour: int
    session: int
    cost: int
    version: int = PROTOCOL_VERSION
    """The version of the wire."""
    knows_durables: bool = True
    """Whether the neighbour supports statements about durable subscriptions."""
    is_synced: bool = False
    tries: int = 0
    """The number of repetitions of the present request."""
    asked: int = 0
    """The request to the neighbour whose reply is awaited; 0: none."""
    is_answered: bool = False
    """Whether the reply is complete; parts of it may not be held yet."""
    answer: Iterator[UpdateReply | None] | None = None
    """The rest of the reply to the neighbour's last request."""
    unsent: int = 0
    """Bodies sent with `is_told` that have not left yet."""

    is_left_out: bool = False
    """Whether a body was not forwarded to this neighbour, which must then compare."""

    @property
    def has_room(self) -> bool:
        """Return whether this link accepts the next of many bodies."""
        return self.unsent < UNSENT_MAX


class Links:
    def __init__(self) -> None:
        self.by_neighbour: dict[int, CoreLink] = {}

    def up(
        self,
        neighbour: int,
        session: int,
        cost: int,
        version: int = PROTOCOL_VERSION,
        knows_durables: bool = True,
    ) -> CoreLink | None:
        """Begin a session; None: the present one is equally new or newer."""
        held = self.by_neighbour.get(neighbour)
        if held is not None and held.session >= session:
            return None
        link = self.by_neighbour[neighbour] = CoreLink(neighbour, session, cost, version, knows_durables)
        return link

    def down(self, neighbour: int, session: int) -> bool:
        """End a session; return whether it was the one in force."""
        held = self.by_neighbour.get(neighbour)
        if held is None or held.session != session:
            return False
        del self.by_neighbour[neighbour]
        return True

    def current(self, neighbour: int, session: int) -> CoreLink | None:
        held = self.by_neighbour.get(neighbour)
        return held if held is not None and held.session == session else None

    def takers(self, body: Body, but: int | None = None) -> list[CoreLink]:
        """Return the links to all neighbours that support `body`, except to `but`."""
        is_for_all = not isinstance(body, DurablesStatement)
        links = self.by_neighbour.values()
        return [link for link in links if link.neighbour != but and (is_for_all or link.knows_durables)]

    @property
    def synced(self) -> list[CoreLink]:
        return [link for link in self.by_neighbour.values() if link.is_synced]
