"""Generated from tamis/client/attachment.py by `python -m tests.client.generate`; do not edit."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from tamis.client.durable.attached import Attached, AttachOptions
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import Waiter, fresh
from tamis.client.shells.blocking_acknowledging import BlockingAcknowledged, BlockingAcknowledging
from tamis.client.shells.blocking_arrivals import BlockingArrivals
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.protocol.amounts import Duration, count_of, short_milliseconds_of
from tamis.protocol.wire.client_bodies import AckVerdict


class KeptMessage(BlockingAcknowledged):
    """A message of a durable subscription. Settle it by `ack`, `nack` or `reject`: `message.ack()` returns at once,
    `message.ack(confirm=True)` waits for the router's disk."""

    __slots__ = ()

    def nack(self, *, delay_s: Duration | None = None, reason: str = "") -> None:
        """Have the message delivered again: after `delay_s`, or after the pause that the policy sets. It counts as a
        failed attempt."""
        delay_ms = 0 if delay_s is None else short_milliseconds_of("delay_s", delay_s)
        return self._say(AckVerdict.AGAIN, delay_ms, reason)

    def extend(self) -> None:
        """Report that the work continues: the acknowledgement timeout of the message starts again."""
        return self._say(AckVerdict.EXTEND)

    def reject(self, reason: str = "") -> None:
        """Report that the message cannot be processed: it becomes a dead letter, or is counted as lost where the policy
        names no durable subscription for dead letters."""
        return self._say(AckVerdict.REJECT, 0, reason)


class Attachment(BlockingAcknowledging, BlockingArrivals[KeptMessage | Gap]):
    """A consumer of a durable subscription, made by `Client.attach`, or a replay, made by `Client.replay`; active from
    `with`, from `work.start()` or from the first step of `for`, to `detach()` or the end of `with`."""

    def __init__(self, pump: BlockingPump, options: AttachOptions) -> None:
        self._pump = pump
        self._options = options
        self._attached: Attached | None = None

    def start(self) -> Self:
        """Attach; return when the router has answered. KeepRefused if the router refuses."""
        if self._attached is None:
            self._pump.ask(self._begin, self._undo)
        return self

    def detach(self) -> None:
        """End the attachment. From the call on nothing is yielded; messages that were not acknowledged go to other
        consumers."""
        attached = self._attached
        if attached is not None:
            self._pump.ask(lambda waiter: self._pump.core.kept.detach(attached, waiter))

    def fetch(self, most: int, timeout_s: float | None = None) -> list[KeptMessage | Gap]:
        """Return the next `most` messages and Gaps, but at most `credit`, when that many have arrived; after
        `timeout_s`, return those that have, which may be none. ClientClosed when the attachment has ended and nothing
        is left."""
        count_of("most", most)
        inbox = self._ready()
        enough = min(most, self._options.credit)
        if len(inbox.items) < enough:
            self._pump.tell(lambda: self._pump.core.kept.wants_all(self._started))
        items = self._next_of(enough, timeout_s)
        if not items and inbox.is_ended:
            raise ClientClosed("the attachment has ended") if inbox.error is None else fresh(inbox.error)
        return items

    def receive(self, timeout_s: float | None = None) -> KeptMessage | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        attachment has ended."""
        item = self._next(timeout_s)
        if item is None:
            raise ClientClosed("the attachment has ended")
        return item

    @property
    def hidden(self) -> int:
        """How many messages arrived again and were not yielded, since the application has received them before."""
        return self._attached.hidden if self._attached is not None else 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.detach()

    def __repr__(self) -> str:
        what = repr(self._started.name) if self._attached is not None else "not started"
        return f"<tamis.blocking.Attachment {what}>"

    def _ready(self) -> Inbox:
        return (self._attached or self.start()._started).inbox

    def _take(self) -> KeptMessage | Gap | None:
        attached = self._attached
        if attached is None:
            return None
        was_full = attached.inbox.is_full
        item: KeptMessage | Gap | None = attached.take()
        if attached.owes_word:
            self._give_word(attached)
        elif was_full and (not attached.inbox.is_full):
            self._pump.regulate()
        return item

    def _give_word(self, attached: Attached) -> None:
        self._pump.core.kept.took(attached)
        self._pump.written()

    def _begin(self, waiter: Waiter) -> Attached:
        core = self._pump.core.while_open
        self._attached = core.kept.attach(self._options, KeptMessage, self, waiter)
        return self._attached

    def _undo(self, attached: Attached) -> None:
        if attached.inbox.error is None:
            self._pump.core.kept.detach(attached, None)

    @property
    def _started(self) -> Attached:
        if self._attached is None:
            raise RuntimeError("attach first: `with client.attach(...) as work:`")
        return self._attached
