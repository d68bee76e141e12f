"""A router that keeps by default, and has not been asked to yet: its log is made when a client first asks for a keep.

Law: until then nothing is on disk, no thread runs, and the parts that keep are not loaded. The log is opened beside the
loop; what clients ask meanwhile waits, up to WAITING_MAX requests, and is answered in order. Where it cannot be opened,
those who have asked are told, and the next request for a keep tries again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tamis.configs.sections.kept import KeptSettings
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import TamisError
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.keep_bodies import Attach, ForgetKeep, Get, Keep, KeepsListed, ListKeeps, Replay, ReplayEnd
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.clients import Clients
from tamis.router.clients.keeping import KeepAsker, refused

if TYPE_CHECKING:
    from tamis.router.kept.open_log import OpenedLog
    from tamis.router.kept.service import KeptService

WAITING_MAX: Final = 1_000
"""Requests that wait for the log to be opened; more are refused (OVERLOADED)."""
NO_KEEP: Final = "there are no keeps at this router yet"


class KeepsWhenAsked:
    """A `Keeping`, until the first keep is asked for. `opened` is called with the service that takes its place."""

    def __init__(self, clients: Clients, settings: KeptSettings, opened: Callable[[KeptService], None]) -> None:
        self._clients, self._settings, self._opened = clients, settings, opened
        self._waiting: deque[tuple[KeepAsker, object]] = deque()
        self._opening: Future[OpenedLog] | None = None
        self._serving: asyncio.Task[None] | None = None  # held, as a loop holds its tasks weakly
        self._service: KeptService | None = None

    def asked(self, client: KeepAsker, body: object) -> None:
        """Take in a frame of `client`."""
        connections = self._clients.connections
        if self._opening is None and not isinstance(body, Keep):
            _answer_of_none(client, body)
        elif self._opening is None and connections.is_draining:
            _refuse(client, body, RefusalCode.DRAINING, "the router is draining")
        elif len(self._waiting) == WAITING_MAX:
            _refuse(client, body, RefusalCode.OVERLOADED, "the log is being opened, and many wait for it: try again")
        else:
            self._waiting.append((client, body))
            if self._opening is None:
                self._open(connections.loop)

    def left(self, client: KeepAsker) -> None:
        """Nothing of it is here but what waits, and that is dropped when its turn comes."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Nothing is kept that may miss it."""

    def close_replays(self) -> None:
        """End what reads the log; the switch is open."""
        if self._service is not None:
            self._service.close_replays()

    def close_log(self) -> None:
        """Close the log, if there is one by now; the switch is closed."""
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
        """Let the service answer, once the log is open: first those who wait."""
        try:
            opened = await asyncio.wrap_future(opening)
            from tamis.router.kept.service import KeptService

            service = KeptService(self._clients, opened)
        except TamisError as error:
            self._opening = None
            code = _code_of(error)
            while self._waiting:
                _refuse(*self._waiting.popleft(), code, str(error))
            return
        self._service = service
        self._opened(service)
        while self._waiting:
            client, body = self._waiting.popleft()
            if client.is_open:
                self._clients.keeping.asked(client, body)


def _opened_log(settings: KeptSettings) -> OpenedLog:
    """Open the log; what serves from it is loaded here as well, beside the loop."""
    import tamis.router.kept.service  # noqa: F401
    from tamis.router.kept.open_log import open_log

    return open_log(settings)


def _code_of(error: TamisError) -> RefusalCode:
    from tamis.router.kept.open_log import NoRoom

    if isinstance(error, OutOfMemory):
        return RefusalCode.OUT_OF_MEMORY
    return RefusalCode.LOG_FULL if isinstance(error, NoRoom) else RefusalCode.LOG_FAILED


def _answer_of_none(client: KeepAsker, body: object) -> None:
    """Answer what is asked of keeps where there is none: a list is empty, a replay finds nothing."""
    if isinstance(body, ListKeeps):
        client.send(FrameKind.KEEPS_LISTED, encode(KeepsListed(body.request, (), more=False)))
        return
    if isinstance(body, Replay):
        client.send(FrameKind.ACK, encode(Ack(AckOf.REPLAY, body.request, (Range(body.id, body.id),))))
        client.send(FrameKind.REPLAY_END, encode(ReplayEnd(body.id, 0, 0, "")), urgent=False)
        return
    missing = f"there is no keep {body.name!r}; " if isinstance(body, Attach | ForgetKeep | Get) else ""
    answer = refused(body, missing + NO_KEEP)
    if answer is not None:
        client.send(FrameKind.ACK, encode(answer))


def _refuse(client: KeepAsker, body: object, code: RefusalCode, reason: str) -> None:
    answer = refused(body, reason, code)
    if answer is not None and client.is_open:
        client.send(FrameKind.ACK, encode(answer))
