"""A subscription as an application sees it: `async for message in subscription`.

Law: iterating suspends only when there is nothing to yield, or after BURST messages, so that the loop gets its turn;
several iterators share what arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from types import TracebackType
from typing import Final, Self

from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.waiter import fresh
from tamis.client.messages.wanted import (
    PREDICATES_A_TURN,
    PackedPredicate,
    SubscribeOptions,
    Wishes,
    check_kind,
    described,
    packing,
)
from tamis.client.shells.pump import Pump
from tamis.protocol.filters import Predicate

BURST: Final = 256


class Subscription:
    """A subscription, made by `Client.subscribe`; active from `async with`, from `await subscription` or from `await
    subscription.start()`, to `unsubscribe()` or the end of `async with`."""

    def __init__(self, pump: Pump, predicates: tuple[str | Predicate, ...], options: SubscribeOptions) -> None:
        for predicate in predicates:
            check_kind(predicate)
        self._pump = pump
        self._predicates = predicates
        self._options = options
        self._packing = asyncio.Lock()  # while predicates are packed; who starts it meanwhile waits
        self._wanted: Wishes | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The id of each predicate, in their order; `Message.matched` has these ids."""
        return self._started.ids

    async def start(self) -> Self:
        """Subscribe; return when the router has the subscription. SubscriptionRefused if it refuses."""
        async with self._packing:
            if self._wanted is not None:
                return self
            packed: list[PackedPredicate] = []
            for predicate in packing(self._predicates, self._options):
                packed.append(predicate)
                if len(packed) % PREDICATES_A_TURN == 0:
                    await asyncio.sleep(0)
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._wanted = self._pump.core.subscribe(packed, self._options, waiter)
        self._pump.written()
        try:
            await waiter
        except asyncio.CancelledError:
            self._pump.core.registry.end(self._wanted, None)
            self._pump.written()
            raise
        return self

    def __await__(self) -> Generator[None, None, Self]:
        return self.start().__await__()

    def __repr__(self) -> str:
        return f"<tamis.Subscription {described(self._predicates, self._wanted)}>"

    async def unsubscribe(self) -> None:
        """End the subscription. Nothing is yielded from the call on; when it returns, the router sends nothing more."""
        if self._wanted is None:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pump.core.registry.end(self._wanted, waiter)
        self._pump.written()
        await waiter

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.unsubscribe()

    async def receive(self, timeout_s: float | None = None) -> Message | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        subscription has ended."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self.__anext__()
        except StopAsyncIteration:
            raise ClientClosed("the subscription has ended") from None

    async def __anext__(self) -> Message | Gap:
        """Return the next message, or a Gap where some are missing. StopAsyncIteration when the subscription has
        ended."""
        inbox = self._started.inbox
        while not inbox.items:
            if inbox.is_ended:
                raise StopAsyncIteration if inbox.error is None else fresh(inbox.error)
            await self._arrival()
        was_full = inbox.is_full
        item = inbox.take()
        if was_full and not inbox.is_full:
            self._pump.regulate()
        return item

    async def __aiter__(self) -> AsyncIterator[Message | Gap]:
        """Yield as `__anext__` does, with `Inbox.take` written out, as this is run for every message."""
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
                await self._arrival()
            elif inbox.error is not None:
                raise fresh(inbox.error)
            else:
                return

    async def _arrival(self) -> None:
        """Wait until there is an item to yield, or the inbox has ended."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiters = self._started.inbox.waiters
        waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in waiters:
                waiters.remove(waiter)
            raise

    @property
    def _started(self) -> Wishes:
        if self._wanted is None:
            raise RuntimeError("subscribe first: `async with client.subscribe(...) as messages:`")
        return self._wanted
