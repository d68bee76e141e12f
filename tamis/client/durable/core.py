"""The durable subscriptions of a client: open requests, consumers, replays, acknowledgements.

Law: CREATE_DURABLE and REMOVE_DURABLE are idempotent, so requests without an answer are sent again after a cut, and so
is each consumer. A consumer that was attached before, and whose home is away, is asked for each second.
Acknowledgements are collected and sent with the next output, as many positions in a frame as fit. Whether an
acknowledgement arrived before a cut is unknown (AckUnknown); if an acknowledged message arrives again, it is
acknowledged again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from typing import Final

from tamis.client.durable.consumer_state import ConsumeOptions, ConsumerPhase, ConsumerState, Make
from tamis.client.durable.seen import SeenIds
from tamis.client.durable.stored_message import Handed
from tamis.client.errors import AckUnknown, ClientClosed, DurableRefused
from tamis.client.messages.registry import Registry
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.limits import ACK_ANSWERS_MAX, ACK_ITEMS_MAX
from tamis.protocol.wire.client_bodies import NOT_SAID, Ack, AckOf, AckVerdict, KnownAt, Range, Refusal, ranges_of
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import CancelConsume, CreateDurable, RemoveDurable, Replay, ReplayEnd
from tamis.protocol.wire.frames import Body

NOT_STORED: Final = "this router has no durable subscriptions: it is of an earlier version"
NO_COPIES_MIN: Final = "this router does not know copies_min: it is of an earlier version"
NO_PROGRAMS: Final = "this router does not run residual programs: it is of an earlier version"
OVER: Final = "the consumer has ended; its messages go to other consumers"
NO_CONNECTION: Final = "no connection: the message will be acknowledged when it arrives again"
CUT: Final = "the connection was cut before the router answered"
CUT_WAY: Final = "the way to the home of the durable subscription was cut before it answered"
AGAIN_S: Final = 1.0
"""After which time a consumer that was attached is asked for again, while its home is away."""
CUT_REPLAY: Final = "a long replay was cut: begin another one with since= the time of the last message"
ACKS_AT_ONCE: Final = 10_000
"""The number of collected positions at which they are sent."""
_FRAME_SPARE: Final = 128
_RANGE_BYTES: Final = 19
_OVER: Final = (ConsumerPhase.ENDING, ConsumerPhase.ENDED)
_AGAIN: Final = frozenset({AckOf.CREATE_DURABLE, AckOf.REMOVE_DURABLE})
"""Idempotent requests, which are sent again after a cut."""


@dataclass(slots=True)
class DurableRequest:
    """A request, until its answer. `attached`: the consumer that it concerns, if any."""

    of: AckOf
    body: Body
    waiter: Waiter | None
    consumer: ConsumerState | None = None
    is_second_attempt: bool = False
    known_at: KnownAt = NOT_SAID
    """Which routers know the durable subscription that was created, once there is an answer."""


class DurableCore:
    """The requests, consumers and replays of one client. `send` appends a control frame to the output."""

    def __init__(self, registry: Registry, send: Callable[[Body], None]) -> None:
        self._registry = registry
        self._send = send
        self._numbers = count(1)
        self._asked: dict[int, DurableRequest] = {}
        self._consumer: dict[int, ConsumerState] = {}
        self._seen: dict[str, SeenIds] = {}
        self._answers = 0  # ACKs without an answer
        self._due: set[ConsumerState] = set()  # consumers with acknowledgements that were not sent yet
        self._homes_away: list[ConsumerState] = []  # consumers that are asked for again
        self._again_at: float | None = None  # None: at the tick after the next one
        self._frame_bytes_max = 0  # 0: no connection is open
        self._is_known = False  # whether the router supports durable subscriptions
        self._counts_copies = False  # whether it supports copies_min
        self._runs_programs = False  # whether it runs residual programs

    @property
    def awaits_answer(self) -> bool:
        return bool(self._asked)

    @property
    def is_idle(self) -> bool:
        """Whether there is no consumer and no request without an answer."""
        return not (self._asked or self._consumer)

    # --- commands of the user ------------------------------------------------------------------------------------

    def create(self, durable: CreateDurable, waiter: Waiter) -> DurableRequest:
        """Make a durable subscription, or find one of equal policy; settle `waiter` when it is on disk. The returned
        request then has the routers that know it."""
        number = next(self._numbers)
        asked = DurableRequest(AckOf.CREATE_DURABLE, replace(durable, request=number), waiter)
        self._ask(number, asked)
        return asked

    def remove(self, name: str, waiter: Waiter) -> None:
        """Remove a durable subscription; settle `waiter` when that is on disk."""
        number = next(self._numbers)
        self._ask(number, DurableRequest(AckOf.REMOVE_DURABLE, RemoveDurable(number, name), waiter))

    def seen(self, name: str, most: int) -> SeenIds:
        """Return the record of seen messages of a durable subscription, with room for at least `most`."""
        if most == 0:
            return SeenIds(0)
        seen = self._seen.setdefault(name, SeenIds(most))
        seen.remember(most)
        return seen

    def consume(self, options: ConsumeOptions, make: Make, work: object, waiter: Waiter) -> ConsumerState:
        """Attach to a durable subscription, or begin a replay; settle `waiter` when the router has answered. `make`
        makes the messages, whose verbs call `work`."""
        registry = self._registry
        id_ = registry.next_id()
        consumer = ConsumerState(id_, options, make, work, registry.bounds, registry.full, waiter)
        self._consumer[id_] = consumer
        registry.claim(id_, consumer.inbox)
        if self._frame_bytes_max:
            self._ask_for(consumer)
        return consumer

    def cancel(self, consumer: ConsumerState, waiter: Waiter | None) -> None:
        """End a consumer or a replay, after its pending acknowledgements are sent. Settle `waiter` when the router
        has answered."""
        self._tell(consumer)
        consumer.inbox.clear()
        consumer.inbox.end()
        was_asked = self._frame_bytes_max and consumer.state in (ConsumerPhase.ASKED, ConsumerPhase.ACTIVE)
        if consumer.state is ConsumerPhase.ENDED or not was_asked:
            self._over(consumer)
            settle(waiter)
            return
        settle(consumer.waiter)
        consumer.state, consumer.waiter = ConsumerPhase.ENDING, waiter
        self._registry.release(consumer.id)
        number = next(self._numbers)
        self._ask(number, DurableRequest(AckOf.CANCEL_CONSUME, CancelConsume(number, consumer.id), None, consumer))

    def cancel_all(self) -> None:
        """End all consumers and replays, as part of a drain."""
        for consumer in list(self._consumer.values()):
            if consumer.state is not ConsumerPhase.ENDING:
                self.cancel(consumer, None)

    def took(self, consumer: ConsumerState) -> None:
        """Record that the application has taken an item or found none; send credit if it is due."""
        consumer.owes_word = False
        if consumer.done:
            self._due.add(consumer)
        if consumer.wants_credit and self._frame_bytes_max:
            self._send(consumer.more_credit())

    def wants_all(self, consumer: ConsumerState) -> None:
        """Let the router send all messages that the credit allows, since the application waits for them."""
        consumer.wants_all()
        self.took(consumer)

    def acknowledge(self, consumer: ConsumerState, message: Handed) -> None:
        """Record that the application has acknowledged `message`."""
        if consumer.state in _OVER:
            raise ClientClosed(OVER)
        consumer.acknowledge(message)
        self._due.add(consumer)
        if len(consumer.done) >= ACKS_AT_ONCE:
            self._tell(consumer)

    def confirm(self, consumer: ConsumerState, waiter: Waiter) -> None:
        """Settle `waiter` when all acknowledgements of `attached` until now are on disk."""
        if consumer.is_replay:
            settle(waiter)
        elif consumer.state is not ConsumerPhase.ACTIVE:
            settle(waiter, AckUnknown(NO_CONNECTION))
        else:
            consumer.unconfirmed.append(waiter)
            self._due.add(consumer)

    def say(
        self, consumer: ConsumerState, message: Handed, verdict: AckVerdict, delay_ms: int = 0, reason: str = ""
    ) -> None:
        """Send a verdict on `message`: deliver it again, extend its timeout, or reject it."""
        if consumer.state in _OVER:
            raise ClientClosed(OVER)
        if message.replayed:
            return
        if verdict is AckVerdict.AGAIN:
            consumer.wants_again(message)
        positions = consumer.settle(message) if verdict is AckVerdict.REJECT else (message.position,)
        if positions:
            self._say(consumer, positions, verdict, delay_ms, reason)

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, frame_bytes_max: int, *, is_known: bool, counts_copies: bool, runs_programs: bool) -> None:
        """Send again all requests without an answer, and all consumers; `is_known`: this router supports durable
        subscriptions; `counts_copies`, `runs_programs`: and their copies_min, and their residual programs."""
        self._frame_bytes_max, self._is_known, self._counts_copies = frame_bytes_max, is_known, counts_copies
        self._runs_programs = runs_programs
        for number, asked in list(self._asked.items()):
            self._ask(number, asked)
        for consumer in list(self._consumer.values()):
            self._ask_for(consumer)

    def cut(self) -> None:
        self._frame_bytes_max = self._answers = 0
        self._due.clear()
        self._homes_away.clear()
        for number, asked in list(self._asked.items()):
            asked.is_second_attempt = True
            if asked.of not in _AGAIN:
                del self._asked[number]
                settle(asked.waiter, AckUnknown(CUT))
        for consumer in list(self._consumer.values()):
            settle(consumer.unconfirmed.taken(), AckUnknown(CUT))
            consumer.cut()
            if consumer.state is ConsumerPhase.ENDING:
                self._over(consumer)
            elif not consumer.can_begin_anew:
                consumer.inbox.end(AckUnknown(CUT_REPLAY))
                self._over(consumer)
            else:
                consumer.state = ConsumerPhase.ASKED

    def closed(self, error: Exception | None) -> None:
        """End for good: every call fails, every iterator ends, or raises `error`."""
        self.cut()
        reason = error or ClientClosed("the client is closed")
        for asked in self._asked.values():
            settle(asked.waiter, reason)
        self._asked.clear()
        for consumer in list(self._consumer.values()):
            consumer.inbox.end(error)
            settle(consumer.waiter, reason)
            self._over(consumer)

    @property
    def deadline(self) -> float:
        """When `tick` is due; infinite while nothing is to be asked again."""
        return (self._again_at or 0.0) if self._homes_away else inf

    def tick(self, now: float) -> None:
        """Ask again for consumers whose homes were away a second ago."""
        if not self._homes_away:
            return
        if self._again_at is None:
            self._again_at = now + AGAIN_S
        elif now >= self._again_at:
            again, self._homes_away, self._again_at = self._homes_away, [], None
            for consumer in again:
                if consumer.state is ConsumerPhase.ASKED:
                    self._ask_for(consumer)

    def flush(self) -> None:
        """Append the collected acknowledgements to the output."""
        while self._due:
            self._tell(self._due.pop())

    @property
    def has_acks(self) -> bool:
        """Whether there are acknowledgements that were not sent yet."""
        return bool(self._due)

    def arrived(self) -> None:
        """Process the side effects of arrived messages: acknowledge settled ones again, and send credit for hidden
        ones."""
        for consumer in self._consumer.values():
            if consumer.owes_word:
                self.took(consumer)

    def answer(self, ack: Ack) -> None:
        """Process the router's answer; ignore one to a request that a cut or its caller has ended."""
        asked = self._asked.get(ack.request)
        if asked is None or asked.of is not ack.of:
            return
        refusal = ack.refusals[0] if ack.refusals else None
        if refusal is not None and refusal.code == RefusalCode.DRAINING and asked.of is not AckOf.CANCEL_CONSUME:
            return  # this router drains: the request stays open for the next connection
        del self._asked[ack.request]
        asked.known_at = ack.known_at
        if asked.of is AckOf.DELIVER:
            self._answers -= 1
            self._due.update(each for each in self._consumer.values() if each.unconfirmed)
        if asked.of is AckOf.REMOVE_DURABLE and asked.is_second_attempt and _is_gone(refusal):
            refusal = None  # the first attempt has removed it
        if asked.consumer is None or asked.of is AckOf.DELIVER:
            settle(asked.waiter, None if refusal is None else DurableRefused(refusal))
        else:
            self._answer_for(asked.consumer, asked.of, refusal)

    def replay_ended(self, end: ReplayEnd) -> None:
        """Record that a replay is over, or that the durable subscription of a consumer was removed."""
        consumer = self._consumer.get(end.id)
        if consumer is not None and end.code == RefusalCode.DURABLE_ELSEWHERE and not consumer.is_replay:
            self._consume_again(consumer)
        elif consumer is not None:
            consumer.inbox.end(DurableRefused(Refusal(end.id, end.code, end.reason)) if end.code else None)
            self._over(consumer)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _ask(self, number: int, asked: DurableRequest) -> None:
        """Send a request, or store it for the next connection."""
        if not self._frame_bytes_max:
            self._asked[number] = asked
        elif refusal := self._refusal_of(asked.body):
            self._asked.pop(number, None)
            error = DurableRefused(refusal)
            if asked.consumer is None:
                settle(asked.waiter, error)
            else:
                self._fail(asked.consumer, error)
        else:
            self._asked[number] = asked
            self._send(asked.body)

    def _refusal_of(self, body: Body) -> Refusal | None:
        """Return the refusal of a request that this router does not support; None if it does."""
        if not self._is_known:
            return Refusal(0, RefusalCode.NO_LOG, NOT_STORED)
        if isinstance(body, CreateDurable) and body.policy.copies_min and not self._counts_copies:
            return Refusal(0, RefusalCode.NOT_ALLOWED, NO_COPIES_MIN)
        if not self._runs_programs and _needs_program(body):
            return Refusal(0, RefusalCode.NOT_ALLOWED, NO_PROGRAMS)
        return None

    def _consume_again(self, consumer: ConsumerState) -> None:
        """Ask again for a consumer whose home is another router, the way to which was cut: as after a cut of the
        connection, but for this consumer alone."""
        for number, asked in list(self._asked.items()):
            if asked.consumer is consumer and asked.of is AckOf.DELIVER:
                del self._asked[number]
                self._answers -= 1
                settle(asked.waiter, AckUnknown(CUT_WAY))
        settle(consumer.unconfirmed.taken(), AckUnknown(CUT_WAY))
        self._due.discard(consumer)
        consumer.cut()
        if consumer.state is not ConsumerPhase.ENDING:
            consumer.state = ConsumerPhase.ASKED
            self._ask_for(consumer)

    def _ask_for(self, consumer: ConsumerState) -> None:
        number = next(self._numbers)
        of = AckOf.REPLAY if consumer.is_replay else AckOf.CONSUME
        self._ask(number, DurableRequest(of, consumer.ask(number), None, consumer))

    def _answer_for(self, consumer: ConsumerState, of: AckOf, refusal: Refusal | None) -> None:
        if of is AckOf.CANCEL_CONSUME:
            self._over(consumer)
        elif consumer.state is ConsumerPhase.ENDING:
            pass  # only the answer to CANCEL_CONSUME counts
        elif refusal is None:
            consumer.answered()
            settle(consumer.waiter)
            self.took(consumer)
        elif refusal.code == RefusalCode.HOME_AWAY and consumer.was_attached:
            self._homes_away.append(consumer)
        else:
            self._fail(consumer, DurableRefused(refusal))

    def _fail(self, consumer: ConsumerState, error: DurableRefused) -> None:
        consumer.inbox.end(error)
        settle(consumer.waiter, error)
        self._over(consumer)

    def _over(self, consumer: ConsumerState) -> None:
        consumer.state = ConsumerPhase.ENDED
        settle(consumer.unconfirmed.taken(), AckUnknown(OVER))
        self._consumer.pop(consumer.id, None)
        self._due.discard(consumer)
        self._registry.release(consumer.id)
        consumer.inbox.end()
        settle(consumer.waiter)

    def _tell(self, consumer: ConsumerState) -> None:
        """Send the acknowledged positions, once the router has answered the CONSUME."""
        self._due.discard(consumer)
        if consumer.state is ConsumerPhase.ASKED:
            return
        done, consumer.done = consumer.done, []
        if consumer.state is not ConsumerPhase.ACTIVE:
            return
        frames = list(self._in_frames(ranges_of(done))) if done else []
        if not consumer.unconfirmed or self._answers == ACK_ANSWERS_MAX:  # confirm them later
            for some in frames:
                self._send(Ack(AckOf.DELIVER, 0, some, subscription=consumer.id))
            return
        last = frames.pop() if frames else ()
        for some in frames:
            self._send(Ack(AckOf.DELIVER, 0, some, subscription=consumer.id))
        number = next(self._numbers)
        ack = Ack(AckOf.DELIVER, number, last, subscription=consumer.id)
        self._asked[number] = DurableRequest(AckOf.DELIVER, ack, consumer.unconfirmed.taken(), consumer)
        self._answers += 1
        self._send(ack)

    def _say(
        self,
        consumer: ConsumerState,
        positions: Sequence[int],
        verdict: AckVerdict,
        delay_ms: int = 0,
        reason: str = "",
    ) -> None:
        """Send an ACK with a verdict of its own, after the acknowledgements before it."""
        self._tell(consumer)
        if consumer.state is ConsumerPhase.ACTIVE:
            ranges = ranges_of(positions)
            ack = Ack(AckOf.DELIVER, 0, ranges, (), verdict, consumer.id, delay_ms, reason)
            self._send(ack)

    def _in_frames(self, ranges: Sequence[Range]) -> Iterator[tuple[Range, ...]]:
        most = max(1, min(ACK_ITEMS_MAX, (self._frame_bytes_max - _FRAME_SPARE) // _RANGE_BYTES))
        for start in range(0, len(ranges), most):
            yield tuple(ranges[start : start + most])


def _is_gone(refusal: Refusal | None) -> bool:
    return refusal is not None and refusal.code == RefusalCode.NO_SUCH_DURABLE


def _needs_program(body: Body) -> bool:
    if isinstance(body, CreateDurable):
        return bool(body.policy.residual)
    return isinstance(body, Replay) and bool(body.residual)
