"""The client for asyncio: what an application holds.

    async with tamis.connect("tamis://127.0.0.1:7400") as client:
        await client.publish({"class": "alert", "severity": 6}, payload=b"...")
        async with client.subscribe("severity > 2") as alerts:
            async for message in alerts:
                ...

Law: a call that returns without `await`ing anything has made no task and no future: that makes publish fast.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Generator, Iterable, Mapping
from itertools import islice
from time import time_ns
from types import TracebackType
from typing import Final, Literal, Self

from tamis.client.dialling import CLOSE_S, FLUSH_BYTES
from tamis.client.pump import Pump
from tamis.client.settings import HOLD_S, INBOX_BYTES, INBOX_MESSAGES, Settings, settings_of
from tamis.client.subscription import Subscription
from tamis.client.trail import AnyReport, Trail
from tamis.client.trails import TRAIL_S
from tamis.client.wanted import options_of
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value
from tamis.protocol.wire.report_bodies import DryRunReport, TraceRecord

DRAIN_S: Final = 5.0
WINDOW: Final = 1_024
"""Messages of `publish_many` that wait for their confirmation at once."""

Item = Mapping[str, Value] | tuple[Mapping[str, Value], bytes]
"""What `publish_many` publishes: attributes, or attributes and payload."""


def connect(
    *addresses: str,
    name: str | None = None,
    token: str | bytes | None = None,
    tls: ssl.SSLContext | None = None,
    hold_s: float = HOLD_S,
    patience_s: float = 0.0,
    inbox_bytes: int = INBOX_BYTES,
    inbox_messages: int = INBOX_MESSAGES,
) -> Client:
    """Make a client of the first of `addresses` that answers: `async with connect(...) as client`, or `await
    connect(...)`.

    `patience_s`: how long to go on trying for the first connection. Later connections are tried for ever.
    """
    settings = settings_of(
        addresses,
        name=name,
        token=token,
        tls=tls,
        hold_s=hold_s,
        inbox_bytes=inbox_bytes,
        inbox_messages=inbox_messages,
    )
    return Client(settings, patience_s)


class Client:
    """A client, made by `connect`, for the tasks of one event loop."""

    def __init__(self, settings: Settings, patience_s: float) -> None:
        self._settings = settings
        self._patience_s = patience_s
        self._running: Pump | None = None

    @property
    def name(self) -> str:
        return self._settings.name

    async def open(self) -> Self:
        """Connect; ConnectFailed or NotAdmitted if that fails."""
        if self._running is None:
            self._running = Pump(self._settings, self._patience_s)
            self._outbox = self._running.core.outbox
            try:
                await self._running.opened
            except BaseException:
                await self._running.stop(CLOSE_S)
                raise
        return self

    async def close(self, drain_s: float = DRAIN_S) -> None:
        """Drain for at most `drain_s`, then end the connection. What is not answered by then is unknown."""
        if self._running is None:
            return
        try:
            async with asyncio.timeout(drain_s):
                await self.drain()
        except TimeoutError:
            pass  # said in the documentation: what is left fails now
        finally:
            await self._running.stop(CLOSE_S)

    async def __aenter__(self) -> Self:
        return await self.open()

    def __await__(self) -> Generator[None, None, Self]:
        return self.open().__await__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.close(DRAIN_S if kind is None else 0.0)

    async def publish(
        self, attributes: Mapping[str, Value], payload: bytes = b"", *, confirm: bool = False, retry: bool = False
    ) -> None:
        """Publish a message.

        Without `confirm` return when the message is on its way, which may wait for the router's credit. With it, return
        when the router has taken the message: PublishRefused if it refuses, PublishUnknown if the connection was cut
        before it answered. With `retry` the message is then sent again, under the same id, until there is an answer.
        """
        pump = self._running or self._pump
        if confirm or retry or not self._outbox.try_publish(attributes, payload, time_ns()):
            await self._publish_and_wait(attributes, payload, confirm=confirm, retry=retry)
        elif len(self._outbox.output) >= FLUSH_BYTES:
            pump.flush()
            await asyncio.sleep(0)
        elif not pump.flush_due:
            pump.written()

    def try_publish(self, attributes: Mapping[str, Value], payload: bytes = b"") -> bool:
        """Publish without waiting; False, and nothing is done, where credit or room is used up or no router is
        connected."""
        pump = self._running or self._pump
        if self._outbox.try_publish(attributes, payload, time_ns()):
            if not pump.flush_due:
                pump.written()
            return True
        self._outbox.check_open()
        return False

    async def publish_many(self, messages: Iterable[Item], *, confirm: bool = False, retry: bool = False) -> None:
        """Publish all of `messages`, in order. With `confirm`, the first failure is raised; messages after it may be
        sent."""
        if not (confirm or retry):
            for item in messages:
                attributes, payload = item if isinstance(item, tuple) else (item, b"")
                await self.publish(attributes, payload)
            return
        rest = iter(messages)
        while window := list(islice(rest, WINDOW)):
            pairs = [item if isinstance(item, tuple) else (item, b"") for item in window]
            calls = (self._publish_and_wait(*pair, confirm=confirm, retry=retry) for pair in pairs)
            for result in await asyncio.gather(*calls, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise result

    async def trace(
        self, attributes: Mapping[str, Value], payload: bytes = b"", *, timeout_s: float = TRAIL_S
    ) -> Trail[TraceRecord]:
        """Publish a message, confirmed, and return what each router that it passed did with it.

        This returns when all have answered, or after `timeout_s`; see `Trail.is_complete`.
        """
        return await self._follow(TraceRecord, attributes, payload, timeout_s)

    async def route(self, attributes: Mapping[str, Value], *, timeout_s: float = TRAIL_S) -> Trail[DryRunReport]:
        """Return where a message would go and to whom: as a `trace` does, with nothing delivered."""
        return await self._follow(DryRunReport, attributes, b"", timeout_s)

    def subscribe(
        self,
        *predicates: str | Predicate,
        own_messages: bool = False,
        wait: Literal["home", "network"] = "home",
    ) -> Subscription:
        """Make a subscription to messages that satisfy one of `predicates`, each of which gets an id: `async with
        client.subscribe(...) as messages`.

        `own_messages`: also receive what this client publishes itself. `wait`: subscribing waits until the router has
        the subscription, or every router within reach.
        """
        return Subscription(self._pump, predicates, options_of(own_messages, wait))

    async def drain(self) -> None:
        """Begin nothing new, and finish what was begun. On return the router has read all that was published and
        answered what was to be confirmed; the iterators end when they have yielded what arrived until then."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pump.core.drain(waiter, round(DRAIN_S * 1000))
        self._pump.flush()
        await waiter

    async def _publish_and_wait(
        self, attributes: Mapping[str, Value], payload: bytes, *, confirm: bool, retry: bool
    ) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        confirm = confirm or retry  # without an answer it is not known when to stop
        self._outbox.publish(attributes, payload, time_ns(), waiter, confirm=confirm, retry=retry)
        self._pump.written()
        await waiter

    async def _follow(
        self, of: type[AnyReport], attributes: Mapping[str, Value], payload: bytes, timeout_s: float
    ) -> Trail[AnyReport]:
        loop, trails = asyncio.get_running_loop(), self._pump.core.trails
        taken: asyncio.Future[None] = loop.create_future()
        complete: asyncio.Future[None] = loop.create_future()
        trail = trails.begin(of, attributes, payload, time_ns(), taken, complete)
        self._pump.written()
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.gather(taken, complete)
        except TimeoutError:
            pass  # said in the documentation: the trail is as long as it is
        finally:
            trails.end(trail)
        return trail

    @property
    def _pump(self) -> Pump:
        if self._running is None:
            raise RuntimeError("connect first: `async with tamis.connect(...) as client:`")
        return self._running
