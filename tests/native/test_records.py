"""Records of messages: what the switch notes, as another thread takes it."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis.native
from tamis.native import Admission, EventType, RecordRing, Switch, SwitchOptions, Table
from tamis.native._tm import lib
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.language import parse
from tamis.protocol.messages import MessageId
from tamis.protocol.sampling import ALL, is_sampled, threshold_of
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import Ping
from tests.native.test_others import EAST, ME, WEST, Router, message, packed
from tests.native.test_switch import opened, subscribing
from tests.schema_of_records import check_record
from tests.strategies import wide_attributes

PREFIX = b'{"v":1,"kind":"message","router":"me","epoch":2,"t_us":'
NAMES = {ME: "me", WEST: "west", EAST: "east"}


def taken(records: RecordRing) -> list[dict[str, object]]:
    records.validate()
    found = []
    while True:
        lines, count = records.take(records.end)
        if not count:
            return found
        some = [json.loads(line) for line in bytes(lines).splitlines()]
        assert len(some) == count
        for record in some:
            check_record(record, "messages")
        found += some


@pytest.fixture
def recorded():
    """recorded(threshold, predicate) -> records; everything is closed afterwards."""
    made = []

    def make(threshold: int = ALL, where: str | None = None) -> RecordRing:
        wanted = None
        if where is not None:
            wanted = Table()
            for filter_ in parse(where).filters:
                wanted.add(filter_, 0)
        records = RecordRing(PREFIX, threshold, wanted)
        for number, name in NAMES.items():
            records.name(number, json.dumps(name).encode(), {ME: 0, WEST: 1, EAST: 1}[number])
        made.append(records)
        return records

    yield make
    for records in made:
        records.close()


@pytest.fixture
def alone():
    table = Table()
    switch = Switch(table, SwitchOptions(number=ME, epoch=2, connections_max=9, publishers_max=10, hop_limit=9))
    yield switch
    switch.validate()
    switch.close()
    table.close()


@pytest.fixture
def router():
    router = Router()
    yield router
    router.close()


def test_a_local_message(alone, recorded):
    records = recorded()
    alone.record(records)
    alice, bob, carol = (opened(alone, number) for number in (7, 8, 9))
    for client, predicate in ((bob, "x > 1 or x > 2"), (carol, "x > 100")):
        alone.subscribe(client, subscribing(1, predicate), 10)
    frame = encode_publish(7, 5, 3_000_000, {"x": 6})
    alone.feed(alice, frame)
    [record] = taken(records)
    assert record["t_us"] > 1_700_000_000_000_000
    assert record["match_ns"] > 0
    assert record | {"t_us": 0, "match_ns": 0} == {
        "v": 1,
        "kind": "message",
        "router": "me",
        "epoch": 2,
        "t_us": 0,
        "n": 0,
        "origin": f"{7:016x}",
        "number": 5,
        "source": "me",
        "source_epoch": 2,
        "transit": 1,
        "hop": 0,
        "from_connection": alice,
        "published_us": 3_000,
        "match_ns": 0,
        "matched": 2,
        "to_neighbours": [],
        "to_connections": [bob],
        "dropped": [],
        "bytes": len(frame),
        "attributes": '{"x":6}',
    }


def test_what_is_turned_away_and_what_is_dropped(alone, recorded):
    records = recorded()
    alone.record(records)
    alice, bob = opened(alone, 7), alone.open()
    window = 1_048_576
    alone.admit(bob, Admission(8, window, window, 100, 4_096, 1_000))  # takes short frames alone
    alone.subscribe(bob, subscribing(1, "exists x"), 10)
    for frame in (
        encode_publish(7, 1, 0, {"x": 6}),
        encode_publish(7, 1, 0, {"x": 6}),
        encode_publish(7, 2, 0, {"x": 6}, bytes(5_000)),
    ):
        alone.feed(alice, frame)
    alone.drain(True)
    alone.feed(alice, encode_publish(7, 3, 0, {"x": 6}))
    told = [(r["number"], r.get("refused"), r["to_connections"], r["dropped"], "transit" in r) for r in taken(records)]
    assert told == [
        (1, None, [bob], [], True),
        (1, "duplicate", [], [], False),
        (2, None, [], [bob], True),
        (3, "draining", [], [], False),
    ]
    increments, at = alone.increments(0)
    assert at == 2
    assert [(i.connection, i.messages_in, i.messages_out, i.dropped, i.refused) for i in increments] == [
        (alice, 4, 0, {}, {"duplicate": 1, "draining": 1}),
        (bob, 0, 1, {"too_large": 1}, {}),
    ]
    assert alone.increments(0) == ([], 2)


def test_a_message_in_transit(router, recorded):
    records = recorded()
    router.switch.record(records)
    router.switch.install(EAST, {1: packed("x > 0")})
    router.subscribe(1, "x = 1")
    router.feed(router.west, message(WEST, 1, x=1))
    router.feed(router.west, message(WEST, 1, x=1))
    router.feed(router.east, message(WEST, 2, x=1))
    first, again, astray = taken(records)
    assert first | {"t_us": 0, "match_ns": 0, "bytes": 0} == {
        "v": 1,
        "kind": "message",
        "router": "me",
        "epoch": 2,
        "t_us": 0,
        "n": 0,
        "origin": f"{99:016x}",
        "number": 1,
        "source": "west",
        "source_epoch": 4,
        "transit": 1,
        "hop": 1,
        "from_neighbour": "west",
        "match_ns": 0,
        "matched": 1,
        "to_neighbours": ["east"],
        "to_connections": [router.alice],
        "dropped": [],
        "bytes": 0,
    }
    assert (again["refused"], again["to_neighbours"], again["from_neighbour"]) == ("transit", [], "west")
    assert (astray["refused"], astray["from_neighbour"]) == ("parent", "east")


def test_a_neighbour_without_a_link(router, recorded):
    records = recorded()
    router.switch.record(records)
    router.switch.install(EAST, {1: packed("x > 0")})
    router.switch.end(router.east, now=True)
    router.feed(router.west, message(WEST, 1, x=1))
    [record] = taken(records)
    assert (record["to_neighbours"], record["dropped"]) == ([], [-1])


def test_dry_runs_are_not_recorded_and_traced_messages_are(router, recorded):
    records = recorded()
    router.switch.record(records)
    trace = {ExtensionType.TRACE: 77}
    dry = replace(message(WEST, 1, x=1), kind=FrameKind.DRY_RUN, flags=Flags.TRACED, extensions=trace)
    assert [event.type for event in router.feed(router.west, dry)] == [EventType.TRACED]
    assert taken(records) == []
    traced = replace(message(WEST, 2, x=1), flags=Flags.TRACED, extensions=trace)
    assert [event.type for event in router.feed(router.west, traced)] == [EventType.TRACED]
    assert [record["transit"] for record in taken(records)] == [2]


def test_a_neighbours_clock(router, recorded):
    assert router.switch.clock(router.west) is None
    router.switch.record(recorded())
    router.switch.advance(1_000)
    router.switch.tick()
    [ping] = [body for body in router.sent(router.west) if isinstance(body, Ping)]
    for ahead_us, extra in ((5_000_000, b""), (-7_000_000, b"\xc0")):  # a third field is for somebody above
        array = bytes([0x92 + len(extra)])
        body = (
            array
            + b"\xcf"
            + ping.token.to_bytes(8, "big")
            + b"\xcf"
            + (ping.token + ahead_us).to_bytes(8, "big")
            + extra
        )
        frame = (8 + len(body)).to_bytes(4, "little") + bytes([FrameKind.PONG, 0, 0, 0]) + body
        router.switch.feed(router.west, frame)
    clock = router.switch.clock(router.west)
    assert 0 < clock.round_trip_us < 5_000_000
    assert 0 <= 5_000_000 - clock.offset_us - clock.round_trip_us // 2 <= 1
    assert router.switch.clock(router.west) is None


def test_whoever_asks_for_a_sign_of_life_is_told_the_time(router):
    now_us = time.time_ns() // 1_000
    for connection in (router.west, router.alice):
        while router.switch.output(connection, 1_000):
            pass
        router.switch.feed(connection, encode(Ping(4)))
        pong = router.switch.output(connection, 1_000)
        assert (pong[4], pong[8], pong[9]) == (FrameKind.PONG, 0x92, 4)
        assert abs(int.from_bytes(pong[11:], "big") - now_us) < 60_000_000


@given(st.integers(1, 2**64 - 1), st.integers(1, 2**64 - 1), st.floats(0, 1), st.floats(0, 1))
def test_a_greater_share_has_all_that_a_smaller_one_has(origin: int, number: int, one: float, other: float):
    id_, (less, more) = MessageId(origin, number), sorted((one, other))
    assert is_sampled(id_, threshold_of(more)) >= is_sampled(id_, threshold_of(less))
    assert is_sampled(id_, threshold_of(1))
    assert not is_sampled(id_, threshold_of(0))


def test_c_and_python_choose_the_same_messages_and_about_as_many_as_they_should(alone, recorded):
    threshold = threshold_of(0.25)
    records = recorded(threshold)
    alone.record(records)
    alice = opened(alone, 7)
    numbers = range(1, 97)
    for number in numbers:
        alone.feed(alice, encode_publish(7, number, 0, {"x": 1}))
    chosen = [record["number"] for record in taken(records)]
    assert chosen == [number for number in numbers if is_sampled(MessageId(7, number), threshold)]
    many = sum(is_sampled(MessageId(7, number), threshold) for number in range(10_000))
    assert 2_300 < many < 2_700


def test_by_predicate(alone, recorded):
    records = recorded(0, 'x > 5 and y = "a" or z = true')
    alone.record(records)
    alice = opened(alone, 7)
    bodies = [{"x": 6, "y": "a"}, {"x": 6, "y": "b"}, {"z": True}, {"z": False}, {"w": 1}, {"x": 9, "y": "a", "w": 2}]
    for number, body in enumerate(bodies * 3, 1):  # again and again: what a message is made of is learnt
        alone.feed(alice, encode_publish(7, number, 0, body))
    alone.feed(alice, encode_publish(7, 1, 0, bodies[0]))
    told = taken(records)
    assert [record["number"] for record in told] == [1, 3, 6, 7, 9, 12, 13, 15, 18, 1]
    assert told[-1]["refused"] == "duplicate"


@given(wide_attributes())
def test_attributes_are_told_as_they_were_published(body):
    records = RecordRing(PREFIX, ALL)
    table = Table()
    switch = Switch(table, SwitchOptions(number=ME, epoch=2, connections_max=9, publishers_max=10, hop_limit=9))
    switch.record(records)
    alice = opened(switch, 7)
    switch.feed(alice, encode_publish(7, 1, 0, body))
    [record] = taken(records)
    told = json.loads(str(record["attributes"]))
    assert told == body
    assert {name: type(value) for name, value in told.items()} == {name: type(value) for name, value in body.items()}
    switch.close()
    records.close()
    table.close()


def test_a_message_longer_than_the_room_for_lines(alone, recorded):
    records = recorded()
    alone.record(records)
    alice = opened(alone, 7)
    body = {f"a{number}": "\x01" * 9_000 for number in range(60)}
    alone.feed(alice, encode_publish(7, 1, 0, body))
    [record] = taken(records)
    assert json.loads(str(record["attributes"])) == body


def test_what_the_ring_has_no_room_for_is_lost_and_leaves_a_gap(alone, recorded):
    records = recorded()
    alone.record(records)
    alice = opened(alone, 7)
    body = {f"a{number}": "x" * 9_000 for number in range(50)}
    for number in range(1, 31):
        alone.feed(alice, encode_publish(7, number, 0, body))
    lost = records.lost
    assert lost > 0
    assert [record["n"] for record in taken(records)] == list(range(30 - lost))
    alone.feed(alice, encode_publish(7, 31, 0, {"x": 1}))
    assert [record["n"] for record in taken(records)] == [30]


def test_routers_go_by_hex_until_they_are_named(alone):
    records = RecordRing(PREFIX, ALL)
    alone.record(records)
    alone.feed(opened(alone, 7), encode_publish(7, 1, 0, {"x": 1}))
    [record] = taken(records)
    assert record["source"] == f"{ME:016x}"
    alone.record(None)
    records.close()


def test_reasons_are_called_in_c_as_in_python():
    source = (Path(tamis.native.__file__).parent / "records" / "record_lines.c").read_text()
    [table] = re.findall(r"REASONS\[TM_DROP_REASONS\] = \{(.*?)\}", source, re.DOTALL)
    assert tuple(re.findall(r'"(\w+)"', table)) == DROP_REASONS
    assert len(DROP_REASONS) == lib.TM_DROP_REASONS
