"""The questions of a client that wait for an answer, and the messages that carry questions and answers.

    question   the asker's attributes, reply-to = ADDRESS, correlation-id = NUMBER     to all subscribers it matches
    answer     the responder's attributes, answer-to = ADDRESS, correlation-id = NUMBER

Both are ordinary messages. Each client draws an ADDRESS, 16 random bytes as hexadecimal text: only clients that have
received a question of it know the ADDRESS, and can answer. Law: a client has one subscription for all of its answers,
from its first question on; the first answer to a question is used, and one that arrives after the call has ended is
dropped. What waits here is bounded by the calls that wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Final

from tamis.client.errors import ClientClosed, Unanswered
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.inbox import PassingBox
from tamis.client.messages.outbox import Outbox, Unconfirmed
from tamis.client.messages.pending import (
    DecidedPredicate,
    PendingSubscription,
    SubscribeOptions,
    SubscriptionState,
    decided,
    packing,
)
from tamis.client.messages.registry import Registry
from tamis.client.messages.waiter import Waiter, Waiters, settle
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language import parse
from tamis.protocol.spaces import NO_SPACES, SpaceSet
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Reach, Refusal
from tamis.protocol.wire.codes import RefusalCode

REPLY_TO: Final = "reply-to"
ANSWER_TO: Final = "answer-to"
CORRELATION_ID: Final = "correlation-id"
REQUEST_S: Final = 5.0
"""Seconds that a request waits for its answer, by default."""
_ADDRESS_BYTES: Final = 16


class OpenQuestion:
    """A question, the message that carries it, and its answer once that has arrived."""

    def __init__(self, number: int, message: Unconfirmed, waiter: Waiter) -> None:
        self.number = number
        self.message = message
        self.answer: Message | None = None
        self.waiter = waiter


class Questions:
    """The questions of one client. No answer is used for a waiter whose owner has given up."""

    def __init__(self, outbox: Outbox, registry: Registry, random_bytes: Callable[[int], bytes]) -> None:
        self._outbox = outbox
        self._registry = registry
        self._random_bytes = random_bytes
        self._address = ""
        self._numbers = count(1)
        self._waiting: dict[int, OpenQuestion] = {}
        self._answers: PendingSubscription | None = None
        self._opening = Waiters()

    @property
    def is_open(self) -> bool:
        """Whether the client is subscribed to answers, or will be again after a cut."""
        return self._answers is not None and self._answers.was_active and not self._answers.inbox.is_ended

    @property
    def awaits_answer(self) -> bool:
        return bool(self._waiting)

    def open(self, waiter: Waiter) -> None:
        """Subscribe to answers; settle `waiter` when every router within reach has the subscription."""
        self._outbox.check_open()
        if self.is_open:
            settle(waiter)
            return
        if self._answers is None or self._answers.state is SubscriptionState.ENDED:
            self._address = self._random_bytes(_ADDRESS_BYTES).hex()
            self._opening = Waiters()
            mine = Predicate((Filter((Constraint(ANSWER_TO, Op.EQ, (self._address,)),)),))
            options = SubscribeOptions(own_messages=True, wait=Reach.NETWORK)
            inbox = PassingBox(self._registry.bounds, self._registry.full, self._answered, self._ended)
            packed = tuple(packing((mine,), options))
            self._answers = self._registry.subscribe(packed, options, self._opening, inbox)
        self._opening.append(waiter)

    def ask(self, attributes: Mapping[str, Value], payload: bytes, time_ns: int, waiter: Waiter) -> OpenQuestion:
        """Publish a question, after `open`; settle `waiter` when its answer has arrived."""
        number = next(self._numbers)
        attributes = marked(attributes, REPLY_TO, self._address, number)
        message = self._outbox.publish(
            *(attributes, payload, time_ns, _Sending(waiter)), confirm=False, retry=False, tell_unwanted=True
        )
        asked = self._waiting[number] = OpenQuestion(number, message, waiter)
        return asked

    def forget(self, asked: OpenQuestion) -> None:
        """Ignore any answer to `asked`, whose call has ended."""
        self._waiting.pop(asked.number, None)

    def refused(self, refusals: Iterable[Refusal]) -> None:
        """End the calls whose questions match no subscription."""
        for refusal in refusals:
            if refusal.code == RefusalCode.UNWANTED:
                for asked in [each for each in self._waiting.values() if each.message.id.counter == refusal.number]:
                    self.forget(asked)
                    settle(asked.waiter, Unanswered(refusal.reason))

    def _answered(self, message: Message) -> None:
        try:
            number = message.get(CORRELATION_ID)
        except FrameError:
            return  # a message with damaged attributes is no answer
        asked = self._waiting.pop(number, None) if type(number) is int else None
        if asked is not None:
            asked.answer = message
            settle(asked.waiter)

    def _ended(self, error: Exception | None) -> None:
        waiting, self._waiting = self._waiting, {}
        for asked in waiting.values():
            settle(asked.waiter, error or ClientClosed("the client is closed"))


class _Sending:
    """The waiter for a held question to be sent. The waiter of its call stays open until the answer arrives."""

    def __init__(self, waiter: Waiter) -> None:
        self._waiter = waiter

    def done(self) -> bool:
        return self._waiter.done()

    def set_result(self, result: None, /) -> None:
        """Do nothing: the question is sent, and its answer is still to come."""

    def set_exception(self, exception: BaseException, /) -> None:
        settle(self._waiter, exception)


def marked(attributes: Mapping[str, Value], name: str, address: str, number: int) -> dict[str, Value]:
    """Return the attributes of a question or an answer, with the attributes that mark it as one."""
    if not isinstance(attributes, Mapping):
        raise Refused(f"attributes are a mapping of names to values, not {type(attributes).__name__}")
    for reserved in REPLY_TO, ANSWER_TO, CORRELATION_ID:
        if reserved in attributes:
            raise Refused(f"attribute {reserved!r} is reserved for questions and answers")
    return {**attributes, name: address, CORRELATION_ID: number}


def answer_to(question: Message, attributes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the attributes of an answer to `question`, for which `is_question` holds."""
    return marked(attributes, ANSWER_TO, str(question[REPLY_TO]), int(question[CORRELATION_ID]))


def is_question(item: Message | Gap) -> bool:
    """Return whether `item` can be answered. A message with damaged attributes cannot."""
    try:
        return (
            isinstance(item, Message) and isinstance(item.get(REPLY_TO), str) and type(item.get(CORRELATION_ID)) is int
        )
    except FrameError:
        return False


def questions_in(
    predicate: str | Predicate | DecidedPredicate, spaces: SpaceSet = NO_SPACES, *, is_exact: bool = False
) -> Predicate | DecidedPredicate:
    """Return the predicate for messages that satisfy `predicate` and request an answer. `is_exact`: it must not need a
    residual program."""
    if isinstance(predicate, str):
        predicate = parse(predicate, spaces=spaces) if is_exact else decided(predicate, spaces)
    if isinstance(predicate, DecidedPredicate):  # whose program does not ask for `reply-to`
        return predicate._replace(predicate=_asking(predicate.predicate), indexed=None)
    if not isinstance(predicate, Predicate):
        raise Refused(f"a predicate is text or a Predicate, not {type(predicate).__name__}")
    return _asking(predicate)


def _asking(predicate: Predicate) -> Predicate:
    wants_answer = Constraint(REPLY_TO, Op.EXISTS)
    return Predicate(tuple(Filter((*filter_.constraints, wants_answer)) for filter_ in predicate.filters))
