"""Subscriptions by filters of other systems, against a real router."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tamis import Message, Refused
from tamis.blocking import Client, connect
from tamis.protocol import dialects
from tamis.protocol.errors import DialectError, PredicateError
from tamis.protocol.language import parse
from tamis.testing import blocking, free_port

pytestmark = pytest.mark.slow
WAIT_S = 10.0


@pytest.fixture(scope="module", name="client")
def _client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder: Path = tmp_path_factory.mktemp("router")
    file = folder / "one.yaml"
    file.write_text(f'routers: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    with blocking.started(file, "a") as router, connect(router.address, name="alice") as client:
        yield client


def publish(client: Client, dialect: str, *events: object) -> None:
    for event in events:
        client.publish(dialects.get(dialect).attributes(event), confirm=True)


def test_topics_of_mqtt_reach_a_subscriber_to_a_topic_filter(client: Client) -> None:
    filters = ("sensors/+/temperature", "alarms/#")
    with client.subscribe(*filters, dialect="mqtt", own_messages=True) as wanted:
        publish(client, "mqtt", "sensors/3/humidity", "sensors/3/temperature", "alarms", "sensors/3/temperature/max")
        publish(client, "mqtt", "alarms/fire/2")
        found = [wanted.receive(WAIT_S) for _ in range(3)]
    assert [item["topic"] for item in found if isinstance(item, Message)] == [
        "sensors/3/temperature",
        "alarms",
        "alarms/fire/2",
    ]


def test_a_durable_subscription_and_a_replay_have_a_dialect(client: Client) -> None:
    client.durable("orders", "price > 10 AND symbol LIKE 'A%'", dialect="jms")
    for attributes in ({"price": 11, "symbol": "AB"}, {"price": 11, "symbol": "B"}, {"price": 12, "symbol": "AC"}):
        client.publish(attributes, confirm="stored")
    with client.consume("orders") as work:
        found = [work.receive(WAIT_S) for _ in range(2)]
    assert [item["symbol"] for item in found if isinstance(item, Message)] == ["AB", "AC"]
    with client.replay("symbol IN ('B', 'AC')", dialect="jms") as history:
        assert [item["symbol"] for item in history if isinstance(item, Message)] == ["AC"]


def test_a_program_decides_what_is_stored_and_what_a_replay_reads(client: Client) -> None:
    totals = [(price, qty) for price in (3, 40, 500) for qty in (2, 30)]
    client.durable("totals", "kind = 'total' AND price * qty > 1000", dialect="jms")
    for price, qty in totals:
        client.publish({"kind": "total", "price": price, "qty": qty}, confirm=True)
    client.durable("early", "kind = 'total' AND price * qty > 10", dialect="jms", start="earliest")
    client.publish({"kind": "total", "price": 5, "qty": 1}, confirm=True)
    client.publish({"kind": "total", "price": 11, "qty": 1}, confirm="stored")
    stored = [(price, qty) for price, qty in totals if price * qty > 1000]
    for name, expected in (("totals", stored), ("early", [*stored, (11, 1)])):
        with client.consume(name) as work:
            found = [work.receive(WAIT_S) for _ in expected]
        assert [(item["price"], item["qty"]) for item in found if isinstance(item, Message)] == expected
    [totals_info] = [each for each in client.durables() if each.name == "totals"]
    assert totals_info.residual
    assert totals_info.dialect == "jms"
    with client.replay("kind = 'total' AND price * qty < 1201", dialect="jms") as history:
        assert [item["price"] for item in history if isinstance(item, Message)] == [40, 11]


def test_a_responder_has_a_dialect(client: Client) -> None:
    with ThreadPoolExecutor() as pool, client.respond("jobs.>", dialect="nats") as questions:
        answer = pool.submit(client.request, dialects.get("nats").attributes("jobs.print"), b"page", timeout_s=WAIT_S)
        question = questions.receive(WAIT_S)
        assert isinstance(question, Message)
        question.answer(payload=b"printed " + question.payload)
        assert answer.result().payload == b"printed page"


def test_a_program_decides_which_questions_a_responder_gets(client: Client) -> None:
    with ThreadPoolExecutor() as pool, client.respond("price * qty > 1000", dialect="jms") as questions:
        for price in (3, 600):
            client.publish({"price": price, "qty": 2})  # no question
        with pytest.raises(TimeoutError):
            client.request({"price": 500, "qty": 2}, timeout_s=0.5)
        answer = pool.submit(client.request, {"price": 501, "qty": 2}, timeout_s=WAIT_S)
        question = questions.receive(WAIT_S)
        assert isinstance(question, Message)
        assert question["price"] == 501
        question.answer(payload=b"bought")
        assert answer.result().payload == b"bought"


def test_what_a_predicate_cannot_say_a_program_decides_at_the_router(client: Client) -> None:
    filters = ("symbol = 'A' AND price * qty > 1000", "symbol LIKE 'B_C'")
    with client.subscribe(*filters, dialect="jms", own_messages=True) as wanted:
        events = [{"symbol": "A", "price": price, "qty": 20} for price in (50, 51.5, 49)]
        events += [{"symbol": "A", "price": 2_000}, {"symbol": "B", "price": 100, "qty": 20}]
        publish(client, "jms", *events, *({"symbol": symbol} for symbol in ("BC", "BxC", "BxxC")))
        found = [wanted.receive(WAIT_S) for _ in range(2)]
        ids = wanted.ids
    assert [(item.get("price"), item["symbol"], item.matched) for item in found if isinstance(item, Message)] == [
        (51.5, "A", ids[:1]),
        (None, "BxC", ids[1:]),
    ]


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda client: client.subscribe("price * qty > 9", dialect="jms", group="workers"), "a worker group"),
        (lambda client: client.respond("price * qty > 9", dialect="jms", group="workers"), "a worker group"),
        (
            lambda client: client.durable("large", "price * qty > 9", dialect="jms", homes=("a",)),
            "a durable subscription of other routers",
        ),
    ],
)
def test_what_needs_a_program_is_refused_elsewhere_with_its_reason(
    client: Client, ask: Callable[[Client], object], what: str
) -> None:
    reason = f"^{what} needs a filter that is exact; in this one arithmetic at column 13 is not$"
    with pytest.raises(Refused, match=reason):
        ask(client)


def test_the_language_itself_needs_no_dialect(client: Client) -> None:
    texts = ("kind = 'bid' and price * qty > 1000", "name ~= 'Bob'", "ip in 10.1.0.0/17 or low < high")
    with client.subscribe(*texts, own_messages=True) as wanted:
        for attributes in (
            {"kind": "bid", "price": 50, "qty": 20},
            {"kind": "bid", "price": 51, "qty": 20},
            {"name": "bob"},
            {"name": "Bobby"},
            {"ip": "10.1.200.1"},
            {"ip": "10.1.100.1"},
            {"low": 2, "high": 1},
            {"low": 1, "high": 2.5},
        ):
            client.publish(attributes, confirm=True)
        found = [wanted.receive(WAIT_S) for _ in range(4)]
        one, two, three = ((id_,) for id_ in wanted.ids)
    assert [(item.matched, next(iter(item.attributes.values()))) for item in found if isinstance(item, Message)] == [
        (one, "bid"),
        (two, "bob"),
        (three, "10.1.100.1"),
        (three, 1),
    ]


def test_durable_subscriptions_and_replays_need_no_dialect(client: Client) -> None:
    client.durable("paths", "path like '/var/%/web_.log'")
    for path in ("/var/log/web3.log", "/var/web3.log", "/var/a/b/web4.log"):
        client.publish({"path": path}, confirm=True)
    client.publish({"path": "/var//web5.log"}, confirm="stored")
    with client.consume("paths") as work:
        found = [work.receive(WAIT_S) for _ in range(3)]
    assert [item["path"][-8:] for item in found if isinstance(item, Message)] == ["web3.log", "web4.log", "web5.log"]
    with client.replay("length(path) < 15") as history:
        assert [item["path"] for item in history if isinstance(item, Message)] == ["/var//web5.log"]


def test_where_no_program_runs_the_language_is_refused_at_its_column(client: Client) -> None:
    exact = "line 1, column 3: a predicate must be exact here, and the comparison of two attributes needs a program"
    for refused in (
        lambda: client.subscribe("a < b", group="workers").__enter__(),
        lambda: client.durable("large", "a < b", homes=("a",)),
        lambda: client.respond("a < b", group="workers"),
    ):
        with pytest.raises(PredicateError, match=exact):
            refused()


def test_what_is_no_filter_is_refused_with_its_reason(client: Client) -> None:
    with pytest.raises(DialectError, match=r"line 1, column 4: `\+` must be a whole level"):
        client.subscribe("a/b+", dialect="mqtt")
    with pytest.raises(Refused, match="there is no dialect 'mqt'"):
        client.subscribe("a", dialect="mqt")
    with pytest.raises(Refused, match="dialect= is only for filters as text"):
        client.subscribe(parse("x = 1"), dialect="mqtt")


def test_a_string_without_quotes_is_told(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with client.subscribe("class = alert", own_messages=True) as wanted:
        client.publish({"class": "alert"}, confirm=True)
        client.publish({"class": "alert", "alert": "alert"}, confirm=True)
        found = wanted.receive(WAIT_S)
    assert isinstance(found, Message)
    assert found["alert"] == "alert"
    [said] = [each.getMessage() for each in caplog.records]
    assert said == "in the predicate class = alert: `alert` is an attribute here; a string stands in quotes"


def test_texts_in_any_case_reach_a_subscriber(client: Client) -> None:
    with client.subscribe('name ~= "Bob"', 'lower(name) = "eve" and age > 3', own_messages=True) as wanted:
        for name in ("BOB", "bobby", "Eve", "bob"):
            client.publish({"name": name, "age": 4}, confirm=True)
        found = [wanted.receive(WAIT_S) for _ in range(3)]
    assert [item["name"] for item in found if isinstance(item, Message)] == ["BOB", "Eve", "bob"]
