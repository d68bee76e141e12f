"""The clients: each publishes steadily, and notes what arrives.

Law: every message carries its publisher and number, by which it is found again. Client i is at router i mod the number
of routers; the clients of a column are one at each router, and get all messages of each other.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

import tamis
from tamis.bench.networks.chaos.contents import CONTENTS, ITEMS, SHAPES, column_shape

TRAVEL_S: Final = 1.0
"""So long a message may be on its way, on a busy machine."""
_REMEMBERED_S: Final = 60.0
"""A second copy that comes later than that is called unknown."""


@dataclass(frozen=True, slots=True)
class Trial:
    router: int
    at_us: int
    entered: bool = True


@dataclass(slots=True)
class Sent:
    """A message, as the judge wants it. `arrivals`: when each client got it."""

    serial: int
    content: int
    publisher: int
    router: int
    at_s: float
    received: dict[int, int] = field(default_factory=dict)
    arrivals: dict[int, float] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)

    @property
    def tries(self) -> tuple[Trial, ...]:
        return (Trial(self.router, int(self.at_s * 1e6)),)

    @property
    def last_us(self) -> int:
        return int((self.at_s + TRAVEL_S) * 1e6)


class Noted(Protocol):
    """Who wants to know what clients do."""

    def connected(self, client: int, session: int, contents: int) -> None:
        """Its subscription is in force, from now on in this session."""

    def delivered(self, client: int, session: int, message: Sent) -> None: ...


Pair = tuple[int, int]
"""Publisher and receiver, of one column."""


class Fleet:
    def __init__(self, addresses: Sequence[str], clients: int, rate: float, random: Random, noted: Noted) -> None:
        self.counts: Counter[str] = Counter()
        self.sent: deque[Sent] = deque()
        self.heard: dict[Pair, float] = {}
        """When the last message was published that came through."""
        self.connected_s: dict[int, float] = {}
        """When each client was connected last."""
        self._addresses, self._rate, self._random, self._noted = addresses, rate, random, noted
        self._clients = [
            tamis.connect(addresses[i % len(addresses)], name=f"client-{i}", patience_s=30) for i in range(clients)
        ]
        self._known: dict[tuple[int, int], Sent] = {}
        self._numbers = [0] * clients

    # --- who is who ------------------------------------------------------------------------------------------------

    def router_of(self, client: int) -> int:
        return client % len(self._addresses)

    def column_of(self, client: int) -> int:
        return client // len(self._addresses)

    def contents_wanted(self, client: int) -> int:
        return column_shape(self.column_of(client)).contents | SHAPES[client % len(SHAPES)].contents

    def clients_of(self, router: int) -> list[int]:
        return [client for client in range(len(self._clients)) if self.router_of(client) == router]

    def pairs(self, components: Iterable[set[int]]) -> list[Pair]:
        """Those that can reach each other."""
        home = {router: number for number, routers in enumerate(components) for router in routers}
        everyone = range(len(self._clients))
        return [
            (a, b)
            for a in everyone
            for b in everyone
            if a != b
            and self.column_of(a) == self.column_of(b)
            and home.get(self.router_of(a), -1) == home.get(self.router_of(b), -2)
        ]

    # --- life ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """All have subscribed, and publish."""
        tasks: list[asyncio.Task[None]] = []
        async with AsyncExitStack() as stack:
            for client in self._clients:
                await client.open()
                stack.push_async_callback(client.close, 0)
            tasks += [asyncio.create_task(self._read(*each)) for each in enumerate(await self._subscribed())]
            tasks.append(asyncio.create_task(self._publish()))
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                for result in await asyncio.gather(*tasks, return_exceptions=True):
                    if isinstance(result, Exception):
                        raise result

    async def _subscribed(self) -> list[tamis.Subscription]:
        subscriptions = []
        for number, client in enumerate(self._clients):
            shapes = column_shape(self.column_of(number)), SHAPES[number % len(SHAPES)]
            texts = (shape.text for shape in shapes)
            subscriptions.append(await client.subscribe(*texts, own_messages=True, wait="network").start())
            self._connected(number, 0)
        return subscriptions

    async def _publish(self) -> None:
        """A column at a time, so that a turn is short."""
        columns = -(-len(self._clients) // len(self._addresses))
        start_s, turn = time.monotonic(), 0
        while True:
            for client in range(len(self._clients)):
                if self.column_of(client) == turn % columns:
                    self._publish_one(client)
            turn += 1
            due_s = start_s + turn / (self._rate * columns)
            if due_s < time.monotonic() - 1:
                start_s += time.monotonic() - due_s  # what was missed is not made up for
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))

    def _publish_one(self, client: int) -> None:
        number = self._numbers[client]
        content = self.column_of(client) * ITEMS + self._random.randrange(ITEMS)
        if self._clients[client].try_publish(dict(CONTENTS[content]) | {"from": client, "n": number}):
            serial = number * len(self._clients) + client
            sent = Sent(serial, content, client, self.router_of(client), time.monotonic())
            self._numbers[client] += 1
            self._known[client, number] = sent
            self.sent.append(sent)
            self.counts["published"] += 1

    async def _read(self, client: int, subscription: tamis.Subscription) -> None:
        session = 0
        async for item in subscription:
            if isinstance(item, tamis.Gap):
                self.counts[f"gap: {item.reason.name.lower()}"] += 1
                if item.reason is tamis.GapReason.RECONNECTED:
                    session += 1
                    self._connected(client, session)
            else:
                self._arrived(client, session, item)

    def _connected(self, client: int, session: int) -> None:
        self.connected_s[client] = time.monotonic()
        self._noted.connected(client, session, self.contents_wanted(client))

    def _arrived(self, client: int, session: int, message: tamis.Message) -> None:
        key = message["from"], message["n"]
        sent = self._known.get(key)  # type: ignore[arg-type]
        if sent is None:
            self.counts["unknown"] += 1
            return
        self.counts["copies over sessions"] += sent.received.get(client, session) != session
        self._noted.delivered(client, session, sent)
        sent.arrivals.setdefault(client, time.monotonic())
        if self.column_of(client) == self.column_of(sent.publisher):
            pair = sent.publisher, client
            self.heard[pair] = max(sent.at_s, self.heard.get(pair, 0.0))

    # --- what came of it ---------------------------------------------------------------------------------------------

    def published(self, since_s: float, until_s: float) -> Iterator[Sent]:
        return (sent for sent in self.sent if since_s <= sent.at_s < until_s)

    def forget(self, before_s: float) -> list[Sent]:
        """Those published before then, which are remembered for a while as having been."""
        done = []
        while self.sent and self.sent[0].at_s < before_s:
            done.append(self.sent.popleft())
        old_s = time.monotonic() - _REMEMBERED_S
        for key in [key for key, sent in self._known.items() if sent.at_s < old_s]:
            del self._known[key]
        return done
