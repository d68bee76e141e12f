"""A router just enough for the load generator: written with protocol.wire, it matches nothing and stores nothing.

Law: whatever the load generator sends goes through the strict decoder and the tables of who may send what; an error
there ends the connection, and so the load generator's run.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Range, Refusal, Subscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import Frame, decode, encode, kind_of
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session import CLIENT_CONNECTION, Session
from tamis.protocol.wire.session_bodies import Auth, Authenticated, Hello, Ping, Pong, Welcome

CREDIT_STEP = 300


@dataclass
class ToyRouter:
    """Every message goes to every connection whose first subscription is `wanted`."""

    wanted: bytes
    refuses: bool = False
    loses: int = 0
    """The number of the message that is not delivered; 0 is none."""
    subscribed: list[list[Subscribe]] = field(default_factory=list)
    published: list[DataFrame] = field(default_factory=list)
    outputs: list[asyncio.StreamWriter] = field(default_factory=list)
    credit: int = CREDIT_STEP

    @asynccontextmanager
    async def listening(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        async with server:
            yield server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames, session = FrameReader(), Session(CLIENT_CONNECTION, is_connector=False)
        self.subscribed.append([])
        subscriptions = self.subscribed[-1]
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                frames.feed(data)
                for raw in frames:
                    frame = decode(raw)
                    session.received(kind_of(frame))
                    for answer in self._answers(frame, writer, subscriptions):
                        session.sent(kind_of(answer))
                        writer.write(encode(answer))
                        if isinstance(answer, Authenticated):
                            frames.authenticated()
                await writer.drain()
        writer.close()

    def _answers(self, frame: Frame, writer: asyncio.StreamWriter, subscriptions: list[Subscribe]) -> Iterator[Frame]:
        match frame:
            case Hello():
                self.number = stable_number(frame.name)
                yield Welcome("toy", 1, bytes(16), 1, (), 1_048_576, 30_000, 0, (0, 1))
            case Auth():
                yield Authenticated(b"", self.number, 10_000)
                yield Credit(self.credit, 10**9)
            case Ping():
                yield Pong(frame.token)
            case Subscribe():
                yield self._subscribe(frame, writer, subscriptions)
            case DataFrame():
                yield from self._publish(frame)

    def _subscribe(self, frame: Subscribe, writer: asyncio.StreamWriter, subscriptions: list[Subscribe]) -> Ack:
        ids = [each.id for each in frame.subscriptions]
        if self.refuses:
            return Ack(AckOf.SUBSCRIBE, frame.request, (), (Refusal(ids[0], RefusalCode.BAD_FILTER, "not today"),))
        subscriptions.append(frame)
        if frame.subscriptions[0].filters == (self.wanted,):
            self.outputs.append(writer)
        return Ack(AckOf.SUBSCRIBE, frame.request, (Range(ids[0], ids[-1]),))

    def _publish(self, frame: DataFrame) -> Iterator[Frame]:
        self.published.append(frame)
        if len(self.published) != self.loses:
            extensions = {ExtensionType.SATISFIED: (1,)}
            raw = encode(replace(frame, kind=FrameKind.DELIVER, hop_limit=8, extensions=extensions))
            for output in self.outputs:
                if not output.is_closing():
                    output.write(raw)
        if len(self.published) == self.credit:
            self.credit += CREDIT_STEP
            yield Credit(self.credit, 10**9)
