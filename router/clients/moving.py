"""Clients that are told to go to another router, as this one is about to drain.

Law: a client is told only if it has said that it moves. It is told of those routers that are in reach and take clients
at an address that the topology file names; an address of this machine alone is told to clients of this machine.
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
    """What is needed of a client that moves."""

    peer: str

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...


class GoAways:
    """What the clients of one router are told when it stops, `within_ms` before it drains at the latest."""

    def __init__(self, within_ms: int, addresses: Iterable[str]) -> None:
        everywhere = list(addresses)
        random.shuffle(everywhere)  # so that the clients of routers that stop one after the other spread
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
    """Return whether only programs of the same machine reach `host`, an address or a name."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
