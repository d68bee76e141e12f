"""The sessions with neighbours, as far as routing is concerned.

Law: one session a neighbour; a newer one takes the place of the older, and what the older says any more is not heard.
A link is told to the world (LSA) only once this end holds all that the other held when it came up (R4).

    no link --LinkUp--> catching up --answered, or digests agree--> synced --LinkDown--> no link
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tamis.protocol.wire.routing_bodies import UpdateReply
from tamis.protocol.wire.versions import PROTOCOL_VERSION
from tamis.router.core.commands import NeighbourSession

UNSENT_MAX: Final = 2
"""One that leaves and one behind it: so much of a long answer waits in memory."""
RELAYED_MAX: Final = 48
"""Long bodies of others that wait for one link, at most about 48 MiB. It is left out of further ones, and compares when
these have left."""


@dataclass(slots=True)
class CoreLink:
    neighbour: int
    session: int
    cost: int
    version: int = PROTOCOL_VERSION
    """Of the wire."""
    is_synced: bool = False
    tries: int = 0
    """How often the present question was asked again."""
    asked: int = 0
    """The request to the neighbour whose answer is awaited; 0: none."""
    is_answered: bool = False
    """The answer has come to its end, and something in it is not held yet."""
    answer: Iterator[UpdateReply | None] | None = None
    """What is left of the answer to the neighbour's last request."""
    unsent: int = 0
    """Bodies of which it is told when they have left, and that have not."""

    is_left_out: bool = False
    """Something was not passed on to it: it has to compare."""

    @property
    def has_room(self) -> bool:
        """May the next of many bodies be handed to it?"""
        return self.unsent < UNSENT_MAX


class Links:
    def __init__(self) -> None:
        self.by_neighbour: dict[int, CoreLink] = {}

    def up(self, neighbour: int, session: int, cost: int, version: int = PROTOCOL_VERSION) -> CoreLink | None:
        """None: it is not newer than the one there is."""
        held = self.by_neighbour.get(neighbour)
        if held is not None and held.session >= session:
            return None
        link = self.by_neighbour[neighbour] = CoreLink(neighbour, session, cost, version)
        return link

    def down(self, neighbour: int, session: int) -> bool:
        """Whether that was the session in force."""
        held = self.by_neighbour.get(neighbour)
        if held is None or held.session != session:
            return False
        del self.by_neighbour[neighbour]
        return True

    def current(self, neighbour: int, session: int) -> CoreLink | None:
        held = self.by_neighbour.get(neighbour)
        return held if held is not None and held.session == session else None

    def sessions(self, but: int | None = None) -> tuple[NeighbourSession, ...]:
        """All of them, one neighbour left out."""
        links = self.by_neighbour.values()
        return tuple([NeighbourSession(link.neighbour, link.session) for link in links if link.neighbour != but])

    @property
    def synced(self) -> list[CoreLink]:
        return [link for link in self.by_neighbour.values() if link.is_synced]
