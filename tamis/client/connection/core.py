"""A client without its sockets: bytes and commands in, bytes and settled waiters out.

    shell: dial `redial.next()` -> `connected`, then `receive` what arrives, send what `take_output` returns, call
    `tick` at `deadline`; read only while `may_read`; close when `wants_close`; `cut` when the connection has ended;
    dial again unless `is_over`. After each of these calls there may be output. When `take_dial` returns an address,
    dial it, too -> `move_connected`, and drive that line in this way as well.

Law: nothing here waits, reads a clock or draws a random number; every rule of the protocol that a client observes is in
this file or below, none in a shell. `Session` defines which frames are allowed; deliveries in state OPEN, and messages
that `Outbox` sends, do not pass through it one by one, since they are always allowed then and change no state. There is
one line, except while the client moves to another router (`handover.py`): then `line` is the line of the client's
current router.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, Self

from tamis.client.connection.address import Endpoint
from tamis.client.connection.callbacks import Calls
from tamis.client.connection.credential import Credential
from tamis.client.connection.handover import Handover, Step
from tamis.client.connection.line import Line
from tamis.client.connection.redial import Redial
from tamis.client.connection.settings import Settings
from tamis.client.connection.walker import Walker
from tamis.client.durable.core import DurableCore
from tamis.client.durable.view import DurableView
from tamis.client.errors import ClientClosed
from tamis.client.message import Message
from tamis.client.messages.outbox import Outbox
from tamis.client.messages.pending import PackedPredicate, PendingSubscription, SubscribeOptions
from tamis.client.messages.questions import Questions
from tamis.client.messages.registry import Registry
from tamis.client.messages.trails import Trails
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.shown import shown
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Lost
from tamis.protocol.wire.durable_bodies import DurablesListed, ReplayEnd
from tamis.protocol.wire.frames import Body, Frame
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord
from tamis.protocol.wire.session_bodies import Drain, GoAway, Ping, Pong

_NOTICES_MAX: Final = 100
_BARRIER_TOKEN: Final = 1


NewOutbox = Callable[[int, Callable[[str], object]], Outbox]
Sink = Callable[[bytes], int]
"""Takes DELIVER frames at the start of the bytes; returns how many bytes these were."""


class _Barrier(enum.Enum):
    """The state of the PING at the end of a drain."""

    NOT_SENT = enum.auto()
    SENT = enum.auto()
    BACK = enum.auto()


class ClientCore:
    line: Line
    """The line to the client's current router, or the last such line while there is none."""
    _durable_line: Line
    """The line that serves the durable subscriptions: after a move the old line, until its router ends it."""

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
        """`first_counter` is above every counter used before under this name; `unix_us` returns the time; `opened` is
        settled when the client is admitted for the first time. `stored` makes an outbox that survives the publisher,
        from the publisher's number and a function that logs sentences."""
        self.settings = settings
        self.notices: deque[str] = deque(maxlen=_NOTICES_MAX)
        """Sentences for the log, which the shell takes out."""
        number = stable_number(settings.name)
        self.outbox = Outbox(number, first_counter) if stored is None else stored(number, self.notices.append)
        self.calls = Calls()
        """Calls of the application's callbacks, which the shell makes."""
        self.registry = Registry(
            settings.inbox,
            self._send,
            lambda: self.line.now,
            lambda gap: self.calls.tell(settings.callbacks.on_gap, gap),
        )
        self.registry.deciding.notify = self.notices.append
        self.durables = DurableCore(self.registry, self._send_stored)
        self.durable_view = DurableView(self.registry, self._send_stored)
        self.credential = Credential(settings.token, lambda: unix_us() / 1_000_000, self.notices.append)
        self.trails = Trails(self.outbox, random_bytes)
        self.questions = Questions(self.outbox, self.registry, random_bytes)
        self.redial = Redial(settings.addresses, random, settings.redial_s)
        self.handover: Handover | None = None
        self.is_over = False
        self.router = ""
        """The name of the router that admitted this client last."""
        self.clock_ahead_us: int | None = None
        """By how much the clock of this machine is ahead of the router's, by the last time that the router sent; None
        if it has sent none."""
        self._opened = opened
        self._random = random
        self._random_bytes, self._unix_us = random_bytes, unix_us
        self._walker = walker
        self._has_stored = False
        """Whether, since the last look, a message has arrived that a consumer may have to acknowledge again."""
        self._sent_away: GoAway | None = None
        """A GO_AWAY of the current router to act on; it waits until the move to that router is over."""
        self.sink: Sink | None = None
        """Takes plain messages in place of the inboxes, as long as one stands at the start of what has arrived."""
        self.line = self._durable_line = Line(self, random_bytes, 0.0)
        self.line.cut()
        self._drain: Waiter | None = None
        self._grace_ms = 0
        self._barrier = _Barrier.NOT_SENT

    @property
    def has_news(self) -> bool:
        """Whether there is a sentence for the log, or a callback to call."""
        return bool(self.notices or self.calls)

    @property
    def is_connected(self) -> bool:
        """Whether a router has admitted this client over a connection that is still open."""
        return self.line.is_greeted and not self.is_over

    # --- commands of the user ------------------------------------------------------------------------------------

    @property
    def while_open(self) -> Self:
        """This core; ClientClosed when the client is closed."""
        self.outbox.check_open()
        return self

    def subscribe(
        self, predicates: Sequence[PackedPredicate], options: SubscribeOptions, waiter: Waiter
    ) -> PendingSubscription:
        self.outbox.check_open()
        return self.registry.subscribe(predicates, options, waiter)

    def authenticate(self, token: str | bytes, waiter: Waiter) -> None:
        """Show the router another token; settle `waiter` when it has accepted it."""
        self.outbox.check_open()
        self.credential.show(token, self.line, waiter)

    def drain(self, waiter: Waiter, grace_ms: int) -> None:
        """Start nothing new and finish what was started; settle `waiter` when the router has read and answered
        everything."""
        self.outbox.close(ClientClosed("the client is draining"))
        if self.is_over:
            settle(waiter)
            return
        self._stay()
        self._drain = waiter
        self._grace_ms = grace_ms
        self._go_on_draining()

    def close(self, error: Exception | None = None) -> None:
        """End the client: pending calls fail, iterators end, or raise `error`. The shell closes the connection."""
        if self.is_over:
            return
        self.is_over = True
        self._stay()
        reason = error or ClientClosed("the client is closed")
        self.outbox.drop(reason)
        self.trails.close(reason)
        self.credential.closed(reason)
        self.registry.closed(error)
        self.durables.closed(error)
        self.durable_view.closed(error)
        settle(self._opened, reason)
        settle(self._drain)
        self.line.closed()

    # --- what the connection does --------------------------------------------------------------------------------

    def connected(self, now: float) -> Line:
        """Greet over a new connection to the address of `redial.next()`."""
        self._begin(now)
        self.line.greet()
        return self.line

    def receive(self, data: bytes, now: float, line: Line | None = None) -> None:
        """Process `data` from the router. In this and the methods below, `line` None means the line of the current
        router."""
        for inbox in self.registry.full:
            inbox.shut_if_past()
        (line or self.line).receive(data, now)
        if self._has_stored:
            self._has_stored = False
            self.durables.arrived()
        if self._drain is not None:
            self._go_on_draining()
        self._look(now)

    def take_output(self, now: float, line: Line | None = None) -> bytearray:
        """Return the bytes to send now; the caller owns them."""
        line = line or self.line
        if line is self._durable_line and self.durables.has_acks:
            self.durables.flush()
        return line.take_output(now)

    def may_read(self, now: float, line: Line | None = None) -> bool:
        """Return whether the shell should read: not while an inbox is full, unless a call waits for an answer."""
        line = line or self.line
        is_reading = self._may_read(line)
        line.reads(is_reading, now)
        return is_reading

    def _may_read(self, line: Line) -> bool:
        handover = self.handover
        if handover is not None and handover.decides_reading(line):
            return handover.may_read(line)
        outbox = self.outbox
        return not self.registry.full or bool(
            outbox.awaits_credit
            or outbox.unanswered
            or self.registry.awaits_answer
            or self.durables.awaits_answer
            or self.durable_view.awaits_answer
            or self.trails.awaits_reports
            or self.questions.awaits_answer
            or self.credential.awaits_answer
            or self._drain is not None
        )

    @property
    def deadline(self) -> float:
        return self.deadline_of(self.line)

    def deadline_of(self, line: Line) -> float:
        if line is not self.line:
            return line.deadline
        due = self.handover.deadline if self.handover is not None else None
        return min(line.deadline, self.credential.due, self.durables.deadline, *(() if due is None else (due,)))

    @property
    def wants_close(self) -> bool:
        return self.line.wants_close

    def tick(self, now: float, line: Line | None = None) -> None:
        """Do what is due at `now`; calls before or after `deadline` are allowed."""
        (line or self.line).tick(now)
        self.credential.tick(self.line, now)
        self.durables.tick(now)
        self._look(now)

    def cut(self, reason: str, now: float, line: Line | None = None) -> None:
        """Record that the connection, or the attempt to make one, has ended."""
        line = line or self.line
        reason = line.ending or reason
        was_open = line.cut()
        if self.handover is not None and line in (self.handover.old, self.handover.new):
            self.handover.cut(line, reason, now)
            self._look(now)
        if line is self._durable_line:
            self.durables.cut()
            self.durable_view.cut()
            self._durable_line = self.line
            if line is not self.line:
                self._open_stored()
        if line is self.line:
            self._cut(was_open, reason, now)

    def _cut(self, was_open: bool, reason: str, now: float) -> None:
        """Record that the client has no connection."""
        self.redial.ended(reason, now)
        self.credential.cut()
        self.outbox.cut(f"the connection was cut ({reason})")
        self.registry.cut()
        if was_open and not self.is_over:
            self.calls.tell(self.settings.callbacks.on_disconnected, reason)
        if self.line.gave_up is not None:
            self.close(self.line.gave_up)
        elif self._drain is not None and not self.outbox.held:
            self._drained()
        elif was_open and not self.is_over:
            self.notices.append(f"connection lost: {reason}")

    # --- the way to another router -------------------------------------------------------------------------------

    def take_dial(self) -> tuple[Endpoint, float] | None:
        """Return an address to dial beside the current connection, and the seconds to wait before; None if there is
        none. Each address is returned once."""
        return None if self.handover is None or self.is_over else self.handover.take_dial()

    def move_connected(self, address: Endpoint, now: float) -> Line | None:
        """Greet over a new connection to `address`, which `take_dial` returned; None if it is no longer needed."""
        if self.handover is None or not self.handover.awaits(address) or self.is_over:
            return None
        line = Line(self, self._random_bytes, now)
        self.handover.connected(line)
        line.greet()
        return line

    def move_failed(self, address: Endpoint) -> None:
        """Record that `address`, which `take_dial` returned, could not be dialled."""
        if self.handover is not None and self.handover.awaits(address):
            self.handover.failed()

    def moved(self, line: Line) -> None:
        assert self.handover is not None  # noqa: S101 - it calls this
        self.line = line
        self.router = line.router
        self.redial.moved(self.handover.address, line.now)
        self.credential.opened(line)
        self.notices.append(f"moved to router {shown(line.router)}")
        self.calls.tell(self.settings.callbacks.on_connected, self.router)

    def may_leave(self, old: Line) -> bool:
        if self._durable_line is old and self.durables.is_idle and not self.durable_view.awaits_answer:
            self._durable_line = self.line
            self._open_stored()
        return self._durable_line is not old

    def _open_stored(self) -> None:
        if self.line.is_greeted:
            supported = {
                "is_known": self.line.has_durables,
                "counts_copies": self.line.counts_copies,
                "runs_programs": self.line.runs_programs,
            }
            self.durables.opened(self.line.frame_bytes_max, **supported)
            self.durable_view.opened(is_known=self.line.has_durable_view, lists_elsewhere=self.line.lists_elsewhere)

    def _look(self, now: float) -> None:
        """Advance the handover, and start the one that was postponed until it ended."""
        if self.handover is not None:
            self.handover.look(now)
            if self.handover.step is Step.OVER:
                self.handover = None
        if self.handover is None and self._sent_away is not None:
            self._go(self._sent_away)
            self._sent_away = None

    def _go(self, body: GoAway) -> None:
        addresses = self.redial.elsewhere(body.addresses)
        if addresses and self._drain is None and not self.is_over and self.line.is_greeted:
            self.notices.append(f"the router will drain: {shown(body.reason)}")
            self.handover = Handover(self, self.settings.name, self.line, addresses, self._random)

    def _stay(self) -> None:
        """End a handover, since the client ends."""
        if self.handover is not None:
            self.handover.give_up()
            self.handover = None

    # --- frames --------------------------------------------------------------------------------------------------

    def let_in(self, line: Line) -> None:
        if line is not self.line:
            if self.handover is not None and line is self.handover.new:
                self.handover.let_in()
            return
        self.router = line.router
        self.redial.opened(line.now)
        self.credential.opened(line)
        self.outbox.opened(line.frame_bytes_max, line.newest, flags=line.flags, router=line.router)
        self.registry.opened(line.frame_bytes_max, has_groups=line.has_groups, runs_programs=line.runs_programs)
        if self._durable_line.is_closed or self._durable_line is line:
            self._durable_line = line
            self._open_stored()
        self.calls.tell(self.settings.callbacks.on_connected, self.router)
        settle(self._opened)

    def walked(self, line: Line, data: bytes) -> bytes | memoryview:  # noqa: ARG002
        """Deliver the plain frames at the start of `data`, up to the first that needs `decode`; return the rest of the
        stream."""
        if self.handover is not None or self.registry.deciding:
            return data
        if self.sink is not None:
            return memoryview(data)[self.sink(data) :]
        ends, ids, positions = self._walker.walk(data)
        if not ends:
            return data
        self._has_stored = True  # perhaps
        frames = [data[start:end] for start, end in pairwise((0, *ends))]
        count = self.registry.deliver_run(frames, ids, positions)
        return memoryview(data)[ends[count - 1] if count else 0 :]

    def deliver(self, line: Line, message: Message) -> None:
        self._has_stored = True  # perhaps
        if self.registry.deciding and not self.registry.deciding.decide(message):
            return
        if self.handover is not None and not self.registry.is_consumed(message.matched):
            self.handover.deliver(line, message)
        elif line is self.line or line is self._durable_line:
            self.registry.deliver(message)

    def control(self, line: Line, body: Frame) -> None:
        _HANDLERS[type(body)](self, line, body)

    def tell(self, sentence: str) -> None:
        self.notices.append(sentence)

    def _pong(self, line: Line, pong: Pong) -> None:
        if pong.unix_us:
            self.clock_ahead_us = self._unix_us() - pong.unix_us
        if pong.token == _BARRIER_TOKEN and self._barrier is _Barrier.SENT:
            self._barrier = _Barrier.BACK
        if self.handover is not None:
            self.handover.ponged(line, pong)

    def _drain_of_router(self, line: Line, drain: Drain) -> None:
        """Record that the router drains: messages without an answer may still get one; new messages wait for the next
        connection."""
        if line is self.line:
            self.notices.append(f"the router is draining: {shown(drain.reason)}")
        if line.outbox is not None:
            self.outbox.pause()

    def _go_away(self, line: Line, body: GoAway) -> None:
        """Record that the router requests this client to move to another one soon."""
        if line is self.line:
            self._sent_away = body

    def _ack(self, line: Line, ack: Ack) -> None:
        if ack.of is AckOf.AUTH:
            self.credential.answered(line, ack)
            return
        if self.handover is not None and self.handover.answered(line, ack):
            return
        if ack.of is AckOf.PUBLISH:
            self.outbox.answer(ack)
            self.trails.refused(ack.refusals)
            self.questions.refused(ack.refusals)
        elif ack.of in (AckOf.SUBSCRIBE, AckOf.UNSUBSCRIBE):
            self.registry.answer(ack)
        elif ack.of in (AckOf.LIST_DURABLES, AckOf.GET):
            self.durable_view.answer(ack)
        else:
            self.durables.answer(ack)

    def _credit(self, line: Line, credit: Credit) -> None:
        line.credit = credit
        if line.outbox is not None:
            self.outbox.grant(credit)

    def _lost(self, line: Line, lost: Lost) -> None:
        if self.handover is not None and line is self.handover.new:
            self.handover.lost(lost)
        else:
            self.registry.lost(lost)

    def _durables_listed(self, line: Line, listed: DurablesListed) -> None:  # noqa: ARG002
        self.durable_view.listed(listed)

    def _replay_ended(self, line: Line, end: ReplayEnd) -> None:  # noqa: ARG002
        self.durables.replay_ended(end)

    def _report(self, line: Line, report: Report) -> None:  # noqa: ARG002
        self.trails.report(report)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        has_stored = self._durable_line is self.line
        self.line = Line(self, self._random_bytes, now)
        self.line.publish_for(self.outbox)
        if has_stored:
            self._durable_line = self.line
        self._has_stored = False
        self._sent_away = None

    def _send(self, body: Body) -> None:
        self.line.send(body)

    def _send_stored(self, body: Body) -> None:
        self._durable_line.send(body)

    def _go_on_draining(self) -> None:
        """Take the next step of a drain: first publish everything; then end the subscriptions; then send a PING, whose
        answer shows that the router has read everything."""
        if self.outbox.held or self.outbox.unanswered or self.durable_view.awaits_answer:
            return
        if not self.line.is_greeted or (self._barrier is _Barrier.BACK and not self._awaits_ends):
            self._drained()
        elif self._barrier is _Barrier.NOT_SENT:
            self._barrier = _Barrier.SENT
            self.line.send(Drain(self._grace_ms, ""))
            self.registry.end_all()
            self.durables.cancel_all()
            self.line.send(Ping(_BARRIER_TOKEN))

    @property
    def _awaits_ends(self) -> bool:
        """Whether the router has still to confirm the end of a subscription or a consumer."""
        return self.registry.awaits_answer or self.durables.awaits_answer

    def _drained(self) -> None:
        settle(self._drain)
        self._drain = None


_HANDLERS: Final[dict[type, Callable[..., None]]] = {
    Pong: ClientCore._pong,
    Drain: ClientCore._drain_of_router,
    GoAway: ClientCore._go_away,
    Ack: ClientCore._ack,
    Credit: ClientCore._credit,
    Lost: ClientCore._lost,
    ReplayEnd: ClientCore._replay_ended,
    DurablesListed: ClientCore._durables_listed,
    TraceRecord: ClientCore._report,
    DryRunReport: ClientCore._report,
}
