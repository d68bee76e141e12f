"""Generated from tamis/client/responder.py by `python -m tests.client.generate`; do not edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from types import TracebackType
from typing import Self, cast

from tamis.client.blocking.subscription import Subscription
from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.published import ABSENT, payload_of
from tamis.client.messages.questions import answer_to, is_question
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value

Publish = Callable[[Mapping[str, Value], bytes], MessageId]
"`Client.publish`."


class Question(Message):
    """A message whose publisher waits for an answer: `question.answer({"sum": 5})`."""

    __slots__ = ("_publish",)

    def __init__(self, message: Message, publish: Publish) -> None:
        super().__init__(message._frame, message.matched)
        self._publish = publish

    def answer(
        self, attributes: Mapping[str, Value] | None = None, payload: bytes = b"", *, json: object = ABSENT
    ) -> MessageId:
        """Publish an answer, as `Client.publish` does, and return its id. The client that asked uses the first answer
        that arrives."""
        return self._publish(answer_to(self, attributes or {}), payload_of(payload, json))


class Responder:
    """A responder to the questions that satisfy its predicates, made by `Client.respond`; active from `with`, or from
    `responder.start()`, to `stop()` or the end of `with`."""

    def __init__(self, subscription: Subscription, publish: Publish) -> None:
        self._subscription = subscription
        self._publish = publish

    def start(self) -> Self:
        """Start to receive questions; return when the router has the subscription. SubscriptionRefused if the router
        refuses it."""
        self._subscription.start()
        return self

    def stop(self) -> None:
        """Stop receiving questions."""
        self._subscription.unsubscribe()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()

    def __iter__(self) -> Iterator[Question]:
        return self

    def receive(self, timeout_s: float | None = None) -> Question:
        """Return the next question, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the responder has
        ended."""
        deadline = None if timeout_s is None else monotonic() + timeout_s
        while True:
            left_s = None if deadline is None else max(0.0, deadline - monotonic())
            item = self._subscription.receive(left_s)
            if is_question(item):
                return self._question(item)

    def __next__(self) -> Question:
        """Return the next question. StopIteration when the responder has ended."""
        try:
            return self.receive()
        except ClientClosed:
            raise StopIteration from None

    def __repr__(self) -> str:
        return f"<tamis.blocking.Responder {self._subscription!r}>"

    def _question(self, item: Message | Gap) -> Question:
        return Question(cast("Message", item), self._publish)
