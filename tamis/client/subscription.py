"""A subscription for asyncio: `async for message in subscription`.

Law: iterating suspends only when there is nothing to yield, or after BURST messages, which lets the loop run; several
iterators share what arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox
from tamis.client.messages.pending import (
    DecidedPredicate,
    PackedPredicate,
    PendingSubscription,
    SubscribeOptions,
    check_kind,
    described,
    packing,
)
from tamis.client.messages.waiter import Waiter, fresh
from tamis.client.shells.arrivals import BURST, Arrivals
from tamis.client.shells.pump import Pump
from tamis.protocol.filters import Predicate


class Subscription(Arrivals[Message | Gap]):
    """A subscription, made by `Client.subscribe`; active from `async with`, or from `await subscription.start()` (or
    `await subscription`), to `unsubscribe()` or the end of `async with`."""

    def __init__(
        self, pump: Pump, predicates: tuple[str | Predicate | DecidedPredicate, ...], options: SubscribeOptions
    ) -> None:
        for predicate in predicates:
            check_kind(predicate)
        self._pump = pump
        self._predicates = predicates
        self._options = options
        self._wanted: PendingSubscription | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The id of each predicate, in the order in which they were given; `Message.matched` holds such ids."""
        return self._started.ids

    @property
    def narrowed(self) -> Mapping[int, str | None]:
        """The predicate in force, by id, of each predicate of which the rules of access let through a part only; None
        if it is too long to be told. As of the last connection: a change of the rules is not told."""
        return self._started.narrowed

    async def start(self) -> Self:
        """Subscribe; return when the router has the subscription. SubscriptionRefused if the router refuses it."""
        if self._wanted is None:
            packed = await self._pump.packed(packing(self._predicates, self._options))
            if self._wanted is None:
                await self._pump.ask(partial(self._begin, packed), self._undo)
        return self

    def __await__(self) -> Generator[None, None, Self]:
        return self.start().__await__()

    def __repr__(self) -> str:
        return f"<tamis.Subscription {described(self._predicates, self._wanted)}>"

    async def unsubscribe(self) -> None:
        """End the subscription. From the call on nothing is yielded; on return the router sends nothing more for it."""
        if self._wanted is None:
            return
        wanted = self._wanted
        await self._pump.ask(lambda waiter: self._pump.core.registry.end(wanted, waiter))

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.unsubscribe()

    async def receive(self, timeout_s: float | None = None) -> Message | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        subscription has ended."""
        item = await self._next(timeout_s)
        if item is None:
            raise ClientClosed("the subscription has ended")
        return item

    async def __aiter__(self) -> AsyncIterator[Message | Gap]:  # asyncio only
        """Yield as `__anext__` does. The steps of `Inbox.take` are repeated here, since this loop runs for every
        message."""
        inbox = self._started.inbox
        items = inbox.items
        while True:
            for _ in range(BURST):
                if not items:
                    break
                item = items.popleft()
                inbox.bytes -= item.frame_bytes
                if inbox.is_full and inbox.relieve():
                    self._pump.regulate()
                yield item
            else:
                await asyncio.sleep(0)
            if items:
                continue
            if not inbox.is_ended:
                await self._arrival(inbox)
            elif inbox.error is not None:
                raise fresh(inbox.error)
            else:
                return

    async def _ready(self) -> Inbox:
        return (self._wanted or self._started).inbox

    def _take(self) -> Message | Gap | None:
        inbox = (self._wanted or self._started).inbox
        if not inbox.items:
            return None
        was_full = inbox.is_full
        item = inbox.take()
        if was_full and not inbox.is_full:
            self._pump.regulate()
        return item

    def _begin(self, packed: list[PackedPredicate], waiter: Waiter) -> PendingSubscription:
        self._wanted = self._pump.core.subscribe(packed, self._options, waiter)
        return self._wanted

    def _undo(self, wanted: PendingSubscription) -> None:
        if wanted.inbox.error is None:  # the router has not refused it: the caller gave up
            self._pump.core.registry.end(wanted, None)

    @property
    def _started(self) -> PendingSubscription:
        if self._wanted is None:
            raise RuntimeError("subscribe first: `async with client.subscribe(...) as messages:`")
        return self._wanted
