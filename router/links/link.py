"""One link: from the connection that a neighbour opened, or that was opened to a neighbour, to its end.

Law: a link is a neighbour's session from the end of its greeting to the beginning of its end, and each of the two is
reported once. A refused body has no other effect; every other fault, silence and a full control queue end the session,
and the next session restores the lost state.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from tamis.configs.settings import LinkSettings
from tamis.native.switch_values import EventType
from tamis.native.traces import Trace
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.custody_bodies import CustodyBody
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import KIND_OFFSET
from tamis.protocol.wire.home_bodies import DurablesHeld
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.parts import Part
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord
from tamis.protocol.wire.routing_bodies import Body, EpochRefused, Held, LinkState
from tamis.protocol.wire.session_bodies import Drain, Error, Ping, Pong
from tamis.protocol.wire.streams import CUSTODY, REPORTS
from tamis.protocol.wire.versions import CUSTODY_VERSION
from tamis.router.connections.admissions import Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import Peer
from tamis.router.connections.traces import report_of
from tamis.router.connections.wires import Wire
from tamis.router.links.greeting import Accepting, Dialling, Greeted
from tamis.router.links.incoming import Incoming
from tamis.router.links.outgoing import Outgoing
from tamis.router.links.packing import Packed

_log = logging.getLogger(__name__)

DRAIN_REASON: Final = "the router is stopping"
CUSTODY_FRAMES_MAX: Final = 256
"""Frames of custody that wait for one link, 700 KiB at most; further ones are dropped, as their senders repeat them."""
REPORTS_MAX: Final = 64
"""Reports on messages that wait for one link, two MiB at most; further ones are lost."""


class LinkedRouter(Protocol):
    """The neighbour at the other end. `problem` is the last fault, empty while there is none."""

    settings: LinkSettings
    problem: str


class LinkOwner(Protocol):
    """The interface that a link needs of the part that owns all links, which receives what arrives over them."""

    connections: Connections

    def up(self, link: Link, other: Greeted) -> None:
        """Assign its neighbour and its session to `link`, whose greeting is complete."""

    def down(self, link: Link) -> None:
        """Handle the end of `link`."""

    def heard(self, link: Link, body: Body, size: int) -> None:
        """Receive a body whose frames had `size` bytes."""

    def lost(self, link: Link, lost: Lost) -> None:
        """Handle the neighbour's report of messages that this router, or those behind it, will miss."""

    def unrouted(self, link: Link, frame: bytes) -> None:
        """Handle a message that arrived over `link` from a source without a route."""

    def traced(self, report: Report) -> None:
        """Forward this router's own report on a message that came over a link."""

    def reported(self, link: Link, report: Report) -> None:
        """Forward a report that a neighbour has sent."""

    def chained(self, link: Link, body: CustodyBody) -> None:
        """Take a frame of custody that a neighbour has sent."""

    def is_twin(self, neighbour: str, says: str, is_refused: bool) -> None:
        """Raise an alarm: a neighbour reports that another router has this router's id; `is_refused`: it refuses this
        one."""


class Link(Peer):
    """One link. `neighbour` is None until the greeting is complete; `session` distinguishes the link from that
    neighbour's other links."""

    CUT = "a link is cut"
    IS_LINK = True
    SIDE = Side.NEIGHBOUR

    __slots__ = (
        *("_greeting", "_incoming", "_links", "_outgoing", "_wire"),
        *("frame_bytes_max", "frames_in", "bytes_in", "lost", "neighbour", "over", "session", "since_s", "version"),
    )

    connections: Connections

    def __init__(
        self, links: LinkOwner, connection: int, peer: str, greeting: Accepting | Dialling, wire: Wire
    ) -> None:
        super().__init__(links.connections, connection, peer, greeting.session)
        self._links, self._greeting, self._wire = links, greeting, wire
        self.neighbour: LinkedRouter | None = None
        self.version = self.session = self.frame_bytes_max = self.frames_in = self.bytes_in = self.lost = 0
        self.since_s = 0.0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._incoming = Incoming(self.connections.work, self._heard, self.fail, self.pause, self.vanish)
        self._outgoing = Outgoing(self._hand, wire.when_writable, self._overflow)

    @property
    def hold_ms(self) -> int:
        return self.neighbour.settings.keepalive.hold_ms if self.neighbour else 0

    @property
    def said(self) -> tuple[str | None, str | None]:
        return self._greeting.said

    @property
    def outgoing(self) -> Outgoing:
        return self._outgoing

    @property
    def certificate(self) -> bytes:
        """The certificate of the other end, in DER; b"" if it has shown none."""
        return self._wire.certificate

    def rtt_us(self) -> int | None:
        return self._wire.rtt_us() if self.is_there else None

    # --- receiving
    # -----------------------------------------------------------------------------------------------------

    def receive(self, kind: FrameKind, frame: bytes) -> None:
        if self._is_ending:
            return
        self.frames_in += 1
        self.bytes_in += len(frame)
        if self._is_greeting:
            self._greet(kind, frame)
            return
        self._session.received(kind)
        body = decode(frame)
        if isinstance(body, Part):
            self._incoming.add(body, len(frame))
        elif isinstance(body, LinkState | Held | EpochRefused | EdgeHeld | EdgeRequest | DurablesHeld):
            self._heard(body, len(frame))
        else:
            self._take(body)

    def _take(self, body: object) -> None:
        if isinstance(body, Ping):
            self.send(FrameKind.PONG, encode(Pong(body.token)))
        elif isinstance(body, Error):
            self._told(body)
        elif isinstance(body, TraceRecord | DryRunReport):
            self._links.reported(self, body)
        elif isinstance(body, CustodyBody):
            if not self.takes_custody:
                raise FrameError(ErrorCode.UNEXPECTED_KIND, f"frames of custody need version {CUSTODY_VERSION}")
            self._links.chained(self, body)
        elif isinstance(body, Lost):
            self.lost += body.messages
            self._links.lost(self, body)
        elif isinstance(body, Drain):
            _log.info("a neighbour is stopping", extra=self._fields(grace_ms=body.grace_ms))

    def _heard(self, body: Body, size: int) -> None:
        if not self._is_ending:
            self._links.heard(self, body, size)

    def _told(self, error: Error) -> None:
        """Record a fault of this router that the neighbour reports."""
        _log.warning("a neighbour reports an error", extra=self._fields(code=error.code, text=error.text))
        if self.neighbour is not None:
            self.neighbour.problem = f"it reports: {error.text}"
            if error.code == ErrorCode.REPLACED and not error.fatal:
                self._links.is_twin(self.name, error.text, is_refused=False)

    def _greet(self, kind: FrameKind, frame: bytes) -> None:
        if self.connections.is_draining:
            raise FrameError(ErrorCode.FULL, DRAIN_REASON)
        self._spoke()
        answer = self._greeting.receive(frame, kind)
        if kind is FrameKind.ERROR:
            body = decode(frame)
            if isinstance(body, Error):
                self._told(body)
            self._end()
            return
        self._queue(answer)
        if self._greeting.other is not None:
            self.open(self._greeting.other)

    def open(self, other: Greeted) -> None:
        """Begin the session with `other`, as the greeting is complete."""
        self._greeted()
        self.name, self.frame_bytes_max, self.since_s = other.name, other.frame_bytes_max, time.time()
        self.version = other.version
        self._links.up(self, other)

    def unrouted(self, frame: bytes) -> None:
        self._links.unrouted(self, frame)

    def traced(self, trace: Trace) -> None:
        self._links.traced(report_of(self.connections.settings.id, trace, self.connections.durable_name))

    def event(self, type_: int) -> None:
        if type_ == EventType.SILENT:
            self.cut(FrameError(ErrorCode.SILENT, f"no frame arrived for {self.hold_ms} ms"))
        else:
            super().event(type_)

    # --- sending
    # -------------------------------------------------------------------------------------------------------

    def post(self, body: Packed, left: Callable[[], None] | None = None) -> None:
        """Queue `body`; `left` is called when it has left."""
        self._outgoing.add(body, left)

    def report(self, report: Report) -> None:
        """Forward a report if there is room."""
        if self._outgoing.waiting(REPORTS) < REPORTS_MAX:
            self.post(Packed(report, self.frame_bytes_max, self.connections.work))

    @property
    def takes_custody(self) -> bool:
        """Whether the neighbour has a version with frames of custody."""
        return self.version >= CUSTODY_VERSION

    def relay(self, body: CustodyBody) -> bool:
        """Pass a frame of custody on if there is room; return whether there is."""
        has_room = self._outgoing.waiting(CUSTODY) < CUSTODY_FRAMES_MAX
        if has_room:
            self.post(Packed(body, self.frame_bytes_max, self.connections.work))
        return has_room

    def _hand(self, frame: bytes) -> None:
        with suppress(Refused):  # a request after this router's DRAIN: there is nothing left to repair
            self.send(FrameKind(frame[KIND_OFFSET]), frame)

    def _overflow(self) -> None:
        self.cut(FrameError(ErrorCode.SLOW, "too many control bytes wait: the link must start again"))

    # --- the end ---------------------------------------------------------------------------------------------------

    def cut(self, error: FrameError) -> None:
        """End the link at once with the reason, without waiting for queued frames."""
        if self.is_open:
            _log.warning(self.CUT, extra=self._fields(code=error.code, reason=error.problem))
            if self.neighbour is not None:
                self.neighbour.problem = error.problem
            self._queue(encode(Error(error.code, error.problem, 0, True)))
            self._end(now=True)

    def warn(self, error: FrameError) -> None:
        """Send the neighbour a warning; the link stays up."""
        if self.is_open:
            self._queue(encode(Error(error.code, error.problem, 0, False)))

    def fail(self, error: FrameError, kind: int = 0) -> None:
        if self.neighbour is not None:
            self.neighbour.problem = error.problem
        super().fail(error, kind)

    def ended(self) -> None:
        self._over()
        super().ended()
        self._wire.close()

    def dropped(self) -> None:
        super().dropped()
        self._wire.abort()

    def _end(self, now: bool = False) -> None:
        super()._end(now)
        self._over()

    def _over(self) -> None:
        if not self.over.done():
            self.over.set_result(None)
            self._incoming.close()
            self._outgoing.close()
            self._links.down(self)
