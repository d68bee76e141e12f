"""Questions and answers, in both colours, against an acceptor that delivers by content."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import tamis
from tamis.blocking import Client as BlockingClient
from tamis.client.messages.questions import questions_in
from tamis.protocol.language import format_predicate
from tamis.protocol.wire.client_bodies import Credit, Refusal, Subscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tests.client.acceptor import Acceptor, Manners

WAIT_S = 10.0


@pytest.fixture
async def asker(address: str) -> AsyncIterator[tamis.Client]:
    async with tamis.connect(address, name="asker") as client:
        yield client


@contextlib.asynccontextmanager
async def adding(address: str, who: str = "adder") -> AsyncIterator[tamis.Client]:
    """A client that answers what `do = "add"` asks, in a task."""
    async with tamis.connect(address, name=who) as client, client.respond('do = "add"') as questions:

        async def serve() -> None:
            async for question in questions:
                await question.answer({"who": who}, json=question["a"] + question["b"])  # type: ignore[operator]

        serving = asyncio.create_task(serve())
        yield client
    await serving


async def test_a_question_has_its_answer(asker: tamis.Client, address: str) -> None:
    async with adding(address):
        answer = await asker.request({"do": "add", "a": 2, "b": 3}, timeout_s=WAIT_S)
        assert (answer.json(), answer["who"]) == (5, "adder")
        sums = [asker.request({"do": "add", "a": n, "b": n}, timeout_s=WAIT_S) for n in range(50)]
        assert [answer.json() for answer in await asyncio.gather(*sums)] == [2 * n for n in range(50)]


async def test_one_subscription_for_all_answers(asker: tamis.Client, address: str, rome: Acceptor) -> None:
    async with adding(address):
        await asyncio.gather(*(asker.request({"do": "add", "a": n, "b": n}, timeout_s=WAIT_S) for n in range(9)))
    assert len(rome.of(Subscribe)) == 2


async def test_the_first_of_several_answers_counts(asker: tamis.Client, address: str) -> None:
    async with adding(address, "one"), adding(address, "two"):
        for _ in range(20):
            answer = await asker.request({"do": "add", "a": 1, "b": 1}, timeout_s=WAIT_S)
            assert answer["who"] in ("one", "two")


async def test_nobody_answers(asker: tamis.Client) -> None:
    with pytest.raises(tamis.Unanswered, match=r"no answer within 0\.05 s") as caught:
        await asker.request({"do": "nothing"}, timeout_s=0.05)
    assert isinstance(caught.value, TimeoutError)


async def test_a_question_that_was_given_up_is_not_sent(rome: Acceptor, address: str, manners: Manners) -> None:
    manners.credit = None
    async with tamis.connect(address) as asker:
        with pytest.raises(tamis.Unanswered):
            await asker.request({"do": "add"}, timeout_s=0.2)
        rome.send(Credit(10, 10_000))
        await asker.publish({"n": 2}, confirm=True)
    assert [frame.message.attributes.get("n") for frame in rome.of(DataFrame) if isinstance(frame, DataFrame)] == [2]


async def test_an_answer_that_comes_late_is_for_nobody(asker: tamis.Client, address: str) -> None:
    async with tamis.connect(address) as other, other.respond("n > 0") as questions:
        with pytest.raises(tamis.Unanswered):
            await asker.request({"n": 1}, timeout_s=0.05)
        late = await questions.receive(WAIT_S)
        await late.answer()
        second = asyncio.create_task(asker.request({"n": 2}, timeout_s=WAIT_S))
        question = await questions.receive(WAIT_S)
        assert question["n"] == 2
        await question.answer({"to": 2})
        assert (await second)["to"] == 2


async def test_what_is_no_question_is_not_yielded(asker: tamis.Client, address: str) -> None:
    async with tamis.connect(address) as other, other.respond("n > 0") as questions:
        await asker.publish({"n": 1})
        await asker.publish({"n": 2, "reply-to": 7, "correlation-id": 7})
        await asker.publish({"n": 3, "reply-to": "x", "correlation-id": True})
        await asker.publish({"n": 4, "reply-to": "somebody", "correlation-id": 1}, confirm=True)
        assert (await questions.receive(WAIT_S))["n"] == 4
        with pytest.raises(TimeoutError):
            await questions.receive(0.01)


async def test_a_question_survives_a_cut_of_the_asker(asker: tamis.Client, address: str, rome: Acceptor) -> None:
    async with tamis.connect(address) as other, other.respond("n > 0") as questions:
        asked = asyncio.create_task(asker.request({"n": 1}, timeout_s=WAIT_S))
        question = await questions.receive(WAIT_S)
        rome.cut()
        await asyncio.to_thread(rome.wait_for, Subscribe, 4)
        await other.publish({"m": 1}, confirm=True)
        await asker.publish({"m": 1}, confirm=True)
        await question.answer(json="here")
        assert (await asked).json() == "here"


async def test_a_refused_subscription_to_answers_is_said_and_asked_for_again(
    asker: tamis.Client, address: str, manners: Manners
) -> None:
    manners.refuse = lambda number: Refusal(number, RefusalCode.NOT_ALLOWED, "not you") if number < 9 else None
    with pytest.raises(tamis.SubscriptionRefused, match="not you"):
        await asker.request({"do": "add", "a": 1, "b": 2}, timeout_s=WAIT_S)
    manners.refuse = lambda _: None
    async with adding(address):
        assert (await asker.request({"do": "add", "a": 1, "b": 2}, timeout_s=WAIT_S)).json() == 3


async def test_closing_ends_calls_that_wait(address: str) -> None:
    client = await tamis.connect(address)
    asked = asyncio.create_task(client.request({"n": 1}, timeout_s=WAIT_S))
    await client.publish({"n": 2}, confirm=True)
    await client.close()
    with pytest.raises(tamis.ClientClosed):
        await asked
    with pytest.raises(tamis.ClientClosed):
        await client.request({"n": 1})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda client: client.request({"reply-to": "me"}), "attribute 'reply-to' is reserved"),
        (lambda client: client.request("a=1"), "attributes are a mapping of names to values, not str"),
        (lambda client: client.request({"n": 1}, "text"), "a payload is bytes, not str"),
        (lambda client: client.request({"n": 1}, b"x", json=1), "payload= or json=, and not both"),
        (lambda client: client.respond(7), "a predicate is text or a Predicate, not int"),
    ],
)
async def test_what_is_wrong_is_refused(
    asker: tamis.Client, address: str, call: Callable[[Any], Any], sentence: str
) -> None:
    with pytest.raises(tamis.Refused, match=sentence):
        await call(asker)
    with tamis.blocking.connect(address) as other, pytest.raises(tamis.Refused, match=sentence):
        await asyncio.to_thread(call, other)


def test_questions_are_those_that_can_be_answered() -> None:
    assert format_predicate(questions_in("a = 1 or b = 2")) == "a = 1 and exists reply-to or b = 2 and exists reply-to"


# --- without asyncio --------------------------------------------------------------------------------------------------


@pytest.fixture
def adder(address: str) -> Iterator[BlockingClient]:
    with tamis.blocking.connect(address, name="adder") as client, client.respond('do = "add"') as questions:

        def serve() -> None:
            for question in questions:
                question.answer({"who": "adder"}, json=question["a"] + question["b"])  # type: ignore[operator]

        serving = threading.Thread(target=serve)
        serving.start()
        yield client
        questions.stop()
        serving.join()


def test_a_question_has_its_answer_without_asyncio(adder: BlockingClient, address: str) -> None:
    with tamis.blocking.connect(address) as asker:
        answer = asker.request({"do": "add", "a": 2, "b": 3}, timeout_s=WAIT_S)
        assert (answer.json(), answer["who"]) == (5, "adder")
        with pytest.raises(tamis.Unanswered, match=r"no answer within 0\.05 s"):
            asker.request({"do": "nothing"}, timeout_s=0.05)
    assert repr(adder).startswith("<tamis.blocking.Client 'adder', connected")


def test_a_client_answers_itself(adder: BlockingClient) -> None:
    assert adder.request({"do": "add", "a": 1, "b": 1}, timeout_s=WAIT_S).json() == 2


def test_nobody_answers_at_all(address: str) -> None:
    with tamis.blocking.connect(address) as client, client.respond("n > 0") as questions:
        with pytest.raises(TimeoutError):
            questions.receive(0.01)
    with pytest.raises(tamis.ClientClosed):
        questions.receive(0.01)
