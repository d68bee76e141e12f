"""GET: the newest message that a keep has of one value of its `latest_by`, which nobody is given by that.

Law: a GET is answered once, behind its message. The index says where that lies, and the thread that reads for replays
reads it, once it is on disk. One that was replaced meanwhile is looked for again. At most GETS_MAX wait at a time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tamis.native.log import Log, LogFailed
from tamis.protocol.errors import FrameError
from tamis.protocol.values import Value, identity
from tamis.protocol.wire.attributes import decode_attributes, encode_attributes
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.keep_bodies import GET_VALUE, Get
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.clients.keeping import KeepAsker
from tamis.router.kept.held import HeldKeep
from tamis.router.kept.refusals import LOG_HAS_FAILED, RequestRefused
from tamis.router.kept.replays import delivered
from tamis.router.kept.waiting import WaitingMessage, look

if TYPE_CHECKING:
    from tamis.router.kept.keeper import KeepHost
    from tamis.router.kept.replays import Replays

GETS_MAX: Final = 1_000
"""Those that wait for the disk, of all clients; more are refused (OVERLOADED)."""


class Gets:
    def __init__(self, keeper: KeepHost, log: Log, replays: Replays) -> None:
        self._keeper, self._log, self._replays = keeper, log, replays
        self._running: set[asyncio.Task[None]] = set()

    def get(self, client: KeepAsker, get: Get) -> None:
        """Answer `get` of `client`, later."""
        try:
            held, value = self._found(get)
        except RequestRefused as error:
            _refuse(client, get, error)
            return
        task = asyncio.get_running_loop().create_task(self._run(client, get, held, value), name="tamis get")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _found(self, get: Get) -> tuple[HeldKeep, Value]:
        """Return the keep that `get` names, and the value; RequestRefused says what is wrong."""
        held = self._keeper.by_name.get(get.name)
        if held is None:
            raise RequestRefused(RefusalCode.NO_SUCH_KEEP, f"there is no keep {get.name!r}")
        by = held.rest.latest_by
        if not by:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"keep {get.name!r} was made without latest_by")
        try:
            attributes = decode_attributes(get.attributes)
        except FrameError as error:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, error.problem) from None
        if attributes.keys() != {GET_VALUE}:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"GET has one attribute, {GET_VALUE}")
        if len(self._running) >= GETS_MAX:
            raise RequestRefused(RefusalCode.OVERLOADED, f"{GETS_MAX:,} such requests wait for the disk: try again")
        return held, attributes[GET_VALUE]

    async def _run(self, client: KeepAsker, get: Get, held: HeldKeep, value: Value) -> None:
        try:
            message = await self._newest(held, value)
        except RequestRefused as error:
            _refuse(client, get, error)
            return
        if not client.is_open:
            return
        if message is not None:
            frame = delivered(message.position, message.frame, get.id)
            if not 0 < len(frame) <= client.frame_bytes_max:
                _refuse(
                    client, get, RequestRefused(RefusalCode.TOO_LARGE, "the message is longer than this client takes")
                )
                return
            client.send(FrameKind.DELIVER, frame, urgent=False)
        client.send(FrameKind.ACK, encode(Ack(AckOf.GET, get.request, (Range(get.id, get.id),))), urgent=False)

    async def _newest(self, held: HeldKeep, value: Value) -> WaitingMessage | None:
        """Return the newest message of `value`; None: there is none. RequestRefused: it cannot be read."""
        by = held.rest.latest_by
        attributes, before = encode_attributes({by: value}), None
        while (n := self._position(held, attributes)) not in (None, before):
            await self._on_disk(n)
            message = await self._read(held, n)
            if message is not None:
                return message if _has(message, by, value) else None
            before = n
        return None

    def _position(self, held: HeldKeep, attributes: bytes) -> int | None:
        """Return where the newest message lies; None: nowhere, or the keep has ended."""
        is_there = self._keeper.by_number.get(held.number) is held
        return self._keeper.newest(held, attributes) if is_there else None

    async def _read(self, held: HeldKeep, n: int) -> WaitingMessage | None:
        """Return the message at position `n`; None: it has left meanwhile."""
        if self._replays.is_closed:
            raise RequestRefused(RefusalCode.DRAINING, "the router is stopping")
        try:
            found = (await self._replays.aside(lambda: look(self._log, held.number, n - 1, 1))).found
        except LogFailed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED) from None
        return found[0] if found and found[0].position == n else None

    async def _on_disk(self, n: int) -> None:
        """Return when record `n` is on disk; RequestRefused: it never will be."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def answer(error: RequestRefused | None) -> None:
            if not written.done():
                written.set_result(None) if error is None else written.set_exception(error)

        self._keeper.when_on_disk(n, answer)
        await written


def _has(message: WaitingMessage, by: str, value: Value) -> bool:
    """Has `message` this value, and not another one of the same key?"""
    found = DeliverView(message.frame).attributes.get(by)
    return found is not None and identity(found) == identity(value)


def _refuse(client: KeepAsker, get: Get, error: RequestRefused) -> None:
    if client.is_open:
        ack = Ack(AckOf.GET, get.request, (), (refusal(get.id, error.code, error.reason),))
        client.send(FrameKind.ACK, encode(ack), urgent=False)
