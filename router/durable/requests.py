"""Requests of clients about durable subscriptions: dispatches each frame to its component and sends the answer.

Law: a request is answered once, after its effect: CREATE_DURABLE and REMOVE_DURABLE when their records are on disk,
CONSUME at once, CANCEL_CONSUME after the last message of the consumer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

from tamis.native.log import Log
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import Refused
from tamis.protocol.wire.client_bodies import Ack, AckOf, Credit, KnownAt, Lost, Range
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    Get,
    ListDurables,
    RemoveDurable,
    Replay,
    ReplayEnd,
)
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.clients.durables import DurableRequester, refused
from tamis.router.durable.allowed import check_allowed
from tamis.router.durable.consumers import Consumer
from tamis.router.durable.elsewhere import Elsewhere
from tamis.router.durable.gets import Gets
from tamis.router.durable.homes import DurableHomes
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.lists import listed
from tamis.router.durable.refusals import RequestRefused
from tamis.router.durable.registry import DurableRegistry
from tamis.router.durable.replays import Replays, check_program

REMOVED = "the durable subscription was removed"


class DurableRequests:
    """The `Keeping` of a router that stores messages."""

    def __init__(
        self, registry: DurableRegistry, log: Log, replays: Replays, elsewhere: Elsewhere, homes: DurableHomes
    ) -> None:
        self._registry, self._replays, self._elsewhere = registry, replays, elsewhere
        self._homes = homes
        self._gets = Gets(registry, log, replays)
        self._askers: dict[int, DurableRequester] = {}
        registry.cut = self._cut

    @property
    def names(self) -> Collection[str]:
        return self._registry.by_name.keys()

    def asked(self, client: DurableRequester, body: object) -> None:
        """Handle a frame of `client`; ignore one that does not concern durable subscriptions."""
        if client.rights is not None:
            try:
                check_allowed(client.rights, self._registry, body)
            except RequestRefused as error:
                ack = refused(body, error.reason, error.code)
                if ack is not None:
                    client.send(FrameKind.ACK, encode(ack))
                return
        self._take(client, body)

    def _take(self, client: DurableRequester, body: object) -> None:
        registry = self._registry
        match body:
            case CreateDurable():
                self._create(client, body)
            case RemoveDurable():
                answer = self._answer_to(client, AckOf.REMOVE_DURABLE, body.request)
                registry.remove(client.principal, body.name, answer)
            case Consume():
                self._askers[client.connection] = client
                self._consume(client, body)
            case CancelConsume():
                self._cancel(client, body)
            case Replay():
                self._replay(client, body)
            case ListDurables():
                client.send(*listed(registry, self._owned(client), body, client.frame_bytes_max), urgent=False)
            case Get():
                self._gets.get(client, body)
            case Credit():
                self._replays.credit(client.connection, body)
            case Ack(of=AckOf.DELIVER, request=request, subscription=id_) if request:
                gone = RequestRefused(RefusalCode.NO_SUCH_ID, f"there is no consumer {id_}")
                _answer(client, AckOf.DELIVER, request, id_, gone)

    def left(self, client: DurableRequester) -> None:
        """Remove the consumers and replays of `client`, whose connection has ended."""
        self._askers.pop(client.connection, None)
        self._registry.gone(client.connection)
        self._replays.gone(client.connection)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Record a loss between routers, which affects subscriptions that existed at `before_s` (monotonic seconds)."""
        self._elsewhere.lost(lost, before_s)

    def _owned(self, client: DurableRequester) -> Iterator[HostedDurable]:
        """Return the durable subscriptions of a client."""
        rights = client.rights
        if rights is None:
            return self._registry.owned(client.principal)
        return (held for held in self._registry.by_number.values() if rights.owns(held.owner))

    def _answer_to(self, client: DurableRequester, of: AckOf, request: int) -> Callable[[RequestRefused | None], None]:
        return partial(_answer, client, of, request, 0)

    def _create(self, client: DurableRequester, create: CreateDurable) -> None:
        """Create a durable subscription, unless another router is known to have one of this name that is no copy of it;
        answer when it is on disk, with the routers that know it, and those of its homes that have no copy."""
        answer = self._answer_to(client, AckOf.CREATE_DURABLE, create.request)

        def is_there(error: RequestRefused | None) -> None:
            if error is not None:
                answer(error)
            else:
                self._homes.when_known(known)

        def known(at: KnownAt) -> None:
            self._homes.when_copied(
                create, lambda lacking: _answer_known(client, create.request, at._replace(lacking=lacking))
            )

        if create.homes == (self._registry.connections.settings.id,):
            create = replace(create, homes=(), policy=replace(create.policy, copies_min=0))
        try:
            check_program(create.policy.residual)
        except RequestRefused as bad:
            answer(bad)
            return
        if create.name not in self._registry.by_name and (error := self._homes.check(client.principal, create)):
            answer(error)
            return
        roles = client.rights.own_roles if client.rights is not None else frozenset()
        self._registry.make(client.principal, create, is_there, roles)

    def _consume(self, client: DurableRequester, consume: Consume) -> None:
        try:
            self._registry.consume(client.name, client.principal, client.connection, consume)
            self._guard(client, consume)
        except RequestRefused as error:
            _answer(client, AckOf.CONSUME, consume.request, consume.id, error)
        else:
            _answer(client, AckOf.CONSUME, consume.request, consume.id, None)

    def _guard(self, client: DurableRequester, consume: Consume) -> None:
        """Let a new consumer get only what rules of access allow. Raise RequestRefused if there is no memory for that;
        then the consumer has ended."""
        registry, rights, connection = self._registry, client.rights, client.connection
        if rights is None:
            return
        try:
            rights.access.guard_consumer(
                (connection, consume.id),
                rights.client,
                consume.name,
                lambda hand: registry.durables.guard(connection, consume.id, hand),
            )
        except (OutOfMemory, Refused):
            registry.cancel(connection, consume.id)
            what = "the rules of access cannot be enforced for another consumer"
            raise RequestRefused(RefusalCode.OUT_OF_MEMORY, what) from None

    def _cancel(self, client: DurableRequester, cancel: CancelConsume) -> None:
        is_done = self._registry.cancel(client.connection, cancel.id) or self._replays.end(client.connection, cancel.id)
        error = None if is_done else RequestRefused(RefusalCode.NO_SUCH_ID, f"there is no consumer {cancel.id}")
        _answer(client, AckOf.CANCEL_CONSUME, cancel.request, cancel.id, error, urgent=False)

    def _replay(self, client: DurableRequester, replay: Replay) -> None:
        try:
            self._replays.begin(client, replay)
        except RequestRefused as error:
            _answer(client, AckOf.REPLAY, replay.request, replay.id, error)
        else:
            _answer(client, AckOf.REPLAY, replay.request, replay.id, None)

    def each_second(self) -> None:
        """Send the consumers of copies that another router serves there."""
        for held, router in self._homes.served_elsewhere():
            reason = f"router {router} serves {held.name!r}: consume again"
            for connection, id_ in self._registry.consumers_of(held):
                client = self._askers.get(connection)
                self._registry.cancel(connection, id_)
                if client is not None and client.is_open:
                    end = ReplayEnd(id_, 0, RefusalCode.DURABLE_ELSEWHERE, reason)
                    client.send(FrameKind.REPLAY_END, encode(end), urgent=False)

    def _cut(self, held: HostedDurable, consumer: Consumer) -> None:
        """Send a consumer the end of its durable subscription, which was forgotten."""
        connection, id_ = consumer
        client = self._askers.get(connection)
        if client is not None and client.is_open:
            end = ReplayEnd(id_, 0, RefusalCode.NO_SUCH_DURABLE, f"{REMOVED}: {held.name!r}")
            client.send(FrameKind.REPLAY_END, encode(end), urgent=False)


def _answer_known(client: DurableRequester, request: int, at: KnownAt) -> None:
    if client.is_open:
        client.send(FrameKind.ACK, encode(Ack(AckOf.CREATE_DURABLE, request, (Range(0, 0),), known_at=at)))


def _answer(
    client: DurableRequester, of: AckOf, request: int, number: int, error: RequestRefused | None, urgent: bool = True
) -> None:
    if client.is_open:
        ranges = (Range(number, number),) if error is None else ()
        refusals = () if error is None else (refusal(number, error.code, error.reason),)
        client.send(FrameKind.ACK, encode(Ack(of, request, ranges, refusals)), urgent)
