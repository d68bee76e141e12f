"""Replays: what the log holds, by predicate and time, read beside the loop and sent as the client takes it.

Law: one thread reads for all replays of a router, and for who looks at a keep, a step at a time in turn; the loop sends
what it found within the client's credit, and only while little waits for that connection. A client has
`replays_per_client` at a time.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar

from tamis.native import Gone, OutOfMemory, Table
from tamis.native.log import Log, LogFailed
from tamis.native.log_replay import LogReplay, ReplayedRecord
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import EXTENSION_BYTES_MAX
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType, encode_extensions
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import FLAGS_OFFSET, HEADER_BYTES, KIND_OFFSET, LENGTHS_OFFSET, TRACED
from tamis.protocol.wire.keep_bodies import Replay, ReplayEnd
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.keeping import KeepAsker
from tamis.router.connections.connections import Connections
from tamis.router.kept.refusals import LOG_HAS_FAILED, NotDone

QUEUED_BYTES_MAX: Final = 262_144
"""While so much waits for a connection, a replay sends it nothing."""
PAUSE_S: Final = 0.02
FRAMES_A_TURN: Final = 200
TABLE_BYTES: Final = 8 << 20
"""What the filters of one replay may take when they are compiled."""

Read = TypeVar("Read")

_LENGTH: Final = struct.Struct("<I")
_AREA: Final = struct.Struct("<H")


class Replays:
    """The replays of one router over `log`. `close` it before the log."""

    def __init__(self, connections: Connections, log: Log) -> None:
        self._connections, self._log = connections, log
        self._running: dict[tuple[int, int], _RunningReplay] = {}
        self._thread = ThreadPoolExecutor(1, "tamis replay")
        self._is_closed = False

    def begin(self, client: KeepAsker, replay: Replay) -> None:
        """Begin a replay for `client`; NotDone says why not."""
        kept = self._connections.settings.kept
        most = kept.replays_per_client if kept is not None else 0
        own = [at for at in self._running if at[0] == client.connection]
        if len(own) >= most:
            raise NotDone(RefusalCode.OVER_QUOTA, f"a client may have {most:,} replays at a time")
        at = client.connection, replay.id
        if at in self._running:
            raise NotDone(RefusalCode.ID_IN_USE, f"replay {replay.id} is there already")
        wanted = table_of(replay.filters, "a replay")
        span_us = -(-replay.since_ns // 1_000), replay.until_ns // 1_000
        running = _RunningReplay(client, replay, LogReplay(self._log, wanted, *span_us))
        self._running[at] = running
        running.task = self._connections.loop.create_task(self._run(at, running), name="tamis replay")

    def end(self, connection: int, id_: int) -> bool:
        """End a replay that its client does not want any more; False: there is none."""
        running = self._running.pop((connection, id_), None)
        if running is not None:
            running.is_wanted = False
            running.more.set()
        return running is not None

    def gone(self, connection: int) -> None:
        """Take in that a connection has ended."""
        for at in [at for at in self._running if at[0] == connection]:
            self.end(*at)

    def credit(self, connection: int, credit: Credit) -> None:
        """Let a client have more messages of a replay; one that there is none of is passed over."""
        running = self._running.get((connection, credit.subscription))
        if running is not None:
            running.credit = max(running.credit, credit.frames_total)
            running.more.set()

    def close(self) -> None:
        """End all replays; return when nothing reads the log any more."""
        self._is_closed = True
        for at in list(self._running):
            self.end(*at)
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def aside(self, read: Callable[[], Read]) -> Read:
        """Return what `read` returns, which reads the log; it is done between the steps of replays."""
        return await self._connections.loop.run_in_executor(self._thread, read)

    async def _run(self, at: tuple[int, int], running: _RunningReplay) -> None:
        code, reason = 0, ""
        try:
            while running.is_wanted and not running.reading.is_over and not self._is_closed:
                found = await self._connections.loop.run_in_executor(self._thread, running.reading.step)
                for frame in running.frames(found):
                    await self._room(running)
                    if not running.is_wanted or not running.client.is_open:
                        return
                    running.send(frame)
        except LogFailed:
            code, reason = RefusalCode.LOG_FAILED, LOG_HAS_FAILED
        finally:
            running.reading.close()
        if running.is_wanted and running.client.is_open:
            self._running.pop(at, None)
            end = ReplayEnd(running.replay.id, running.sent, code, reason)
            running.client.send(FrameKind.REPLAY_END, encode(end), urgent=False)

    async def _room(self, running: _RunningReplay) -> None:
        """Wait until the client has credit, and little waits for its connection."""
        while running.is_wanted and running.sent >= running.credit:
            running.more.clear()
            await running.more.wait()
        if running.sent % FRAMES_A_TURN == 0:
            await asyncio.sleep(0)
        with suppress(Gone):
            while running.is_wanted and self._queued(running.client.connection) > QUEUED_BYTES_MAX:
                await asyncio.sleep(PAUSE_S)

    def _queued(self, connection: int) -> int:
        return self._connections.switch.connection(connection).queued_bytes


class _RunningReplay:
    """One replay. `credit`: messages that it may send in all; `more` is set when that is raised."""

    def __init__(self, client: KeepAsker, replay: Replay, reading: LogReplay) -> None:
        self.client, self.replay, self.reading = client, replay, reading
        self.credit, self.sent = replay.credit_frames, 0
        self.more = asyncio.Event()
        self.is_wanted = True
        self.task: asyncio.Task[None] | None = None  # held, as a loop holds its tasks weakly

    def frames(self, found: list[ReplayedRecord]) -> Iterator[bytes]:
        """Give those of `found` that the client can take, as they are delivered."""
        for record in found:
            frame = delivered(record, self.replay.id)
            if 0 < len(frame) <= self.client.frame_bytes_max:
                yield frame

    def send(self, frame: bytes) -> None:
        self.sent += 1
        self.client.send(FrameKind.DELIVER, frame, urgent=False)


def delivered(record: ReplayedRecord, id_: int) -> bytes:
    """Return the DELIVER of a message in the log: what a keep adds to it stands before its own extensions. Empty: these
    leave no room for it."""
    own = encode_extensions(
        {
            ExtensionType.SATISFIED: (id_,),
            ExtensionType.LOG_POSITION: record.n,
            ExtensionType.DELIVERIES: DeliveryCount(0, replayed=True, maybe_duplicate=False),
        },
        FrameKind.DELIVER,
    )
    frame = bytearray(record.frame)
    (area,) = _AREA.unpack_from(frame, LENGTHS_OFFSET)
    if area + len(own) > EXTENSION_BYTES_MAX:
        return b""
    frame[HEADER_BYTES:HEADER_BYTES] = own
    frame[KIND_OFFSET] = FrameKind.DELIVER
    frame[FLAGS_OFFSET] &= TRACED
    _LENGTH.pack_into(frame, 0, len(frame))
    _AREA.pack_into(frame, LENGTHS_OFFSET, area + len(own))
    return bytes(frame)


def table_of(filters: tuple[bytes, ...], of: str) -> Table:
    """Return a table with `filters`; NotDone says what is wrong with them. `of`: whose they are."""
    table = Table("linear", TABLE_BYTES)
    try:
        for packed in filters:
            table.add(packed, 0)
    except (Refused, FrameError) as error:
        table.close()
        raise NotDone(RefusalCode.BAD_FILTER, str(error)) from None
    except OutOfMemory:
        table.close()
        raise NotDone(RefusalCode.OVER_QUOTA, f"the filters of {of} may take {TABLE_BYTES:,} bytes") from None
    return table
