"""The asyncio shell against real sockets, on the plain loop and on uvloop (see conftest.py)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pytest

import tamis
from tamis import Client, Gap, GapReason, Message
from tamis.client.messages.pending import PREDICATES_A_TURN
from tamis.protocol.wire.client_bodies import Credit, Refusal, Subscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import Frame
from tamis.protocol.wire.session_bodies import Drain, Hello, Ping
from tests.client.acceptor import Acceptor, Manners


@pytest.fixture
async def client(address: str) -> AsyncIterator[Client]:
    async with tamis.connect(address, name="alice") as open_:
        yield open_


async def heard(rome: Acceptor, kind: type, count: int = 1) -> list[Frame]:
    """What the acceptor has received, while our loop goes on."""
    return await asyncio.to_thread(rome.wait_for, kind, count)


async def next_number(subscription: tamis.Subscription) -> object:
    item = await anext(subscription)
    return item["n"] if isinstance(item, Message) else item


async def test_what_is_published_reaches_who_asked_for_it(client: Client) -> None:
    async with (
        client.subscribe("n > 1", 'class = "alert"', own_messages=True) as either,
        client.subscribe("n = 3", own_messages=True) as three,
    ):
        await client.publish({"n": 1})
        await client.publish({"n": 2}, b"two")
        await client.publish({"n": 3, "class": "alert"}, confirm=True)
        first, second = await anext(either), await anext(either)
        assert isinstance(first, Message)
        assert isinstance(second, Message)
        assert (first["n"], first.payload, first.own, first.matched) == (2, b"two", True, either.ids[:1])
        assert second.matched == (*either.ids, *three.ids)
        assert await anext(three) is second


async def test_others_have_their_turn_while_many_predicates_are_packed(client: Client) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    predicates = [f"n > {number} and name = 'a{number}'" for number in range(20 * PREDICATES_A_TURN)]
    subscription = client.subscribe(*predicates)
    starts = [asyncio.create_task(subscription.start()) for _ in range(2)]
    while subscription._wanted is None:
        await asyncio.sleep(0)
    assert turns >= 20
    await asyncio.gather(*starts)
    assert len(subscription.ids) == len(predicates)
    counting.cancel()


async def test_iterating_ends_with_the_subscription(client: Client) -> None:
    subscription = await client.subscribe("n > 0", own_messages=True).start()
    await client.publish_many([{"n": number} for number in range(1, 601)], confirm=True)
    seen = []
    async for message in subscription:
        assert isinstance(message, Message)
        seen.append(message["n"])
        if len(seen) == 500:
            await subscription.unsubscribe()
    assert seen == list(range(1, 501))
    with pytest.raises(StopAsyncIteration):
        await anext(subscription)


async def test_own_messages_only_for_those_who_ask(client: Client, address: str) -> None:
    async with tamis.connect(address) as other, client.subscribe("n > 0") as subscription:
        await client.publish({"n": 1}, confirm=True)
        await other.publish({"n": 2}, confirm=True)
        assert await next_number(subscription) == 2


async def test_an_iterator_that_waits_is_woken(client: Client) -> None:
    async with client.subscribe("n > 0", own_messages=True) as subscription:
        waiting = asyncio.create_task(next_number(subscription))
        await asyncio.sleep(0)
        await client.publish({"n": 5})
        assert await waiting == 5


async def test_a_refused_publish_and_a_refused_subscription(client: Client, manners: Manners) -> None:
    manners.refuse = lambda number: Refusal(number, RefusalCode.NOT_ALLOWED, "not you")
    with pytest.raises(tamis.PublishRefused, match="not you"):
        await client.publish({"n": 1}, confirm=True)
    with pytest.raises(tamis.PublishRefused, match="not you"):
        await client.publish_many([{"n": 1}, ({"n": 2}, b"x")], confirm=True)
    with pytest.raises(tamis.SubscriptionRefused, match="n > 0: NOT_ALLOWED"):
        await client.subscribe("n > 0").start()


async def test_a_cut_is_survived_with_a_gap(client: Client, rome: Acceptor) -> None:
    async with client.subscribe("n > 0", own_messages=True) as subscription:
        await client.publish({"n": 1}, confirm=True)
        rome.cut()
        assert await next_number(subscription) == 1
        gap = await next_number(subscription)
        assert isinstance(gap, Gap)
        assert gap.reason is GapReason.RECONNECTED
        await heard(rome, Subscribe, 2)
        await client.publish({"n": 2}, confirm=True)
        assert await next_number(subscription) == 2


async def test_unknown_or_retried(client: Client, rome: Acceptor, manners: Manners) -> None:
    manners.answers_publish = False
    unknown = asyncio.create_task(client.publish({"n": 1}, confirm=True))
    retried = asyncio.create_task(client.publish({"n": 2}, confirm=True, retry=True))
    await heard(rome, DataFrame, 2)
    manners.answers_publish = True
    rome.cut()
    with pytest.raises(tamis.PublishUnknown):
        await unknown
    await retried
    first, second = (frame for frame in rome.of(DataFrame)[1:] if isinstance(frame, DataFrame))
    assert first.message.id == second.message.id


async def test_publishing_waits_for_credit(rome: Acceptor, address: str, manners: Manners) -> None:
    manners.credit = Credit(1, 1_000)
    async with tamis.connect(address) as client:
        await client.publish({"n": 1})
        assert not client.try_publish({"n": 2})
        waiting = asyncio.create_task(client.publish({"n": 2}))
        await heard(rome, DataFrame)
        assert not waiting.done()
        rome.send(Credit(3, 3_000))
        await waiting
        assert client.try_publish({"n": 3})
        await heard(rome, DataFrame, 3)


async def test_a_publish_that_is_cancelled_while_held_is_not_sent(
    rome: Acceptor, address: str, manners: Manners
) -> None:
    manners.credit = None
    async with tamis.connect(address) as client:
        waiting = asyncio.create_task(client.publish({"n": 1}))
        await asyncio.sleep(0)
        waiting.cancel()
        rome.send(Credit(10, 10_000))
        await client.publish({"n": 2}, confirm=True)
        assert [frame.message.attributes["n"] for frame in rome.of(DataFrame) if isinstance(frame, DataFrame)] == [2]


async def test_a_subscription_that_is_cancelled_is_given_back(client: Client, rome: Acceptor) -> None:
    waiting = asyncio.create_task(client.subscribe("n > 0", own_messages=True).start())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await client.publish({"n": 1}, confirm=True)
    rome.do(lambda connection: _assert_none(connection.subscriptions))


def _assert_none(subscriptions: object) -> None:
    assert not subscriptions


async def test_more_than_an_inbox_and_more_than_the_output(address: str, rome: Acceptor) -> None:
    count = 3_000
    async with tamis.connect(address, inbox_messages=64, inbox_bytes=65_536) as client:
        async with client.subscribe("n >= 0", own_messages=True) as subscription:
            for number in range(count):
                await client.publish({"n": number}, bytes(200))
            await heard(rome, DataFrame, count)
            assert [await next_number(subscription) for _ in range(count)] == list(range(count))


async def test_a_confirmed_publish_from_within_a_full_iterator(address: str) -> None:
    async with tamis.connect(address, inbox_messages=4) as client:
        async with client.subscribe("n >= 0", own_messages=True) as subscription:
            for number in range(6):
                await client.publish({"n": number})
            seen = 0
            async for _ in subscription:
                await client.publish({"other": seen}, confirm=True)
                seen += 1
                if seen == 6:
                    break


async def test_failover_in_order(rome: Acceptor, address: str, tmp_path: Path) -> None:
    async with tamis.connect(f"tamis+unix:{tmp_path}/nobody", address) as client:
        await client.publish({"n": 1}, confirm=True)
    assert len(rome.of(Hello)) == 1


async def test_nobody_answers(tmp_path: Path) -> None:
    with pytest.raises(tamis.ConnectFailed) as caught:
        await tamis.connect(f"tamis+unix:{tmp_path}/one", f"tamis+unix:{tmp_path}/two")
    assert f"tamis+unix:{tmp_path}/one: " in str(caught.value)
    assert f"tamis+unix:{tmp_path}/two: " in str(caught.value)


async def test_patience_outlasts_a_router_that_is_not_up_yet(rome: Acceptor, tmp_path: Path) -> None:
    connecting = asyncio.create_task(tamis.connect(f"tamis+unix:{tmp_path}/late", patience_s=30).open())
    await asyncio.sleep(0)
    await asyncio.to_thread(rome.listen, tmp_path / "late")
    client = await connecting
    await client.publish({"n": 1}, confirm=True)
    await client.close()


async def test_the_token_is_given_and_a_wrong_one_said(address: str, manners: Manners) -> None:
    manners.token = b"open sesame"
    async with tamis.connect(address, token=manners.token.decode()) as client:
        await client.publish({"n": 1}, confirm=True)
    with pytest.raises(tamis.NotAdmitted, match="no such token"):
        await tamis.connect(address, token=b"sesame")
    with pytest.raises(tamis.NotAdmitted, match='router "rome" requires a token'):
        await tamis.connect(address)


async def test_a_silent_client_pings_and_a_silent_router_is_left(
    rome: Acceptor, address: str, manners: Manners
) -> None:
    manners.hold_ms = 60
    manners.sends_pong = False
    async with tamis.connect(address, hold_s=0.1):
        await heard(rome, Ping)
        await heard(rome, Hello, 2)


async def test_a_clean_exit_drains_and_an_exception_does_not_wait(rome: Acceptor, address: str) -> None:
    async with tamis.connect(address) as client:
        for number in range(1_000):
            await client.publish({"n": number})
    assert len(rome.of(DataFrame)) == 1_000
    assert len(rome.of(Drain)) == 1
    with pytest.raises(ZeroDivisionError):
        async with tamis.connect(address) as client:
            raise ZeroDivisionError
    with pytest.raises(tamis.ClientClosed):
        await client.publish({"n": 1})
    with pytest.raises(tamis.ClientClosed):
        client.try_publish({"n": 1})


async def test_drain_yields_what_has_arrived(client: Client) -> None:
    async with client.subscribe("n > 0", own_messages=True) as subscription:
        await client.publish_many([{"n": 1}, {"n": 2}])
        await client.drain()
        assert [item["n"] async for item in subscription if isinstance(item, Message)] == [1, 2]
        with pytest.raises(tamis.ClientClosed):
            await client.publish({"n": 3})


async def test_used_before_it_is_open() -> None:
    client = tamis.connect("tamis://127.0.0.1:1")
    with pytest.raises(RuntimeError, match="connect first"):
        await client.publish({"n": 1})
    with pytest.raises(RuntimeError, match="connect first"):
        client.subscribe("n > 1")
    await client.close()


async def test_iterated_before_it_is_started(client: Client) -> None:
    with pytest.raises(RuntimeError, match="subscribe first"):
        await anext(client.subscribe("n > 1"))


async def test_tls(rome: Acceptor, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    address = await asyncio.to_thread(rome.listen_tls, server_tls)
    async with tamis.connect(address, tls=client_tls) as client:
        async with client.subscribe("n > 0", own_messages=True) as subscription:
            await client.publish({"n": 1}, bytes(100_000))
            assert await next_number(subscription) == 1
    with pytest.raises(tamis.ConnectFailed, match="CERTIFICATE_VERIFY_FAILED"):
        await tamis.connect(address)


async def test_the_id_that_publish_returns_is_that_of_the_message(client: Client) -> None:
    async with client.subscribe("n > 0", own_messages=True) as subscription:
        sent = [
            await client.publish({"n": 1}),
            await client.publish({"n": 2}, confirm=True),
            await client.publish({"n": 3}, retry=True),
            client.try_publish({"n": 4}),
        ]
        received = [await subscription.receive(10) for _ in sent]
    assert [message.id for message in received if isinstance(message, Message)] == sent
    assert all(isinstance(id_, tamis.MessageId) for id_ in sent)


async def test_the_id_of_a_message_that_waited_is_the_one_it_left_with(
    rome: Acceptor, address: str, manners: Manners
) -> None:
    newest = 5 * 10**18
    manners.credit = None
    async with tamis.connect(address) as client:
        waiting = asyncio.create_task(client.publish({"n": 1}))
        await asyncio.to_thread(rome.do, lambda _: None)  # it has greeted the client, without credit
        manners.newest, manners.credit = newest, Credit(10, 10_000)
        rome.cut()
        id_ = await waiting
        [frame] = await heard(rome, DataFrame)
        assert isinstance(frame, DataFrame)
        assert frame.message.id == id_ == (id_.origin, newest + 1)


async def test_json_goes_out_and_comes_in(client: Client) -> None:
    async with client.subscribe("n > 0", own_messages=True) as subscription:
        await client.publish({"n": 1}, json={"name": "Zoë", "list": [1, None]})
        client.try_publish({"n": 2}, json=None)
        await client.publish({"n": 3}, b"{")
        one, two, three = [await subscription.receive(10) for _ in range(3)]
        assert isinstance(one, Message)
        assert isinstance(two, Message)
        assert isinstance(three, Message)
        assert (one.json(), one.payload) == (
            {"name": "Zoë", "list": [1, None]},
            '{"name":"Zoë","list":[1,null]}'.encode(),
        )
        assert two.json() is None
        with pytest.raises(ValueError, match="Expecting"):
            three.json()


async def test_receive_waits_so_long_and_no_longer(client: Client) -> None:
    subscription = await client.subscribe("n > 0", own_messages=True)
    with pytest.raises(TimeoutError):
        await subscription.receive(0.01)
    waiting = asyncio.create_task(subscription.receive(10))
    await asyncio.sleep(0)
    await client.publish({"n": 1})
    item = await waiting
    assert isinstance(item, Message)
    await client.publish({"n": 2}, confirm=True)
    item = await subscription.receive(0)
    assert isinstance(item, Message)
    await subscription.unsubscribe()
    with pytest.raises(tamis.ClientClosed, match="the subscription has ended"):
        await subscription.receive()


async def test_what_happens_to_the_connection_is_told(rome: Acceptor, address: str) -> None:
    told: list[object] = []
    back = asyncio.Event()

    def on_connected(router: str) -> None:
        told.append(f"connected to {router}")
        if len(told) > 1:
            back.set()

    client = tamis.connect(
        address, name="alice", on_connected=on_connected, on_disconnected=told.append, on_gap=told.append
    )
    assert (client.is_connected, client.router, client.address) == (False, None, None)
    assert repr(client) == "<tamis.Client 'alice', not connected>"
    async with client:
        assert (client.is_connected, client.router, client.address) == (True, "rome", address)
        assert repr(client) == f"<tamis.Client 'alice', connected to rome at {address}>"
        async with client.subscribe("n > 0") as subscription:
            assert repr(subscription) == "<tamis.Subscription 'n > 0', active>"
            began = asyncio.get_running_loop().time()
            rome.cut()
            await back.wait()
            assert asyncio.get_running_loop().time() - began < 5
            gap = await subscription.receive(10)
    assert told == ["connected to rome", "closed by the router", "connected to rome", gap]
    assert not client.is_connected


async def test_a_callback_that_fails_changes_nothing(address: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: str) -> None:
        raise ZeroDivisionError

    async with tamis.connect(address, on_connected=fail) as client:
        await client.publish({"n": 1}, confirm=True)
    assert "a callback has failed" in caplog.text


async def test_each_error_is_raised_anew(client: Client) -> None:
    await client.close()
    errors = []
    for _ in range(3):
        with pytest.raises(tamis.ClientClosed, match="the client is closed") as caught:
            await client.publish({"n": 1})
        errors.append(caught.value)
    assert len(set(map(id, errors))) == 3
    assert len({len(list(walk_tb(error.__traceback__))) for error in errors}) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda client: client.publish({"n": 1}, "text"), "a payload is bytes, not str; text is given as bytes"),
        (lambda client: client.publish({"n": 1}, 7, confirm=True), "a payload is bytes, not int"),
        (lambda client: client.publish("a=1"), "attributes are a mapping of names to values, not str"),
        (lambda client: client.publish(["a"], confirm=True), "attributes are a mapping of names to values, not list"),
        (lambda client: client.publish({"n": 1}, b"x", json=1), "payload= or json=, and not both"),
        (lambda client: client.publish({"n": 1}, json={1, 2}), "json=set cannot be written"),
        (lambda client: client.publish_many({"n": 1}), "publish_many takes an iterable of messages, not a dict"),
        (lambda client: client.publish_many([({"n": 1},)]), "not a tuple of 1"),
        (lambda client: client.publish_many(["n"], confirm=True), "attributes are a mapping .* not str"),
        (lambda client: client.trace("a=1"), "attributes are a mapping of names to values, not str"),
        (lambda client: client.trace({"n": 1}, "text"), "a payload is bytes, not str"),
        (lambda client: client.route(7), "attributes are a mapping of names to values, not int"),
        (lambda client: client.subscribe([1]), "a predicate is text or a Predicate, not list; several"),
        (lambda client: client.subscribe("true", None), "a predicate is text or a Predicate, not NoneType"),
        (lambda client: client.subscribe(["n > 1"]).start(), "a predicate is text or a Predicate, not list; several"),
        (lambda client: client.subscribe(7).start(), "a predicate is text or a Predicate, not int"),
        (lambda client: client.subscribe("n > 1", wait=7).start(), "wait is home or network, not 7"),
    ],
)
async def test_what_has_a_wrong_type_is_refused_with_a_sentence(
    client: Client, address: str, call: Callable[[Any], Any], sentence: str
) -> None:
    with pytest.raises(tamis.Refused, match=sentence):
        await call(client)
    with tamis.blocking.connect(address) as other, pytest.raises(tamis.Refused, match=sentence):
        await asyncio.to_thread(call, other)
