"""An attachment to a keep as an application sees it: `async for message in work`, `message.ack()`.

Law: iterating suspends only when there is nothing to yield, or after BURST messages; several iterators share what
arrives. What an application says of a message goes out at the end of the turn, and waits for an answer only where that
is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Iterable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from tamis.client.durable.attached import Attached, AttachOptions
from tamis.client.durable.kept_message import Handed
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.messages.waiter import fresh
from tamis.protocol.amounts import Duration, count_of, short_milliseconds_of
from tamis.protocol.wire.client_bodies import AckVerdict

if TYPE_CHECKING:
    from tamis.client.shells.pump import Pump

BURST: Final = 256


class Confirmation:
    """What a verb of a kept message returns. The verb has taken effect: the router is told at the end of the loop's
    turn. `await` returns when what was said is on the router's disk; AckUnknown if the connection was cut before."""

    __slots__ = ("_work",)

    def __init__(self, work: Attachment) -> None:
        self._work = work

    def __await__(self) -> Generator[object, None, None]:
        pump = self._work._pump
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        pump.core.kept.confirm(self._work._started, waiter)
        pump.written()
        yield from waiter


class KeptMessage(Handed):
    """A message of a keep, to be answered for by `ack`, `nack` or `reject`: `message.ack()`, or `await message.ack()`
    to wait for the disk."""

    __slots__ = ()

    _work: Attachment

    def ack(self) -> Confirmation:
        """Be done with the message. Saying it twice, or of a message that is replayed, does nothing."""
        work = self._work
        pump = work._pump
        pump.core.kept.acknowledge(work._started, self)
        if not pump.flush_due:
            pump.written()
        return Confirmation(work)

    def nack(self, *, delay_s: Duration | None = None, reason: str = "") -> Confirmation:
        """Have the message given out again: after `delay_s`, or as the terms of the keep say. It counts as a failed
        try."""
        delay_ms = 0 if delay_s is None else short_milliseconds_of("delay_s", delay_s)
        return self._say(AckVerdict.AGAIN, delay_ms, reason)

    def extend(self) -> Confirmation:
        """Say that the work goes on: the time for it begins anew."""
        return self._say(AckVerdict.EXTEND)

    def reject(self, reason: str = "") -> Confirmation:
        """Say that nobody can use the message: it goes to the dead letters of the keep, or is counted as lost."""
        return self._say(AckVerdict.REJECT, 0, reason)

    def _say(self, verdict: AckVerdict, delay_ms: int = 0, reason: str = "") -> Confirmation:
        pump = self._work._pump
        pump.core.kept.say(self._work._started, self, verdict, delay_ms, reason)
        pump.written()
        return Confirmation(self._work)


class Attachment:
    """An attachment to a keep, made by `Client.attach`, or a replay, made by `Client.replay`; active from `async with`,
    from `await`, or from the first step of `async for`, to `detach()` or the end of `async with`."""

    def __init__(self, pump: Pump, options: AttachOptions) -> None:
        self._pump = pump
        self._options = options
        self._attached: Attached | None = None

    async def start(self) -> Self:
        """Attach; return when the router has answered. KeepRefused if it refuses."""
        if self._attached is not None:
            return self
        pump = self._pump
        pump.core.outbox.check_open()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._attached = pump.core.kept.attach(self._options, KeptMessage, self, waiter)
        pump.written()
        try:
            await waiter
        except asyncio.CancelledError:
            pump.core.kept.detach(self._attached, None)
            pump.written()
            raise
        return self

    async def detach(self) -> None:
        """End it. Nothing is yielded from the call on; what was not acknowledged goes to others."""
        if self._attached is None:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pump.core.kept.detach(self._attached, waiter)
        self._pump.written()
        await waiter

    def ack_all(self, messages: Iterable[KeptMessage]) -> Confirmation:
        """Be done with each of `messages`, which this attachment has given; see `KeptMessage.ack`."""
        for message in messages:
            self._pump.core.kept.acknowledge(self._started, message)
        self._pump.written()
        return Confirmation(self)

    async def fetch(self, most: int, timeout_s: float | None = None) -> list[KeptMessage | Gap]:
        """Return the next `most` messages and Gaps, but no more than `credit`, once they are there; after `timeout_s`,
        those that are, which may be none. ClientClosed when the attachment has ended and nothing is left."""
        count_of("most", most)
        await self.start()
        inbox = self._started.inbox
        enough = min(most, self._options.credit)
        if len(inbox.items) < enough:
            self._pump.core.kept.wants_all(self._started)
            self._pump.written()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while len(inbox.items) < enough and not inbox.is_ended:
                    await self._arrival()
        taken = (self._take() for _ in range(enough))
        items = [item for item in taken if item is not None]
        if not items and inbox.is_ended:
            raise ClientClosed("the attachment has ended") if inbox.error is None else fresh(inbox.error)
        return items

    async def receive(self, timeout_s: float | None = None) -> KeptMessage | Gap:
        """Return the next message or Gap, waiting at most `timeout_s`, then TimeoutError; ClientClosed when it has
        ended."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self.__anext__()
        except StopAsyncIteration:
            raise ClientClosed("the attachment has ended") from None

    @property
    def hidden(self) -> int:
        """How many messages came again and were not yielded, as the application has them or has had them."""
        return self._attached.hidden if self._attached is not None else 0

    def __await__(self) -> Generator[None, None, Self]:
        return self.start().__await__()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.detach()

    async def __anext__(self) -> KeptMessage | Gap:
        """Return the next message, or a Gap where the keep has lost some. StopAsyncIteration at the end."""
        await self.start()
        while (item := self._take()) is None:
            inbox = self._started.inbox
            if inbox.is_ended:
                raise StopAsyncIteration if inbox.error is None else fresh(inbox.error)
            await self._arrival()
        return item

    async def __aiter__(self) -> AsyncIterator[KeptMessage | Gap]:
        await self.start()
        attached = self._started
        inbox, take = attached.inbox, attached.take
        while True:
            for _ in range(BURST):
                item = take()
                if attached.owes_word:
                    self._give_word(attached)
                if item is None:
                    break
                yield item  # type: ignore[misc]  # `start` has said what is made
            else:
                await asyncio.sleep(0)
                continue
            if not inbox.is_ended:
                await self._arrival()
            elif inbox.error is not None:
                raise fresh(inbox.error)
            else:
                return

    def __repr__(self) -> str:
        what = repr(self._started.name) if self._attached is not None else "not started"
        return f"<tamis.Attachment {what}>"

    def _take(self) -> KeptMessage | Gap | None:
        attached = self._started
        item = attached.take()
        if attached.owes_word:
            self._give_word(attached)
        return item  # type: ignore[return-value]  # `start` has said what is made

    def _give_word(self, attached: Attached) -> None:
        self._pump.core.kept.took(attached)
        self._pump.written()

    async def _arrival(self) -> None:
        """Wait until there is an item to yield, or the inbox has ended."""
        self._pump.regulate()
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
    def _started(self) -> Attached:
        if self._attached is None:
            raise RuntimeError("attach first: `async with client.attach(...) as work:`")
        return self._attached
