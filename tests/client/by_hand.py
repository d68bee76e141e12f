"""A core and, by hand, the router before it: no socket, and a clock that a test turns.

Law: what the router says is encoded, and what the core says decoded, by `protocol.wire` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tamis.client.connection.core import ClientCore
from tamis.client.connection.settings import settings_of
from tamis.client.connection.walker import NoWalker, Walker
from tamis.client.messages.pending import PendingSubscription, options_of, packing
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import DURABLES, Ack, AckOf, Credit, Refusal, Subscribe, ranges_of
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType
from tamis.protocol.wire.frames import Frame, decode, encode
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Authenticated, AuthMethod, Welcome

NAME = "alice"
PLENTY = Credit(1_000_000, 1 << 40)


class Hand:
    """`core` at `now`, and the frames of the present connection that it has sent and nobody has looked at."""

    new_walker: Callable[[], Walker] = NoWalker

    def __init__(self, walker: Walker | None = None, **settings: Any) -> None:
        told = {"name": NAME, "token": None, "tls": None, "hold_s": 9.0, "inbox_bytes": 65_536, "inbox_messages": 100}
        addresses = settings.pop("addresses", ("tamis+unix:/a", "tamis+unix:/b"))
        self.opened: Future[None] = Future()
        self.core = ClientCore(
            settings_of(addresses, **told | settings),
            1,
            lambda: 1.0,
            bytes,
            lambda: self.unix_us,
            walker or type(self).new_walker(),
            self.opened,
        )
        self.now = 100.0
        self.unix_us = 1_800_000_000_000_000
        self._reader = FrameReader()

    def connect(self) -> list[Frame]:
        self._reader = FrameReader()
        self._reader.authenticated()
        self.core.connected(self.now)
        return self.sent()

    def open(
        self,
        credit: Credit | None = PLENTY,
        hold_ms: int = 30_000,
        frame_bytes_max: int = 1 << 20,
        newest: int = 0,
        capabilities: tuple[str, ...] = (DURABLES,),
    ) -> Hand:
        """A new connection, to the end of its greeting; the HELLO and AUTH of it are taken."""
        self.connect()
        self.say(Welcome("rome", 1, bytes(16), 2, capabilities, frame_bytes_max, hold_ms, 0, (AuthMethod.NONE,)))
        self.sent()
        self.say(Authenticated(b"", stable_number(NAME), 10_000, newest))
        if credit is not None:
            self.say(credit)
        return self

    def say(self, *frames: Frame) -> None:
        """What the router sends."""
        self.core.receive(b"".join(encode(frame) for frame in frames), self.now)

    def sent(self) -> list[Frame]:
        """What the core has sent since."""
        while output := self.core.take_output(self.now):
            self._reader.feed(output)
        return [decode(frame) for frame in self._reader]

    def sent_of(self, kind: type) -> list[Any]:
        return [frame for frame in self.sent() if isinstance(frame, kind)]

    def cut(self) -> None:
        self.core.cut("closed by the router", self.now)

    # --- the user --------------------------------------------------------------------------------------------------

    def publish(self, number: int, payload: bytes = b"", *, confirm: bool = False, retry: bool = False) -> Future[None]:
        waiter: Future[None] = Future()
        self.core.outbox.publish({"n": number}, payload, 0, waiter, confirm=confirm, retry=retry)
        return waiter

    def subscribe(
        self, *predicates: str, own_messages: bool = False, wait: str = "home"
    ) -> tuple[PendingSubscription, Future[None]]:
        waiter: Future[None] = Future()
        options = options_of(own_messages, wait)
        return self.core.subscribe(tuple(packing(predicates, options)), options, waiter), waiter

    def active(self, *predicates: str) -> PendingSubscription:
        """A subscription that the router has taken."""
        wanted, waiter = self.subscribe(*predicates)
        self.accept()
        assert waiter.done()
        return wanted

    def accept(self, *refusals: Refusal) -> list[Subscribe]:
        """Answer every SUBSCRIBE that was sent; what is not refused is taken."""
        asked = self.sent_of(Subscribe)
        refused = {refusal.number for refusal in refusals}
        for body in asked:
            ids = {subscription.id for subscription in body.subscriptions}
            mine = tuple(refusal for refusal in refusals if refusal.number in ids)
            self.say(Ack(AckOf.SUBSCRIBE, body.request, ranges_of(ids - refused), mine))
        return asked


def numbers(frames: list[Frame]) -> list[Value]:
    """What was published, in order."""
    return [frame.message.attributes["n"] for frame in frames if isinstance(frame, DataFrame)]


def delivery(*ids: int, number: int = 1, payload: bytes = b"", flags: int = 0) -> DataFrame:
    message = Message({"n": number, "class": "alert"}, payload, MessageId(7, number or 1))
    return DataFrame(FrameKind.DELIVER, message, flags, 8, Transit(1, 1, 1), 5_000, {ExtensionType.SATISFIED: ids})


def handed(
    id_: int,
    position: int,
    number: int = 0,
    times: int = 1,
    *,
    replayed: bool = False,
    dead: bool = False,
    expiry: int = 0,
) -> DataFrame:
    """What a router sends of a keep: message `number` at `position`."""
    message = Message({"n": number or position}, b"", MessageId(7, number or position))
    extensions: dict[int, Any] = {ExtensionType.EXPIRY: expiry} if expiry else {}
    extensions |= {ExtensionType.SATISFIED: (id_,), ExtensionType.LOG_POSITION: position}
    extensions[ExtensionType.DELIVERIES] = DeliveryCount(0 if replayed else times, replayed, False, dead)
    return DataFrame(FrameKind.DELIVER, message, 0, 8, Transit(1, 1, 1), 5_000, extensions)
