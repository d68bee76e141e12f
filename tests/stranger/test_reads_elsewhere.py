"""What a home says to a client of another router, which reads and consumes durable subscriptions there, and what it may
not say: a stranger is the client, and another one the home.

    client ─── a ─── b: has `prices` and `orders`, and says what the test has it say
"""

from __future__ import annotations

from collections.abc import Iterator

import msgpack
import pytest

from tests.stranger import frames
from tests.stranger.client import Stranger
from tests.stranger.frames import frame
from tests.stranger.home import SERVES, TAKES_DIRECTED, TAKES_REMOTE, Home, ack, message_for
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router, until

pytestmark = pytest.mark.slow

GET, CREATED, CONSUMED, CANCELLED, REMOVED = 11, 5, 6, 7, 8
"""What an ACK is of."""
OVERLOADED, ID_IN_USE, DRAINING, NO_SUCH_DURABLE, ELSEWHERE, AWAY = 7, 5, 11, 21, 27, 29
READ, WORK, OWN = 3, 4, 5
"""Ids of the client."""
QUIET_S = 0.5
DURABLES = {"prices": SERVES, "orders": SERVES, "old": TAKES_DIRECTED | TAKES_REMOTE}
READS_MAX = 64


@pytest.fixture(name="net", scope="module")
def _net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    folder = tmp_path_factory.mktemp("net")
    with Network(folder, "a", ["ab"], elsewhere="b", of={"a": {"durable": {}}}) as net:
        net.until_ready("a")
        yield net


@pytest.fixture(name="home", scope="module")
def _home(net: Network) -> Iterator[Home]:
    with Home(net["a"].neighbours, "b", DURABLES) as home:
        until(lambda: is_known(net["a"]))
        yield home


@pytest.fixture(name="client")
def _client(net: Network, home: Home) -> Iterator[Stranger]:
    home.requests.clear()
    with Stranger(*net["a"].clients, "reader") as client:
        yield client
        client.send(frame(frames.PING, [7]))
        assert client.expect(frames.PONG)[0] == 7, "the connection of the client goes on"
    assert net["a"].tracebacks == 0, net["a"].first_traceback


def is_known(router: Router) -> bool:
    return len(router.page("/durables/elsewhere")["elsewhere"]) == len(DURABLES)


def get(client: Stranger, request: int, id_: int = READ, name: str = "prices") -> None:
    client.send(frame(frames.GET, [request, id_, name, msgpack.packb({"value": "X"})]))


def answer(client: Stranger) -> tuple[int, int, int]:
    """Return the kind and number of the request that the next ACK answers, and the code of its refusal; 0: none."""
    of, request, _, *more = client.expect(frames.ACK)
    return of, request, more[0][0][1] if more and more[0] else 0


def consuming(client: Stranger, home: Home, request: int, id_: int = WORK) -> int:
    """Attach a consumer; return its session."""
    client.send(frame(frames.CONSUME, [request, id_, "orders", 10]))
    [(session, body)] = home.heard_of(frames.CONSUME)
    assert body[:3] == [request, id_, "orders"]
    home.tell(session, ack(CONSUMED, request, id_))
    assert answer(client) == (CONSUMED, request, 0)
    return session


def test_a_message_comes_before_the_answer(home: Home, client: Stranger) -> None:
    get(client, 1)
    [(session, body)] = home.heard_of(frames.GET)
    assert body == [1, READ, "prices", msgpack.packb({"value": "X"})]
    home.tell(session, message_for(READ, 9, {"symbol": "X"}, b"p") + ack(GET, 1, READ))
    message = client.message()
    assert (message.satisfied, message.attributes, message.payload) == ([READ], {"symbol": "X"}, b"p")
    assert answer(client) == (GET, 1, 0)
    until(lambda: home.far[session].is_over)


def test_a_message_under_another_id_does_not_come(home: Home, client: Stranger) -> None:
    get(client, 1)
    [(session, _)] = home.heard_of(frames.GET)
    home.tell(session, message_for(READ + 9, 9, {"symbol": "X"}), ack(GET, 1, READ))
    assert answer(client) == (GET, 1, 0)
    assert client.is_silent(QUIET_S)


@pytest.mark.parametrize("of", [1, 2, 3, CREATED, CONSUMED, CANCELLED, REMOVED, 9, 10, 12])
def test_an_answer_of_another_kind_with_the_number_of_the_read_is_dropped(
    home: Home, client: Stranger, of: int
) -> None:
    get(client, 1)
    [(session, _)] = home.heard_of(frames.GET)
    home.tell(session, ack(of, 1, READ), ack(GET, 2, READ), ack(GET, 1, READ))
    assert answer(client) == (GET, 1, 0)
    assert client.is_silent(QUIET_S)


def test_a_read_and_a_consumer_may_have_one_number(home: Home, client: Stranger) -> None:
    get(client, 1)
    client.send(frame(frames.CONSUME, [1, WORK, "orders", 10]))
    [(session, _)] = home.heard_of(frames.CONSUME)
    home.tell(session, ack(CONSUMED, 1, WORK))
    assert answer(client) == (CONSUMED, 1, 0)
    home.tell(session, message_for(WORK, 1, {"n": 1}), ack(GET, 1, READ))
    assert client.message().attributes == {"n": 1}
    assert answer(client) == (GET, 1, 0)


def test_reads_are_sent_one_after_another_and_so_many_may_wait(home: Home, client: Stranger) -> None:
    count = READS_MAX + 2
    for request in range(1, count + 1):
        get(client, request, request)
    assert answer(client) == (GET, count, OVERLOADED)
    for request in range(1, count):
        assert [body[0] for _, body in home.heard_of(frames.GET, request)][-1] == request
        assert len([kind for _, kind, _ in home.requests if kind == frames.GET]) == request
        [*_, (session, _)] = home.heard_of(frames.GET, request)
        home.tell(session, message_for(request, 9, {"n": request}), ack(GET, request, request))
        assert client.message().attributes == {"n": request}
        assert answer(client) == (GET, request, 0)


def test_an_id_in_use_is_refused_and_its_consumer_goes_on(home: Home, client: Stranger) -> None:
    session = consuming(client, home, 1)
    get(client, 2, WORK)
    assert answer(client) == (GET, 2, ID_IN_USE)
    get(client, 3)
    home.heard_of(frames.GET)
    client.send(frame(frames.CONSUME, [4, READ, "orders", 10]))
    assert answer(client) == (CONSUMED, 4, ID_IN_USE)
    home.tell(session, ack(GET, 3, READ), message_for(WORK, 1, {"n": 1}))
    assert answer(client) == (GET, 3, 0)
    assert client.message().attributes == {"n": 1}


def test_a_home_ends_no_consumer_of_another_session(home: Home, client: Stranger) -> None:
    policy = [[packed([["x", frames.EXISTS]])], 0, 1 << 20, 0]
    client.send(frame(frames.CREATE_DURABLE, [1, "own", policy]))
    assert answer(client) == (CREATED, 1, 0)
    client.send(frame(frames.CONSUME, [2, OWN, "own", 10]))
    assert answer(client) == (CONSUMED, 2, 0)
    session = consuming(client, home, 3)
    home.tell(session, frame(frames.REPLAY_END, [OWN, 0, NO_SUCH_DURABLE, "removed"]))
    assert client.is_silent(QUIET_S)
    home.tell(session, frame(frames.REPLAY_END, [WORK, 0, NO_SUCH_DURABLE, "removed"]))
    assert client.expect(frames.REPLAY_END)[:3] == [WORK, 0, NO_SUCH_DURABLE]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(frame(frames.ACK, [GET]), id="a short ACK"),
        pytest.param(frame(frames.ACK, [200, 1, []]), id="an ACK of nothing that is known"),
        pytest.param(frames.raw_frame(frames.ACK, b"\xc1"), id="no msgpack"),
        pytest.param(frames.raw_frame(frames.REPLAY_END, b""), id="an empty REPLAY_END"),
        pytest.param(frames.raw_frame(frames.ACK, msgpack.packb([GET, 1, []]), flags=255), id="flags"),
        pytest.param(b"\x03\x00\x00\x00" + bytes(4), id="a frame of three bytes"),
    ],
)
def test_what_does_not_decode_ends_the_session_alone(home: Home, client: Stranger, said: bytes) -> None:
    session = consuming(client, home, 1)
    get(client, 2)
    get(client, 3, READ + 100)
    home.heard_of(frames.GET)
    home.tell(session, said)
    end = client.expect(frames.REPLAY_END)
    assert (end[0], end[2]) == (WORK, ELSEWHERE), "the client consumes again"
    assert [answer(client), answer(client)] == [(GET, 2, AWAY), (GET, 3, AWAY)]
    until(lambda: home.far[session].is_over)


@pytest.mark.parametrize("kind", [0, 0x05, frames.SUBSCRIBE, frames.CREDIT, frames.LSA, frames.REMOTE, 0x7F, 0xFF])
def test_other_kinds_are_dropped(home: Home, client: Stranger, kind: int) -> None:
    get(client, 1)
    [(session, _)] = home.heard_of(frames.GET)
    home.tell(session, frames.raw_frame(kind, b"\x90"), ack(GET, 1, READ))
    assert answer(client) == (GET, 1, 0)
    assert client.is_silent(QUIET_S)


def test_a_home_of_an_earlier_version_is_not_asked(home: Home, client: Stranger) -> None:
    get(client, 1, name="old")
    of, request, _, [[_, code, reason]] = client.expect(frames.ACK)[:4]
    assert (of, request, code) == (GET, 1, ELSEWHERE)
    assert reason == (
        "router b has the durable subscription 'old', and is of a version that answers reads of its own clients "
        "alone: connect to b"
    )
    assert home.requests == []


def test_a_home_that_is_silent_is_away(home: Home, client: Stranger) -> None:
    get(client, 1)
    [(session, _)] = home.heard_of(frames.GET)
    assert answer(client) == (GET, 1, AWAY)
    until(lambda: home.far[session].is_over)


def test_a_home_that_drains_is_said_to_be_away(home: Home, client: Stranger) -> None:
    """A client that heard of DRAINING would wait for the end of its connection to its own router, which goes on."""
    get(client, 1)
    [(session, _)] = home.heard_of(frames.GET)
    home.tell(session, ack(GET, 1, READ, DRAINING, "the router is draining"))
    *_, [[_, code, reason]] = client.expect(frames.ACK)[:4]
    assert (code, reason) == (AWAY, "router b is draining: try again later")
    client.send(frame(frames.REMOVE_DURABLE, [2, "orders"]))
    [(session, _)] = home.heard_of(frames.REMOVE_DURABLE)
    home.tell(session, ack(REMOVED, 2, 0, DRAINING, "the router is draining"))
    of, request, _, [[_, code, reason]] = client.expect(frames.ACK)[:4]
    assert (of, request, code, reason) == (REMOVED, 2, AWAY, "router b is draining: try again later")
