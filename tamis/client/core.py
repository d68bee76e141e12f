"""A client without its sockets: bytes and commands in, bytes and settled waiters out.

    shell: dial `redial.next()` -> `connected`, then `receive` what arrives, send what `take_output` gives, call `tick`
    at `deadline`; read only while `may_read`; close when `wants_close`; `cut` when the connection has ended; dial
    again unless `is_over`. After each of these calls there may be output.

Law: nothing here waits, reads a clock or draws a random number; every rule of the protocol that a client keeps is in
here or below, none in a shell. `Session` says who may send what; deliveries in state OPEN, and messages let pass by
`Outbox`, are not shown to it one by one, since there they are always allowed and change nothing.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from tamis.client.callbacks import Calls
from tamis.client.errors import ClientClosed, NotAdmitted
from tamis.client.kept import KeptCore
from tamis.client.kept_view import KeptView
from tamis.client.liveness import Liveness
from tamis.client.message import Message
from tamis.client.outbox import Outbox
from tamis.client.questions import Questions
from tamis.client.redial import Redial
from tamis.client.registry import Registry
from tamis.client.settings import Settings
from tamis.client.trails import Trails
from tamis.client.waiter import Waiter, settle
from tamis.client.walker import Walker
from tamis.client.wanted import PackedPredicate, SubscribeOptions, Wishes
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import FRAME_BYTES_MAX, NONCE_BYTES, TEXT_BYTES_MAX
from tamis.protocol.shown import shown
from tamis.protocol.wire.client_bodies import GROUPS, KEPT, KEPT_VIEW, Ack, AckOf, Credit, Lost
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.frames import Body, decode, kind_of
from tamis.protocol.wire.header import KIND_OFFSET
from tamis.protocol.wire.keep_bodies import KeepsListed, ReplayEnd
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord
from tamis.protocol.wire.session import CLIENT_CONNECTION, Session, SessionState
from tamis.protocol.wire.session_bodies import (
    Auth,
    Authenticated,
    AuthMethod,
    Drain,
    Error,
    Hello,
    Ping,
    Pong,
    Role,
    Welcome,
)
from tamis.protocol.wire.versions import SPOKEN

_DELIVER: Final = int(FrameKind.DELIVER)
_NOTICES_MAX: Final = 100
_GIVE_UP: Final = frozenset({ErrorCode.AUTHENTICATION_FAILED, ErrorCode.VERSION_REFUSED})
"""Errors of a greeting that another try does not mend."""

_ALIVE_TOKEN: Final = 0
_BARRIER_TOKEN: Final = 1


NewOutbox = Callable[[int, Callable[[str], object]], Outbox]


class _Barrier(enum.Enum):
    """Where the PING at the end of a drain is."""

    NOT_SENT = enum.auto()
    SENT = enum.auto()
    BACK = enum.auto()


class ClientCore:
    _session: Session  # of the connection that is there, or was last: what `_begin` makes anew
    _is_greeted: bool
    _has_groups: bool
    _has_keeps: bool
    _has_kept_view: bool
    _has_kept: bool
    """Has a message come, since this was looked at, that an attachment may have to answer for?"""
    _ending: str
    """Why this client ends the connection itself; empty: it does not."""
    _gave_up: NotAdmitted | None

    def __init__(
        self,
        settings: Settings,
        first_counter: int,
        random: Callable[[], float],
        random_bytes: Callable[[int], bytes],
        unix_us: Callable[[], int],
        walker: Walker,
        opened: Waiter,
        stored: NewOutbox | None = None,
    ) -> None:
        """`first_counter` is above every counter used before under this name; `unix_us` tells the time; `opened` is
        settled when the client is first let in. `stored` makes an outbox that survives the publisher, from its number
        and a function that takes sentences for a log."""
        self.settings = settings
        self.notices: deque[str] = deque(maxlen=_NOTICES_MAX)
        """Sentences for a log, which the shell takes out."""
        number = stable_number(settings.name)
        self.outbox = Outbox(number, first_counter) if stored is None else stored(number, self.notices.append)
        self.calls = Calls()
        """What the application is to be told, by calls that the shell makes."""
        self.registry = Registry(
            settings.inbox, self._send, lambda: self._now, lambda gap: self.calls.tell(settings.callbacks.on_gap, gap)
        )
        self.kept = KeptCore(self.registry, self._send)
        self.kept_view = KeptView(self.registry, self._send)
        self.trails = Trails(self.outbox, random_bytes)
        self.questions = Questions(self.outbox, self.registry, random_bytes)
        self.redial = Redial(settings.addresses, random, settings.redial_s)
        self.wants_close = False
        self.is_over = False
        self.router = ""
        """The name of the router that greeted us last."""
        self._opened = opened
        self.clock_ahead_us: int | None = None
        """By how much the clock here is ahead of the router's, as the router said last; None: it has not said."""
        self._random_bytes, self._unix_us = random_bytes, unix_us
        self._walker = walker
        self._begin(now=0.0)
        self._session.closed()
        self._drain: Waiter | None = None
        self._grace_ms = 0
        self._barrier = _Barrier.NOT_SENT

    @property
    def has_news(self) -> bool:
        """Is there a sentence for the log, or a call to make?"""
        return bool(self.notices or self.calls)

    @property
    def is_connected(self) -> bool:
        """Has a router let this client in, over a connection that still is there?"""
        return self._is_greeted and not self.is_over

    # --- commands of the user ------------------------------------------------------------------------------------

    def subscribe(self, predicates: Sequence[PackedPredicate], options: SubscribeOptions, waiter: Waiter) -> Wishes:
        self.outbox.check_open()
        return self.registry.subscribe(predicates, options, waiter)

    def drain(self, waiter: Waiter, grace_ms: int) -> None:
        """Begin nothing new, finish what was begun; settle `waiter` when the router has read and answered
        everything."""
        self.outbox.close(ClientClosed("the client drains, and begins nothing new"))
        if self.is_over:
            settle(waiter)
            return
        self._drain = waiter
        self._grace_ms = grace_ms
        self._go_on_draining()

    def close(self, error: Exception | None = None) -> None:
        """End the client: calls that wait fail, iterators end, or raise `error`. The shell closes its connection."""
        if self.is_over:
            return
        self.is_over = self.wants_close = True
        reason = error or ClientClosed("the client is closed")
        self.outbox.drop(reason)
        self.trails.close(reason)
        self.registry.closed(error)
        self.kept.closed(error)
        self.kept_view.closed(error)
        settle(self._opened, reason)
        settle(self._drain)
        self._session.closed()

    # --- what the connection does --------------------------------------------------------------------------------

    def connected(self, now: float) -> None:
        """Greet over a new connection to the address of `redial.next()`."""
        self._begin(now)
        self._send(
            Hello(
                role=Role.CLIENT,
                name=self.settings.name,
                epoch=0,
                nonce=self._random_bytes(NONCE_BYTES),
                version_low=SPOKEN.low,
                version_high=SPOKEN.high,
                capabilities=(),
                frame_bytes_max=FRAME_BYTES_MAX,
                hold_ms=max(1, round(self.settings.hold_s * 1000)),
                link_cost=0,
            )
        )

    def receive(self, data: bytes, now: float) -> None:
        """Take in `data` from the router."""
        self._liveness.heard(now)
        self._now = now
        for inbox in self.registry.full:
            inbox.shut_if_past()
        try:
            self._reader.feed(self._deliver_walked(data) if self._session.state is SessionState.OPEN else data)
            for frame in self._reader:
                if frame[KIND_OFFSET] == _DELIVER:
                    self._session.received(FrameKind.DELIVER)
                    self._deliver(frame)
                else:
                    self._control(frame)
                if self.wants_close:
                    break
        except FrameError as error:
            self._broken(error)
        if self._has_kept:
            self._has_kept = False
            self.kept.arrived()
        if self._drain is not None:
            self._go_on_draining()

    def take_output(self, now: float) -> bytearray:
        """Return what is to be sent now; the caller owns it."""
        if self.kept.has_acks:
            self.kept.flush()
        output = self.outbox.taken()
        if output:
            self._liveness.sent(now)
        return output

    def may_read(self, now: float) -> bool:
        """Return whether the shell should read: not while an inbox is full, unless a call waits for an answer."""
        outbox = self.outbox
        is_reading = not self.registry.full or bool(
            outbox.awaits_credit
            or outbox.unanswered
            or self.registry.awaits_answer
            or self.kept.awaits_answer
            or self.kept_view.awaits_answer
            or self.trails.awaits_reports
            or self.questions.awaits_answer
            or self._drain is not None
        )
        self._liveness.read(is_reading, now)
        return is_reading

    @property
    def deadline(self) -> float:
        return self._liveness.deadline

    def tick(self, now: float) -> None:
        """Do what is due at `now`, which may be `deadline` or any other moment."""
        if self._liveness.is_dead(now):
            self._end_connection(f"no sign of life for {self.settings.hold_s} s")
        elif self._is_greeted and self._liveness.must_ping(now):
            self._send(Ping(_ALIVE_TOKEN))

    def cut(self, reason: str, now: float) -> None:
        """Take in that the connection, or the attempt to make one, has ended."""
        reason = self._ending or reason
        was_open = self._is_greeted
        self._is_greeted = False
        self._session.closed()
        self.redial.ended(reason, now)
        self.outbox.cut(f"the connection was cut ({reason})")
        self.registry.cut()
        self.kept.cut()
        self.kept_view.cut()
        if was_open and not self.is_over:
            self.calls.tell(self.settings.callbacks.on_disconnected, reason)
        if self._gave_up is not None:
            self.close(self._gave_up)
        elif self._drain is not None and not self.outbox.held:
            self._drained()
        elif was_open and not self.is_over:
            self.notices.append(f"connection lost: {reason}")

    # --- frames --------------------------------------------------------------------------------------------------

    def _deliver_walked(self, data: bytes) -> bytes | memoryview:
        """Deliver the frames in `data` that need nothing special, up to the first other one; return what is left of the
        stream."""
        data = self._reader.take_rest() + data
        ends, ids, positions = self._walker.walk(data)
        if not ends:
            return data
        self._has_kept = True  # perhaps
        frames = [data[start:end] for start, end in pairwise((0, *ends))]
        count = self.registry.deliver_run(frames, ids, positions)
        return memoryview(data)[ends[count - 1] if count else 0 :]

    def _deliver(self, frame: bytes) -> None:
        try:
            message = Message(frame)
        except FrameError as error:
            if is_fatal(error.code):
                raise
            self._tell(error)
            return
        self._has_kept = True  # perhaps
        self.registry.deliver(message)

    def _control(self, frame: bytes) -> None:
        body = decode(frame)
        kind = kind_of(body)
        self._session.received(kind)
        _HANDLERS[type(body)](self, body)

    def _welcome(self, welcome: Welcome) -> None:
        if not SPOKEN.low <= welcome.version <= SPOKEN.high:
            raise FrameError(ErrorCode.VERSION_REFUSED, f"we speak {SPOKEN}, the router chose {welcome.version}")
        self.router = welcome.name
        self._has_groups = GROUPS in welcome.capabilities
        self._has_keeps = KEPT in welcome.capabilities
        self._has_kept_view = KEPT_VIEW in welcome.capabilities
        self._frame_bytes_max = welcome.frame_bytes_max
        self._liveness.peer_holds(welcome.hold_ms / 1000)
        token = self.settings.token
        if token is not None and AuthMethod.TOKEN in welcome.methods:
            self._send(Auth(AuthMethod.TOKEN, token))
        elif AuthMethod.NONE in welcome.methods:
            self._send(Auth(AuthMethod.NONE, b""))
        else:
            wants = "a token" if AuthMethod.TOKEN in welcome.methods else "a credential that clients do not have"
            self._gave_up = NotAdmitted(f'router "{welcome.name}" asks for {wants}')
            self._end_connection(str(self._gave_up))

    def _authenticated(self, body: Authenticated) -> None:
        if body.number != stable_number(self.settings.name):
            raise FrameError(ErrorCode.MALFORMED, f"{body.number} is not the number of {self.settings.name!r}")
        self._reader.authenticated()
        self._is_greeted = True
        self.redial.opened(self._now)
        self.outbox.opened(self._frame_bytes_max, body.newest, has_keeps=self._has_keeps, router=self.router)
        self.registry.opened(self._frame_bytes_max, has_groups=self._has_groups)
        self.kept.opened(self._frame_bytes_max, is_known=self._has_keeps)
        self.kept_view.opened(is_known=self._has_kept_view)
        self.calls.tell(self.settings.callbacks.on_connected, self.router)
        settle(self._opened)

    def _error(self, error: Error) -> None:
        sentence = f"the router says: {shown(error.text)} (error {error.code})"
        if not self._is_greeted and error.code in _GIVE_UP:
            self._gave_up = NotAdmitted(sentence)
        # Coming back would only throw out the connection that came under this client's name, or fail with a token that
        # is gone.
        if error.code in (ErrorCode.REPLACED, ErrorCode.REVOKED):
            self._gave_up = NotAdmitted(sentence)
        if error.fatal or not self._is_greeted:
            self._end_connection(sentence)
        else:
            self.notices.append(sentence)

    def _ping(self, ping: Ping) -> None:
        self._send(Pong(ping.token))

    def _pong(self, pong: Pong) -> None:
        if pong.unix_us:
            self.clock_ahead_us = self._unix_us() - pong.unix_us
        if pong.token == _BARRIER_TOKEN and self._barrier is _Barrier.SENT:
            self._barrier = _Barrier.BACK

    def _drain_of_router(self, drain: Drain) -> None:
        """Take in that the router leaves: what has no answer yet may get one, new messages wait for the next
        connection."""
        self.notices.append(f"the router drains: {shown(drain.reason)}")
        self.outbox.pause()

    def _ack(self, ack: Ack) -> None:
        if ack.of is AckOf.PUBLISH:
            self.outbox.answer(ack)
            self.trails.refused(ack.refusals)
            self.questions.refused(ack.refusals)
        elif ack.of in (AckOf.SUBSCRIBE, AckOf.UNSUBSCRIBE):
            self.registry.answer(ack)
        elif ack.of in (AckOf.LIST_KEEPS, AckOf.GET):
            self.kept_view.answer(ack)
        else:
            self.kept.answer(ack)

    def _credit(self, credit: Credit) -> None:
        self.outbox.grant(credit)

    def _lost(self, lost: Lost) -> None:
        self.registry.lost(lost)

    def _keeps_listed(self, listed: KeepsListed) -> None:
        self.kept_view.listed(listed)

    def _replay_ended(self, end: ReplayEnd) -> None:
        self.kept.replay_ended(end)

    def _report(self, report: Report) -> None:
        self.trails.report(report)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        self._session = Session(CLIENT_CONNECTION, is_connector=True)
        self._reader = FrameReader()
        self._liveness = Liveness(self.settings.hold_s, now)
        self._now = now
        self._frame_bytes_max = FRAME_BYTES_MAX
        self._has_groups = self._has_keeps = self._has_kept_view = self._has_kept = False
        self._is_greeted = False
        self._ending = ""
        self._gave_up = None
        self.wants_close = False

    def _send(self, body: Body) -> None:
        self._session.sent(kind_of(body))
        self.outbox.send(body)

    def _go_on_draining(self) -> None:
        """Take the next step of a drain: first everything is published; then subscriptions end; then a PING: its answer
        says that the router has read all."""
        if self.outbox.held or self.outbox.unanswered or self.kept_view.awaits_answer:
            return
        if not self._is_greeted or (self._barrier is _Barrier.BACK and not self._awaits_ends):
            self._drained()
        elif self._barrier is _Barrier.NOT_SENT:
            self._barrier = _Barrier.SENT
            self._send(Drain(self._grace_ms, ""))
            self.registry.end_all()
            self.kept.detach_all()
            self._send(Ping(_BARRIER_TOKEN))

    @property
    def _awaits_ends(self) -> bool:
        """Has the router still to answer that subscriptions or attachments have ended?"""
        return self.registry.awaits_answer or self.kept.awaits_answer

    def _drained(self) -> None:
        settle(self._drain)
        self._drain = None

    def _broken(self, error: FrameError) -> None:
        """Tell the router that it broke the rules, and end the connection."""
        if self._session.state is not SessionState.CLOSED:
            self._tell(error)
        self._end_connection(f"the router broke the rules: {error.problem}")

    def _tell(self, error: FrameError) -> None:
        text = error.problem.encode()[:TEXT_BYTES_MAX].decode(errors="ignore")
        fatal = is_fatal(error.code) or not self._is_greeted
        self._send(Error(error.code, text, 0, fatal))

    def _end_connection(self, reason: str) -> None:
        self._ending = self._ending or reason
        self.wants_close = True


_HANDLERS: Final[dict[type, Callable[..., None]]] = {
    Welcome: ClientCore._welcome,
    Authenticated: ClientCore._authenticated,
    Error: ClientCore._error,
    Ping: ClientCore._ping,
    Pong: ClientCore._pong,
    Drain: ClientCore._drain_of_router,
    Ack: ClientCore._ack,
    Credit: ClientCore._credit,
    Lost: ClientCore._lost,
    ReplayEnd: ClientCore._replay_ended,
    KeepsListed: ClientCore._keeps_listed,
    TraceRecord: ClientCore._report,
    DryRunReport: ClientCore._report,
}
