"""Requests of clients about durable subscriptions: the interface that answers them, and the answers without a log.

Law: each request gets one answer; a refusal has a reason in a sentence, and the connection stays open.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Protocol

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    DurablesListed,
    Get,
    ListDurables,
    RemoveDurable,
    Replay,
)
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.access.client_rights import ClientRights
from tamis.router.clients.acks import refusal

SINCE_VERSION: Final = 2
NO_FOLDER: Final = "this router stores no messages: its topology file has no `data` folder"
SWITCHED_OFF: Final = "this router stores no messages: its topology file has `durable: false`"

KEEPING: Final = frozenset(
    {
        *(
            FrameKind.CREATE_DURABLE,
            FrameKind.CONSUME,
            FrameKind.CANCEL_CONSUME,
            FrameKind.REMOVE_DURABLE,
            FrameKind.REPLAY,
            FrameKind.CREDIT,
        ),
        *(FrameKind.LIST_DURABLES, FrameKind.GET),
    }
)
"""Kinds of frames about durable subscriptions, which a client may send since version 2."""


def check_version(kind: FrameKind, version: int) -> None:
    """Raise FrameError if a connection of `version` has no frame `kind` from the client."""
    if kind in KEEPING and version < SINCE_VERSION:
        raise FrameError(
            ErrorCode.UNEXPECTED_KIND if kind is FrameKind.CREDIT else ErrorCode.UNKNOWN_KIND,
            f"{kind.name} requires version {SINCE_VERSION}; this connection has version {version}",
        )


class DurableRequester(Protocol):
    """The client of a request about durable subscriptions."""

    connection: int
    name: str
    frame_bytes_max: int

    @property
    def principal(self) -> str:
        """The owner of durable subscriptions that the client makes."""

    @property
    def rights(self) -> ClientRights | None:
        """What rules of access say about the client; None if there are none."""

    @property
    def is_open(self) -> bool:
        """Whether the client is admitted and not ending."""

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...


class Elsewhere(Protocol):
    """Handles requests of clients about durable subscriptions of other routers."""

    def takes(self, client: Any, body: object) -> bool:  # noqa: ANN401 - a Client, which knows this file
        """Return whether a request is for another router; it is handled then."""

    def left(self, client: DurableRequester) -> None:
        """Remove the state of `client`, whose connection has ended."""


class NothingElsewhere:
    """The durable subscriptions of other routers, where there are no links."""

    def takes(self, client: Any, body: object) -> bool:  # noqa: ANN401
        if isinstance(body, ListDurables) and body.elsewhere:
            listed = encode(DurablesListed(body.request, (), more=False))
            client.send(FrameKind.DURABLES_LISTED, listed, urgent=False)
            return True
        return False

    def left(self, client: DurableRequester) -> None:
        """Do nothing: there is no state of the client."""


class Durables(Protocol):
    """Handles the requests of clients about durable subscriptions."""

    @property
    def names(self) -> Collection[str]:
        """The names of the durable subscriptions of this router."""

    def asked(self, client: DurableRequester, body: object) -> None:
        """Handle a frame of `client`; ignore one that does not concern durable subscriptions."""

    def left(self, client: DurableRequester) -> None:
        """Remove the state of `client`, whose connection has ended."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Record a loss between routers, which affects subscriptions that existed at `before_s` (monotonic seconds)."""


def why_nothing(data: str | None) -> str:
    """Return why a router with the folder `data` has no log, as a sentence that names the key to change."""
    return SWITCHED_OFF if data else NO_FOLDER


class NoDurables:
    """The `Keeping` of a router that stores nothing. `why`: the reason, as a sentence."""

    names: Collection[str] = ()

    def __init__(self, why: str) -> None:
        self._why = why

    def asked(self, client: DurableRequester, body: object) -> None:
        answer = refused(body, self._why)
        if answer is not None:
            client.send(FrameKind.ACK, encode(answer))

    def left(self, client: DurableRequester) -> None:
        """Do nothing: there is no state of the client."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Do nothing: there is no durable subscription to lose messages."""


def refused(body: object, reason: str, code: RefusalCode | None = None) -> Ack | None:
    """Return the refusal of `body` for `reason`; None if `body` needs no answer. `code` None selects the code by kind:
    NO_LOG for requests that need a log, otherwise that the named thing does not exist."""
    match body:
        case CreateDurable(request=request):
            of, number, usual = AckOf.CREATE_DURABLE, 0, RefusalCode.NO_LOG
        case RemoveDurable(request=request):
            of, number, usual = AckOf.REMOVE_DURABLE, 0, RefusalCode.NO_SUCH_DURABLE
        case Consume(request=request, id=number):
            of, usual = AckOf.CONSUME, RefusalCode.NO_SUCH_DURABLE
        case CancelConsume(request=request, id=number):
            of, usual = AckOf.CANCEL_CONSUME, RefusalCode.NO_SUCH_ID
        case Replay(request=request, id=number):
            of, usual = AckOf.REPLAY, RefusalCode.NO_LOG
        case ListDurables(request=request):
            of, number, usual = AckOf.LIST_DURABLES, 0, RefusalCode.NO_LOG
        case Get(request=request, id=number):
            of, usual = AckOf.GET, RefusalCode.NO_SUCH_DURABLE
        case Ack(of=AckOf.DELIVER, request=request, subscription=number) if request:
            of, usual = AckOf.DELIVER, RefusalCode.NO_SUCH_ID
        case _:
            return None
    return Ack(of, request, (), (refusal(number, code or usual, reason),))
