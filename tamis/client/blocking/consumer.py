"""Generated from tamis/client/consumer.py by `python -m tests.client.generate`; do not edit."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from tamis.client.durable.consumer_state import ConsumeOptions, ConsumerState
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import Waiter, fresh
from tamis.client.old_names import OldConsumer
from tamis.client.shells.blocking_acknowledging import BlockingAcknowledged, BlockingAcknowledging
from tamis.client.shells.blocking_arrivals import BlockingArrivals
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.protocol.amounts import Duration, count_of, short_milliseconds_of
from tamis.protocol.wire.client_bodies import AckVerdict


class StoredMessage(BlockingAcknowledged):
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


class Consumer(OldConsumer, BlockingAcknowledging, BlockingArrivals[StoredMessage | Gap]):
    """A consumer of a durable subscription, made by `Client.consume`, or a replay, made by `Client.replay`; active from
    `with`, from `work.start()` or from the first step of `for`, to `cancel()` or the end of `with`."""

    def __init__(self, pump: BlockingPump, options: ConsumeOptions) -> None:
        self._pump = pump
        self._options = options
        self._consumer: ConsumerState | None = None

    def start(self) -> Self:
        """Attach; return when the router has answered. DurableRefused if the router refuses."""
        if self._consumer is None:
            self._pump.ask(self._begin, self._undo)
        return self

    def cancel(self) -> None:
        """Cancel the consumer. From the call on nothing is yielded; messages that were not acknowledged go to other
        consumers."""
        consumer = self._consumer
        if consumer is not None:
            self._pump.ask(lambda waiter: self._pump.core.durables.cancel(consumer, waiter))

    def fetch(self, most: int, timeout_s: float | None = None) -> list[StoredMessage | Gap]:
        """Return the next `most` messages and Gaps, but at most `credit`, when that many have arrived; after
        `timeout_s`, return those that have, which may be none. ClientClosed when the consumer was cancelled and nothing
        is left."""
        count_of("most", most)
        inbox = self._ready()
        enough = min(most, self._options.credit)
        if len(inbox.items) < enough:
            self._pump.tell(lambda: self._pump.core.durables.wants_all(self._started))
        items = self._next_of(enough, timeout_s)
        if not items and inbox.is_ended:
            raise ClientClosed("the consumer was cancelled") if inbox.error is None else fresh(inbox.error)
        return items

    def receive(self, timeout_s: float | None = None) -> StoredMessage | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        consumer has ended."""
        item = self._next(timeout_s)
        if item is None:
            raise ClientClosed("the consumer was cancelled")
        return item

    @property
    def hidden(self) -> int:
        """How many messages arrived again and were not yielded, since the application has received them before."""
        return self._consumer.hidden if self._consumer is not None else 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.cancel()

    def __repr__(self) -> str:
        what = repr(self._started.name) if self._consumer is not None else "not started"
        return f"<tamis.blocking.Consumer {what}>"

    def _ready(self) -> Inbox:
        return (self._consumer or self.start()._started).inbox

    def _take(self) -> StoredMessage | Gap | None:
        consumer = self._consumer
        if consumer is None:
            return None
        was_full = consumer.inbox.is_full
        item: StoredMessage | Gap | None = consumer.take()
        if consumer.owes_word:
            self._give_word(consumer)
        elif was_full and (not consumer.inbox.is_full):
            self._pump.regulate()
        return item

    def _give_word(self, consumer: ConsumerState) -> None:
        self._pump.core.durables.took(consumer)
        self._pump.written()

    def _begin(self, waiter: Waiter) -> ConsumerState:
        core = self._pump.core.while_open
        self._consumer = core.durables.consume(self._options, StoredMessage, self, waiter)
        return self._consumer

    def _undo(self, consumer: ConsumerState) -> None:
        if consumer.inbox.error is None:
            self._pump.core.durables.cancel(consumer, None)

    @property
    def _started(self) -> ConsumerState:
        if self._consumer is None:
            raise RuntimeError("consume first: `with client.consume(...) as work:`")
        return self._consumer
