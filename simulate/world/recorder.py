"""Pass on every event to the trace, the truth and the judge.

Law: the recorder decides nothing and sends nothing to routers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from tamis.protocol.wire.custody_bodies import CustodyAck, CustodyBody, LogLife
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.routing_bodies import (
    Body,
    EpochRefused,
    Held,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)
from tamis.router.core.commands import Audited, DurablesKnown, DurablesStoredAt, NeighbourSession, RoutesChanged
from tamis.router.core.custody.commands import CustodyRefusal, Level
from tamis.router.core.custody.frames import Directed, Message
from tamis.router.core.custody.records import Arrived, Began, Done, Doubt, Entered, GivenUp, NumbersLost, Passed, Record
from tamis.router.core.routing.trees import Trees
from tamis.simulate.account.account import Account
from tamis.simulate.account.logbook import Logbook
from tamis.simulate.nodes import control
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.custody import MESSAGE_BYTES, CustodyPacket
from tamis.simulate.nodes.direction import Frame
from tamis.simulate.nodes.link import SimulatedLink, Watcher
from tamis.simulate.nodes.message import Chosen, Packet, SimulatedMessage
from tamis.simulate.nodes.observer import Observer, Passing
from tamis.simulate.nodes.sharing import Unshared
from tamis.simulate.oracle.bounds import BoundsTruth
from tamis.simulate.oracle.custody import ChainNumber, ChainOf, CustodyTruth
from tamis.simulate.oracle.deliveries import Deliveries, Patience
from tamis.simulate.oracle.durables import DurablesTruth
from tamis.simulate.oracle.gaps import Gaps
from tamis.simulate.oracle.groups import Groups
from tamis.simulate.oracle.order import EnteredAt, Order
from tamis.simulate.oracle.roots import Lanes
from tamis.simulate.oracle.schemas import Schemas
from tamis.simulate.oracle.truth import Truth
from tamis.simulate.oracle.violation import Violation
from tamis.simulate.twin.forwarder import TransitId
from tamis.simulate.twin.group_choice import NO_CHOICES, Choices
from tamis.simulate.world.trace import Transcript

Edges = list[tuple[int, int, int]]
"""The two routers and the cost of each edge."""


class RunRecords(NamedTuple):
    """The records of a run for readers: logbook and account, if they are requested."""

    catalog: Logbook
    account: Account
    edges_of: Callable[[int], Edges]
    """Maps a router to the edges that count in its topology."""


VIOLATIONS_MAX = 100
"""The most violations that are stored of one run; further ones add no information."""


class RunRecorder(Observer, Watcher):
    def __init__(self, clock: Clock, patience: Patience, lanes: Lanes, records: RunRecords | None = None) -> None:
        self._clock = clock
        self._records = records
        self.patience = patience
        self.trace = Transcript()
        self.truth = Truth(lambda: clock.now_us)
        self.deliveries = Deliveries(self.truth, patience, self.report, lanes)
        self.gaps = Gaps(self.truth, patience, self.report, lanes)
        self.order = Order(self.truth, patience, self.report, lanes)
        self.groups = Groups(self.truth, patience, self.report, self.deliveries)
        self.schemas = Schemas(self.report)
        self.durables = DurablesTruth(self.report)
        self.custody = CustodyTruth(self.report)
        self.bounds = BoundsTruth(self.report, lambda: clock.now_us)
        self.on_custody_answered: Callable[[int, object, Level | CustodyRefusal], None]
        """Called with a router, a publisher that waits there, and the answer."""
        self.is_taken: Callable[[int, int], bool] = lambda client, content: True  # noqa: ARG005 - set later
        """Called with a client and a content that its router sends to it: whether the client takes it."""
        self.on_filled: Callable[[int, Message, int, list[bytes]], None]
        """Called with a home, a message, its content, and the durable subscriptions that its router stores it for."""
        self.on_durables_known: Callable[[int, DurablesKnown], None]
        """Called with the router and its answer to a wait for durable subscriptions."""
        self.on_durables_stored_at: Callable[[int, DurablesStoredAt], None]
        """Called with a router and those that are said to have stored what it states."""
        self.violations: list[Violation] = []
        self.counts: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        """Counts of sent control frames by kind."""
        self.sessions: dict[int, int] = {}
        """Maps a client to the number of its connections."""
        self.on_reached: Callable[[int, int], None]
        """Called with the router and the ticket of each answered wait."""
        self.on_learnt: Callable[[int, Body], None] = lambda router, body: None  # noqa: ARG005 - set later
        """Called with a router and a body when the router has processed the body."""
        self.audits: list[tuple[int, Audited]] = []
        self.operation = -1

    def report(self, invariant: int, what: str) -> None:
        self.counts["violations"] += 1
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(Violation(invariant, self._clock.now_us, what, self.operation))

    # Routers.

    def delivered(self, client: int, message: SimulatedMessage, entry: TransitId) -> None:
        self.trace.note(self._clock.now_us, client, message.serial)
        if not self.is_taken(client, message.content):
            self.counts["declined by a client"] += 1
            return
        self.deliveries.delivered(client, self.sessions[client], message)
        chosen = message.chosen.get(entry)
        choices = chosen.choices if chosen else NO_CHOICES
        self.order.delivered(client, self.sessions[client], message, EnteredAt(*entry), choices)
        if self._records:
            self._records.account.delivered(client, self.sessions[client], message)

    # Worker groups. They are not in records.

    def chose(self, router: int, packet: Packet, choices: Choices) -> None:
        packet.message.chosen[packet.transit] = Chosen(router, self._clock.now_us, choices)

    def shared(self, client: int, packet: Packet, group: int) -> None:
        packet.message.last_us = self._clock.now_us
        self.trace.note(self._clock.now_us, client, packet.message.serial, group)
        self.groups.shared(client, packet.message, group, packet.entry)

    def unshared(self, router: int, packet: Packet, group: int, reason: Unshared) -> None:
        packet.message.last_us = self._clock.now_us
        packet.message.unshared[packet.entry, group] = reason.value
        self.counts[f"unshared: {reason.value}"] += 1
        self.trace.note(self._clock.now_us, router, packet.message.serial, group)

    def passed_on(self, router: int, packet: Packet) -> None:
        packet.message.last_us = self._clock.now_us
        self.counts["passed on to another router"] += 1
        self.trace.note(self._clock.now_us, router, packet.message.serial)

    def lost_at_end(self, router: int, packet: Packet) -> None:
        """Record that a packet was waiting (R5c) at a router that died."""
        packet.message.last_us = self._clock.now_us
        packet.message.lost["router ended"] = packet.message.lost.get("router ended", 0) + 1
        self.trace.note(self._clock.now_us, router, packet.message.serial)

    def heard(self, router: int, neighbour: int, body: Body) -> None:
        self.trace.note(self._clock.now_us, router, neighbour, *control.mark(body))
        if self._records:
            self._records.catalog.heard(router, neighbour, body)
            self._records.account.heard(router, neighbour, body, control.size(body))

    def learnt(self, router: int, body: Body) -> None:
        self.on_learnt(router, body)

    def took(self, router: int, message: SimulatedMessage) -> None:
        message.last_us = self._clock.now_us
        message.visits.append(router)
        self.counts["hops"] += 1
        self.trace.note(self._clock.now_us, router, message.serial)

    def passed(self, router: int, packet: Packet, came_from: int | None, passing: Passing) -> None:
        if came_from is not None and not (any(passing) or packet.choices):
            self.counts["arrived unneeded"] += 1
        if self._records:
            self._records.catalog.passed(router, packet, came_from, passing, self.sessions)
            self._records.account.passed(router, packet, came_from, passing, self.truth.in_force)

    def refused(self, router: int, packet: Packet, came_from: int, reason: str) -> None:
        message = packet.message
        message.last_us = self._clock.now_us
        message.refusals[reason] = message.refusals.get(reason, 0) + 1
        self.counts["refused copies"] += 1
        self.trace.note(self._clock.now_us, router, message.serial)
        if self._records:
            self._records.catalog.refused(router, packet, came_from, reason)
            self._records.account.refused(router, came_from, reason)

    def unfit(self, router: int, message: SimulatedMessage) -> None:
        message.is_unfit = True
        self.trace.note(self._clock.now_us, router, message.serial)
        self.schemas.refused(message.serial, message.content)

    def sent(self, router: int, to: tuple[NeighbourSession, ...], body: Body, size: int) -> None:
        kind = _KINDS[type(body)]
        if isinstance(body, SenderRequest) and body.digest:
            kind = "digests"
        self.said[kind] += len(to)
        if self._records:
            neighbours = [neighbour for neighbour, _ in to]
            self._records.catalog.sent(router, neighbours, body, size)
            self._records.account.sent(router, neighbours, body, size)

    def started(self, router: int, epoch: int) -> None:
        if self._records:
            self._records.catalog.started(router, epoch)
            self._records.account.started(router, epoch)

    def died(self, router: int) -> None:
        if self._records:
            self._records.catalog.died(router)
            self._records.account.died(router)

    def linked(self, router: int, neighbour: int, session: int, cost: int) -> None:
        if self._records:
            self._records.catalog.linked(router, neighbour, session, cost)
            self._records.account.linked(router, neighbour)

    def unlinked(self, router: int, neighbour: int, session: int) -> None:
        if self._records:
            self._records.catalog.unlinked(router, neighbour, session)
            self._records.account.unlinked(router, neighbour)

    def rerouted(self, router: int, trees: Trees) -> None:
        if self._records:
            edges = self._records.edges_of(router)
            self._records.catalog.rerouted(router, trees.routers, edges)
            self._records.account.rerouted(router, trees.routers, edges)

    # Clients.

    def wanted(self, client: int, router: int, wish: int, contents: int, stated: int) -> None:
        session = self.sessions[client]
        self.truth.wanted(client, session, router, wish, contents, stated)
        if self._records:
            self._records.catalog.wanted(client, session, router, wish, contents)
            self._records.account.wanted(client, session, router, wish)

    def unwanted(self, client: int, router: int, wish: int, is_gone: bool) -> None:
        self.truth.unwanted(client, wish)
        if self._records:
            self._records.catalog.unwanted(client, self.sessions[client], router, wish, is_gone)
            self._records.account.unwanted(client, router, wish)

    def routes_changed(self, router: int, change: RoutesChanged) -> None:
        self.trace.note(self._clock.now_us, router, change.span_us)
        self.gaps.told(router, change.span_us, change.ago_us, change.goes_on)

    def reached(self, router: int, ticket: int) -> None:
        self.trace.note(self._clock.now_us, router, ticket)
        self.on_reached(router, ticket)

    def durables_known(self, router: int, answer: DurablesKnown) -> None:
        self.trace.note(self._clock.now_us, router, answer.ticket)
        self.on_durables_known(router, answer)

    def durables_stored_at(self, router: int, command: DurablesStoredAt) -> None:
        self.trace.note(self._clock.now_us, router, len(command.holders))
        self.on_durables_stored_at(router, command)

    def custody_wrote(self, router: int, written: LogLife, record: Record) -> None:
        match record:
            case Entered(n, message, homes, size):
                self.custody.given(ChainNumber(router, written.log, n), message)
                self.bounds.entered(router, n, homes, size)
            case GivenUp(home, numbers):
                self.bounds.given_up(router, home, numbers)
            case Done(home, _, have):
                self.bounds.acknowledged(router, home, have)

    def custody_on_disk(self, router: int, record: Record) -> None:
        self.trace.note(self._clock.now_us, router)
        match record:
            case Entered(n, message, homes, size):
                self.custody.stored(router, message, homes)
                self.bounds.entered_on_disk(router, n, homes, size)
            case GivenUp(home, numbers):
                self.bounds.given_up_on_disk(router, home, numbers)
            case Done(home, _, have):
                self.bounds.acknowledged_on_disk(router, home, have)
            case Arrived(entry, log, n, message):
                self.custody.arrived(router, ChainNumber(entry, log, n), message)
            case Passed(entry, log, n):
                self.custody.passed(router, ChainNumber(entry, log, n))
            case NumbersLost(entry, log, n, numbers):
                self.custody.counted_lost(router, ChainNumber(entry, log, n), numbers)
            case Began(entry, log, life):
                self.custody.began(router, entry, log, life)
            case Doubt(entry):
                self.custody.doubted(router, entry)

    def custody_filled(self, router: int, message: Message, content: int, durables: list[bytes]) -> None:
        self.on_filled(router, message, content, durables)

    def custody_sent(self, router: int, frame: Directed | CustodyBody) -> None:
        self.counts["custody frames"] += 1
        if isinstance(frame, CustodyAck):
            self.custody.acknowledged(router, frame.home_log, ChainOf(frame.entry, frame.entry_log), frame.have)

    def custody_answered(self, router: int, waiter: object, result: Level | CustodyRefusal) -> None:
        self.trace.note(self._clock.now_us, router)
        if result is CustodyRefusal.NO_ROOM:
            self.bounds.refused(router, MESSAGE_BYTES)
        self.on_custody_answered(router, waiter, result)

    def audited(self, router: int, answer: Audited) -> None:
        self.trace.note(self._clock.now_us, router, answer.ticket, answer.answered)
        self.audits.append((router, answer))

    def alarmed(self, router: int, text: str) -> None:
        self.trace.note(self._clock.now_us, router)
        self.counts[f"alarm: {text.partition(' ')[0]}"] += 1

    def new_epoch(self, router: int) -> None:
        self.trace.note(self._clock.now_us, router)
        self.counts["raised epochs"] += 1
        self.truth.renewed(router)

    # Links.

    def joined(self, link: SimulatedLink) -> None:
        self.trace.note(self._clock.now_us, *link.name)
        self.truth.joined(_edge(link), link.cost)
        if self._records:
            self._records.account.joined(link.name, link.cost, link.line.delay_us)

    def broken(self, link: SimulatedLink) -> None:
        self.trace.note(self._clock.now_us, *link.name)
        self.truth.broken(_edge(link))
        if self._records:
            self._records.account.broken(link.name)

    def unsettled(self) -> None:
        self.truth.unsettle()

    def lost(self, frame: Frame, reason: str) -> None:
        if frame.control:
            self.truth.is_tainted |= reason == "silently lost"
        elif isinstance(frame.content, CustodyPacket):
            self.counts["custody frames lost"] += 1
        elif frame.content is not None:
            message = frame.content.message
            message.lost[reason] = message.lost.get(reason, 0) + 1
            message.last_us = self._clock.now_us


def _edge(link: SimulatedLink) -> tuple[int, int]:
    a, b = link.name
    return (a, b) if a < b else (b, a)


_KINDS: Final[dict[type, str]] = {
    LinkState: "link states",
    ReceiverAdvertisement: "advertisements",
    SenderRequest: "requests",
    UpdateReply: "replies",
    Held: "confirmations",
    EpochRefused: "refusals",
    SpaceStatement: "spaces",
    EdgeStatement: "edge statements",
    EdgeHeld: "edge confirmations",
    EdgeRequest: "edge requests",
    DurablesStatement: "durables",
    DurablesHeld: "durables confirmations",
}
