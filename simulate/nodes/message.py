"""A message as the simulator knows it: its number of content, who published it, and what became of it.

Law: routers read `content`, `publisher` and `counter` only; the rest is for the judge. Each try of a publisher is one
entry of the message into the network, with a transit id of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from tamis.protocol.wire.extensions import RouterSet
from tamis.simulate.twin.forwarder import TransitId
from tamis.simulate.twin.group_choice import NO_CHOICES, Choices


class Try(NamedTuple):
    """One try of a publisher: where and when. `entered` is false if the router had the message already."""

    router: int
    at_us: int
    entered: bool


class Chosen(NamedTuple):
    """What a router chose for the groups that want a message which entered there, and when."""

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
        """Client -> how often it received the message."""
        self.lost: dict[str, int] = {}
        """Reason -> how many copies were dropped on links for it."""
        self.is_unfit = False
        """R17: whether a router refused it, as it does not fit the space that it names."""
        self.last_us = 0
        """When a router last handled the message."""
        self.visits: list[int] = []
        """Numbers of the routers that took it."""
        self.refusals: dict[str, int] = {}
        self.chosen: dict[TransitId, Chosen] = {}
        self.shared: dict[tuple[TransitId, int], list[int]] = {}
        """(entry, group) -> the clients that received the message as members, in their order."""
        self.unshared: dict[tuple[TransitId, int], str] = {}
        """(entry, group) -> why a router dropped it instead of giving it to a member."""


class Packet(NamedTuple):
    """A copy of a message on a link."""

    transit: TransitId
    hops_left: int
    message: SimulatedMessage
    hop: int = 0
    """How many links it has crossed; routers do not read it, records do."""
    choices: Choices = NO_CHOICES
    """R16: which router gives the message to a member of each group."""
    passed_on: TransitId | None = None
    """R16: of a copy that a chosen router without a member sends on, for the routers of `choices` alone, the transit id
    under which the message entered; None: it is no such copy."""

    listed: frozenset[int] | None = None
    """The routers that the message goes to; None: those that want it, as each router on its way knows it."""
    stated: RouterSet | None = None
    """R13: the routers that want it, as the router that it entered matched it."""
    root: int | None = None
    """The root along whose tree it goes; None: it goes by the tree of its source."""

    @property
    def entry(self) -> TransitId:
        """The transit id of the entry into the network that this copy is of."""
        return self.passed_on or self.transit
