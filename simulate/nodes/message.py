"""A message in the simulator: the number of its content, its publisher, and its outcome.

Law: routers read `content`, `publisher` and `counter` only; the rest is for the judge. Each attempt of a publisher is
one entry of the message into the network, with a transit id of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.protocol.wire.extensions import LinkKeys, RouterSet
from tamis.simulate.twin.forwarder import TransitId
from tamis.simulate.twin.group_choice import NO_CHOICES, Choices


class Try(NamedTuple):
    """One attempt of a publisher: where and when. `entered` is false if the router had the message already."""

    router: int
    at_us: int
    entered: bool


class Chosen(NamedTuple):
    """The choices of a router for the groups that match a message which entered there, and the time of the choice."""

    router: int
    at_us: int
    choices: Choices


class SimulatedMessage:
    __slots__ = (
        *("serial", "content", "publisher", "counter"),
        *("tries", "received", "lost", "last_us", "visits", "refusals", "chosen", "shared", "unshared", "is_unfit"),
    )

    def __init__(self, serial: int, content: int, publisher: int, counter: int) -> None:
        self.serial = serial
        self.content = content
        self.publisher = publisher
        self.counter = counter
        self.tries: list[Try] = []
        self.received: dict[int, int] = {}
        """Maps a client to the number of times that it received the message."""
        self.lost: dict[str, int] = {}
        """Maps a reason to the number of copies that links dropped for it."""
        self.is_unfit = False
        """R17: whether a router refused the message, because it violates the space that it names."""
        self.last_us = 0
        """The time at which a router last handled the message."""
        self.visits: list[int] = []
        """Numbers of the routers that accepted the message."""
        self.refusals: dict[str, int] = {}
        self.chosen: dict[TransitId, Chosen] = {}
        self.shared: dict[tuple[TransitId, int], list[int]] = {}
        """Maps an entry and a group to the clients that received the message as members, in their order."""
        self.unshared: dict[tuple[TransitId, int], str] = {}
        """Maps an entry and a group to the reason why a router dropped the message instead of delivering it to a
        member."""


class Packet(NamedTuple):
    """A copy of a message on a link."""

    transit: TransitId
    hops_left: int
    message: SimulatedMessage
    hop: int = 0
    """The number of links that it has crossed; routers do not read it, records do."""
    choices: Choices = NO_CHOICES
    """R16: maps a group to the router that delivers the message to a member."""
    passed_on: TransitId | None = None
    """R16: in a copy that a chosen router without a member forwards, for the routers of `choices` alone, the transit id
    under which the message entered; None in any other copy."""

    listed: frozenset[int] | None = None
    """The destination routers of the message; None: those with matching filters, as each router on its route knows
    them."""
    stated: RouterSet | None = None
    """R13: the routers with matching filters, as the entry router matched them."""
    keys: LinkKeys | None = None
    """R13b: filters behind this link that match, as the router before it found them."""
    root: int | None = None
    """The root whose tree the message uses; None: it uses the tree of its source."""

    @property
    def entry(self) -> TransitId:
        """The transit id of this copy's entry into the network."""
        return self.passed_on or self.transit
