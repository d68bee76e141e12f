"""What was said, who got it, and which ways it took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from tamis.router.core.ways.forwarder import Transit
from tamis.simulate.message import Message, Packet
from tamis.simulate.node import DATA_BYTES, Passing
from tamis.simulate.oracle.truth import Want
from tamis.simulate.wall import Wall

Count = Counter[str]
InForce = Mapping[int, Mapping[int, Want]]
"""Client -> filter -> what is in force now."""


class Messages:
    """`a b` is a link, from a to b."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._at: dict[tuple[Transit, int], int] = {}
        """When a message was at a router."""
        self._said: set[tuple[int, int]] = set()
        self.published: list[tuple[int, int, str, int, int, int]] = []
        """Publisher, number, router, its epoch, when, content: once for each entry into the network."""
        self.delivered: list[tuple[int, int, int, int]] = []
        """Publisher, number, client, which of its sessions."""
        self.dropped: list[tuple[int, int]] = []
        """Publisher and number of what could not set out somewhere."""
        self.per_link, self.crossed, self.vain = Count(), Count(), Count()
        """Link -> messages that set out, that were taken at its end, and of them those that came in vain."""
        self.refused, self.visits = Count(), Count()
        """Reason -> messages; router -> messages that it took."""
        self.seen: dict[str, Count] = defaultdict(Count)
        """Publisher and number -> router -> how often it took that message."""
        self.sources: dict[str, Count] = defaultdict(Count)
        """Router -> what entered there, and what became of it."""
        self.link_us: dict[str, Count] = defaultdict(Count)
        self.way_us: dict[int, Count] = defaultdict(Count)
        """Link, or length of the way -> time that it took -> messages."""
        self.contents = Count()
        """Content -> messages published."""
        self.notified, self.matching, self.looked = 0, 0, 0
        """Summed over messages: subscriptions in force that it satisfies, whether there is any, all in force."""

    def passed(self, router: int, packet: Packet, came_from: int | None, passing: Passing, in_force: InForce) -> None:
        name = self._wall.name_of(router)
        source = self.sources[self._wall.name_of(packet.transit.source)]
        self.visits[name] += 1
        self.seen[f"{packet.message.publisher} {packet.message.counter}"][name] += 1
        self._at[packet.transit, router] = self._wall.true_us
        if came_from is None:
            source.update(published=1, bytes=DATA_BYTES)
            self._entered(name, packet, in_force)
        else:
            source["hops"] += 1
            link = f"{self._wall.name_of(came_from)} {name}"
            self._crossed(link, came_from, packet)
            self.vain[link] += not (passing.neighbours or passing.dropped or _wanted_at(router, packet, in_force))
        source["deliveries"] += len(passing.clients)
        self.per_link.update(f"{name} {self._wall.name_of(neighbour)}" for neighbour in passing.neighbours)
        self.dropped += [(packet.message.publisher, packet.message.counter)] * bool(passing.dropped)

    def _entered(self, name: str, packet: Packet, in_force: InForce) -> None:
        """Perhaps not for the first time."""
        message = packet.message
        each = (message.publisher, message.counter)
        self.published.append((*each, name, packet.transit.epoch, self._wall.true_us, message.content))
        if each in self._said:
            return
        self._said.add(each)
        satisfied = [want.contents >> message.content & 1 for wants in in_force.values() for want in wants.values()]
        self.contents[str(message.content)] += 1
        self.notified += sum(satisfied)
        self.matching += any(satisfied)
        self.looked += len(satisfied)

    def _crossed(self, link: str, came_from: int, packet: Packet) -> None:
        at_us = self._wall.true_us
        self.crossed[link] += 1
        self.link_us[link][str(at_us - self._at[packet.transit, came_from])] += 1
        self.way_us[packet.hop][str(at_us - self._at[packet.transit, packet.transit.source])] += 1

    def delivered_to(self, client: int, session: int, message: Message) -> None:
        self.delivered.append((message.publisher, message.counter, client, session))


def _wanted_at(router: int, packet: Packet, in_force: InForce) -> bool:
    """By a client of this router."""
    content = packet.message.content
    wants = (want for wants in in_force.values() for want in wants.values())
    return any(want.router == router and want.contents >> content & 1 for want in wants)
