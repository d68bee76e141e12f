"""The blocking shell against real sockets: the same promises, kept by a thread."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
from tamis import Gap, GapReason, Message
from tamis.blocking import Client, Subscription, connect
from tamis.protocol.wire.client_bodies import Credit, Refusal, Subscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.session_bodies import Drain, Hello, Ping
from tests.client.acceptor import Acceptor, Manners

WAIT_S = 10.0


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with connect(address, name="alice") as open_:
        yield open_


def next_number(subscription: Subscription) -> object:
    item = subscription.receive(WAIT_S)
    return item["n"] if isinstance(item, Message) else item


def test_what_is_published_reaches_who_asked_for_it(client: Client) -> None:
    with (
        client.subscribe("n > 1", 'class = "alert"', own_messages=True) as either,
        client.subscribe("n = 3", own_messages=True) as three,
    ):
        client.publish({"n": 1})
        client.publish({"n": 2}, b"two")
        client.publish({"n": 3, "class": "alert"}, confirm=True)
        first, second = next(either), next(either)
        assert isinstance(first, Message)
        assert isinstance(second, Message)
        assert (first["n"], first.payload, first.own, first.matched) == (2, b"two", True, either.ids[:1])
        assert next(three) is second


def test_iterating_ends_with_the_subscription(client: Client) -> None:
    subscription = client.subscribe("n > 0", own_messages=True).start()
    client.publish_many(({"n": number} for number in range(1, 401)), confirm=True)
    seen = []
    for message in subscription:
        assert isinstance(message, Message)
        seen.append(message["n"])
        if len(seen) == 300:
            subscription.unsubscribe()
    assert seen == list(range(1, 301))
    with pytest.raises(tamis.ClientClosed):
        subscription.receive()


def test_receiving_for_a_while_only(client: Client) -> None:
    with client.subscribe("n > 0", own_messages=True) as subscription:
        with pytest.raises(TimeoutError):
            subscription.receive(0.0)
        client.publish({"n": 1})
        assert next_number(subscription) == 1


def test_a_refused_publish_and_a_refused_subscription(client: Client, manners: Manners) -> None:
    manners.refuse = lambda number: Refusal(number, RefusalCode.NOT_ALLOWED, "not you")
    with pytest.raises(tamis.PublishRefused, match="not you"):
        client.publish({"n": 1}, confirm=True)
    with pytest.raises(tamis.SubscriptionRefused, match="n > 0: NOT_ALLOWED"):
        client.subscribe("n > 0").start()


def test_a_cut_is_survived_with_a_gap(client: Client, rome: Acceptor) -> None:
    with client.subscribe("n > 0", own_messages=True) as subscription:
        client.publish({"n": 1}, confirm=True)
        rome.cut()
        assert next_number(subscription) == 1
        gap = next_number(subscription)
        assert isinstance(gap, Gap)
        assert gap.reason is GapReason.RECONNECTED
        rome.wait_for(Subscribe, 2)
        client.publish({"n": 2}, confirm=True)
        assert next_number(subscription) == 2


def test_publishing_waits_for_credit(rome: Acceptor, address: str, manners: Manners) -> None:
    manners.credit = Credit(1, 1_000)
    with connect(address) as client:
        client.publish({"n": 1})
        assert not client.try_publish({"n": 2})
        waiting = threading.Thread(target=client.publish, args=({"n": 2},))
        waiting.start()
        rome.wait_for(DataFrame)
        assert waiting.is_alive()
        rome.send(Credit(3, 3_000))
        waiting.join(WAIT_S)
        assert client.try_publish({"n": 3})
        rome.wait_for(DataFrame, 3)


def test_several_threads_publish(client: Client, rome: Acceptor) -> None:
    threads = [threading.Thread(target=client.publish_many, args=([{"n": n}] * 500,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rome.wait_for(DataFrame, 2_000)) == 2_000


def test_more_than_an_inbox_and_more_than_the_output(address: str, rome: Acceptor) -> None:
    count = 3_000
    with connect(address, inbox_messages=64, inbox_bytes=65_536) as client:
        with client.subscribe("n >= 0", own_messages=True) as subscription:
            for number in range(count):
                client.publish({"n": number}, bytes(200))
            rome.wait_for(DataFrame, count)
            assert [next_number(subscription) for _ in range(count)] == list(range(count))


def test_failover_and_nobody_there(rome: Acceptor, address: str, tmp_path: Path) -> None:
    with connect(f"tamis+unix:{tmp_path}/nobody", address) as client:
        client.publish({"n": 1}, confirm=True)
    assert len(rome.of(Hello)) == 1
    with pytest.raises(tamis.ConnectFailed, match="nobody: "):
        connect(f"tamis+unix:{tmp_path}/nobody").open()


def test_a_token_that_is_wrong(address: str, manners: Manners) -> None:
    manners.token = b"open sesame"
    with pytest.raises(tamis.NotAdmitted, match="no such token"):
        connect(address, token=b"sesame").open()


def test_a_silent_client_pings_and_a_silent_router_is_left(rome: Acceptor, address: str, manners: Manners) -> None:
    manners.hold_ms = 60
    manners.sends_pong = False
    with connect(address, hold_s=0.1):
        rome.wait_for(Ping)
        rome.wait_for(Hello, 2)


def test_a_clean_exit_drains_and_an_exception_does_not_wait(rome: Acceptor, address: str) -> None:
    with connect(address) as client:
        for number in range(1_000):
            client.publish({"n": number})
    assert len(rome.of(DataFrame)) == 1_000
    assert len(rome.of(Drain)) == 1
    with pytest.raises(ZeroDivisionError), connect(address) as client:
        raise ZeroDivisionError
    with pytest.raises(tamis.ClientClosed):
        client.publish({"n": 1})
    client.close()


def test_a_client_that_cannot_reach_anybody_closes_at_once(rome: Acceptor, tmp_path: Path) -> None:
    address = rome.listen(tmp_path / "gone")
    with connect(address) as client, client.subscribe("n > 0") as subscription:
        rome.close_listeners()
        rome.cut()
        waiting = threading.Thread(target=list, args=(subscription,))
        waiting.start()
        client.close(drain_s=0.0)
        waiting.join(WAIT_S)
        assert not waiting.is_alive()


def test_used_too_early(client: Client) -> None:
    with pytest.raises(RuntimeError, match="connect first"):
        connect("tamis://127.0.0.1:1").publish({"n": 1})
    with pytest.raises(RuntimeError, match="subscribe first"):
        next(client.subscribe("n > 1"))


def test_tls(rome: Acceptor, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    address = rome.listen_tls(server_tls)
    with connect(address, tls=client_tls) as client:
        with client.subscribe("n > 0", own_messages=True) as subscription:
            client.publish({"n": 1}, bytes(100_000))
            assert next_number(subscription) == 1
    with pytest.raises(tamis.ConnectFailed, match="CERTIFICATE_VERIFY_FAILED"):
        connect(address).open()


def test_the_id_that_publish_returns_is_that_of_the_message(client: Client) -> None:
    with client.subscribe("n > 0", own_messages=True) as subscription:
        sent = [
            client.publish({"n": 1}, json=[1]),
            client.publish({"n": 2}, confirm=True),
            client.try_publish({"n": 3}, json=None),
        ]
        received = [subscription.receive(WAIT_S) for _ in sent]
    messages = [message for message in received if isinstance(message, Message)]
    assert [message.id for message in messages] == sent
    assert (messages[0].json(), messages[2].json()) == ([1], None)


def test_what_happens_to_the_connection_is_told(rome: Acceptor, address: str) -> None:
    told: list[object] = []
    client = connect(
        address,
        name="alice",
        on_connected=lambda router: told.append(f"connected to {router}"),
        on_disconnected=told.append,
        on_gap=told.append,
    )
    assert (client.is_connected, client.router, client.address) == (False, None, None)
    with client, client.subscribe("n > 0") as subscription:
        assert repr(client) == f"<tamis.blocking.Client 'alice', connected to rome at {address}>"
        rome.cut()
        gap = subscription.receive(WAIT_S)
        client.publish({"n": 1}, confirm=True)  # what was told before has been told by now
    assert told == ["connected to rome", "closed by the router", "connected to rome", gap]
    assert repr(subscription) == "<tamis.blocking.Subscription 'n > 0', ended>"
    assert not client.is_connected


def test_a_callback_may_not_wait_and_may_publish(
    rome: Acceptor, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    clients: list[Client] = []

    def on_gap(_: Gap) -> None:
        clients[0].try_publish({"n": 2})
        clients[0].publish({"n": 3}, confirm=True)

    with connect(address, on_gap=on_gap) as client, client.subscribe("n > 0", own_messages=True) as subscription:
        clients.append(client)
        rome.cut()
        assert isinstance(subscription.receive(WAIT_S), Gap)
        client.publish({"n": 1}, confirm=True)
    assert "a callback runs in the thread that moves the bytes, and may not wait" in caplog.text
