"""What docs/reference/wire.md claims, checked by a client that has read nothing else; with and without tokens.

At commit da1168e every one of these held, except that a message too long to be delivered was confirmed.
"""

from __future__ import annotations

import itertools
import re
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgpack
import pytest

from tests.stranger import frames
from tests.stranger.client import Connection, Ended, Refused, Stranger
from tests.stranger.frames import CONFIRM, EQ, GT, Header, body_of, data_frame, extension, frame, kind_of, raw_frame
from tests.stranger.predicates import number, packed
from tests.stranger.routers import Network, Router

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "wire.md"
TOKEN = "a token"  # noqa: S105 - the page's
EVERYTHING: list[list[object]] = [[]]
Greet = Callable[..., Stranger]
_names = itertools.count()


@pytest.fixture(name="router", scope="module", params=["open", "tokens"])
def _router(request, tmp_path_factory) -> Iterator[tuple[Router, str | None]]:
    folder = tmp_path_factory.mktemp("claims")
    token = TOKEN if request.param == "tokens" else None
    if token:
        file = folder / "tokens"
        file.touch(mode=0o600)
        file.write_text(f"* {token.replace(' ', '-')}\n")
    with Network(folder, "r", keys="tokens: tokens" if token else "") as net:
        yield net["r"], token.replace(" ", "-") if token else None
        assert net["r"].is_alive
        assert net["r"].tracebacks == 0, net["r"].log[-2_000:]


@pytest.fixture(name="greet")
def _greet(router) -> Iterator[Greet]:
    """Clients that are closed afterwards; each has a name of its own."""
    opened: list[Stranger] = []

    def greet(name: str = "", **more: object) -> Stranger:
        at, token = router
        opened.append(Stranger(*at.clients, name or f"stranger-{next(_names)}", token, **more))
        return opened[-1]

    yield greet
    for each in opened:
        each.close()


def page_bytes(title: str) -> bytes:
    """A hex block of the page, without its comments."""
    found = re.search(rf"```hex {re.escape(title)}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found, title
    return bytes.fromhex("".join(line.partition(";")[0] for line in found[1].splitlines()))


# --- the greeting and the frames around it ---------------------------------------------------------------------------


def test_the_pages_own_bytes_are_a_session(router, greet):
    at, token = router
    other = greet()
    other.subscribe({1: EVERYTHING})
    with Connection(at.clients) as alice:
        alice.send(page_bytes("hello, client"))
        welcome = alice.read_frame()
        assert (kind_of(welcome), body_of(welcome)[0]) == (frames.WELCOME, "r")
        alice.send(frame(frames.AUTH, [frames.TOKEN, token.encode()] if token else [frames.NONE, b""]))
        authenticated = body_of(alice.read_frame())
        assert authenticated[1] == body_of(page_bytes("authenticated"))[1] == number("alice")
        assert kind_of(alice.read_frame()) == frames.CREDIT
        alice.send(page_bytes("subscribe") + page_bytes("publish"))
        ack = [body_of(alice.read_frame()) for _ in range(2)]
        assert sorted(each[:3] for each in ack) == [[1, 1, [[1, 1]]], [3, 0, [[7, 7]]]]
    delivered, shown = other.message(), frames.message_of(page_bytes("deliver"))
    assert (delivered.attributes, delivered.payload, delivered.satisfied) == (shown.attributes, shown.payload, [1])
    assert (delivered.header.origin, delivered.header.counter) == (shown.header.origin, shown.header.counter)


def test_versions_from_1_on_are_spoken_and_later_ones_refused(greet):
    assert greet(versions=(1, 1)).version == 1
    assert greet(versions=(1, 2**32 - 1)).version >= 1
    with pytest.raises(Ended) as ended:
        greet(versions=(2**32 - 2, 2**32 - 1))
    assert ended.value.code == 15


def test_4096_bytes_may_come_before_authentication(greet):
    with greet(greet=False) as client:
        client.send(raw_frame(0x85, bytes(5_000)))
        assert client.until_ended().code in (1, 5, 14)


def test_a_router_is_no_client(greet):
    with pytest.raises(Ended) as ended:
        greet("r", role=frames.ROUTER)
    assert ended.value.code is not None


def test_the_newer_connection_of_a_name_stays(greet):
    name = f"twice-{next(_names)}"
    older = greet(name)
    newer = greet(name)
    assert older.until_ended().code == 18
    newer.confirmed({"n": 1})


def test_auth_comes_after_hello(greet):
    client = greet(greet=False)
    client.send(frame(frames.AUTH, [frames.NONE, b""]))
    assert client.until_ended().code == 5


def test_a_wrong_token_is_refused(router):
    at, token = router
    if token is None:
        return
    for wrong in ("another", token[:-1], token + "x", None):
        with pytest.raises(Ended) as ended:
            Stranger(*at.clients, "guesser", wrong, patience_s=10)
        assert ended.value.code in (6, 16)


def test_a_ping_is_answered_with_its_token(greet):
    client = greet()
    for token in (0, 1, 2**64 - 1):
        client.send(frame(frames.PING, [token]))
        assert client.expect(frames.PONG)[0] == token


def test_unknown_kinds_are_skipped_from_0x80_on(greet):
    client, known = greet(), {frames.EA, frames.EH, frames.ER, frames.SPACE}
    known |= {frames.DURABLES, frames.DURABLES_HELD, frames.REMOTE, frames.FINISHED}
    client.send(b"".join(raw_frame(kind, bytes(kind)) for kind in range(0x88, 0x100) if kind not in known))
    client.confirmed({"n": 1})
    client.send(raw_frame(0x7F, b"\xc0"))
    assert client.until_ended().code == 4


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (struct.pack("<IBBBB", 7, frames.PING, 0, 0, 0), 2),
        (struct.pack("<IBBBB", 1_048_577, frames.PING, 0, 0, 0), 1),
        (struct.pack("<I", 2**32 - 1), 1),
        (raw_frame(frames.PING, b"\x91\x00", reserved=1), 3),
        (raw_frame(frames.PING, b"\x91\x00", flags=1), 3),
        (raw_frame(frames.PING, b"\x91\x00", hops=1), 3),
        (raw_frame(frames.PING, b"\x91\x00\x00"), 7),
        (raw_frame(frames.PING, b"\x90"), 6),
        (raw_frame(frames.PING, b"\x91\xa1x"), 6),
        (raw_frame(frames.PING, b""), 6),
        (raw_frame(frames.PUBLISH, bytes(55)), 2),
        (frame(frames.LSA, ["r", 1, 1, []]), 5),
        (frame(frames.LOST, [1, 1, None, None, None]), 5),
        (raw_frame(frames.DELIVER, bytes(56)), 5),
        (frame(frames.HELLO, []), 5),
        (frame(frames.SUBSCRIBE, [1, [[1, [packed([])]], [1, [packed([])]]], False, 0, False]), 6),
        (frame(frames.SUBSCRIBE, [1, [[1, [packed([])]]], False, 9, False]), 6),
        (frame(frames.SUBSCRIBE, [1, [], False, 0, False]), 8),
        (frame(frames.SUBSCRIBE, [1, [[1, [packed([])] * 65]], False, 0, False]), 8),
        (frame(frames.UNSUBSCRIBE, [1, [1, 1]]), 6),
    ],
)
def test_what_breaks_the_rules_is_told_its_code(greet, data, code):
    client = greet()
    client.send(data)
    ended = client.until_ended()
    # A rule that two codes name may be told by either: counts out of range are also "does not fit its table".
    assert ended.code == code or {ended.code, code} <= {6, 8}, ended


def test_fields_that_were_appended_are_skipped(greet):
    client = greet()
    nested = [{"a": [[[1]]]}, None, b"x", 1.5]
    client.send(frame(frames.PING, [7, *nested]))
    assert client.expect(frames.PONG)[0] == 7
    request = client.request()
    item = [3, [packed([])], b"", [], "", *nested]
    client.send(frame(frames.SUBSCRIBE, [request, [item], False, 0, False, "", *nested]))
    assert client.answered(1, request, [3]) == {}


def test_a_fatal_error_reaches_a_client_that_keeps_sending(greet):
    for _ in range(20):
        client = greet()
        good = frame(frames.PING, [1]) * 200
        client.send(good + raw_frame(0x7F, b"") + good)
        client.send(good)
        assert client.until_ended().code == 4
        client.close()


# --- messages --------------------------------------------------------------------------------------------------------


def test_20000_messages_come_once_and_in_order(greet):
    reader, writer = greet(), greet()
    reader.subscribe({1: EVERYTHING})
    for n in range(20_000):
        writer.publish({"n": n})
        if n % 4_000 == 3_999:
            writer.publish({"end": n})
            seen = [found.attributes["n"] for found in reader.messages_until("end")]
            assert seen == list(range(n - 3_999, n + 1))


def test_one_message_comes_once_with_all_ids_it_satisfies(greet):
    reader, writer = greet(), greet()
    reader.subscribe({5: [[["x", EQ, 1]], [["x", GT, 0]]], 2**32 - 1: EVERYTHING, 0: [[["x", EQ, 2]]]})
    writer.publish({"x": 1})
    writer.publish({"x": 2})
    assert [sorted(reader.message().satisfied) for _ in range(2)] == [[5, 2**32 - 1], [0, 5, 2**32 - 1]]


def test_own_messages_come_only_when_asked_for(greet):
    client = greet()
    client.subscribe({1: [[["own", EQ, False]]]})
    client.subscribe({2: [[["own", EQ, True]]]}, own=True)
    client.publish({"own": False})
    client.publish({"own": True})
    found = client.message()
    assert (found.attributes, bool(found.flags & frames.OWN)) == ({"own": True}, True)


def test_after_the_ack_of_unsubscribe_nothing_arrives(greet):
    reader, writer = greet(), greet()
    for round_ in range(50):
        reader.subscribe({round_: EVERYTHING})
        for n in range(20):
            writer.publish({"n": n})
        request = reader.request()
        reader.send(frame(frames.UNSUBSCRIBE, [request, [round_]]))
        reader.answered(2, request, [round_])
        reader.waiting = type(reader.waiting)(
            each for each in reader.waiting if kind_of(each) != frames.DELIVER
        )  # those before the ACK
        writer.confirmed({"n": -1})
        reader.send(frame(frames.PING, [round_]))
        assert reader.expect(frames.PONG)[0] == round_
        assert not reader.waiting


def test_a_confirmed_message_is_acknowledged_by_its_counter(greet):
    client = greet()
    first = client.confirmed({"n": 1})
    assert client.confirmed({"n": 2}) == first + 1


def test_who_passes_its_credit_is_cut(greet):
    client = greet()
    client.confirmed({"n": 0})
    payload = bytes(1_000_000)
    for n in range(1 + client.bytes_allowed // len(payload)):  # and no CREDIT is looked at
        header = Header(origin=client.number, counter=client.counter + n + 1)
        client.send(data_frame(header, {"n": n}, payload))
    ended = _ended_or_alive(client)
    assert ended is None or ended.code == 8


def _ended_or_alive(client: Stranger) -> Ended | None:
    """None: the router has granted more in time, and has answered."""
    client.send(frame(frames.PING, [99]))
    try:
        while kind_of(client.read_frame()) != frames.PONG:
            pass
    except Ended as ended:
        return ended
    return None


@pytest.mark.parametrize(("count", "is_taken"), [(64, True), (65, False)])
def test_64_attributes_are_taken(greet, count, is_taken):
    _attributes_are(greet, {f"n{i}": i for i in range(count)}, is_taken)


@pytest.mark.parametrize(("length", "is_taken"), [(65_536, True), (65_537, False)])
def test_a_string_has_65536_bytes(greet, length, is_taken):
    _attributes_are(greet, {"s": "x" * length}, is_taken)


@pytest.mark.parametrize(("length", "is_taken"), [(256, True), (257, False), (0, False)])
def test_a_name_has_1_to_256_bytes(greet, length, is_taken):
    _attributes_are(greet, {"é" * (length // 2): 1}, is_taken) if length != 257 else _attributes_are(
        greet, {"é" * 128 + "x": 1}, is_taken
    )


@pytest.mark.parametrize(
    "packed_map",
    [
        b"\x82\xa1a\x01\xa1a\x02",  # a name twice
        b"\x81\xa1\xff\x01",  # a name that is no UTF-8
        b"\x81\xa1a\xa1\xc0",  # a value that is no UTF-8
        b"\x81\xa1a\xa3\xed\xa0\x80",  # a surrogate
        b"\x81\xa1a\xcf\xff\xff\xff\xff\xff\xff\xff\xff",  # 2^64 - 1
        b"\x81\xa1a\xcf\x80\x00\x00\x00\x00\x00\x00\x00",  # 2^63
        b"\x81\xa1a\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",  # NaN
        b"\x81\xa1a\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",  # infinity
        b"\x81\xa1a\xca\xff\x80\x00\x00",  # -infinity, 32 bits
        b"\x81\xa1a\xc0",  # nil
        b"\x81\xa1a\xc4\x01x",  # bin
        b"\x81\xa1a\xd4\x01x",  # ext
        b"\x81\xa1a\x90",  # array
        b"\x81\xa1a\x80",  # map
        b"\x81\x01\x01",  # a name that is no string
        b"\x91\x01",  # no map
        b"\x81\xa1a\xc1",  # never used by msgpack
        b"\x81\xa1a",  # cut short
        b"\x80\x00",  # one byte too many
        b"",
    ],
)
def test_attributes_that_no_message_may_carry_end_the_connection(greet, packed_map):
    client = greet()
    client.publish(packed_map)
    assert client.until_ended().code in (6, 8, 9)


@pytest.mark.parametrize(
    ("packed_map", "means"),
    [
        (b"\x81\xa1a\xd3\x00\x00\x00\x00\x00\x00\x00\x05", 5),
        (b"\x81\xa1a\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 2**63 - 1),
        (b"\x81\xa1a\xd3\x80\x00\x00\x00\x00\x00\x00\x00", -(2**63)),
        (b"\x81\xd9\x01a\xcc\x05", 5),
        (b"\xde\x00\x01\xda\x00\x01a\xcd\x00\x05", 5),
        (b"\xdf\x00\x00\x00\x01\xdb\x00\x00\x00\x01a\xce\x00\x00\x00\x05", 5),
        (b"\x81\xa1a\xca\x40\xa0\x00\x00", 5),
        (b"\x81\xa1a\xcb\x40\x14\x00\x00\x00\x00\x00\x00", 5),
        (b"\x81\xa1a\xcb\x80\x00\x00\x00\x00\x00\x00\x00", 0),
        (b"\x81\xa1a\xc3", True),
    ],
)
def test_any_spelling_of_msgpack_will_do(greet, packed_map, means):
    reader, writer = greet(), greet()
    reader.subscribe({1: [[["a", EQ, means]]]})
    writer.publish(packed_map)
    found = reader.message()
    assert found.attributes["a"] == means


def test_one_and_true_are_two_values(greet):
    reader, writer = greet(), greet()
    reader.subscribe({1: [[["a", EQ, 1]]], 2: [[["a", EQ, True]]], 3: [[["a", EQ, "1"]]]})
    for value in (1, 1.0, True, "1"):
        writer.publish({"a": value})
    assert [reader.message().satisfied for _ in range(4)] == [[1], [1], [2], [3]]


def _attributes_are(greet: Greet, attributes: dict[str, object], is_taken: bool) -> None:
    client = greet()
    client.publish(attributes, flags=CONFIRM)
    if is_taken:
        client.confirmation(client.counter)
    else:
        assert client.until_ended().code in (8, 9)


def test_what_is_confirmed_can_be_delivered_up_to_1_mib(greet):
    """A PUBLISH that is too long to be delivered is refused at the door. At da1168e it was confirmed and lost."""
    reader, writer = greet(patience_s=3), greet()
    reader.subscribe({1: EVERYTHING})
    head = frames.HEADER_BYTES + len(msgpack.packb({"n": 1}))
    taken = 0
    for length in (1_048_568, 1_048_569, 1_048_572, 1_048_576):
        if (code := _code(writer, bytes(length - head))) is not None:
            assert code == 10
            continue
        taken += 1
        assert len(reader.message().payload) == length - head
    assert taken >= 1
    assert reader.is_silent(0.1)


def _code(client: Stranger, payload: bytes) -> int | None:
    """Of the refusal; None: it was taken."""
    try:
        client.confirmed({"n": 1}, payload)
    except Refused as refused:
        return refused.code
    return None


def test_frames_of_less_than_1_mib_are_what_a_client_may_ask_for(greet):
    reader, writer = greet(frame_bytes_max=4_096), greet()
    reader.subscribe({1: EVERYTHING})
    writer.confirmed({"n": 1}, bytes(10_000))
    messages, size, reason, *_ = reader.expect(frames.LOST)
    assert (messages, reason) == (1, 3)
    assert size > 10_000


# --- ids and filters --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1",
        b"",
        b"\x90\x00",  # one byte too many
        packed([["a", 12, 1]]),  # no such operator
        packed([["a", frames.BETWEEN, 2, 1]]),
        packed([["a", frames.BETWEEN, 1, "b"]]),
        packed([["a", frames.IN]]),
        packed([["a", frames.IN, *range(257)]]),
        packed([["a", frames.PREFIX, 1]]),
        packed([["a", frames.PREFIX, "x" * 129]]),
        packed([["a", EQ, "x" * 1_025]]),
        packed([["a", EQ, None]]),
        packed([["a", GT, True]]),
        packed([["", EQ, 1]]),
        packed([["x" * 257, EQ, 1]]),
        packed([["a", EQ, 1]] * 17),
        msgpack.packb({"a": 1}),
        packed([["a", EQ, float("nan")]]),
        packed([["a", EQ, 2**63]]),
    ],
)
def test_a_filter_that_does_not_decode_costs_its_item_alone(greet, data):
    client = greet()
    request = client.request()
    batch = [[1, [packed([["a", EQ, 1]])]], [2, [data or b"\xc1"]], [3, [packed([])]]]
    client.send(frame(frames.SUBSCRIBE, [request, batch, False, 0, False]))
    assert client.answered(1, request, [1, 2, 3]) == {2: 1}


def test_a_filter_that_contradicts_itself_is_refused_or_never_matches(greet):
    reader, writer = greet(), greet()
    assert reader.subscribe({1: [[["a", GT, 5], ["a", frames.LT, 3]]]}) in ({}, {1: 2})
    reader.subscribe({2: [[["a", frames.EXISTS]]]})
    for value in range(10):
        writer.publish({"a": value})
    assert [reader.message().satisfied for _ in range(10)] == [[2]] * 10


def test_ids_are_the_clients_own(greet):
    client = greet()
    assert client.subscribe({1: EVERYTHING, 2: EVERYTHING}) == {}
    assert client.subscribe({2: EVERYTHING, 3: EVERYTHING}) == {2: 5}
    assert client.unsubscribe(1, 7) == {7: 6}
    assert client.subscribe({1: EVERYTHING}) == {}


def test_a_client_holds_10000_filters(greet):
    client = greet()
    assert client.filters_max == 10_000
    assert client.subscribe({i: [[["a", EQ, i]]] for i in range(10_000)}) == {}
    assert client.subscribe({10_000: EVERYTHING}) == {10_000: 3}
    assert client.unsubscribe(*range(10_000)) == {}
    assert client.subscribe({10_000: EVERYTHING}, wait=frames.NETWORK) == {}


# --- extensions ------------------------------------------------------------------------------------------------------


def test_extensions_that_are_unknown_are_carried_along(greet):
    reader, writer = greet(), greet()
    reader.subscribe({1: EVERYTHING})
    writer.publish({"n": 1}, extensions=[extension(0x0777, b"unread"), extension(frames.GROUP, b"group")])
    found = reader.message()
    assert (found.extensions[0x0777], found.extensions[frames.GROUP]) == (b"unread", b"group")


def test_extensions_that_must_be_understood_are_refused(greet):
    client = greet()
    counter = client.publish({"n": 1}, extensions=[extension(0x8001, b"")], flags=CONFIRM)
    with pytest.raises(Refused) as refused:
        client.confirmation(counter)
    assert refused.value.code == 12
    client.publish({"n": 1}, extensions=[extension(0x8001, b"")])
    code, _, _, fatal = client.expect(frames.ERROR)[:4]
    assert (code, fatal) == (11, False)
    client.confirmed({"n": 2})


@pytest.mark.parametrize(
    "area",
    [
        [extension(frames.GROUP, b"a"), extension(frames.GROUP, b"b")],
        [extension(frames.GROUP, b"")],
        [extension(frames.GROUP, b"\xff")],
        [extension(frames.EXPIRY, b"1234567")],
        [extension(frames.TRACE, bytes(8))],
        [extension(frames.SATISFIED, bytes(4))],
        [struct.pack("<HH", frames.GROUP, 500)],
        [extension(i + 0x100, b"") for i in range(65)],
    ],
)
def test_extensions_that_are_wrong_end_the_connection(greet, area):
    client = greet()
    client.publish({"n": 1}, extensions=area)
    assert client.until_ended().code in (3, 10)


def test_a_message_that_has_expired_is_refused(greet):
    client = greet()
    past = extension(frames.EXPIRY, struct.pack("<Q", time.time_ns() - 10**9))
    with pytest.raises(Refused) as refused:
        client.confirmation(client.publish({"n": 1}, extensions=[past], flags=CONFIRM))
    assert refused.value.code == 9


def test_a_trace_says_what_was_done(greet):
    reader, writer = greet(), greet()
    reader.subscribe({1: EVERYTHING})
    trace = extension(frames.TRACE, struct.pack("<Q", 77))
    writer.publish({"n": 1}, extensions=[trace], flags=frames.TRACED)
    record = writer.expect(frames.TRACE_RECORD)
    assert (record[0], record[2], record[3]) == (77, "r", writer.number)
    assert record[10][0][:2] == [reader.number, True]


def test_a_dry_run_is_reported_and_delivered_to_nobody(greet):
    reader, writer = greet(), greet()
    reader.subscribe({9: EVERYTHING})
    trace = extension(frames.TRACE, struct.pack("<Q", 78))
    writer.publish({"n": 1}, extensions=[trace], flags=frames.TRACED, kind=frames.DRY_RUN)
    report = writer.expect(frames.DRY_RUN_REPORT)
    assert [report[0], report[4]] == [78, 1]
    assert report[5] == [[reader.number, 9]]
    assert reader.is_silent(0.1)


# --- who may say what ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        Header(origin=1, counter=1),
        Header(origin=0, counter=1),
        Header(source=1, origin=number("me"), counter=1),
        Header(epoch=1, origin=number("me"), counter=1),
        Header(entry=1, origin=number("me"), counter=1),
    ],
)
def test_a_client_speaks_for_itself_alone(greet, header):
    client = greet("me")
    client.send_data(data_frame(header, {"n": 1}))
    assert client.until_ended().code == 17 or header.origin == 0


def test_after_its_own_drain_a_client_begins_nothing_new(greet):
    client = greet()
    client.subscribe({1: EVERYTHING})
    client.send(frame(frames.DRAIN, [1_000, ""]))
    assert client.unsubscribe(1) == {}
    client.publish({"n": 1})
    assert client.until_ended().code == 5
