"""R16: worker groups at a router in virtual time: members, choices, and copies for other routers.

Law: this file has no rule of the protocol; the forwarder chooses. A member is a client of this router in one group. Of
several members a random one receives each message, as in the switch among members with empty queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from tamis.simulate.nodes.message import Packet, SimulatedMessage
from tamis.simulate.twin.forwarder import Forwarder, TransitId
from tamis.simulate.twin.group_choice import Choices, Weights, turn_of
from tamis.simulate.twin.table import PureTable
from tamis.simulate.twin.windows import PublisherWindows


class Unshared(Enum):
    """Why a router drops a message that one of its members should have received."""

    SEEN = "a member received an earlier attempt"
    NO_MEMBER = "no member left"
    NO_WAY = "no path to the chosen router"


class Sharing:
    """The worker groups of one life of a router. `members` maps the number of a group to its members here, and each to
    the contents of its subscriptions (bits)."""

    def __init__(self, me: int, forwarder: Forwarder, table: PureTable, windows: type[PublisherWindows]) -> None:
        self.members: dict[int, dict[int, int]] = {}
        self._me = me
        self._forwarder = forwarder
        self._table = table
        self._windows: dict[int, PublisherWindows] = {}
        self._make_windows = windows

    def want(self, client: int, group: int, contents: int) -> None:
        """Set the `contents` to which a client subscribes as a member of `group`; 0: it is no longer a member."""
        members = self.members.setdefault(group, {})
        if contents:
            members[client] = contents
        else:
            members.pop(client, None)

    def choices(self, packet: Packet, came_from: int | None, is_new: bool) -> Choices:
        """Return the choices that a message carries. For a message that this router received from elsewhere before, the
        choices were made there."""
        if packet.passed_on is not None:
            return packet.choices
        if came_from is None and not is_new:
            return {}
        stated = None if came_from is None else packet.choices
        return self._forwarder.choices(packet.transit, self._weights(packet.message.content), stated)

    def is_new(self, message: SimulatedMessage, group: int) -> bool:
        """Record that a member here receives a message; return whether none received an earlier attempt of it."""
        windows = self._windows.setdefault(group, self._make_windows())
        return windows.fresh(message.publisher, message.counter)

    def member_for(self, transit: TransitId, group: int, content: int) -> int | None:
        """Return the member that receives a message; None if there is none here."""
        fitting = sorted(client for client, contents in self.members.get(group, {}).items() if contents >> content & 1)
        return fitting[turn_of(b"", transit, group) % len(fitting)] if fitting else None

    def passed_on(self, packet: Packet, group: int, now_us: int) -> Packet | None:
        """Return the copy for another router with members, in place of this one, which has none left; the copy enters
        the network here, for that router alone. None if there is no such router."""
        weights = self._weights(packet.message.content).get(group, {})
        router = self._forwarder.another(packet.transit, group, weights)
        if router is None:
            return None
        transit, hops = self._forwarder.enter(now_us)
        return Packet(transit, hops, packet.message, packet.hop, {group: router}, packet.transit)

    def _weights(self, content: int) -> Mapping[int, Weights]:
        """Return by group the number of members of each router for `content`."""
        weights = self._table.members(content)
        for group, members in self.members.items():
            own = sum(contents >> content & 1 for contents in members.values())
            if own:
                weights.setdefault(group, {})[self._me] = own
        return weights
