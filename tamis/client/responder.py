"""Responders for asyncio: `async for question in responder`.

Law: a responder yields only messages that can be answered; an answer reaches only the client that asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from time import monotonic
from types import TracebackType
from typing import Self, cast

from tamis.client.errors import ClientClosed
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.published import ABSENT, payload_of
from tamis.client.messages.questions import answer_to, is_question
from tamis.client.subscription import Subscription
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value

Publish = Callable[[Mapping[str, Value], bytes], Awaitable[MessageId]]
"""`Client.publish`."""


class Question(Message):
    """A message whose publisher waits for an answer: `await question.answer({"sum": 5})`."""

    __slots__ = ("_publish",)

    def __init__(self, message: Message, publish: Publish) -> None:
        super().__init__(message._frame, message.matched)
        self._publish = publish

    async def answer(
        self, attributes: Mapping[str, Value] | None = None, payload: bytes = b"", *, json: object = ABSENT
    ) -> MessageId:
        """Publish an answer, as `Client.publish` does, and return its id. The client that asked uses the first answer
        that arrives."""
        return await self._publish(answer_to(self, attributes or {}), payload_of(payload, json))


class Responder:
    """A responder to the questions that satisfy its predicates, made by `Client.respond`; active from `async with`, or
    from `await responder.start()` (or `await responder`), to `stop()` or the end of `async with`."""

    def __init__(self, subscription: Subscription, publish: Publish) -> None:
        self._subscription = subscription
        self._publish = publish

    async def start(self) -> Self:
        """Start to receive questions; return when the router has the subscription. SubscriptionRefused if the router
        refuses it."""
        await self._subscription.start()
        return self

    async def stop(self) -> None:
        """Stop receiving questions."""
        await self._subscription.unsubscribe()

    async def __aenter__(self) -> Self:
        return await self.start()

    def __await__(self) -> Generator[None, None, Self]:
        return self.start().__await__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.stop()

    async def __aiter__(self) -> AsyncIterator[Question]:
        """Yield questions until the responder has ended."""
        async for item in self._subscription:
            if is_question(item):
                yield self._question(item)

    async def receive(self, timeout_s: float | None = None) -> Question:
        """Return the next question, waiting at most `timeout_s`, then TimeoutError; ClientClosed when the responder has
        ended."""
        deadline = None if timeout_s is None else monotonic() + timeout_s
        while True:
            left_s = None if deadline is None else max(0.0, deadline - monotonic())
            item = await self._subscription.receive(left_s)
            if is_question(item):
                return self._question(item)

    async def __anext__(self) -> Question:
        """Return the next question. StopAsyncIteration when the responder has ended."""
        try:
            return await self.receive()
        except ClientClosed:
            raise StopAsyncIteration from None

    def __repr__(self) -> str:
        return f"<tamis.Responder {self._subscription!r}>"

    def _question(self, item: Message | Gap) -> Question:
        return Question(cast("Message", item), self._publish)
