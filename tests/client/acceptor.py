"""The smallest router a client can talk to: real sockets, one loop in a thread, no state but what a test sets.

Law: it reads and writes with `protocol.wire` and shares no code with the client. It matches with `protocol.evaluate`.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.messages import Message
from tamis.protocol.wire import header
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Range, Refusal, Subscribe, Unsubscribe, ranges_of
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import (
    Auth,
    Authenticated,
    AuthMethod,
    Drain,
    Error,
    Hello,
    Ping,
    Pong,
    Welcome,
)

ENDLESS = Credit(1 << 40, 1 << 50)


@dataclass
class Manners:
    """What a test may change while the acceptor runs."""

    token: bytes | None = None
    credit: Credit | None = ENDLESS
    hold_ms: int = 30_000
    answers_publish: bool = True
    refuse: Callable[[int], Refusal | None] = field(default=lambda _: None)
    """A subscription id, or a message's counter, to why it is refused."""
    sends_pong: bool = True
    newest: int = 0


class Acceptor:
    """Routers of one process: what one connection publishes, every connection's subscriptions may receive."""

    def __init__(self, manners: Manners) -> None:
        self.manners = manners
        self.frames: list[Frame] = []  # all that was received, on any connection
        self.connections: list[_Connection] = []
        self.loop = asyncio.new_event_loop()
        self.changed = threading.Condition()
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def listen(self, path: Path) -> str:
        async def start() -> None:
            self._servers.append(await self.loop.create_unix_server(lambda: _Connection(self), str(path)))

        asyncio.run_coroutine_threadsafe(start(), self.loop).result()
        return f"tamis+unix:{path}"

    def listen_tls(self, context: ssl.SSLContext) -> str:
        async def start() -> int:
            server = await self.loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, ssl=context)
            self._servers.append(server)
            return int(server.sockets[0].getsockname()[1])

        return f"tamis+tls://localhost:{asyncio.run_coroutine_threadsafe(start(), self.loop).result()}"

    def do(self, action: Callable[[_Connection], object]) -> None:
        """In the acceptor's own thread, to every connection."""

        async def act() -> None:
            for connection in list(self.connections):
                action(connection)

        asyncio.run_coroutine_threadsafe(act(), self.loop).result()

    def send(self, frame: Frame) -> None:
        self.do(lambda connection: connection.send(frame))

    def cut(self) -> None:
        self.do(lambda connection: connection.transport.abort())

    def wait_for(self, kind: type, count: int = 1) -> list[Frame]:
        """The frames of `kind`, when there are `count`."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.of(kind)) >= count, timeout=10)
            return self.of(kind)

    def of(self, kind: type) -> list[Frame]:
        return [frame for frame in self.frames if isinstance(frame, kind)]

    def close_listeners(self) -> None:
        async def stop() -> None:
            for server in self._servers:
                server.close()

        asyncio.run_coroutine_threadsafe(stop(), self.loop).result()

    def close(self) -> None:
        self.close_listeners()

        async def stop() -> None:
            for connection in list(self.connections):
                connection.transport.abort()
            await asyncio.sleep(0)  # connection_lost is called in the next turn

        asyncio.run_coroutine_threadsafe(stop(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextmanager
def acceptor(manners: Manners | None = None) -> Iterator[Acceptor]:
    running = Acceptor(manners or Manners())
    try:
        yield running
    finally:
        running.close()


class _Connection(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, home: Acceptor) -> None:
        self.home = home
        self.reader = FrameReader()
        self.subscriptions: dict[int, tuple[tuple[Filter, ...], bool]] = {}
        self.number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        if self in self.home.connections:
            self.home.connections.remove(self)

    def send(self, frame: Frame) -> None:
        self.transport.write(encode(frame))

    def data_received(self, data: bytes) -> None:
        self.reader.feed(data)
        for raw in self.reader:
            frame = decode(raw)
            self.home.frames.append(frame)  # before the answer: who has that may look for it
            if isinstance(frame, DataFrame):
                self._publish(frame)
            else:
                _ANSWERS[type(frame)](self, frame)
            with self.home.changed:
                self.home.changed.notify_all()

    def _hello(self, hello: Hello) -> None:
        self.number = stable_number(hello.name)
        manners = self.home.manners
        methods = (AuthMethod.NONE,) if manners.token is None else (AuthMethod.TOKEN,)
        self.send(Welcome("rome", 1, bytes(16), 1, (), 1 << 20, manners.hold_ms, 0, methods))

    def _auth(self, auth: Auth) -> None:
        if auth.credential != (self.home.manners.token or b""):
            self.send(Error(ErrorCode.AUTHENTICATION_FAILED, "no such token", FrameKind.AUTH, fatal=True))
            self.transport.close()
            return
        self.reader.authenticated()
        self.send(Authenticated(b"", self.number, 10_000, self.home.manners.newest))
        if self.home.manners.credit is not None:
            self.send(self.home.manners.credit)
        self.home.connections.append(self)

    def _subscribe(self, body: Subscribe) -> None:
        refusals = []
        for id_, packed, *_ in body.subscriptions:
            refusal = self.home.manners.refuse(id_)
            if refusal is None:
                self.subscriptions[id_] = (tuple(map(decode_filter, packed)), body.own_messages)
            else:
                refusals.append(refusal)
        refused = {refusal.number for refusal in refusals}
        taken = [id_ for id_, *_ in body.subscriptions if id_ not in refused]
        self.send(Ack(AckOf.SUBSCRIBE, body.request, ranges_of(taken), tuple(refusals)))

    def _unsubscribe(self, body: Unsubscribe) -> None:
        known = [id_ for id_ in body.ids if self.subscriptions.pop(id_, None)]
        missing = tuple(Refusal(id_, RefusalCode.NO_SUCH_ID, "") for id_ in body.ids if id_ not in known)
        self.send(Ack(AckOf.UNSUBSCRIBE, body.request, ranges_of(known), missing))

    def _publish(self, frame: DataFrame) -> None:
        counter = frame.message.id.counter
        refusal = self.home.manners.refuse(counter)
        if refusal is None:
            for connection in list(self.home.connections):
                connection.deliver(frame.message, frame.publish_time_ns)
        if frame.flags & header.CONFIRM and self.home.manners.answers_publish:
            ranges = () if refusal else (Range(counter, counter),)
            self.send(Ack(AckOf.PUBLISH, 0, ranges, (refusal,) if refusal else ()))

    def deliver(self, message: Message, time_ns: int = 0) -> None:
        own = message.id.origin == self.number
        satisfied = tuple(
            id_
            for id_, (filters, own_messages) in self.subscriptions.items()
            if (own_messages or not own) and any(filter_matches(each, message.attributes) for each in filters)
        )
        if satisfied:
            flags = header.OWN if own else 0
            extensions = {ExtensionType.SATISFIED: satisfied}
            self.send(DataFrame(FrameKind.DELIVER, message, flags, 8, Transit(1, 1, 1), time_ns, extensions))

    def _ping(self, ping: Ping) -> None:
        if self.home.manners.sends_pong:
            self.send(Pong(ping.token))

    def _heard(self, _: object) -> None:
        """Nothing to do."""


_ANSWERS: dict[type, Callable[..., None]] = {
    Hello: _Connection._hello,
    Auth: _Connection._auth,
    Subscribe: _Connection._subscribe,
    Unsubscribe: _Connection._unsubscribe,
    Ping: _Connection._ping,
    Pong: _Connection._heard,
    Drain: _Connection._heard,
    Error: _Connection._heard,
}
