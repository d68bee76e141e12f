"""The move of a client to another router when its own sends GO_AWAY: make before break.

    DIALLING --let in--> SUBSCRIBING --answered--> SETTLING --caught up--> LEAVING --silent--> TRAILING --> over
       ^---- the new connection is lost ----'----------'          a cut of the old one: TRAILING at once, with a Gap

Law: the old router remains the client's current one until the new one has accepted all subscriptions, every router
within reach knows them, and messages published before have had ON_ITS_WAY_S to arrive; then the client unsubscribes at
the old router, whose answer follows all messages that it has for this client. States change only by STEPS. Messages are
published through the old router until it has answered all of them, and through the new one afterwards.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Final, Protocol

from tamis.client.connection.address import Endpoint
from tamis.client.connection.line import Line
from tamis.client.gap import gap_of
from tamis.client.message import Message
from tamis.client.messages.outbox import Outbox
from tamis.client.messages.overlap import Overlap
from tamis.client.messages.pending import ON_ITS_WAY_S, PendingSubscription, id_batches
from tamis.client.messages.registry import AskedElsewhere, Registry
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Unsubscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import Drain, Ping, Pong

PAUSE_S: Final = 0.25
"""Seconds, up to twice as many, before each address is dialled. They spread the clients of a router, and let the client
record what the old router delivers before the new one delivers it, too."""
CATCH_UP_S: Final = 2.0
"""Seconds for the old router to deliver what the new one has delivered already; whatever is missing after that is taken
from the new one."""
_BARRIER_TOKEN: Final = 2


class Step(enum.Enum):
    DIALLING = "no connection to the new router is open yet"
    SUBSCRIBING = "the new router has not accepted all subscriptions yet"
    SETTLING = "both routers have them; messages in flight to the old router arrive"
    LEAVING = "the old router ends them; its queued messages arrive"
    TRAILING = "the new router is the current one; the old one has no more messages for subscriptions"
    OVER = "there is one connection, or none"


class Event(enum.Enum):
    LET_IN = enum.auto()
    ASKED = enum.auto()
    ANSWERED = enum.auto()
    CAUGHT_UP = enum.auto()
    SILENT = enum.auto()
    NEW_CUT = enum.auto()
    OLD_CUT = enum.auto()
    GIVEN_UP = enum.auto()
    DONE = enum.auto()


STEPS: Final[dict[tuple[Step, Event], Step]] = {
    (Step.DIALLING, Event.LET_IN): Step.SUBSCRIBING,
    (Step.DIALLING, Event.NEW_CUT): Step.DIALLING,
    (Step.DIALLING, Event.OLD_CUT): Step.OVER,
    (Step.DIALLING, Event.GIVEN_UP): Step.OVER,
    (Step.SUBSCRIBING, Event.ASKED): Step.SUBSCRIBING,
    (Step.SUBSCRIBING, Event.ANSWERED): Step.SETTLING,
    (Step.SUBSCRIBING, Event.NEW_CUT): Step.DIALLING,
    (Step.SUBSCRIBING, Event.OLD_CUT): Step.TRAILING,
    (Step.SUBSCRIBING, Event.GIVEN_UP): Step.OVER,
    (Step.SETTLING, Event.ASKED): Step.SUBSCRIBING,
    (Step.SETTLING, Event.CAUGHT_UP): Step.LEAVING,
    (Step.SETTLING, Event.NEW_CUT): Step.DIALLING,
    (Step.SETTLING, Event.OLD_CUT): Step.TRAILING,
    (Step.SETTLING, Event.GIVEN_UP): Step.OVER,
    (Step.LEAVING, Event.SILENT): Step.TRAILING,
    (Step.LEAVING, Event.OLD_CUT): Step.TRAILING,
    (Step.LEAVING, Event.NEW_CUT): Step.OVER,
    (Step.LEAVING, Event.GIVEN_UP): Step.OVER,
    (Step.TRAILING, Event.OLD_CUT): Step.TRAILING,
    (Step.TRAILING, Event.NEW_CUT): Step.OVER,
    (Step.TRAILING, Event.GIVEN_UP): Step.OVER,
    (Step.TRAILING, Event.DONE): Step.OVER,
}
BEFORE: Final = frozenset({Step.DIALLING, Step.SUBSCRIBING, Step.SETTLING})
"""The steps at which the old router is the current one."""


class Mover(Protocol):
    """The part of a client that a handover uses."""

    registry: Registry
    outbox: Outbox

    def moved(self, line: Line) -> None:
        """Make `line` the line of the current router."""

    def may_leave(self, old: Line) -> bool:
        """Return whether the client needs nothing more from the line `old`; if so, it has left that line."""


class Handover:
    """One handover from the line `old`. `addresses` are tried in order, in a cycle, until the old router closes."""

    def __init__(
        self,
        mover: Mover,
        name: str,
        old: Line,
        addresses: Sequence[Endpoint],
        random: Callable[[], float],
    ) -> None:
        self.step = Step.DIALLING
        self.old = old
        self.new: Line | None = None
        """The line to the new router, from its start."""
        self.address = addresses[0]
        """The address of the new router."""
        self._mover = mover
        self._addresses: Iterator[Endpoint] = cycle(addresses)
        self._random = random
        self._is_dialled = False
        self._origin = stable_number(name)
        self._overlap = Overlap(mover.registry, self._origin)
        self._asked = AskedElsewhere()
        self._old_due: set[int] = set()  # ids whose end the old router has not confirmed
        self._has_read = False  # whether the old router has read all that was published there
        self._settled_at: float | None = None
        self._is_marked = False
        self._own_until = 0.0  # until when own messages that went through the old router may arrive
        mover.registry.elsewhere = self

    # --- for the shell -------------------------------------------------------------------------------------------

    def take_dial(self) -> tuple[Endpoint, float] | None:
        """Return the address to dial now, and the seconds to wait before; None if there is nothing to dial. Each
        address is returned once."""
        if self.step is not Step.DIALLING or self._is_dialled:
            return None
        self._is_dialled = True
        self.address = next(self._addresses)
        return self.address, PAUSE_S * (1 + self._random())

    def awaits(self, address: Endpoint) -> bool:
        """Return whether a connection to `address` is being made."""
        return self.step is Step.DIALLING and self._is_dialled and self.new is None and address == self.address

    def connected(self, line: Line) -> None:
        self.new = line

    def failed(self) -> None:
        """Record that the address could not be dialled."""
        self._is_dialled = False

    @property
    def deadline(self) -> float | None:
        """When the next step may be due; None if no time is set."""
        if self.step is Step.SETTLING and self._settled_at is not None:
            return self._settled_at + (CATCH_UP_S if self._is_marked else 0.0)
        return self._own_until if self.step is Step.TRAILING and self.old.is_closed else None

    # --- what comes ----------------------------------------------------------------------------------------------

    def deliver(self, line: Line, message: Message) -> None:
        if line is self.new:
            self._overlap.from_new(message)
        elif self.step is not Step.TRAILING:
            self._overlap.from_old(message)

    def decides_reading(self, line: Line) -> bool:
        """Return whether `may_read` alone decides if `line` is read."""
        return (line is self.new and self.step is not Step.TRAILING) or (line is self.old and self.step is Step.LEAVING)

    def may_read(self, line: Line) -> bool:
        return line is self.old or self._overlap.has_room

    def lost(self, lost: Lost) -> None:
        """Record a loss that the new router reports."""
        self._overlap.gap_from_new(gap_of(lost), self._mover.registry.told_of(lost))

    def answered(self, line: Line, ack: Ack) -> bool:
        """Process an ACK; return False if it answers no request of this handover."""
        if line is self.new and self.step in BEFORE and ack.of in (AckOf.SUBSCRIBE, AckOf.UNSUBSCRIBE):
            self._answered_by_new(ack)
            return True
        if line is self.old and self.step is Step.LEAVING and ack.of is AckOf.UNSUBSCRIBE:
            ids = {refusal.number for refusal in ack.refusals}
            ids |= {id_ for id_ in self._old_due if any(first <= id_ <= last for first, last in ack.ranges)}
            self._old_due -= ids
            return True
        return line is self.old and self.step is Step.TRAILING and ack.of in (AckOf.SUBSCRIBE, AckOf.UNSUBSCRIBE)

    def _answered_by_new(self, ack: Ack) -> None:
        if any(refusal.code == RefusalCode.DRAINING for refusal in ack.refusals):
            assert self.new is not None  # noqa: S101 - it has answered
            self.new.end("it is also draining")
        elif ack.of is AckOf.SUBSCRIBE:
            self._asked.answer(ack)

    def ponged(self, line: Line, pong: Pong) -> None:
        self._has_read |= line is self.old and pong.token == _BARRIER_TOKEN

    # --- what the application does meanwhile -----------------------------------------------------------------------

    def asked(self, wanted: PendingSubscription) -> None:
        """Subscribe at the new router, too."""
        if self.new is not None and self.step in (Step.SUBSCRIBING, Step.SETTLING):
            self._overlap.mirror(wanted)
            self._mover.registry.ask_at(self.new, [wanted], self._asked)
            self._move(Event.ASKED)

    def ended(self, ids: Sequence[int]) -> None:
        """Unsubscribe at the new router, too."""
        if self.new is not None and self.step in (Step.SUBSCRIBING, Step.SETTLING):
            self._asked.forget(ids)
            for some in id_batches(ids):
                self.new.send(Unsubscribe(self._mover.registry.next_request(), some))

    # --- steps ---------------------------------------------------------------------------------------------------

    def _move(self, event: Event) -> None:
        self.step = STEPS[self.step, event]

    def let_in(self) -> None:
        """Subscribe at the new router to all subscriptions of the client."""
        assert self.new is not None  # noqa: S101 - it has admitted this client
        self._move(Event.LET_IN)
        wanted = self._mover.registry.all()
        for each in wanted:
            self._overlap.mirror(each)
        self._mover.registry.ask_at(self.new, wanted, self._asked)

    def look(self, now: float) -> None:
        """Take the steps that are due."""
        if self.step is Step.SUBSCRIBING and not self._asked.due:
            self._move(Event.ANSWERED)
            self._settled_at = now + (ON_ITS_WAY_S if self._mover.registry.all() else 0.0)
            self._is_marked = False
        if self.step is Step.SETTLING and self._has_caught_up(now):
            self._take_over(now)
        if self.step is Step.LEAVING and not self._old_due:
            self._move(Event.SILENT)
            self._overlap.release()
        if self.step is Step.TRAILING:
            self._finish(now)

    def _has_caught_up(self, now: float) -> bool:
        assert self._settled_at is not None  # noqa: S101 - set at the start of the step
        if now < self._settled_at or self._mover.registry.awaits_answer:
            return False
        if not self._is_marked:
            self._is_marked = True
            self._overlap.mark()
        return self._overlap.is_caught_up or now >= self._settled_at + CATCH_UP_S

    def _take_over(self, now: float) -> None:
        """Make the new router the current one, and unsubscribe at the old one."""
        registry = self._mover.registry
        ids = [id_ for wanted in registry.all() for id_ in wanted.ids]
        self._move(Event.CAUGHT_UP)
        self._old_due = set(ids)
        for some in id_batches(ids):
            self.old.send(Unsubscribe(registry.next_request(), some))
        self._mover.outbox.pause()
        self.old.send(Ping(_BARRIER_TOKEN))
        self._change(now, is_cut=False)

    def _change(self, now: float, *, is_cut: bool) -> None:
        assert self.new is not None  # noqa: S101 - the steps before it say so
        self._own_until = now + ON_ITS_WAY_S
        self._mover.moved(self.new)
        self._mover.registry.move(self.new, self._asked, is_cut=is_cut)

    def _finish(self, now: float) -> None:
        outbox, old = self._mover.outbox, self.old
        if old.outbox is not None and ((self._has_read and not outbox.unanswered) or old.is_closed):
            self._publish_elsewhere()
        if old.outbox is None and not old.is_closed and not old.wants_close and self._mover.may_leave(old):
            old.send(Drain(0, ""))
            old.end("the client has moved")
        if old.is_closed and now >= self._own_until:
            self._over(Event.DONE)

    def _publish_elsewhere(self) -> None:
        new, outbox = self.new, self._mover.outbox
        assert new is not None  # noqa: S101 - the steps before it say so
        self.old.leave_outbox()
        new.publish_for(outbox)
        outbox.opened(new.frame_bytes_max, new.newest, flags=new.flags, router=new.router)
        outbox.grant(new.credit)

    # --- what goes wrong -----------------------------------------------------------------------------------------

    def cut(self, line: Line, reason: str, now: float) -> None:
        """Record that one of the two connections has ended."""
        if line is self.new:
            self._new_cut()
        elif self.step is Step.DIALLING:
            if self.new is not None:
                self.new.end("the client reconnects")
            self._over(Event.OLD_CUT)
        else:
            self._old_cut(reason, now)

    def _new_cut(self) -> None:
        self._is_dialled = False
        self.new = None if self.step in BEFORE else self.new
        if self.step in BEFORE:
            self._overlap.drop()
            self._asked = AskedElsewhere()
            self._move(Event.NEW_CUT)
        else:
            self._overlap.release()
            if self.old.outbox is not None:
                self.old.leave_outbox()
            self.old.end("the client has moved")
            self._over(Event.NEW_CUT)

    def _old_cut(self, reason: str, now: float) -> None:
        """Continue with the new router alone. A Gap stands for the messages that the old one had not delivered."""
        is_new_ours = self.step not in BEFORE
        if self.old.outbox is not None:
            self._mover.outbox.cut(f"the connection was cut ({reason})")
        if not is_new_ours:
            self._change(now, is_cut=True)
        elif self._old_due:
            self._mover.registry.expect_gaps(self._old_due)
        self._old_due = set()
        self._move(Event.OLD_CUT)
        self._overlap.release()
        self.look(now)

    def give_up(self) -> None:
        """End the handover: the line that is not to the current router closes."""
        unneeded = self.new if self.step in BEFORE else self.old
        if unneeded is not None:
            unneeded.end("the client is closed")
        if self.step not in BEFORE:
            self._overlap.release()
            if self.old.outbox is not None:
                self._mover.outbox.cut("the client is closed")
                self._publish_elsewhere()
        self._over(Event.GIVEN_UP)

    def _over(self, event: Event) -> None:
        self._move(event)
        self._mover.registry.elsewhere = None
