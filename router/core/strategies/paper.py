"""Paper 004, section 2.1, to the letter: for experiments, and for reading the paper beside the code.

Law: a router knows one predicate for each interface, the disjunction of the filters that came through it, and not which
router requested which filter. An advertisement goes down the tree of its issuer for as long as it changes the predicate
of the interface it came by (what the predicate matches: `paper_meaning.py`; in mode `paper-bytes`, which filters it
has, as bytes): predicates only widen. A request to the whole tree collects the present interest of the routers behind
each interface, and replaces the predicates. Both are repeated periodically. This loses messages (a stale, wide
predicate stops an advertisement that a router behind it needs, and a late reply undoes a newer advertisement): the mode
warns of it when it starts.

A predicate travels in one body: one of more than 64 MiB is not sent.

Topology works as in the other modes: link states, and exchanges between neighbours about link states alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest
from tamis.protocol.wire.routing_bodies import (
    AdvertisedFilter,
    Body,
    Entry,
    Known,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    UpdateReply,
)
from tamis.protocol.wire.whole import Ticket
from tamis.router.core.commands import Alarm, Audited, Command, Install, Reached
from tamis.router.core.core import Core, CoreParts, CoreSettings
from tamis.router.core.epochs import no_clock
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import Broadcast, Trees, make_trees
from tamis.router.core.statements.advertiser import Advertiser
from tamis.router.core.statements.audit import REQUEST_BASE, Audits
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.exchange import Exchange
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.neighbours import NeighbourTalks
from tamis.router.core.statements.predicates import Predicates
from tamis.router.core.statements.rib import advertised
from tamis.router.core.timers import Due
from tamis.router.core.times import S

ADVERTISE_EVERY_US: Final = 20 * S
REQUEST_EVERY_US: Final = 60 * S
"""The paper has no periods; these are about as long as those of the repairs of the other strategies."""
WARNING: Final = "mode `paper`: routing by paper 004 to the letter, which loses messages; for experiments only"


class InterfaceTrees:
    """The trees of a broadcast layer, with the interfaces themselves as the issuers behind them."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self.me, self.routers = trees.me, trees.routers
        self.next_hop, self.parent, self.children = trees.next_hop, trees.parent, trees.children
        self.hop_limit = trees.hop_limit

    @property
    def hops(self) -> Mapping[int, int]:
        return self._trees.hops

    @property
    def onward(self) -> Mapping[int, int]:
        return self._trees.onward

    def below(self, source: int) -> Mapping[int, int]:
        return {child: child for child in self._trees.children(source)}


class TopologyExchange(Exchange):
    """An exchange that compares link states only: predicates have no versions here."""

    def _known_entries(self) -> Iterator[Known]:
        return iter(())

    def _entries_digest(self) -> bytes:
        return NO_DIGEST


class PaperAdvertiser(Advertiser):
    """The issuer's side of an advertisement: it sends the router's whole predicate down its own tree."""

    def issue(self) -> None:
        self.say()

    def say(self) -> None:
        core_state = self._core_state
        while self.own.has_changes:
            self.own.issue()
        version, digest = core_state.identity.next(), self.own.digest
        core_state.rib.restate(core_state.me, version, digest, self.own.size)
        filters = advertised(self.own.issued)
        body = ReceiverAdvertisement(core_state.me, *version, True, 0, filters, (), digest, len(filters), False)
        send_down(self._core_state, core_state.me, body)
        core_state.timers.set((Due.ADVERTISE, 0), core_state.now_us + ADVERTISE_EVERY_US)

    def awaited(self, ticket: int) -> None:
        """Reply to the ticket at once: no router confirms anything in this mode."""
        self.consider()
        self._core_state.out.append(Reached(ticket))


class InterfacePredicates(Predicates):
    """The predicate of each interface, and the advertisements that widen it. Filters are compared by their bytes."""

    _interfaces: dict[int, dict[bytes, int]]
    _ids: int

    def begin(self) -> None:
        self._interfaces, self._ids = {}, 0

    def hear(self, body: ReceiverAdvertisement, came_from: int) -> None:
        if body.issuer != self._core_state.me and self.widen(came_from, [filter_.filter for filter_ in body.added]):
            send_down(self._core_state, body.issuer, body)

    def hear_entry(self, entry: Entry, came_from: int) -> None:
        """Do nothing: replies are about interfaces here, and `Collecting` handles them."""

    def widen(self, interface: int, filters: list[bytes]) -> bool:
        """Add `filters` to the predicate of `interface`; return whether this changed it."""
        new = []
        for packed in dict.fromkeys(filters):
            if self.widens(interface, packed):  # one of them may cover the next: each is recorded at once
                self.installed(interface, packed)
                new.append(packed)
        self._change(interface, new, [])
        return bool(new)

    def widens(self, interface: int, packed: bytes) -> bool:
        """Return whether the filter widens the interface's predicate."""
        return packed not in self.of(interface)

    def installed(self, interface: int, packed: bytes) -> None:
        """Record a filter that is in the interface's predicate from now on."""

    def removed(self, interface: int, packed: bytes) -> None:
        """Remove a filter from the interface's predicate."""

    def replace(self, interface: int, filters: Iterable[bytes]) -> None:
        known, wanted = self.of(interface), dict.fromkeys(filters)
        new = [packed for packed in wanted if packed not in known]
        gone = [packed for packed in known if packed not in wanted]
        for packed in gone:
            self.removed(interface, packed)
        for packed in new:
            self.installed(interface, packed)
        self._change(interface, new, gone)

    def of(self, interface: int) -> dict[bytes, int]:
        """Return the predicate of `interface`: its filters, and their ids in the table."""
        return self._interfaces.setdefault(interface, {})

    def _change(self, interface: int, new: list[bytes], gone: list[bytes]) -> None:
        known = self.of(interface)
        removed = tuple([known.pop(packed) for packed in gone])
        added: dict[int, bytes] = {}
        for packed in new:
            self._ids += 1
            known[packed] = self._ids
            added[self._ids] = packed
        if added or removed:
            self._core_state.out.append(Install(interface, added, removed))


class PaperInterfaces(NeighbourTalks):
    """The exchange with neighbours, which drops the predicate of an interface when its link goes down."""

    def down(self, neighbour: int, session: int) -> None:
        super().down(neighbour, session)
        if neighbour not in self._core_state.links.by_neighbour:
            cast("InterfacePredicates", self._predicates).replace(neighbour, ())


@dataclass(slots=True)
class PendingReply:
    """A request to which this router replies when all routers to which it was forwarded have replied, or after a
    wait."""

    asker: int
    missing: dict[int, None]
    filters: dict[bytes, None]


class Collecting(Audits):
    """Requests to the whole tree, and the replies that are combined on their way back."""

    predicates: InterfacePredicates
    _collections: dict[Ticket, PendingReply]

    def begin(self, predicates: InterfacePredicates) -> None:
        self.predicates, self._collections = predicates, {}
        self._core_state.timers.set((Due.COLLECT, 0), self._core_state.now_us + REQUEST_EVERY_US)

    def periodic(self) -> None:
        core_state = self._core_state
        self._requests += 1
        self._pass_down(SenderRequest(core_state.me, core_state.identity.epoch, self._requests, Scope.TREE, b"", ()))
        core_state.timers.set((Due.COLLECT, 0), core_state.now_us + REQUEST_EVERY_US)

    def start(self, ticket: int) -> None:
        """Send the request at once and reply to the audit: no router reports whether anything differed."""
        self.periodic()
        self._core_state.out.append(Audited(ticket, 0, ()))

    def requested(self, body: SenderRequest, came_from: int) -> None:
        core_state = self._core_state
        if core_state.trees.parent(body.requester) != came_from:
            return
        children = dict.fromkeys(link.neighbour for link in self._asked(body.requester))
        self._collections[body.ticket] = PendingReply(came_from, children, dict.fromkeys(self._own_filters()))
        self._pass_down(body)
        if children:
            core_state.timers.set((Due.COLLECTED, _short(body.ticket)), core_state.now_us + core_state.times.retry_us)
        else:
            self._reply(body.ticket)

    def replied(self, body: UpdateReply, came_from: int) -> None:
        filters = [filter_.filter for entry in body.entries for filter_ in entry.filters]
        if body.requester == self._core_state.me:
            if body.request > REQUEST_BASE:
                self.predicates.replace(came_from, filters)
            return
        collection = self._collections.get(body.ticket)
        if collection is None or came_from not in collection.missing:
            return
        del collection.missing[came_from]
        collection.filters.update(dict.fromkeys(filters))
        if not collection.missing:
            self._core_state.timers.cancel((Due.COLLECTED, _short(body.ticket)))
            self._reply(body.ticket)

    def waited(self, short: int) -> None:
        """Reply to the request `short` with the filters that have arrived, as some routers have not replied."""
        for ticket in [ticket for ticket in self._collections if _short(ticket) == short]:
            self._reply(ticket)

    def _asked(self, requester: int) -> list[CoreLink]:
        """Return the links on which a request of `requester` is forwarded."""
        return links_down(self._core_state, requester)

    def _pass_down(self, body: SenderRequest) -> None:
        for link in self._asked(body.requester):
            self._core_state.send(link, body)

    def _own_filters(self) -> Iterable[bytes]:
        return self._core_state.rib.entries[self._core_state.me].filters.values()

    def _reply(self, ticket: Ticket) -> None:
        core_state = self._core_state
        collection = self._collections.pop(ticket)
        link = core_state.links.by_neighbour.get(collection.asker)
        if link is not None:
            filters = tuple(AdvertisedFilter(id_, packed) for id_, packed in enumerate(collection.filters, 1))
            digest = predicate_digest(filters)
            core_state.send(
                link, UpdateReply(*ticket, (Entry(core_state.me, *core_state.identity.version, digest, filters),))
            )


def _short(ticket: Ticket) -> int:
    """Return the number that names the timer of `ticket`."""
    return hash(ticket)


def links_down(core_state: CoreState, source: int) -> list[CoreLink]:
    """Return the links that are up to the children of `source` in T(source)."""
    links = core_state.links.by_neighbour
    return [links[child] for child in core_state.trees.children(source) if child in links]


def send_down(core_state: CoreState, source: int, body: Body) -> None:
    for link in links_down(core_state, source):
        core_state.send(link, body)


class PaperCore(Core):
    """The core of the mode `paper`, with the events and commands of the usual core."""

    def __init__(
        self,
        name: str,
        epoch: int,
        settings: CoreSettings | None = None,
        paths: PathCache | None = None,
        parts: CoreParts | None = None,
        unix_ms: Callable[[], int] = no_clock,
    ) -> None:
        super().__init__(name, epoch, settings or CoreSettings(), paths, parts or PAPER_BYTES_PARTS, unix_ms)
        self._interfaces = cast("InterfacePredicates", self._predicates)
        self._collecting = cast("Collecting", self._audits)
        self._interfaces.begin()

    def start(self, now_us: int) -> list[Command]:
        self.core_state.now_us = now_us
        self._collecting.begin(self._interfaces)
        return [Alarm(WARNING), *super().start(now_us)]

    def _due(self, kind: Due, about: int) -> None:
        match kind:
            case Due.ADVERTISE:
                self._advertiser.say()
            case Due.COLLECT:
                self._collecting.periodic()
            case Due.COLLECTED:
                self._collecting.waited(about)
            case _:
                super()._due(kind, about)


def _make_trees(broadcast: Broadcast, graph: Graph, me: int, cache: PathCache, coarse: bool) -> Trees:
    return InterfaceTrees(make_trees(broadcast, graph, me, cache, coarse))


PAPER_BYTES_PARTS: Final = CoreParts(
    exchange=TopologyExchange,
    advertiser=PaperAdvertiser,
    predicates=InterfacePredicates,
    neighbours=PaperInterfaces,
    audits=Collecting,
    make_trees=_make_trees,
)
