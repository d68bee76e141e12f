"""The published messages, the clients that received them, and their routes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from tamis.simulate.account.wall import Wall
from tamis.simulate.nodes.message import Packet, SimulatedMessage
from tamis.simulate.nodes.node import DATA_BYTES
from tamis.simulate.nodes.observer import Passing
from tamis.simulate.oracle.truth import Want
from tamis.simulate.twin.forwarder import TransitId

Count = Counter[str]
InForce = Mapping[int, Mapping[int, Want]]
"""Maps a client and a filter to the subscription in force now."""


class Messages:
    """Counts messages by link, router and source. A link from a to b is written "a b"."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._at: dict[tuple[TransitId, int], int] = {}
        """Maps a transit id and a router to the time at which the message was there."""
        self._said: set[tuple[int, int]] = set()
        self.published: list[tuple[int, int, str, int, int, int]] = []
        """The publisher, counter, router, epoch of the router, time and content of each entry into the network."""
        self.delivered: list[tuple[int, int, int, int]] = []
        """The publisher, counter, client, and session of the client of each delivery."""
        self.dropped: list[tuple[int, int]] = []
        """The publisher and counter of each message of which a router could not send a copy."""
        self.per_link, self.crossed, self.vain = Count(), Count(), Count()
        """Counts by link: messages sent over it; accepted at its end; accepted at its end by a router without an
        interested client."""
        self.refused, self.visits = Count(), Count()
        """Counts of refused messages by reason, and of accepted messages by router."""
        self.seen: dict[str, Count] = defaultdict(Count)
        """Maps `PUBLISHER COUNTER` to the number of times that each router accepted the message."""
        self.sources: dict[str, Count] = defaultdict(Count)
        """Counts by router of the messages that entered there: published, bytes, hops, deliveries."""
        self.link_us: dict[str, Count] = defaultdict(Count)
        self.way_us: dict[int, Count] = defaultdict(Count)
        """Numbers of messages by link (`link_us`) or by number of links crossed (`way_us`), and by microseconds
        taken."""
        self.contents = Count()
        """Numbers of published messages by content."""
        self.notified, self.matching, self.looked = 0, 0, 0
        """Sums over messages: subscriptions satisfied; messages with at least one; subscriptions in force."""

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
        """Record that a message entered the network at router `name`; a second attempt counts as published again, but
        as one message."""
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

    def delivered_to(self, client: int, session: int, message: SimulatedMessage) -> None:
        self.delivered.append((message.publisher, message.counter, client, session))


def _wanted_at(router: int, packet: Packet, in_force: InForce) -> bool:
    """Return whether a client of `router` subscribes to the packet's content."""
    content = packet.message.content
    wants = (want for wants in in_force.values() for want in wants.values())
    return any(want.router == router and want.contents >> content & 1 for want in wants)
