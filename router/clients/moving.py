"""GO_AWAY: sends clients to other routers before this one drains.

Law: only a client with the capability to move receives GO_AWAY. It lists routers that are reachable and have a client
address in the topology file; loopback addresses are listed only to clients of this machine.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable, Iterable
from typing import Final, Protocol
from urllib.parse import urlsplit

from tamis.configs.settings import Entrance
from tamis.protocol.limits import GO_AWAY_ADDRESSES_MAX
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import GoAway

REASON: Final = "the router is stopping"
_UNIX: Final = "unix"


class Moving(Protocol):
    """The part of a client that GoAways uses."""

    peer: str

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...


class GoAways:
    """The GO_AWAY frames of a router that drains in at most `within_ms`."""

    def __init__(self, within_ms: int, addresses: Iterable[str]) -> None:
        everywhere = list(addresses)
        random.shuffle(everywhere)  # spreads the clients of routers that stop one after another
        abroad = [address for address in everywhere if not is_of_this_machine(urlsplit(address).hostname or "")]
        self._nearby, self._elsewhere = (
            encode(GoAway(within_ms, tuple(some[:GO_AWAY_ADDRESSES_MAX]), REASON)) for some in (everywhere, abroad)
        )

    def tell(self, client: Moving) -> None:
        is_near = client.peer == _UNIX or is_of_this_machine(client.peer.rpartition(":")[0])
        client.send(FrameKind.GO_AWAY, self._nearby if is_near else self._elsewhere)


def addresses_in_reach(entrances: Iterable[Entrance], reaches: Callable[[str], bool]) -> list[str]:
    return [address for each in entrances if reaches(each.router) for address in each.addresses]


def is_of_this_machine(host: str) -> bool:
    """Return whether `host`, an address or a name, is reachable only from this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
