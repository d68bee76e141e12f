"""The messages that a subscription has received and its iterator has not taken yet.

    0 ........ half ........ bound ........ twice the bound
    reading     resumes      stops          shut: further messages are dropped, and counted by a Gap

Law: the bounds hold for each inbox, in bytes and in messages, and are checked between two reads from the socket: one
read may exceed them. At the bound the client stops reading from its router, whose policy for slow consumers then
applies. While a call waits for an answer, the client keeps reading, since the answer follows the messages; the room
above the bound is for these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.messages.waiter import Waiter, settle


@dataclass(frozen=True, slots=True)
class InboxBounds:
    bytes_max: int
    messages_max: int


class Inbox:
    """The inbox of one subscription. The fastest loops of iterators also change `items` and `bytes`; see
    `Subscription.__aiter__`."""

    __slots__ = (
        "_bytes_max",
        "_full",
        "_messages_max",
        "_tell",
        "bytes",
        "error",
        "is_ended",
        "is_full",
        "is_shut",
        "items",
        "waiters",
    )

    def __init__(self, bounds: InboxBounds, full: set[Inbox], tell: Callable[[Gap], object]) -> None:
        """`full` is the client's set of inboxes at their bound, which this inbox enters and leaves; `tell` is called
        with each Gap that this inbox makes."""
        self.items: deque[Message | Gap] = deque()
        self.bytes = 0
        self.is_full = False
        self.is_shut = False
        self.is_ended = False
        self.error: Exception | None = None
        self.waiters: list[Waiter] = []
        self._bytes_max = bounds.bytes_max
        self._messages_max = bounds.messages_max
        self._full = full
        self._tell = tell

    def put(self, message: Message) -> None:
        if self.is_shut:
            self._drop(message)
            return
        self._add((message,), message.frame_bytes)

    def put_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> None:  # noqa: ARG002
        """Put messages from many frames, each for the one subscription in `ids`; `positions` are for durable
        subscriptions."""
        messages = [Message(frame, (id_,)) for frame, id_ in zip(frames, ids, strict=True)]
        if self.is_shut:
            for message in messages:
                self._drop(message)
            return
        self._add(messages, sum(map(len, frames)))

    def put_gap(self, gap: Gap) -> None:
        self.items.append(gap)
        self._wake()

    def take(self) -> Message | Gap:
        """Remove and return the oldest item; IndexError if there is none."""
        item = self.items.popleft()
        self.bytes -= item.frame_bytes
        if self.is_full:
            self.relieve()
        return item

    def relieve(self) -> bool:
        """Record that an item was taken from a full inbox. Return whether the inbox is below half its bound, and so no
        longer full."""
        if self._is_past(0.5):
            return False
        self.is_full = self.is_shut = False
        self._full.discard(self)
        return True

    def shut_if_past(self) -> None:
        """Drop messages from here on if the inbox is past twice its bound: the client is about to read although the
        inbox is full."""
        self.is_shut = self._is_past(2)

    def end(self, error: Exception | None = None) -> None:
        """End the inbox: iterators end, or raise `error`, after they have taken the remaining items."""
        self.is_ended = True
        self.error = self.error or error
        self._wake()

    def clear(self) -> None:
        self.items.clear()
        self.bytes = 0
        self.relieve()

    def _add(self, messages: Iterable[Message], octets: int) -> None:
        self.items.extend(messages)
        self.bytes += octets
        if self._is_past(1):
            self.is_full = True
            self._full.add(self)
        if self.waiters:
            self._wake()

    def _is_past(self, times: float) -> bool:
        return self.bytes >= times * self._bytes_max or len(self.items) >= times * self._messages_max

    def _drop(self, message: Message) -> None:
        last = self.items[-1]
        if not isinstance(last, Gap) or last.reason is not GapReason.INBOX_FULL:
            last = Gap(GapReason.INBOX_FULL, 0, 0)
            self.items.append(last)
            self._tell(last)
        last.count = (last.count or 0) + 1
        last.bytes = (last.bytes or 0) + message.frame_bytes

    def _wake(self) -> None:
        for waiter in self.waiters:
            settle(waiter)
        self.waiters.clear()


class PassingBox(Inbox):
    """An inbox that passes each message to `put` and stores none. `ended` is called at its end, with the error if there
    is one."""

    __slots__ = ("_ended", "_put")

    def __init__(
        self,
        bounds: InboxBounds,
        full: set[Inbox],
        put: Callable[[Message], None],
        ended: Callable[[Exception | None], object] = lambda _: None,
    ) -> None:
        super().__init__(bounds, full, lambda _: None)
        self._put = put
        self._ended = ended

    def put(self, message: Message) -> None:
        self._put(message)

    def put_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> None:  # noqa: ARG002
        for frame, id_ in zip(frames, ids, strict=True):
            self._put(Message(frame, (id_,)))

    def put_gap(self, gap: Gap) -> None:
        """Ignore the gap: the call that waits for the missing message times out."""

    def end(self, error: Exception | None = None) -> None:
        super().end(error)
        self._ended(error)
