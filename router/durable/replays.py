"""Replays: messages of the log, selected by predicate and time, read in a thread and sent as the client grants credit.

Law: one thread reads for all replays of a router, and for `aside`, one step at a time. A step is read only if the
client has credit and its connection has a short queue, and finds no more messages than the credit covers, so that all
of them are sent at once. Between steps a replay holds its packed filters and a position in the log. A client has at
most `replays_per_client` replays at a time, and all replays share the pool (replay_pool.py).
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from tamis.configs.sections.durable import DurableSettings
from tamis.native.log import Log, LogFailed
from tamis.native.log_replay import LogReplay, ReplayedRecord, StepBuffer
from tamis.native.results import Gone, OutOfMemory
from tamis.native.switch_figures import ConnectionFigures
from tamis.native.table import Table
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import EXTENSION_BYTES_MAX
from tamis.protocol.residual import read_program
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import Replay, ReplayEnd
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType, encode_extensions
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import FLAGS_OFFSET, HEADER_BYTES, KIND_OFFSET, LENGTHS_OFFSET, TRACED
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.durables import DurableRequester
from tamis.router.durable.allowed import may_replay
from tamis.router.durable.refusals import LOG_HAS_FAILED, RequestRefused
from tamis.router.durable.replay_pool import REPLAY_BYTES, TABLE_BYTES, ReplayPool

QUEUED_BYTES_MAX: Final = 262_144
"""While more than this is queued for a connection, no step is read for it."""
PAUSE_S: Final = 0.02
FRAMES_A_TURN: Final = 200

Read = TypeVar("Read")

_LENGTH: Final = struct.Struct("<I")
_AREA: Final = struct.Struct("<H")


class QueueingSwitch(Protocol):
    """A switch that reports how much is queued for a connection."""

    def connection(self, connection: int) -> ConnectionFigures:
        """Return the figures of a connection; raise Gone if it has ended."""


class Replays:
    """The replays of one router over `log`. `close` it before the log."""

    def __init__(self, switch: QueueingSwitch, log: Log, settings: DurableSettings) -> None:
        self._switch, self._log, self._stored = switch, log, settings
        self.pool = ReplayPool(self._stored.replay_bytes)
        self._clients: dict[int, _ClientReplays] = {}
        self._buffer = StepBuffer()  # used by the thread alone
        self._thread = ThreadPoolExecutor(1, "tamis replay")
        self.is_closed = False

    def __len__(self) -> int:
        """Return the number of running replays."""
        return sum(len(client.running) for client in self._clients.values())

    def begin(self, client: DurableRequester, replay: Replay) -> None:
        """Begin a replay for `client`. Raise RequestRefused if a filter is invalid or a limit is reached."""
        own = self._clients.get(client.connection) or _ClientReplays()
        size = REPLAY_BYTES + sum(map(len, replay.filters)) + len(replay.residual)
        self._check(own, replay, size)
        check_program(replay.residual)
        table_of(replay.filters, "a replay").close()
        span_us = -(-replay.since_ns // 1_000), replay.until_ns // 1_000
        running = _RunningReplay(client, replay, LogReplay(self._log, *span_us, replay.residual), size)
        self._clients[client.connection] = own
        own.running[replay.id] = running
        own.bytes += size
        self.pool.waiting_bytes += size
        running.task = asyncio.get_running_loop().create_task(self._run(own, running), name="tamis replay")

    def _check(self, own: _ClientReplays, replay: Replay, size: int) -> None:
        """Raise RequestRefused if the limits do not allow `replay`, of `size` bytes, besides the client's `own`."""
        most = self._stored.replays_per_client
        if len(own.running) >= most:
            raise RequestRefused(RefusalCode.OVER_QUOTA, f"a client may have at most {most:,} replays at a time")
        if replay.id in own.running:
            raise RequestRefused(RefusalCode.ID_IN_USE, f"replay {replay.id} exists already")
        if own.bytes + size > self.pool.client_max:
            most = self.pool.client_max
            raise RequestRefused(
                RefusalCode.OVER_QUOTA, f"the filters of a client's replays may use at most {most:,} bytes in total"
            )
        if self.pool.waiting_bytes + size > self.pool.waiting_max:
            most = self.pool.waiting_max
            raise RequestRefused(
                RefusalCode.OVER_QUOTA, f"the replays of all clients may use at most {most:,} bytes; try again later"
            )

    def end(self, connection: int, id_: int) -> bool:
        """End a replay; return False if there is none with this id."""
        own = self._clients.get(connection)
        running = own.running.pop(id_, None) if own is not None else None
        if own is None or running is None:
            return False
        running.is_wanted = False
        running.more.set()
        own.bytes -= running.size
        if not own.running:
            del self._clients[connection]
        return True

    def gone(self, connection: int) -> None:
        """End the replays of a connection that has ended."""
        own = self._clients.get(connection)
        for id_ in list(own.running) if own is not None else ():
            self.end(connection, id_)

    def credit(self, connection: int, credit: Credit) -> None:
        """Raise the credit of a replay; ignore credit for an unknown one."""
        own = self._clients.get(connection)
        running = own.running.get(credit.subscription) if own is not None else None
        if running is not None:
            running.credit = max(running.credit, credit.frames_total)
            running.more.set()

    def close(self) -> None:
        """End all replays, and wait until the thread has stopped reading the log."""
        self.is_closed = True
        for connection in list(self._clients):
            self.gone(connection)
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def aside(self, read: Callable[[], Read]) -> Read:
        """Run `read`, which reads the log, in the thread between steps of replays; return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, read)

    async def _run(self, own: _ClientReplays, running: _RunningReplay) -> None:
        code, reason = 0, ""
        try:
            while self._goes_on(running) and not running.reading.is_over:
                await running.credited()
                async with own.turn:
                    await self._queue_is_short(running)
                    await self._step(running)
        except RequestRefused as error:
            code, reason = error.code, error.reason
        except LogFailed:
            code, reason = RefusalCode.LOG_FAILED, LOG_HAS_FAILED
        finally:
            self.pool.waiting_bytes -= running.size
        if self._goes_on(running):
            self.end(running.client.connection, running.replay.id)
            end = ReplayEnd(running.replay.id, running.sent, code, reason)
            running.client.send(FrameKind.REPLAY_END, encode(end), urgent=False)

    def _goes_on(self, running: _RunningReplay) -> bool:
        return running.is_wanted and running.client.is_open and not self.is_closed

    async def _step(self, running: _RunningReplay) -> None:
        """Read one step and send the messages found, which the client's credit covers."""
        async with self.pool.step():
            if not self._goes_on(running):
                return
            found = await self.aside(lambda: running.read(self._buffer))
            for number, frame in enumerate(running.frames(found), 1):
                if not self._goes_on(running):
                    return
                running.send(frame)
                if number % FRAMES_A_TURN == 0:
                    await asyncio.sleep(0)

    async def _queue_is_short(self, running: _RunningReplay) -> None:
        """Wait until at most QUEUED_BYTES_MAX are queued for the connection."""
        queued = self._switch.connection
        with suppress(Gone):
            while running.is_wanted and queued(running.client.connection).queued_bytes > QUEUED_BYTES_MAX:
                await asyncio.sleep(PAUSE_S)


class _ClientReplays:
    """The replays of one connection, by id. `turn`: lets one of them read and send at a time."""

    def __init__(self) -> None:
        self.running: dict[int, _RunningReplay] = {}
        self.bytes = 0
        self.turn = asyncio.Lock()


class _RunningReplay:
    """One replay, of `size` bytes while it waits. `credit`: number of messages that it may send in all; `more` is set
    when that grows."""

    def __init__(self, client: DurableRequester, replay: Replay, reading: LogReplay, size: int) -> None:
        self.client, self.replay, self.reading, self.size = client, replay, reading, size
        self.credit, self.sent = replay.credit_frames, 0
        self.more = asyncio.Event()
        self.is_wanted = True
        self.task: asyncio.Task[None] | None = None  # referenced here, because a loop holds its tasks weakly

    async def credited(self) -> None:
        """Wait until the client has credit."""
        while self.is_wanted and self.sent >= self.credit:
            self.more.clear()
            await self.more.wait()

    def read(self, buffer: StepBuffer) -> list[ReplayedRecord]:
        """Return the messages of one step; called in the thread. Raise RequestRefused if the filters do not compile,
        LogFailed if the disk cannot be read."""
        wanted = table_of(self.replay.filters, "a replay")
        try:
            return self.reading.step(wanted, self.credit - self.sent, buffer)
        finally:
            wanted.close()

    def frames(self, found: list[ReplayedRecord]) -> Iterator[bytes]:
        """Yield the DELIVER frames of `found` that are within the client's largest frame."""
        for record in found:
            if not may_replay(self.client.rights, record.frame, time.time() - record.t_us / 1e6):
                continue
            frame = delivered(record.n, record.frame, self.replay.id)
            if 0 < len(frame) <= self.client.frame_bytes_max:
                yield frame

    def send(self, frame: bytes) -> None:
        self.sent += 1
        self.client.send(FrameKind.DELIVER, frame, urgent=False)


def delivered(n: int, message: bytes, id_: int) -> bytes:
    """Return the DELIVER frame of the message at position `n` of the log, with the extensions of a replay before its
    own. Return b"" if the extensions together are too long."""
    own = encode_extensions(
        {
            ExtensionType.SATISFIED: (id_,),
            ExtensionType.LOG_POSITION: n,
            ExtensionType.DELIVERIES: DeliveryCount(0, replayed=True, maybe_duplicate=False),
        },
        FrameKind.DELIVER,
    )
    frame = bytearray(message)
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
    """Return a table of `filters`, which the caller closes. Raise RequestRefused if one is invalid or memory is short.
    `of`: owner of the filters, for the error."""
    table = Table("linear", TABLE_BYTES)
    try:
        for packed in filters:
            table.add(packed, 0)
    except (Refused, FrameError) as error:
        table.close()
        raise RequestRefused(RefusalCode.BAD_FILTER, str(error)) from None
    except OutOfMemory:
        table.close()
        raise RequestRefused(
            RefusalCode.OVER_QUOTA, f"the filters of {of} may use at most {TABLE_BYTES:,} bytes"
        ) from None
    return table


def check_program(residual: bytes) -> None:
    """Raise RequestRefused for bytes that are no residual program; there may be none."""
    try:
        if residual:
            read_program(residual)
    except Refused as error:
        raise RequestRefused(RefusalCode.BAD_FILTER, f"the residual program: {error}") from None
