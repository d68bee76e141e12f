"""The neighbours of a router, and the one session with each.

Law: a neighbour has at most one session. A connection that greets as a neighbour replaces its session, unless it comes
from an earlier start of the neighbour: in that case two routers have that name, the later one stays, and all three
raise an alarm. An epoch ahead of every clock counts as the earliest. Up and down are reported alternately.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from tamis.configs.settings import RouterSettings
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import CONTROL_PART_BYTES_MAX, NONCE_BYTES
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.custody_bodies import CustodyBody
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import Report
from tamis.protocol.wire.routing_bodies import Body, SenderRequest
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.tls import TlsConnection
from tamis.router.connections.wires import PlainWire, TlsWire, Wire
from tamis.router.core.commands import NeighbourSession
from tamis.router.daemon.link_events import ControlPassed, LinkCameUp, LinkWentDown
from tamis.router.daemon.settings import link_admission
from tamis.router.links.greeting import Accepting, Certified, Dialling, ExpectedNeighbour, Greeted, LocalIdentity
from tamis.router.links.link import Link
from tamis.router.links.neighbour import Neighbour
from tamis.router.links.packing import Packed
from tamis.router.links.relay import CustodyRelay, RelayEnd
from tamis.router.links.same_rules import SameRules
from tamis.router.links.tls import LinkTls, names_in
from tamis.serving.addresses import address_of
from tamis.serving.waiting import WaitingRoom

TWIN_S: Final = 10.0
"""How long a router that was refused because of its twin is not ready, in seconds: it repeats its request far more
often."""


class NetworkListener(Protocol):
    """The receiver of sessions and of the bodies that arrive by them; neighbours are identified by their number."""

    def up(self, neighbour: int, session: int, cost: int, version: int, knows_durables: bool) -> None: ...

    def down(self, neighbour: int, session: int) -> None: ...

    def heard(self, neighbour: int, session: int, body: Body) -> None: ...

    def lost(self, neighbour: int, lost: Lost) -> None: ...

    def unrouted(self, connection: int, frame: bytes) -> None: ...

    def reported(self, report: Report, came_from: int | None) -> None: ...

    def towards(self, router: int) -> int | None:
        """Return the neighbour that is the next hop to a router."""

    def may_have_started(self, neighbour: int, epoch: int) -> bool:
        """Return whether `neighbour` may have started with `epoch`, by the clock."""
        ...


class Neighbours:
    """The neighbours of one router; `told` is notified of every session. `tls`: what links over TCP use; None if they
    are not encrypted."""

    def __init__(
        self, connections: Connections, settings: RouterSettings, told: NetworkListener, tls: LinkTls | None = None
    ) -> None:
        self.connections, self.tls = connections, tls
        self.named: Final = {link.neighbour: Neighbour.of(link) for link in settings.links}
        self._numbered = {neighbour.number: neighbour for neighbour in self.named.values()}
        self._settings, self._told = settings, told
        self.room = WaitingRoom(connections.places.link_greeting, time.monotonic)
        self._sessions = itertools.count(1)
        self.custody: Final = CustodyRelay(stable_number(settings.id), told.towards, self.relay)
        for each in self.named.values():
            each.border.put_into(connections.switch)
        self.same_rules = SameRules(
            settings.access, self.named.values(), connections.health, connections.later, self._cut_for_rules
        )

    # --- connections -----------------------------------------------------------------------------------------------

    def local_identity(self) -> LocalIdentity:
        limits = self._settings.limits
        rules = self.same_rules
        return LocalIdentity(
            *(self._settings.id, self.connections.epoch, limits.frame_bytes, os.urandom(NONCE_BYTES)),
            *(rules.mine, rules.is_strict),
        )

    def open(self, descriptor: int, peer: str) -> Link | None:
        """Open a link over a socket to which another router has connected, and which the switch owns from here on;
        None: there is no room."""
        return self._accept(descriptor, peer, PlainWire(descriptor, self.connections.loop), None)

    def open_tls(self, connection: TlsConnection) -> Link | None:
        return self._accept(-1, connection.peer, TlsWire(connection), names_in(connection.transport))

    def opened(self, dialling: Dialling, other: Greeted, descriptor: int, peer: str, wire: Wire) -> Link | None:
        """Open a link over a connection that this router has made, whose greeting is complete; None: there is no
        room."""
        link = self._connect(descriptor, peer, dialling, wire)
        if link is not None:
            link.open(other)
        return link

    def use_tls(self, tls: LinkTls) -> None:
        """Use other certificates, roots and lists from the next handshake on, and end the links of neighbours whose
        certificate the lists refuse."""
        self.tls = tls
        for link in self.links:
            self._hold_against_lists(link)

    def _hold_against_lists(self, link: Link) -> None:
        """End a link whose certificate is refused by the lists of now."""
        revoked = self.tls.revoked if self.tls is not None else None
        if revoked is not None and link.certificate and (problem := revoked.refusal(link.certificate)):
            link.cut(FrameError(ErrorCode.REVOKED, problem))

    def turned_away(self, reason: Reason, peer: str) -> None:
        """Count a connection that was refused before it became a link."""
        self.connections.admissions.refuse(Side.NEIGHBOUR, reason, peer=peer)

    def out_of_descriptors(self) -> None:
        self.turned_away(Reason.DESCRIPTORS, "unknown")

    def _accept(self, descriptor: int, peer: str, wire: Wire, certified: Certified) -> Link | None:
        greeting = Accepting(self.local_identity(), self._expected, self._admit, certified)
        link = self._connect(descriptor, peer, greeting, wire)
        if link is None:
            self.turned_away(Reason.FULL, peer)
        else:
            link.wait_in(self.room, address_of(peer))
        return link

    def _connect(self, descriptor: int, peer: str, greeting: Accepting | Dialling, wire: Wire) -> Link | None:
        link = self.connections.connect(
            descriptor, peer, lambda connection: Link(self, connection, peer, greeting, wire)
        )
        if link is None:
            wire.close()
        return link

    def _expected(self, name: str) -> ExpectedNeighbour:
        neighbour = self.named.get(name)
        if neighbour is None:
            raise _refusal(f"{name} is no neighbour of {self._settings.id}")
        if neighbour.settings.dial is not None:
            raise _refusal(f"the link between {self._settings.id} and {name} is dialled by {self._settings.id}")
        return neighbour.expected

    def _admit(self, other: Greeted) -> None:
        neighbour = self.named[other.name]
        if neighbour.link is not None and self._start_of(other) < neighbour.epoch:
            twins = (
                f"an earlier start of {other.name} connects while a later one is linked: is the router id used twice?"
            )
            self.connections.health.alarm_once(f"twins {other.name}", twins)
            neighbour.link.warn(FrameError(ErrorCode.REPLACED, twins))
            raise FrameError(ErrorCode.REPLACED, f"a later start of {other.name} is linked")

    def _start_of(self, other: Greeted) -> int:
        """Return the epoch of the other end, by which starts are ordered; 0 for an epoch ahead of the clock, which
        therefore excludes no later start."""
        return other.epoch if self._told.may_have_started(stable_number(other.name), other.epoch) else 0

    def is_twin(self, neighbour: str, says: str, is_refused: bool) -> None:
        """Raise an alarm: `neighbour` reports that another router has this router's id. `is_refused`: that router
        started later; this one is therefore refused, and not ready."""
        who = f"another router has the id {self._settings.id}"
        self.connections.health.alarm_once("twin", f"{who}: {neighbour} reports: {says}")
        if is_refused:
            self.connections.health.problem("twin", f"{who}, and {neighbour} accepts that one", TWIN_S)

    def brings(self, neighbour: int, router: int) -> bool:
        """Return whether messages of a router may come from a neighbour."""
        return self._numbered[neighbour].border.brings(router)

    def name_of(self, number: int) -> str:
        return self._numbered[number].expected.name

    @property
    def links(self) -> list[Link]:
        """The present sessions."""
        return [neighbour.link for neighbour in self.named.values() if neighbour.link is not None]

    @property
    def is_sending(self) -> bool:
        """Whether control waits to be sent over a link."""
        return any(link.outgoing.queued_bytes for link in self.links)

    # --- sessions --------------------------------------------------------------------------------------------------

    def up(self, link: Link, other: Greeted) -> None:
        """Assign its neighbour and its session to `link`, whose greeting is complete; the previous session is cut."""
        neighbour = self.named[other.name]
        if neighbour.link is not None:
            neighbour.link.cut(FrameError(ErrorCode.REPLACED, f"{other.name} has opened another link"))
        neighbour.link, neighbour.epoch, neighbour.problem = link, self._start_of(other), ""
        neighbour.down_since_s, neighbour.down_because = 0.0, ""
        neighbour.sessions += 1
        link.neighbour, link.session = neighbour, next(self._sessions)
        about = link.session, link.connection
        self.connections.events.tell(LinkCameUp, other.name, link.peer, *about, neighbour.settings.cost)
        admission = link_admission(
            *(self._settings, neighbour.settings, neighbour.number), *(other.frame_bytes_max, other.hold_ms)
        )
        admission = replace(
            admission,
            version=other.version,
            takes_route=other.takes_route,
            takes_set=other.takes_set,
            takes_tree=other.takes_tree,
            takes_keys=other.takes_keys,
        )
        self.connections.switch.admit(link.connection, admission)
        neighbour.border.begin(self.connections.switch, link.connection)
        neighbour.rules = other.rules
        self.same_rules.look()
        self._told.up(neighbour.number, link.session, neighbour.settings.cost, other.version, other.knows_durables)
        self._hold_against_lists(link)  # they may have changed since its handshake

    def down(self, link: Link) -> None:
        """Handle the end of `link`; a link that never was up is not reported."""
        neighbour = self._linked_by(link)
        if neighbour is not None:
            neighbour.past, neighbour.link = neighbour.carried, None
            neighbour.down_since_s = time.time()
            neighbour.down_because = neighbour.problem or "the connection ended"
            about = link.session, link.connection
            self.connections.events.tell(LinkWentDown, link.name, link.peer, *about, neighbour.problem)
            self.same_rules.look()
            self._told.down(neighbour.number, link.session)

    def heard(self, link: Link, body: Body, size: int) -> None:
        """Receive a body whose frames had `size` bytes."""
        neighbour = self._linked_by(link)
        if neighbour is None:
            return
        self.connections.events.tell(ControlPassed, link.name, "in", body, size, neighbour.number)
        if isinstance(body, SenderRequest) and body.requester == neighbour.number and body.access:
            neighbour.rules = body.access.hex()
            self.same_rules.look()
        refused, bounded = neighbour.border.refused, neighbour.border.heard(body)
        if neighbour.border.refused > refused:
            self._alarm_of_border(link)
        if bounded is not None:
            self._told.heard(neighbour.number, link.session, bounded)

    def _alarm_of_border(self, link: Link) -> None:
        text = f"neighbour {link.name} states something for a router that is not behind it; that has no effect"
        self.connections.health.alarm_once(f"behind {link.name}", text)

    def chained(self, link: Link, body: CustodyBody) -> None:
        """Take a frame of custody that a neighbour has sent."""
        neighbour = self._linked_by(link)
        if neighbour is None:
            return
        if neighbour.border.hears(body):
            self.custody.hear(body, neighbour.number)
        else:
            self._alarm_of_border(link)

    def relay(self, neighbour: int, body: CustodyBody) -> RelayEnd | None:
        """Send a frame of custody to a neighbour, or return why not."""
        to = self._numbered[neighbour]
        if to.link is None:
            return RelayEnd.NO_ROUTE
        if not to.link.takes_custody:
            return RelayEnd.VERSION
        if not to.border.tells(body):
            return RelayEnd.NOT_ALLOWED
        return None if to.link.relay(body) else RelayEnd.QUEUE_FULL

    def _cut_for_rules(self, name: str, reason: str) -> None:
        link = self.named[name].link
        if link is not None:
            link.cut(FrameError(ErrorCode.AUTHENTICATION_FAILED, f"{name} is refused: {reason}"))

    def lost(self, link: Link, lost: Lost) -> None:
        """Handle the neighbour's report of messages that this router, or those behind it, will miss."""
        neighbour = self._linked_by(link)
        if neighbour is not None:
            self._told.lost(neighbour.number, lost)

    def tell_loss(self, neighbour: int, lost: Lost) -> None:
        """Report a loss to a neighbour, behind the waiting messages; a neighbour without a link learns of it by the
        change of routes."""
        link = self._numbered[neighbour].link
        if link is not None and link.is_open:
            link.send(FrameKind.LOST, encode(lost), urgent=False)

    def unrouted(self, link: Link, frame: bytes) -> None:
        """Handle a message that arrived over `link` from a source without a route."""
        self._told.unrouted(link.connection, frame)

    def traced(self, report: Report) -> None:
        """Forward this router's own report on a message that came over a link."""
        self._told.reported(report, None)

    def reported(self, link: Link, report: Report) -> None:
        """Forward a report that a neighbour has sent."""
        neighbour = self._linked_by(link)
        if neighbour is not None:
            self._told.reported(report, neighbour.number)

    def pass_on(self, neighbour: int, report: Report) -> None:
        """Send a report to a neighbour; it is lost if the neighbour has no link."""
        link = self._numbered[neighbour].link
        if link is not None:
            link.report(report)

    def send(
        self, to: Iterable[NeighbourSession], body: Body, left: Callable[[NeighbourSession], None] | None = None
    ) -> None:
        """Send `body`, packed once, to each session of `to` that is still up. `left` is called with each session once
        the body has left by it."""
        current = {session: link for session in to if (link := self._current(session)) is not None}
        if isinstance(body, SenderRequest) and body.requester == stable_number(self._settings.id):
            body = replace(body, access=bytes.fromhex(self.same_rules.mine))
        whole = dict(current)
        for session, link in current.items():
            told = self._numbered[session.neighbour].border.told(body)
            if told is not body:
                del whole[session]
                self._post(told, {session: link}, left)
        self._post(body, whole, left)

    def _post(
        self,
        body: Body | None,
        to: dict[NeighbourSession, Link],
        left: Callable[[NeighbourSession], None] | None,
    ) -> None:
        """Pack `body` once and post it to each of these sessions; None has left at once."""
        links = list(to.values())
        if body is None:
            if left is not None:
                for session in to:
                    left(session)
        elif links:
            room = min(CONTROL_PART_BYTES_MAX, *(link.frame_bytes_max for link in links))
            packed = Packed(body, room, self.connections.work)
            for session, link in to.items():
                link.post(packed, None if left is None else partial(left, session))
            if self.connections.events.is_heard(ControlPassed):
                packed.when_packed(partial(self._tell_left, links, body, packed))

    def _tell_left(self, links: Iterable[Link], body: Body, packed: Packed) -> None:
        """Notify listeners that a body has left over each of `links`."""
        me = stable_number(self._settings.id)
        for link in links:
            self.connections.events.tell(ControlPassed, link.name, "out", body, packed.bytes, me)

    def _linked_by(self, link: Link) -> Neighbour | None:
        """Return the neighbour of a present link; None before the end of its greeting and after its own end."""
        neighbour = self.named.get(link.name)
        return neighbour if neighbour is not None and neighbour.link is link else None

    def _current(self, session: NeighbourSession) -> Link | None:
        link = self._numbered[session.neighbour].link
        return link if link is not None and link.session == session.session else None


def _refusal(problem: str) -> FrameError:
    return FrameError(ErrorCode.AUTHENTICATION_FAILED, problem)
