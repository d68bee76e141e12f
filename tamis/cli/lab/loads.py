"""Load on a running router, through the Python client: throughput of publishing and of receiving, and latency.

Law: every run is bounded in messages and in seconds. A rate is that of a whole round; a round of publishing ends when
the router has confirmed its last message, so messages that only wait in local buffers are not counted.
"""

from __future__ import annotations

import asyncio
import secrets
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import tamis
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value

_LOOK_EVERY = 1_024
"""Messages between two checks of the clock."""
_LAST_ARRIVALS_S = 1.0


Connect = Callable[[], tamis.Client]


@dataclass(frozen=True, slots=True)
class LoadBounds:
    """The bounds of a run, which ends at the first that it reaches."""

    messages: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """Messages a second: the median round, the slowest and the fastest. `lost` is the count that Gaps have reported."""

    messages: int
    seconds: float
    median: float
    slowest: float
    fastest: float
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds from the call of publish to the turn of the iterator, both in this program."""

    messages: int
    lost: int
    p50_us: float
    p99_us: float
    max_us: float


async def publish(
    connect: Connect, attributes: Mapping[str, Value], payload: bytes, bounds: LoadBounds, rounds: int
) -> Throughput:
    """Publish as fast as the router permits, and return the throughput."""
    marks = _Marks()
    async with connect() as client:
        for _ in range(rounds):
            marks.begin()
            sent = await _round(client, attributes, payload, -(-bounds.messages // rounds), bounds.seconds / rounds)
            marks.end(sent)
    return marks.throughput()


async def _round(
    client: tamis.Client, attributes: Mapping[str, Value], payload: bytes, messages: int, seconds: float
) -> int:
    end_s = time.monotonic() + seconds
    send = client.publish
    sent = 0
    while sent < messages - 1 and time.monotonic() < end_s:
        part = min(_LOOK_EVERY, messages - 1 - sent)
        for _ in range(part):
            await send(attributes, payload)
        sent += part
    await send(attributes, payload, confirm=True)
    return sent + 1


async def receive(connect: Connect, predicate: Predicate, bounds: LoadBounds, rounds: int) -> Throughput:
    """Receive messages, and return the throughput from the first one on."""
    marks = _Marks()
    size = max(1, bounds.messages // rounds)
    count = lost = 0
    try:
        async with asyncio.timeout(bounds.seconds), connect() as client, client.subscribe(predicate) as items:
            async for item in items:
                if isinstance(item, tamis.Gap):
                    lost += item.count or 0
                    continue
                if not marks.is_open:
                    marks.begin()  # the first message; each later round starts at the end of the one before
                count += 1
                if count % size == 0:
                    marks.end(size)
                    marks.begin()
                if count >= bounds.messages:
                    break
    except TimeoutError:
        marks.end(count % size)
    return marks.throughput(lost)


async def route(connect: Connect, payload: bytes, rate: float, bounds: LoadBounds) -> Latency:
    """Send one message after another at a steady rate through the router and back, and return the latency."""
    mine = secrets.token_hex(8)
    sent_ns: list[int] = []
    taken_ns: dict[int, int] = {}

    async def take(items: tamis.Subscription) -> None:
        async for item in items:
            if isinstance(item, tamis.Message):
                taken_ns[int(item["n"])] = time.perf_counter_ns()
                if len(taken_ns) == bounds.messages:
                    return

    async with (
        connect() as publisher,
        connect() as subscriber,
        subscriber.subscribe(f'route = "{mine}"') as items,
    ):
        taking = asyncio.create_task(take(items))
        await _send_steadily(publisher, {"route": mine, "n": 0}, payload, rate, bounds, sent_ns)
        await asyncio.wait([taking], timeout=_LAST_ARRIVALS_S if len(taken_ns) < len(sent_ns) else 0)
        taking.cancel()
    return _latency([(taken_ns[n] - at_ns) / 1000 for n, at_ns in enumerate(sent_ns) if n in taken_ns], len(sent_ns))


async def _send_steadily(
    client: tamis.Client,
    attributes: dict[str, Value],
    payload: bytes,
    rate: float,
    bounds: LoadBounds,
    sent_ns: list[int],
) -> None:
    began_s = time.monotonic()
    for number in range(bounds.messages):
        ahead_s = began_s + number / rate - time.monotonic()
        await asyncio.sleep(max(0.0, ahead_s))
        if time.monotonic() - began_s > bounds.seconds:
            return
        attributes["n"] = number
        sent_ns.append(time.perf_counter_ns())
        await client.publish(attributes, payload)


class _Marks:
    """The start, the end and the number of messages of each round."""

    def __init__(self) -> None:
        self._began_s: float | None = None
        self._rounds: list[tuple[int, float]] = []

    @property
    def is_open(self) -> bool:
        return self._began_s is not None

    def begin(self) -> None:
        self._began_s = time.perf_counter()

    def end(self, messages: int) -> None:
        if self._began_s is not None and messages:
            self._rounds.append((messages, time.perf_counter() - self._began_s))

    def throughput(self, lost: int = 0) -> Throughput:
        rates = [messages / seconds for messages, seconds in self._rounds if seconds > 0] or [0.0]
        messages, seconds = (sum(column) for column in zip(*self._rounds or [(0, 0.0)], strict=True))
        return Throughput(int(messages), seconds, statistics.median(rates), min(rates), max(rates), lost)


def _latency(times_us: list[float], sent: int) -> Latency:
    if not times_us:
        return Latency(0, sent, *(float("nan"),) * 3)
    ordered = sorted(times_us)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return Latency(len(ordered), sent - len(ordered), statistics.median(ordered), p99, ordered[-1])
