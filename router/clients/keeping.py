"""What a client asks about kept subscriptions: who answers it, and what a router without a log answers.

Law: each request gets one answer, which says why in a sentence where it is a refusal, and the connection goes on.
"""

from __future__ import annotations

from typing import Final, Protocol

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.keep_bodies import Attach, Detach, ForgetKeep, Keep, Replay
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal

SINCE_VERSION: Final = 2
NO_LOG: Final = "this router keeps no messages: it has no log"

KEEPING: Final = frozenset(
    {FrameKind.KEEP, FrameKind.ATTACH, FrameKind.DETACH, FrameKind.FORGET, FrameKind.REPLAY, FrameKind.CREDIT}
)
"""What a client may send about kept subscriptions since version 2."""


def check_version(kind: FrameKind, version: int) -> None:
    """FrameError if a connection of `version` has no frame `kind`."""
    if kind in KEEPING and version < SINCE_VERSION:
        raise FrameError(
            ErrorCode.UNEXPECTED_KIND if kind is FrameKind.CREDIT else ErrorCode.UNKNOWN_KIND,
            f"{kind.name} is the client's since version {SINCE_VERSION}; this is version {version}",
        )


class KeepAsker(Protocol):
    """The client of a request about kept subscriptions."""

    connection: int
    name: str
    frame_bytes_max: int

    @property
    def principal(self) -> str:
        """The owner of what the client makes."""

    @property
    def is_open(self) -> bool:
        """Is the client let in, and not ending?"""

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...


class Keeping(Protocol):
    """Who answers what clients ask about kept subscriptions."""

    def asked(self, client: KeepAsker, body: object) -> None:
        """Take in a frame of `client`; one that is not about kept subscriptions is passed over."""

    def left(self, client: KeepAsker) -> None:
        """Take in that the connection of `client` has ended."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Take in a loss between routers, which concerns what was wanted at `before_s` (monotonic)."""


class NoKeeping:
    """A router that keeps nothing."""

    def asked(self, client: KeepAsker, body: object) -> None:
        answer = refused(body)
        if answer is not None:
            client.send(FrameKind.ACK, encode(answer))

    def left(self, client: KeepAsker) -> None:
        """Nothing was asked of it."""

    def lost(self, lost: Lost, before_s: float) -> None:
        """Nothing is kept that may miss it."""


def refused(body: object) -> Ack | None:
    """Return the answer to `body` of a router that keeps nothing; None if nobody waits for one."""
    match body:
        case Keep(request=request):
            return _no(AckOf.KEEP, request, 0, RefusalCode.LOG_FAILED)
        case ForgetKeep(request=request):
            return _no(AckOf.FORGET, request, 0, RefusalCode.NO_SUCH_KEEP)
        case Attach(request=request, id=id_):
            return _no(AckOf.ATTACH, request, id_, RefusalCode.NO_SUCH_KEEP)
        case Detach(request=request, id=id_):
            return _no(AckOf.DETACH, request, id_, RefusalCode.NO_SUCH_ID)
        case Replay(request=request, id=id_):
            return _no(AckOf.REPLAY, request, id_, RefusalCode.LOG_FAILED)
        case Ack(of=AckOf.DELIVER, request=request, subscription=id_) if request:
            return _no(AckOf.DELIVER, request, id_, RefusalCode.NO_SUCH_ID)
    return None


def _no(of: AckOf, request: int, number: int, code: RefusalCode) -> Ack:
    return Ack(of, request, (), (refusal(number, code, NO_LOG),))
