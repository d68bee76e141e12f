"""An attachment to a keep as a program without asyncio sees it: `for message in work`, `message.ack()`.

Law: any thread may take what arrives and answer for it; a call waits on a future of its own, and never holds the lock
while it waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tamis.client.durable.attached import Attached, AttachOptions
from tamis.client.durable.kept_message import Handed
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.messages.waiter import fresh
from tamis.protocol.amounts import Duration, count_of, short_milliseconds_of
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.blocking_pump import BlockingPump


class KeptMessage(Handed):
    """A message of a keep, to be answered for by `ack`, `nack` or `reject`; see `tamis.KeptMessage`."""

    __slots__ = ()

    _work: Attachment

    def ack(self, *, confirm: bool = False) -> None:
        """Be done with the message; with `confirm`, return when that is on disk. See `tamis.KeptMessage.ack`."""
        self._work.ack_all((self,), confirm=confirm)

    def nack(self, *, delay_s: Duration | None = None, reason: str = "") -> None:
        """Have the message given out again; see `tamis.KeptMessage.nack`."""
        delay_ms = 0 if delay_s is None else short_milliseconds_of("delay_s", delay_s)
        self._say(AckVerdict.AGAIN, delay_ms, reason)

    def extend(self) -> None:
        """Say that the work goes on: the time for it begins anew."""
        self._say(AckVerdict.EXTEND)

    def reject(self, reason: str = "") -> None:
        """Say that nobody can use the message; see `tamis.KeptMessage.reject`."""
        self._say(AckVerdict.REJECT, 0, reason)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> None:
        pump = self._work._pump
        with pump.lock:
            pump.core.kept.say(self._work._started, self, verdict, delay_ms, reason)
            pump.written()


class Attachment:
    """An attachment to a keep, or a replay; active from `with`, from `start()` or from the first step of `for`, to
    `detach()` or the end of `with`."""

    def __init__(self, pump: BlockingPump, options: AttachOptions) -> None:
        self._pump = pump
        self._options = options
        self._attached: Attached | None = None

    def start(self) -> Self:
        """Attach; return when the router has answered. KeepRefused if it refuses."""
        if self._attached is None:
            waiter: Future[None] = Future()
            pump = self._pump
            with pump.lock:
                pump.core.outbox.check_open()
                self._attached = pump.core.kept.attach(self._options, KeptMessage, self, waiter)
                pump.written()
            pump.wait(waiter)
        return self

    def detach(self) -> None:
        """End it; see `tamis.Attachment.detach`."""
        if self._attached is None:
            return
        waiter: Future[None] = Future()
        with self._pump.lock:
            self._pump.core.kept.detach(self._attached, waiter)
            self._pump.written()
        self._pump.wait(waiter)

    def ack_all(self, messages: Iterable[KeptMessage], *, confirm: bool = False) -> None:
        """Be done with each of `messages`, which this attachment has given; with `confirm`, return when that is on
        disk."""
        pump = self._pump
        waiter: Future[None] = Future()
        with pump.lock:
            for message in messages:
                pump.core.kept.acknowledge(self._started, message)
            if confirm:
                pump.core.kept.confirm(self._started, waiter)
            pump.written()
        if confirm:
            pump.wait(waiter)

    def fetch(self, most: int, timeout_s: float | None = None) -> list[KeptMessage | Gap]:
        """Return the next `most` messages and Gaps, or those that came within `timeout_s`; see
        `tamis.Attachment.fetch`."""
        count_of("most", most)
        inbox = self.start()._started.inbox
        enough = min(most, self._options.credit)
        with self._pump.lock:
            self._pump.core.kept.wants_all(self._started)
            self._pump.written()
        self._wait_until(lambda: len(inbox.items) >= enough or inbox.is_ended, timeout_s)
        items: list[KeptMessage | Gap] = []
        with self._pump.lock:
            while len(items) < enough and (item := self._take()) is not None:
                items.append(item)
        if not items and inbox.is_ended:
            raise ClientClosed("the attachment has ended") if inbox.error is None else fresh(inbox.error)
        return items

    def receive(self, timeout_s: float | None = None) -> KeptMessage | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when it has
        ended."""
        item = self._next(timeout_s)
        if item is None:
            raise ClientClosed("the attachment has ended")
        return item

    @property
    def hidden(self) -> int:
        """How many messages came again and were not yielded; see `tamis.Attachment.hidden`."""
        return self._attached.hidden if self._attached is not None else 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.detach()

    def __iter__(self) -> Iterator[KeptMessage | Gap]:
        return self

    def __next__(self) -> KeptMessage | Gap:
        """Return the next message, or a Gap where the keep has lost some. StopIteration at the end."""
        item = self._next(None)
        if item is None:
            raise StopIteration
        return item

    def __repr__(self) -> str:
        what = repr(self._attached.name) if self._attached is not None else "not started"
        return f"<tamis.blocking.Attachment {what}>"

    def _next(self, timeout_s: float | None) -> KeptMessage | Gap | None:
        """Return the next item, waiting at most `timeout_s`, then TimeoutError; None at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        inbox = (self._attached or self.start()._started).inbox
        while True:
            with self._pump.lock:
                item = self._take()
                if item is not None:
                    return item
                if inbox.error is not None:
                    raise fresh(inbox.error)
                if inbox.is_ended:
                    return None
            left_s = None if deadline is None else deadline - time.monotonic()
            if not self._wait_until(lambda: bool(inbox.items) or inbox.is_ended, left_s):
                raise TimeoutError

    def _take(self) -> KeptMessage | Gap | None:
        """Return the next item that is there. Call this with the lock held."""
        attached = self._started
        was_full = attached.inbox.is_full
        item = attached.take()
        if attached.owes_word:
            self._pump.core.kept.took(attached)
            self._pump.written()
        elif was_full and not attached.inbox.is_full:
            self._pump.written()
        return item  # type: ignore[return-value]  # `start` has said what is made

    def _wait_until(self, is_so: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait until `is_so`, of the inbox, at most `timeout_s`; return whether it is."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        waiters = self._started.inbox.waiters
        while True:
            with self._pump.lock:
                if is_so():
                    return True
                waiter: Future[None] = Future()
                waiters.append(waiter)
            try:
                self._pump.wait(waiter, None if deadline is None else max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                return is_so()
            finally:
                with self._pump.lock:
                    if waiter in waiters:
                        waiters.remove(waiter)

    @property
    def _started(self) -> Attached:
        if self._attached is None:
            raise RuntimeError("attach first: `with client.attach(...) as work:`")
        return self._attached
