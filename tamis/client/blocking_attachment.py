"""An attachment to a keep as a program without asyncio sees it: `for message in work`, `message.ack()`.

Law: any thread may take what arrives and answer for it; a call waits on a future of its own, and never holds the lock
while it waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tamis.client.amounts import Duration, short_milliseconds_of
from tamis.client.attached import Attached, AttachOptions
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.kept_message import Handed
from tamis.client.waiter import fresh
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.blocking_pump import BlockingPump


class KeptMessage(Handed):
    """A message of a keep, to be answered for by `ack`, `nack` or `reject`; see `tamis.KeptMessage`."""

    __slots__ = ()

    _work: Attachment

    def ack(self, *, confirm: bool = False) -> None:
        """Be done with the message; see `tamis.KeptMessage.ack`."""
        waiter: Future[None] | None = Future() if confirm else None
        work = self._work
        pump = work._pump
        with pump.lock:
            pump.core.kept.acknowledge(work._started, self, waiter)
            pump.written()
        if waiter is not None:
            pump.wait(waiter)

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
        """Return the next item, waiting at most `timeout_s`; None at the end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        attached = self._attached or self.start()._started
        inbox = attached.inbox
        while True:
            with self._pump.lock:
                was_full = inbox.is_full
                item = attached.take()
                if attached.owes_word:
                    self._pump.core.kept.took(attached)
                    self._pump.written()
                elif was_full and not inbox.is_full:
                    self._pump.written()
                if item is not None:
                    return item  # type: ignore[return-value]  # `start` has said what is made
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

    @property
    def _started(self) -> Attached:
        if self._attached is None:
            raise RuntimeError("attach first: `with client.attach(...) as work:`")
        return self._attached
