"""A router whose log is made at the first request for a durable subscription, or statement of one elsewhere.

Law: until then nothing is on disk, no thread runs, and the modules of durable subscriptions are not loaded. A thread
opens the log; requests that arrive in the meantime wait, at most WAITING_MAX of them, and are answered in order. If the
log cannot be opened, they are refused, and the next request for a durable subscription tries again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tamis.configs.sections.durable import DurableSettings
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import TamisError
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import (
    Consume,
    CreateDurable,
    DurablesListed,
    Get,
    ListDurables,
    RemoveDurable,
    Replay,
    ReplayEnd,
)
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.clients import Clients
from tamis.router.clients.durables import DurableRequester, refused

if TYPE_CHECKING:
    from tamis.router.access.client_rights import ClientRights
    from tamis.router.durable.hosted import HostedDurable
    from tamis.router.durable.open_log import OpenedLog
    from tamis.router.durable.service import DurableService

WAITING_MAX: Final = 1_000
"""Most requests that wait for the log to be opened; further ones are refused (OVERLOADED)."""
NO_DURABLE: Final = "this router has no durable subscriptions yet"


class DurablesOnDemand:
    """The `Keeping` of a router without a log. `opened` is called with the service that replaces it."""

    names: Collection[str] = ()

    def __init__(self, clients: Clients, settings: DurableSettings, opened: Callable[[DurableService], None]) -> None:
        self._clients, self._settings, self._opened = clients, settings, opened
        self._waiting: deque[tuple[DurableRequester, object]] = deque()
        self._opening: Future[OpenedLog] | None = None
        self._serving: asyncio.Task[None] | None = None  # referenced here, because a loop holds its tasks weakly
        self._service: DurableService | None = None
        clients.connections.network.homes.when_asked(self._asked_by_others)

    def asked(self, client: DurableRequester, body: object) -> None:
        """Handle a frame of `client`: answer it, refuse it, or let it wait for the log."""
        connections = self._clients.connections
        if self._opening is None and not isinstance(body, CreateDurable):
            _answer_of_none(client, body)
        elif self._opening is None and connections.is_draining:
            _refuse(client, body, RefusalCode.DRAINING, "the router is draining")
        elif self._opening is None and client.rights is not None and _is_refused(client, client.rights, body):
            pass  # and no log is made
        elif len(self._waiting) == WAITING_MAX:
            _refuse(
                client,
                body,
                RefusalCode.OVERLOADED,
                "the log is being opened, and too many requests wait for it; try again",
            )
        else:
            self._waiting.append((client, body))
            if self._opening is None:
                self._open(connections.loop)

    def _asked_by_others(self, is_needed: bool) -> bool:
        """Open the log, if it is needed, for what enters here and durable subscriptions of other routers want; return
        whether it is being opened."""
        connections = self._clients.connections
        if is_needed and self._opening is None and not connections.is_draining:
            self._open(connections.loop)
        return self._opening is not None

    def left(self, client: DurableRequester) -> None:
        """Do nothing: waiting requests of a closed connection are dropped in `_serve`."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Do nothing: there is no durable subscription to lose messages."""

    def close_replays(self) -> None:
        """Close the replays, if the service exists. Call this before the switch is closed."""
        if self._service is not None:
            self._service.close_replays()

    def close_log(self) -> None:
        """Close the log, if it was opened. Call this after the switch is closed."""
        if self._service is not None:
            self._service.close_log()
        elif self._opening is not None:
            with suppress(TamisError):
                self._opening.result().log.close()

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        thread = ThreadPoolExecutor(1, "tamis opens its log")
        self._opening = thread.submit(_opened_log, self._settings)
        thread.shutdown(wait=False)
        self._serving = loop.create_task(self._serve(self._opening), name="tamis opens its log")

    async def _serve(self, opening: Future[OpenedLog]) -> None:
        """Wait for the log, make the service, and let it answer the waiting requests first; refuse them if the log
        cannot be opened."""
        try:
            opened = await asyncio.wrap_future(opening)
            from tamis.router.durable.service import DurableService

            service = DurableService(self._clients, opened)
        except TamisError as error:
            self._opening = None
            code = _code_of(error)
            if not self._waiting:
                what = "messages for durable subscriptions of other routers are not stored here"
                self._clients.connections.health.alarm(f"{what}: {error}")
            while self._waiting:
                _refuse(*self._waiting.popleft(), code, str(error))
            return
        self._service = service
        self._opened(service)
        while self._waiting:
            client, body = self._waiting.popleft()
            if client.is_open:
                self._clients.durables.asked(client, body)


def _opened_log(settings: DurableSettings) -> OpenedLog:
    """Open the log in the thread, and import the service there as well, which takes a while."""
    import tamis.router.durable.service  # noqa: F401
    from tamis.router.durable.open_log import open_log

    return open_log(settings)


def _code_of(error: TamisError) -> RefusalCode:
    from tamis.router.durable.open_log import NoRoom

    if isinstance(error, OutOfMemory):
        return RefusalCode.OUT_OF_MEMORY
    return RefusalCode.LOG_FULL if isinstance(error, NoRoom) else RefusalCode.LOG_FAILED


class _NoneHosted:
    """The durable subscriptions of a router without a log."""

    def __init__(self) -> None:
        self.by_name: dict[str, HostedDurable] = {}


def _is_refused(client: DurableRequester, rights: ClientRights, body: object) -> bool:
    """Refuse a request that rules of access do not allow; return whether they do not."""
    from tamis.router.durable.allowed import check_request
    from tamis.router.durable.refusals import RequestRefused

    try:
        check_request(rights, _NoneHosted(), body)
    except RequestRefused as error:
        _refuse(client, body, error.code, error.reason)
        return True
    return False


def _answer_of_none(client: DurableRequester, body: object) -> None:
    """Answer a request to a router without durable subscriptions: an empty list, an empty replay, or a refusal."""
    if isinstance(body, ListDurables):
        client.send(FrameKind.DURABLES_LISTED, encode(DurablesListed(body.request, (), more=False)))
        return
    if isinstance(body, Replay):
        client.send(FrameKind.ACK, encode(Ack(AckOf.REPLAY, body.request, (Range(body.id, body.id),))))
        client.send(FrameKind.REPLAY_END, encode(ReplayEnd(body.id, 0, 0, "")), urgent=False)
        return
    missing = (
        f"there is no durable subscription {body.name!r}; " if isinstance(body, Consume | RemoveDurable | Get) else ""
    )
    answer = refused(body, missing + NO_DURABLE)
    if answer is not None:
        client.send(FrameKind.ACK, encode(answer))


def _refuse(client: DurableRequester, body: object, code: RefusalCode, reason: str) -> None:
    answer = refused(body, reason, code)
    if answer is not None and client.is_open:
        client.send(FrameKind.ACK, encode(answer))
