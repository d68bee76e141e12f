"""Outgoing data: frames for the socket, messages held for lack of credit or room, messages without an answer.

    publish ---> held ---> output ---> the socket          a message passes when there is credit and room, in order
                             `------> unanswered ---> settled by an ACK; by a cut: unknown, or held again (RETRY)

Law: messages are sent in the order in which they were published, and the totals of CREDIT are never exceeded. A counter
is used for one message only; a message that was not sent yet is counted above all counters that the router knows of
this publisher. A refusal of a second attempt tells nothing about the first, except LOG_FULL and NOT_HELD, which state
that not all matching durable subscriptions have stored the message. Control frames are never held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tamis.client.errors import PublishRefused, PublishUnknown, explain_refusal
from tamis.client.messages.published import NEVER
from tamis.client.messages.waiter import Waiter, fresh, settle
from tamis.client.receipt import Receipt
from tamis.protocol.errors import Refused
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX, FRAME_BYTES_MAX
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Ack, Credit, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType
from tamis.protocol.wire.frames import Body, encode
from tamis.protocol.wire.header import (
    CONFIRM,
    DURABLE,
    EVERY_HOME,
    FLAGS_OFFSET,
    ID_OFFSET,
    KIND_OFFSET,
    RETRY,
    TIME_OFFSET,
)
from tamis.protocol.wire.kinds import FrameKind

OUTPUT_BYTES_MAX: Final = 262_144
"""The size of the output at which messages are held."""
_COUNTER: Final = slice(ID_OFFSET + 8, TIME_OFFSET)
NOT_STORED: Final = "this router stores no messages: it is of an earlier version"
NOT_HELD: Final = "this router does not know what other routers store: it is of an earlier version"
_LACKING: Final = {DURABLE: NOT_STORED, EVERY_HOME: NOT_HELD}
"""Why a message with a flag that the router does not support is refused."""
_TELLING: Final = (RefusalCode.LOG_FULL, RefusalCode.NOT_HELD)
"""Refusals that also tell of a first attempt: not all that store the message have it."""
NEWEST_MAX: Final = 2**63
"""A counter above any clock in nanoseconds: a higher one from a router is ignored."""


@dataclass(slots=True)
class Unconfirmed:
    """A message on its way. Without `confirm` its waiter is settled when the message enters the output; its id is final
    from then on."""

    id: MessageId
    frame: bytes
    waiter: Waiter
    confirm: bool
    retry: bool
    is_stored: bool | None = None
    """The router's report, as in `Receipt`."""
    router: str = ""
    """The router that the message was sent to last; empty if this process has sent it to none."""
    was_elsewhere: bool = False
    """Whether another router may have accepted the message."""

    @property
    def flags(self) -> int:
        return self.frame[FLAGS_OFFSET]

    @property
    def is_second_attempt(self) -> bool:
        return bool(self.flags & RETRY)

    def make_second_attempt(self) -> None:
        frame = bytearray(self.frame)
        frame[FLAGS_OFFSET] |= RETRY
        self.frame = bytes(frame)

    def renumber(self, counter: int) -> None:
        frame = bytearray(self.frame)
        frame[_COUNTER] = counter.to_bytes(8, "little")
        self.id, self.frame = MessageId(self.id.origin, counter), bytes(frame)


class Outbox:
    def __init__(self, origin: int, first_counter: int) -> None:
        self.output = bytearray()
        self.held: deque[Unconfirmed] = deque()
        self.unanswered: dict[int, Unconfirmed] = {}
        self._origin = origin
        self._counter = first_counter
        self._closed: Exception | None = None
        self._is_open = False
        self._flags = 0
        self._router = ""
        self._frame_bytes_max = FRAME_BYTES_MAX
        self._message_bytes_max = DELIVERABLE_BYTES_MAX
        self._frames_left = self._bytes_left = 0
        self._granted = Credit(0, 0)

    # --- commands of the user ------------------------------------------------------------------------------------

    def try_publish(self, attributes: Mapping[str, Value], payload: bytes, time_ns: int) -> Receipt | None:
        """Append a message to the output and return its id; None if credit or room do not allow it now. An unconfirmed
        publish costs nothing else."""
        output = self.output
        if self._frames_left <= 0 or self.held or len(output) >= OUTPUT_BYTES_MAX or self._closed is not None:
            return None
        counter = self._counter
        frame = encode_publish(self._origin, counter, time_ns, attributes, payload)
        size = len(frame)
        bytes_left = self._bytes_left - size
        if bytes_left < 0 or size > self._message_bytes_max:
            self._check_size(size)
            return None
        self._counter = counter + 1
        self._frames_left -= 1
        self._bytes_left = bytes_left
        output += frame
        return tuple.__new__(Receipt, (self._origin, counter))  # in a third of the time of Receipt(...)

    def publish(
        self,
        attributes: Mapping[str, Value],
        payload: bytes,
        time_ns: int,
        waiter: Waiter,
        *,
        confirm: bool,
        retry: bool,
        durable: bool = False,
        every_home: bool = False,
        expires_ns: int = NEVER,
        tell_unwanted: bool = False,
    ) -> Unconfirmed:
        """Hold or send a message; settle `waiter` when it is in the output or, with `confirm`, when the router has
        answered; with `durable`, the router answers when the message is on disk, and with `every_home` when it is on
        the disk of each router that stores it. The message has its final id then.
        Routers drop the message after `expires_ns`, in Unix time. With `tell_unwanted` the router refuses it (UNWANTED)
        if nothing subscribes to it."""
        self.check_open()
        flags = (CONFIRM if confirm else 0) | (DURABLE if durable else 0) | (EVERY_HOME if every_home else 0)
        extensions: Extensions = {ExtensionType.EXPIRY: expires_ns} if expires_ns != NEVER else NO_EXTENSIONS
        if tell_unwanted:
            extensions = {**extensions, ExtensionType.TELL_UNWANTED: b""}
        frame = encode_publish(self._origin, self._counter, time_ns, attributes, payload, flags, extensions)
        message = Unconfirmed(MessageId(self._origin, self._counter), frame, waiter, confirm, retry)
        self._hold(message)
        return message

    @property
    def next_id(self) -> MessageId:
        """The id of the next message."""
        return MessageId(self._origin, self._counter)

    def publish_frame(self, frame: bytes, waiter: Waiter, *, retry: bool) -> Unconfirmed:
        """Hold or send a PUBLISH frame, made with `next_id` elsewhere; otherwise as `publish`."""
        self.check_open()
        message = Unconfirmed(self.next_id, frame, waiter, bool(frame[FLAGS_OFFSET] & CONFIRM), retry)
        self._hold(message)
        return message

    def window(self) -> Credit:
        """Return how many messages, and bytes of them, made elsewhere from `next_id` on may be sent now."""
        if self.held or self._closed is not None or len(self.output) >= OUTPUT_BYTES_MAX:
            return Credit(0, 0)
        return Credit(max(self._frames_left, 0), max(self._bytes_left, 0))

    def send_made(self, frames: bytes, count: int) -> None:
        """Send `count` PUBLISH frames, numbered from `next_id` on, that are within the window. The caller counts the
        answers."""
        self._counter += count
        self._frames_left -= count
        self._bytes_left -= len(frames)
        self.output += frames

    def publish_again(self, refused: PublishRefused, waiter: Waiter) -> Unconfirmed:
        """Send a refused message again under its id; settle `waiter` when the router has answered."""
        self.check_open()
        if refused.id is None:
            raise Refused("the message was never sent, so it cannot be sent again: publish it")
        message = Unconfirmed(refused.id, refused.frame, waiter, confirm=True, retry=refused.retry)
        message.make_second_attempt()
        self._hold_refused(message)
        return message

    def follow(
        self,
        attributes: Mapping[str, Value],
        payload: bytes,
        time_ns: int,
        trace: int,
        waiter: Waiter,
        *,
        is_dry: bool,
    ) -> int:
        """Publish a message that routers report on, or a dry run of it, and return its counter; settle `waiter` as
        `publish` does, with `confirm` unless it is a dry run."""
        self.check_open()
        id_, flags = MessageId(self._origin, self._counter), 0 if is_dry else CONFIRM
        frame = bytearray(encode_publish(*id_, time_ns, attributes, payload, flags, {ExtensionType.TRACE: trace}))
        if is_dry:
            frame[KIND_OFFSET] = FrameKind.DRY_RUN
        self._hold(Unconfirmed(id_, bytes(frame), waiter, confirm=not is_dry, retry=False))
        return id_.counter

    def send(self, body: Body) -> None:
        self.output += encode(body, self._frame_bytes_max)

    def check_open(self) -> None:
        if self._closed is not None:
            raise fresh(self._closed)

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(
        self, frame_bytes_max: int, newest: int = 0, *, flags: int = DURABLE | EVERY_HOME, router: str = ""
    ) -> None:
        """Record that a new connection to `router` is open, with no credit yet. `newest` is the highest counter that
        the router knows of this publisher; `flags`: those of DURABLE and EVERY_HOME that it supports."""
        self._flags, self._router = flags, router
        self._count_above(newest)
        self._is_open = True
        self._frame_bytes_max = frame_bytes_max
        self._message_bytes_max = min(frame_bytes_max, DELIVERABLE_BYTES_MAX)
        self._granted = Credit(0, 0)
        self._frames_left = self._bytes_left = 0

    def grant(self, credit: Credit) -> None:
        """Increase the credit. A total below an earlier one is ignored."""
        frames = max(credit.frames_total, self._granted.frames_total)
        octets = max(credit.bytes_total, self._granted.bytes_total)
        if self._is_open:
            self._frames_left += frames - self._granted.frames_total
            self._bytes_left += octets - self._granted.bytes_total
        self._granted = Credit(frames, octets)
        self.pump()

    @property
    def awaits_credit(self) -> bool:
        """Whether a message is held for lack of credit rather than of room."""
        return bool(self.held) and len(self.output) < OUTPUT_BYTES_MAX

    def pause(self) -> None:
        """Send no new message on this connection, since the router drains."""
        self._is_open = False
        self._frames_left = self._bytes_left = 0

    def pump(self) -> None:
        """Move held messages into the output as far as credit and room allow."""
        held = self.held
        while held and self._may_pass(held[0]):
            message = held.popleft()
            if message.waiter.done():
                continue  # its caller gave up while it was held
            if len(message.frame) > self._message_bytes_max:
                settle(message.waiter, self._too_long(len(message.frame)))
                continue
            reason = next((why for flag, why in _LACKING.items() if message.flags & flag & ~self._flags), None)
            if reason is not None:
                settle(message.waiter, PublishRefused(Refusal(0, RefusalCode.NO_LOG, reason)))
                continue
            self.output += message.frame
            self._frames_left -= 1
            self._bytes_left -= len(message.frame)
            if message.confirm:
                message.was_elsewhere |= message.is_second_attempt and message.router != self._router
                message.router = self._router
                self.unanswered[message.id.counter] = message
            else:
                settle(message.waiter)

    def taken(self) -> bytearray:
        """Return the output, which the caller sends; messages held for lack of room move up."""
        output, self.output = self.output, bytearray()
        self.pump()
        return output

    def answer(self, ack: Ack) -> None:
        """Process the router's answer to confirmed messages; counters without a waiting message are ignored."""
        for counter in self._answered(ack.unstored):
            message = self.unanswered[counter]
            message.is_stored = None if message.was_elsewhere else False
        for counter in self._answered(ack.stored):
            self.unanswered[counter].is_stored = True
        for counter in list(self._answered(ack.ranges)):
            settle(self.unanswered.pop(counter).waiter)
        again: list[Unconfirmed] = []
        for refusal in ack.refusals:
            self._counter = max(self._counter, _after(refusal.newest))
            refused = self.unanswered.pop(refusal.number, None)
            if refused is None:
                continue
            if refused.retry and refusal.code == RefusalCode.DRAINING:
                again.append(refused)
            elif not refused.is_second_attempt or refusal.code in _TELLING:
                settle(refused.waiter, PublishRefused(refusal, refused.id, refused.frame, retry=refused.retry))
            elif refusal.code == RefusalCode.DUPLICATE:
                settle(refused.waiter)
            else:
                settle(refused.waiter, PublishUnknown(f"a second attempt was refused: {explain_refusal(refusal)}"))
        self._hold_again(again)

    def cut(self, reason: str) -> None:
        """Record that the connection has ended. The output is discarded; messages without an answer become unknown, or
        are held again to be retried."""
        self.pause()
        self.output = bytearray()
        unanswered, self.unanswered = self.unanswered, {}
        self._hold_again([message for message in unanswered.values() if message.retry])
        for message in unanswered.values():
            if not message.retry:
                settle(message.waiter, PublishUnknown(f"{reason}, before the router answered"))

    def close(self, error: Exception) -> None:
        """Accept no further message; held messages are still sent."""
        self._closed = error

    def drop(self, error: Exception) -> None:
        """Send nothing more; held messages fail."""
        self.close(error)
        self.cut("the client was closed")
        for message in self.held:
            unknown = PublishUnknown("the client was closed, before the router answered")
            settle(message.waiter, unknown if message.is_second_attempt else error)
        self.held.clear()

    # --- rules ---------------------------------------------------------------------------------------------------

    def _hold(self, message: Unconfirmed) -> None:
        self._check_size(len(message.frame))
        self.held.append(message)
        self._counter += 1
        self.pump()

    def _hold_refused(self, message: Unconfirmed) -> None:
        self.held.append(message)
        self.pump()

    def _count_above(self, newest: int) -> None:
        """Renumber messages that were never sent above `newest`, in order; a second attempt keeps its counter."""
        first = min(
            (message.id.counter for message in self.held if not message.is_second_attempt), default=self._counter
        )
        if first >= _after(newest):
            return
        counter = max(self._counter, _after(newest))
        for message in self.held:
            if not message.is_second_attempt:
                message.renumber(counter)
                counter += 1
        self._counter = counter

    def _may_pass(self, message: Unconfirmed) -> bool:
        size = len(message.frame)
        if self._is_open and (message.waiter.done() or size > self._message_bytes_max):
            return True
        return self._frames_left > 0 and size <= self._bytes_left and len(self.output) < OUTPUT_BYTES_MAX

    def _check_size(self, size: int) -> None:
        if size > self._message_bytes_max:
            raise self._too_long(size)

    def _too_long(self, size: int) -> Refused:
        if size > DELIVERABLE_BYTES_MAX:
            most = f"{DELIVERABLE_BYTES_MAX} bytes of frame"
            return Refused(f"a message can be delivered up to {most}, this one has {size}")
        return Refused(f"the router accepts frames of at most {self._frame_bytes_max} bytes, this one has {size}")

    def _hold_again(self, messages: list[Unconfirmed]) -> None:
        """Hold messages again, before all that were published later."""
        for message in reversed(messages):
            message.make_second_attempt()
            self.held.appendleft(message)

    def _answered(self, ranges: Iterable[Range]) -> Iterator[int]:
        """Yield the counters of unanswered messages in the ranges, in time bounded by the number of such messages."""
        for first, last in ranges:
            if last - first < len(self.unanswered):
                yield from (counter for counter in range(first, last + 1) if counter in self.unanswered)
            else:
                yield from (counter for counter in self.unanswered if first <= counter <= last)


def _after(newest: int) -> int:
    """Return the lowest counter that is accepted by a router which knows `newest`."""
    return newest + 1 if newest < NEWEST_MAX else 0
