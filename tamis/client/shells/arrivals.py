"""The items of an inbox, taken by tasks: a call suspends only when there is nothing to take.

Law: several tasks share the items.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import fresh

if TYPE_CHECKING:
    from tamis.client.shells.pump import Pump

Item = TypeVar("Item")
BURST: Final = 256
"""The most items that are yielded in succession before the loop runs."""


class Arrivals(ABC, Generic[Item]):
    """The part of a subscription and of a consumer that waits for items."""

    _pump: Pump

    @abstractmethod
    async def _ready(self) -> Inbox:
        """Return the inbox, after it was made."""

    @abstractmethod
    def _take(self) -> Item | None:
        """Take the next item; None if there is none."""

    async def __anext__(self) -> Item:
        """Return the next item, waiting for it. StopAsyncIteration at the end."""
        item = self._take()
        if item is None:
            item = await self._next(None)
        if item is None:
            raise StopAsyncIteration
        return item

    async def _next(self, timeout_s: float | None) -> Item | None:
        """Take the next item, waiting at most `timeout_s`, then TimeoutError; None at the end."""
        item = self._take()
        if item is not None:
            return item
        async with asyncio.timeout(timeout_s):
            inbox = await self._ready()
            while (item := self._take()) is None:
                if not inbox.is_ended:
                    await self._arrival(inbox)
                elif inbox.error is not None:
                    raise fresh(inbox.error)
                else:
                    break
        return item

    async def _next_of(self, most: int, timeout_s: float | None) -> list[Item]:
        """Take the next `most` items when that many have arrived; after `timeout_s`, or at the end, those that have."""
        inbox = await self._ready()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while len(inbox.items) < most and not inbox.is_ended:
                    await self._arrival(inbox)
        taken = (self._take() for _ in range(most))
        return [item for item in taken if item is not None]

    async def _arrival(self, inbox: Inbox) -> None:
        """Wait until there is an item to take, or the inbox has ended."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        inbox.waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in inbox.waiters:
                inbox.waiters.remove(waiter)
            raise
