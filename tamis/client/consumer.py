"""A consumer of a durable subscription, for asyncio: `async for message in work`, `message.ack()`.

Law: iterating suspends only when there is nothing to yield, or after BURST messages; several iterators share what
arrives. An acknowledgement is sent at the end of the loop's turn; only `await`ing it waits for an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from types import TracebackType
from typing import Self

from tamis.client.durable.consumer_state import ConsumeOptions, ConsumerState
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import Waiter, fresh
from tamis.client.old_names import OldConsumer
from tamis.client.shells.acknowledging import Acknowledged, Acknowledging, Confirmation
from tamis.client.shells.arrivals import BURST, Arrivals
from tamis.client.shells.pump import Pump
from tamis.protocol.amounts import Duration, count_of, short_milliseconds_of
from tamis.protocol.wire.client_bodies import AckVerdict


class StoredMessage(Acknowledged):
    """A message of a durable subscription. Settle it by `ack`, `nack` or `reject`: `message.ack()` returns at once,
    `await message.ack()` waits for the router's disk."""

    __slots__ = ()

    def nack(self, *, delay_s: Duration | None = None, reason: str = "") -> Confirmation:
        """Have the message delivered again: after `delay_s`, or after the pause that the policy sets. It counts as a
        failed attempt."""
        delay_ms = 0 if delay_s is None else short_milliseconds_of("delay_s", delay_s)
        return self._say(AckVerdict.AGAIN, delay_ms, reason)

    def extend(self) -> Confirmation:
        """Report that the work continues: the acknowledgement timeout of the message starts again."""
        return self._say(AckVerdict.EXTEND)

    def reject(self, reason: str = "") -> Confirmation:
        """Report that the message cannot be processed: it becomes a dead letter, or is counted as lost where the policy
        names no durable subscription for dead letters."""
        return self._say(AckVerdict.REJECT, 0, reason)


class Consumer(OldConsumer, Acknowledging, Arrivals[StoredMessage | Gap]):
    """A consumer of a durable subscription, made by `Client.consume`, or a replay, made by `Client.replay`; active from
    `async with`, from `await work.start()` (or `await work`) or from the first step of `async for`, to `cancel()` or
    the end of `async with`."""

    def __init__(self, pump: Pump, options: ConsumeOptions) -> None:
        self._pump = pump
        self._options = options
        self._consumer: ConsumerState | None = None

    async def start(self) -> Self:
        """Attach; return when the router has answered. DurableRefused if the router refuses."""
        if self._consumer is None:
            await self._pump.ask(self._begin, self._undo)
        return self

    async def cancel(self) -> None:
        """Cancel the consumer. From the call on nothing is yielded; messages that were not acknowledged go to other
        consumers."""
        consumer = self._consumer
        if consumer is not None:
            await self._pump.ask(lambda waiter: self._pump.core.durables.cancel(consumer, waiter))

    async def fetch(self, most: int, timeout_s: float | None = None) -> list[StoredMessage | Gap]:
        """Return the next `most` messages and Gaps, but at most `credit`, when that many have arrived; after
        `timeout_s`, return those that have, which may be none. ClientClosed when the consumer was cancelled and nothing
        is left."""
        count_of("most", most)
        inbox = await self._ready()
        enough = min(most, self._options.credit)
        if len(inbox.items) < enough:
            self._pump.tell(lambda: self._pump.core.durables.wants_all(self._started))
        items = await self._next_of(enough, timeout_s)
        if not items and inbox.is_ended:
            raise ClientClosed("the consumer was cancelled") if inbox.error is None else fresh(inbox.error)
        return items

    async def receive(self, timeout_s: float | None = None) -> StoredMessage | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        consumer has ended."""
        item = await self._next(timeout_s)
        if item is None:
            raise ClientClosed("the consumer was cancelled")
        return item

    @property
    def hidden(self) -> int:
        """How many messages arrived again and were not yielded, since the application has received them before."""
        return self._consumer.hidden if self._consumer is not None else 0

    def __await__(self) -> Generator[None, None, Self]:
        return self.start().__await__()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.cancel()

    async def __aiter__(self) -> AsyncIterator[StoredMessage | Gap]:  # asyncio only
        await self.start()
        consumer = self._started
        inbox, take = consumer.inbox, consumer.take
        while True:
            for _ in range(BURST):
                item = take()
                if consumer.owes_word:
                    self._give_word(consumer)
                if item is None:
                    break
                yield item
            else:
                await asyncio.sleep(0)
                continue
            if not inbox.is_ended:
                await self._arrival(inbox)
            elif inbox.error is not None:
                raise fresh(inbox.error)
            else:
                return

    def __repr__(self) -> str:
        what = repr(self._started.name) if self._consumer is not None else "not started"
        return f"<tamis.Consumer {what}>"

    async def _ready(self) -> Inbox:
        return (self._consumer or (await self.start())._started).inbox

    def _take(self) -> StoredMessage | Gap | None:
        consumer = self._consumer
        if consumer is None:
            return None
        was_full = consumer.inbox.is_full
        item: StoredMessage | Gap | None = consumer.take()
        if consumer.owes_word:
            self._give_word(consumer)
        elif was_full and not consumer.inbox.is_full:
            self._pump.regulate()
        return item

    def _give_word(self, consumer: ConsumerState) -> None:
        self._pump.core.durables.took(consumer)
        self._pump.written()

    async def _arrival(self, inbox: Inbox) -> None:  # asyncio only
        self._pump.regulate()
        await super()._arrival(inbox)

    def _begin(self, waiter: Waiter) -> ConsumerState:
        core = self._pump.core.while_open
        self._consumer = core.durables.consume(self._options, StoredMessage, self, waiter)
        return self._consumer

    def _undo(self, consumer: ConsumerState) -> None:
        if consumer.inbox.error is None:  # the router has not refused it: the caller gave up
            self._pump.core.durables.cancel(consumer, None)

    @property
    def _started(self) -> ConsumerState:
        if self._consumer is None:
            raise RuntimeError("consume first: `async with client.consume(...) as work:`")
        return self._consumer
