"""A small client for tests: frames as values in both directions, nothing hidden."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tamis.protocol.language import parse
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Ping, Pong, Role, Welcome

PATIENCE_S = 20.0
POLL_S = 0.002
"""How often a test that waits for a state of a router looks at it."""


def hello(name: str, **changes: object) -> Hello:
    said = {
        "role": Role.CLIENT,
        "name": name,
        "epoch": 0,
        "nonce": bytes(16),
        "version_low": 1,
        "version_high": 1,
        "capabilities": (),
        "frame_bytes_max": 1_048_576,
        "hold_ms": 30_000,
        "link_cost": 0,
    }
    return Hello(**said | changes)


def auth(token: bytes = b"") -> Auth:
    return Auth(AuthMethod.TOKEN if token else AuthMethod.NONE, token)


def subscription(number: int, predicate: str) -> bodies.SubscriptionItem:
    return bodies.SubscriptionItem(number, tuple(encode_filter(filter_) for filter_ in parse(predicate).filters))


def subscribe(request: int, *subscriptions: bodies.SubscriptionItem, own: bool = False, durable: bool = False) -> Frame:
    return bodies.Subscribe(request, subscriptions, own, bodies.Reach.HOME, durable)


class Closed(Exception):
    """The router has closed the connection."""


opened: list[WireClient] = []


async def close_all() -> None:
    """Every client of the test that is over."""
    while opened:
        await opened.pop().close()


class WireClient:
    """CREDIT frames are kept in `credit`; everything else comes out of `next`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str) -> None:
        self.name, self.number = name, stable_number(name)
        self.credit: list[bodies.Credit] = []
        self._reader, self._writer = reader, writer
        self._frames, self._waiting = FrameReader(), []
        self._frames.authenticated()
        self._counter = 0
        opened.append(self)

    @classmethod
    async def connect(cls, where: str, name: str, ssl: object = None) -> WireClient:
        """`where` is `tamis://host:port`, `tamis+tls://host:port`, `tamis+unix:path` or `unix:path`."""
        where = where.removeprefix("tamis+") if where.startswith("tamis+unix:") else where
        if where.startswith("unix:"):
            streams = await asyncio.open_unix_connection(where.removeprefix("unix:"))
        else:
            host, _, port = where.partition("://")[2].rpartition(":")
            streams = await asyncio.open_connection(
                host, int(port), ssl=ssl, server_hostname="localhost" if ssl else None
            )
        return cls(*streams, name)

    @classmethod
    async def greeted(
        cls, where: str, name: str, token: bytes = b"", ssl: object = None, **changes: object
    ) -> WireClient:
        """Connected and let in."""
        client = await cls.connect(where, name, ssl)
        await client.send(hello(name, **changes))
        assert isinstance(await client.next(), Welcome)
        await client.send(auth(token))
        answer = await client.next()
        assert isinstance(answer, Authenticated), answer
        assert answer.number == client.number
        return client

    async def send(self, *frames: Frame) -> None:
        await self.send_bytes(b"".join(map(encode, frames)))

    async def send_bytes(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def publish(self, attributes: dict[str, object], payload: bytes = b"", flags: int = 0) -> int:
        """Its counter."""
        self._counter += 1
        await self.send_bytes(encode_publish(self.number, self._counter, 0, attributes, payload, flags))
        return self._counter

    async def subscribe(self, number: int, predicate: str, own: bool = False) -> bodies.Ack:
        await self.send(subscribe(number, subscription(number, predicate), own=own))
        return await self.next(bodies.Ack)

    async def next(self, kind: type | None = None) -> Frame:
        """The next frame; with `kind`, it has to be one of those. Closed at the end."""
        while True:
            while self._waiting:
                frame = decode(self._waiting.pop(0))
                if isinstance(frame, bodies.Credit):
                    self.credit.append(frame)
                    continue
                assert kind is None or isinstance(frame, kind), frame
                return frame
            await self._read()

    async def _read(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            try:
                data = await self._reader.read(65_536)
            except ConnectionError:
                data = b""
        if not data:
            raise Closed
        self._frames.feed(data)
        self._waiting += list(self._frames)

    async def delivered(self) -> dict[str, object]:
        """The attributes of the next message."""
        while isinstance(frame := await self.next(), Ping):
            pass  # on a busy machine the router asks whether anybody is there
        assert frame.kind is FrameKind.DELIVER, frame
        return dict(frame.message.attributes)

    async def answer_pings(self) -> None:
        """Until cancelled."""
        while True:
            frame = await self.next()
            await self.send(Pong(frame.token))

    async def until_closed(self) -> list[Frame]:
        """What comes until the router closes."""
        frames = []
        with contextlib.suppress(Closed):
            while True:
                frames.append(await self.next())
        return frames

    async def frames(self) -> AsyncIterator[Frame]:
        """Give each frame until the router closes, and answer its pings."""
        with contextlib.suppress(Closed):
            while True:
                frame = await self.next()
                if isinstance(frame, Ping):
                    await self.send(Pong(frame.token))
                else:
                    yield frame

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
