"""A subscription as a program without asyncio sees it: `for message in subscription`.

Law: any thread may take what arrives; a call waits on a future of its own, and never holds the lock while it waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox
from tamis.client.messages.waiter import fresh
from tamis.client.messages.wanted import SubscribeOptions, Wishes, check_kind, described, packing
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.protocol.filters import Predicate


class Subscription:
    """A subscription, made by `Client.subscribe`; active from `with`, or from `start()`, to the end of either."""

    def __init__(self, pump: BlockingPump, predicates: tuple[str | Predicate, ...], options: SubscribeOptions) -> None:
        for predicate in predicates:
            check_kind(predicate)
        self._pump = pump
        self._predicates = predicates
        self._options = options
        self._wanted: Wishes | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The id of each predicate, in their order; `Message.matched` has these ids."""
        return self._started.ids

    def start(self) -> Self:
        """Subscribe; return when the router has the subscription. SubscriptionRefused if it refuses."""
        if self._wanted is None:
            waiter: Future[None] = Future()
            packed = tuple(packing(self._predicates, self._options))  # without the lock: the client lives on meanwhile
            with self._pump.lock:
                self._wanted = self._pump.core.subscribe(packed, self._options, waiter)
                self._pump.written()
            self._pump.wait(waiter)
        return self

    def __repr__(self) -> str:
        return f"<tamis.blocking.Subscription {described(self._predicates, self._wanted)}>"

    def unsubscribe(self) -> None:
        """End the subscription. Nothing is yielded from the call on; when it returns, the router sends nothing more."""
        if self._wanted is None:
            return
        waiter: Future[None] = Future()
        with self._pump.lock:
            self._pump.core.registry.end(self._wanted, waiter)
            self._pump.written()
        self._pump.wait(waiter)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.unsubscribe()

    def __iter__(self) -> Iterator[Message | Gap]:
        return self

    def __next__(self) -> Message | Gap:
        """Return the next message, or a Gap where some are missing. StopIteration when the subscription has ended."""
        item = self._take(None)
        if item is None:
            raise StopIteration
        return item

    def receive(self, timeout_s: float | None = None) -> Message | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the
        subscription has ended."""
        item = self._take(timeout_s)
        if item is None:
            raise ClientClosed("the subscription has ended")
        return item

    def _take(self, timeout_s: float | None) -> Message | Gap | None:
        """Return the next item, waiting at most `timeout_s`; None at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        inbox = self._started.inbox
        while True:
            with self._pump.lock:
                if inbox.items:
                    return self._taken(inbox)
                if inbox.error is not None:
                    raise fresh(inbox.error)
                if inbox.is_ended:
                    return None
                waiter: Future[None] = Future()
                inbox.waiters.append(waiter)
            try:
                self._pump.wait(waiter, None if deadline is None else max(0.0, deadline - time.monotonic()))
            finally:
                with self._pump.lock:
                    if waiter in inbox.waiters:
                        inbox.waiters.remove(waiter)

    def _taken(self, inbox: Inbox) -> Message | Gap:
        was_full = inbox.is_full
        item = inbox.take()
        if was_full and not inbox.is_full:
            self._pump.written()
        return item

    @property
    def _started(self) -> Wishes:
        if self._wanted is None:
            raise RuntimeError("subscribe first: `with client.subscribe(...) as messages:`")
        return self._wanted
