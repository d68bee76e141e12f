"""GET: returns the newest message that a durable subscription holds for one value of its `latest_by`.

Law: a GET is no delivery. It is answered once, after its message. The index has the position of the message, and the
thread of replays reads it once it is on disk; if it was replaced in the meantime, the search is repeated. At most
GETS_MAX requests wait at a time.
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
from tamis.protocol.wire.durable_bodies import GET_VALUE, Get
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.clients.durables import DurableRequester
from tamis.router.durable.allowed import may_get
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import LOG_HAS_FAILED, RequestRefused, no_such_durable
from tamis.router.durable.replays import delivered
from tamis.router.durable.waiting import WaitingMessage, look

if TYPE_CHECKING:
    from tamis.router.durable.registry import DurableRegistry
    from tamis.router.durable.replays import Replays

GETS_MAX: Final = 1_000
"""Most requests of all clients that wait for the disk; further ones are refused (OVERLOADED)."""


class Gets:
    def __init__(self, registry: DurableRegistry, log: Log, replays: Replays) -> None:
        self._registry, self._log, self._replays = registry, log, replays
        self._running: set[asyncio.Task[None]] = set()

    def get(self, client: DurableRequester, get: Get) -> None:
        """Start to answer `get` of `client`; the answer follows when the message is read."""
        try:
            held, value = self._found(get)
        except RequestRefused as error:
            _refuse(client, get, error)
            return
        task = asyncio.get_running_loop().create_task(self._run(client, get, held, value), name="tamis get")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _found(self, get: Get) -> tuple[HostedDurable, Value]:
        """Return the durable subscription that `get` names, and the value. Raise RequestRefused if `get` is invalid or
        too many requests wait."""
        held = self._registry.by_name.get(get.name)
        if held is None:
            raise no_such_durable(get.name)
        by = held.rest.latest_by
        if not by:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"durable subscription {get.name!r} has no latest_by")
        try:
            attributes = decode_attributes(get.attributes)
        except FrameError as error:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, error.problem) from None
        if attributes.keys() != {GET_VALUE}:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"GET must have one attribute, {GET_VALUE}")
        if len(self._running) >= GETS_MAX:
            raise RequestRefused(
                RefusalCode.OVERLOADED, f"{GETS_MAX:,} GET requests wait for the disk already; try again later"
            )
        return held, attributes[GET_VALUE]

    async def _run(self, client: DurableRequester, get: Get, held: HostedDurable, value: Value) -> None:
        try:
            message = await self._newest(held, value)
        except RequestRefused as error:
            _refuse(client, get, error)
            return
        if not client.is_open:
            return
        if message is not None and may_get(client.rights, get.name, message.frame):
            frame = delivered(message.position, message.frame, get.id)
            if not 0 < len(frame) <= client.frame_bytes_max:
                _refuse(
                    client,
                    get,
                    RequestRefused(RefusalCode.TOO_LARGE, "the message is longer than this client's largest frame"),
                )
                return
            client.send(FrameKind.DELIVER, frame, urgent=False)
        client.send(FrameKind.ACK, encode(Ack(AckOf.GET, get.request, (Range(get.id, get.id),))), urgent=False)

    async def _newest(self, held: HostedDurable, value: Value) -> WaitingMessage | None:
        """Return the newest message of `value`, or None if there is none. Raise RequestRefused if it cannot be read."""
        by = held.rest.latest_by
        attributes, before = encode_attributes({by: value}), None
        while (n := self._position(held, attributes)) not in (None, before):
            await self._on_disk(n)
            message = await self._read(held, n)
            if message is not None:
                return message if _has(message, by, value) else None
            before = n
        return None

    def _position(self, held: HostedDurable, attributes: bytes) -> int | None:
        """Return the position of the newest message; None if there is none or the subscription has ended."""
        is_there = self._registry.by_number.get(held.number) is held
        return self._registry.newest(held, attributes) if is_there else None

    async def _read(self, held: HostedDurable, n: int) -> WaitingMessage | None:
        """Return the message at position `n`, or None if it has left in the meantime. Raise RequestRefused if the
        router stops or the log has failed."""
        if self._replays.is_closed:
            raise RequestRefused(RefusalCode.DRAINING, "the router is stopping")
        try:
            found = (await self._replays.aside(lambda: look(self._log, held.number, n - 1, 1))).found
        except LogFailed:
            raise RequestRefused(RefusalCode.LOG_FAILED, LOG_HAS_FAILED) from None
        return found[0] if found and found[0].position == n else None

    async def _on_disk(self, n: int) -> None:
        """Wait until record `n` is on disk. Raise RequestRefused if the log has failed."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def answer(error: RequestRefused | None) -> None:
            if not written.done():
                written.set_result(None) if error is None else written.set_exception(error)

        self._registry.when_on_disk(n, answer)
        await written


def _has(message: WaitingMessage, by: str, value: Value) -> bool:
    """Return whether attribute `by` of `message` is `value`; another value may share its index key."""
    found = DeliverView(message.frame).attributes.get(by)
    return found is not None and identity(found) == identity(value)


def _refuse(client: DurableRequester, get: Get, error: RequestRefused) -> None:
    if client.is_open:
        ack = Ack(AckOf.GET, get.request, (), (refusal(get.id, error.code, error.reason),))
        client.send(FrameKind.ACK, encode(ack), urgent=False)
