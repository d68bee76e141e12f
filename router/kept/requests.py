"""Requests of clients about durable subscriptions: dispatches each frame to its component and sends the answer.

Law: a request is answered once, after its effect: KEEP and FORGET when their records are on disk, ATTACH at once,
DETACH after the last message of the consumer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tamis.native.log import Log
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, Lost, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.keep_bodies import Attach, Detach, ForgetKeep, Get, Keep, ListKeeps, Replay, ReplayEnd
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.clients.keeping import KeepAsker
from tamis.router.kept.elsewhere import Elsewhere
from tamis.router.kept.gets import Gets
from tamis.router.kept.held import HeldKeep
from tamis.router.kept.keeper import KeepHost
from tamis.router.kept.lists import listed
from tamis.router.kept.members import Member
from tamis.router.kept.refusals import RequestRefused
from tamis.router.kept.replays import Replays

FORGOTTEN = "the keep is forgotten"


class KeepRequests:
    """The `Keeping` of a router that stores messages."""

    def __init__(self, keeper: KeepHost, log: Log, replays: Replays, elsewhere: Elsewhere) -> None:
        self._keeper, self._replays, self._elsewhere = keeper, replays, elsewhere
        self._gets = Gets(keeper, log, replays)
        self._askers: dict[int, KeepAsker] = {}
        keeper.cut = self._cut

    def asked(self, client: KeepAsker, body: object) -> None:
        """Handle a frame of `client`; ignore one that does not concern durable subscriptions."""
        keeper = self._keeper
        match body:
            case Keep():
                keeper.make(client.principal, body, self._answer_to(client, AckOf.KEEP, body.request))
            case ForgetKeep():
                keeper.forget(client.principal, body.name, self._answer_to(client, AckOf.FORGET, body.request))
            case Attach():
                self._askers[client.connection] = client
                self._attach(client, body)
            case Detach():
                self._detach(client, body)
            case Replay():
                self._replay(client, body)
            case ListKeeps():
                client.send(*listed(keeper, client.principal, body, client.frame_bytes_max))
            case Get():
                self._gets.get(client, body)
            case Credit():
                self._replays.credit(client.connection, body)
            case Ack(of=AckOf.DELIVER, request=request, subscription=id_) if request:
                gone = RequestRefused(RefusalCode.NO_SUCH_ID, f"there is no attachment {id_}")
                _answer(client, AckOf.DELIVER, request, id_, gone)

    def left(self, client: KeepAsker) -> None:
        """Remove the consumers and replays of `client`, whose connection has ended."""
        self._askers.pop(client.connection, None)
        self._keeper.gone(client.connection)
        self._replays.gone(client.connection)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Record a loss between routers, which affects subscriptions that existed at `before_s` (monotonic seconds)."""
        self._elsewhere.lost(lost, before_s)

    def _answer_to(self, client: KeepAsker, of: AckOf, request: int) -> Callable[[RequestRefused | None], None]:
        return partial(_answer, client, of, request, 0)

    def _attach(self, client: KeepAsker, attach: Attach) -> None:
        try:
            self._keeper.attach(client.name, client.principal, client.connection, attach)
        except RequestRefused as error:
            _answer(client, AckOf.ATTACH, attach.request, attach.id, error)
        else:
            _answer(client, AckOf.ATTACH, attach.request, attach.id, None)

    def _detach(self, client: KeepAsker, detach: Detach) -> None:
        is_done = self._keeper.detach(client.connection, detach.id) or self._replays.end(client.connection, detach.id)
        error = None if is_done else RequestRefused(RefusalCode.NO_SUCH_ID, f"there is no attachment {detach.id}")
        _answer(client, AckOf.DETACH, detach.request, detach.id, error, urgent=False)

    def _replay(self, client: KeepAsker, replay: Replay) -> None:
        try:
            self._replays.begin(client, replay)
        except RequestRefused as error:
            _answer(client, AckOf.REPLAY, replay.request, replay.id, error)
        else:
            _answer(client, AckOf.REPLAY, replay.request, replay.id, None)

    def _cut(self, held: HeldKeep, member: Member) -> None:
        """Send a consumer the end of its durable subscription, which was forgotten."""
        connection, id_ = member
        client = self._askers.get(connection)
        if client is not None and client.is_open:
            end = ReplayEnd(id_, 0, RefusalCode.NO_SUCH_KEEP, f"{FORGOTTEN}: {held.name!r}")
            client.send(FrameKind.REPLAY_END, encode(end), urgent=False)


def _answer(
    client: KeepAsker, of: AckOf, request: int, number: int, error: RequestRefused | None, urgent: bool = True
) -> None:
    if client.is_open:
        ranges = (Range(number, number),) if error is None else ()
        refusals = () if error is None else (refusal(number, error.code, error.reason),)
        client.send(FrameKind.ACK, encode(Ack(of, request, ranges, refusals)), urgent)
