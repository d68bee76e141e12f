"""The items of an inbox, taken by threads; see `arrivals`.

Law: any thread may take items; it waits on its own future, and never holds the lock while it waits.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import fresh

if TYPE_CHECKING:
    from tamis.client.shells.blocking_pump import BlockingPump

Item = TypeVar("Item")


class BlockingArrivals(ABC, Generic[Item]):
    """The part of a subscription and of a consumer that waits for items."""

    _pump: BlockingPump

    @abstractmethod
    def _ready(self) -> Inbox:
        """Return the inbox, after it was made."""

    @abstractmethod
    def _take(self) -> Item | None:
        """Take the next item; None if there is none. Call this with the lock held."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        """Return the next item, waiting for it. StopIteration at the end."""
        item = self._next(None)
        if item is None:
            raise StopIteration
        return item

    def _next(self, timeout_s: float | None) -> Item | None:
        """Take the next item, waiting at most `timeout_s`, then TimeoutError; None at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        inbox: Inbox | None = None
        while True:
            with self._pump.lock:
                item = self._take()
                if item is not None:
                    return item
                if inbox is not None and inbox.is_ended:
                    if inbox.error is not None:
                        raise fresh(inbox.error)
                    return None
            inbox = self._ready()
            self._arrival(inbox, 1, deadline)

    def _next_of(self, most: int, timeout_s: float | None) -> list[Item]:
        """Take the next `most` items when that many have arrived; after `timeout_s`, or at the end, those that have."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with suppress(TimeoutError):
            self._arrival(self._ready(), most, deadline)
        with self._pump.lock:
            taken = (self._take() for _ in range(most))
            return [item for item in taken if item is not None]

    def _arrival(self, inbox: Inbox, most: int, deadline: float | None) -> None:
        """Wait until there are `most` items to take, or the inbox has ended; TimeoutError after `deadline`."""
        while True:
            with self._pump.lock:
                if len(inbox.items) >= most or inbox.is_ended:
                    return
                waiter: Future[None] = Future()
                inbox.waiters.append(waiter)
            try:
                self._pump.wait(waiter, None if deadline is None else max(0.0, deadline - time.monotonic()))
            finally:
                with self._pump.lock:
                    if waiter in inbox.waiters:
                        inbox.waiters.remove(waiter)
