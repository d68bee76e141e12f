"""The switch as Python drives it: what goes in, what comes up, what is counted."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import replace
from itertools import chain

import pytest

from tamis.native import (
    Admission,
    Bug,
    ConnectionFigures,
    EventType,
    Gone,
    SlowPolicy,
    SubscribeFrame,
    SubscriberFigures,
    Switch,
    SwitchFigures,
    SwitchOptions,
    Table,
)
from tamis.native._tm import ffi
from tamis.protocol.errors import FrameError
from tamis.protocol.language import parse
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.extensions import ExtensionType, GroupChoice
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import HEADER, Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Ping

ALICE, BOB, CAROL = 7, 8, 9


def admission(number: int) -> Admission:
    window = 1_048_576
    return Admission(number, window, window, 100, window, 1_000, 60_000, 60_000, 100, SlowPolicy.DROP_NEWEST)


def subscribing(number: int, predicate: str, own: bool = False) -> SubscribeFrame:
    packed = tuple(encode_filter(filter_) for filter_ in parse(predicate).filters)
    return SubscribeFrame(
        encode(bodies.Subscribe(1, (bodies.SubscriptionItem(number, packed),), own, bodies.Reach.HOME, False))
    )


@pytest.fixture
def switch():
    table = Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
    yield made
    made.validate()
    made.close()
    made.close()
    table.close()


def opened(switch: Switch, number: int) -> int:
    """A fed connection that is let in."""
    connection = switch.open()
    switch.admit(connection, admission(number))
    return connection


def output(switch: Switch, connection: int) -> list[object]:
    reader = FrameReader()
    reader.authenticated()
    while data := switch.output(connection, 1_000):
        reader.feed(data)
    return [decode(frame) for frame in reader]


def test_a_message_goes_from_one_to_the_other(switch):
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    assert switch.subscribe(switch.subscriber_of(bob), subscribing(5, "x > 1 or y = 2"), 100) == []
    events = switch.feed(alice, encode_publish(ALICE, 1, 0, {"x": 2, "y": 2}, b"hello"))
    assert [(event.type, event.connection) for event in events if event.type != EventType.OUTPUT] == []
    credit, delivered = output(switch, bob)
    assert credit == bodies.Credit(100, 1_048_576)
    assert (delivered.message.payload, delivered.extensions) == (b"hello", {5: (5,)})
    figures = switch.figures()
    assert (figures.messages_in, figures.deliveries, figures.subscriptions, figures.filters) == (1, 1, 1, 2)
    assert switch.connection(bob).deliveries == 1


@pytest.mark.parametrize(("bug", "copies"), [(Bug.DROP, (1, 1)), (Bug.TWICE, (3, 1)), (Bug.ASTRAY, (1, 2))])
def test_a_planted_bug_is_done_and_told(switch, bug, copies):
    """Bob wants both messages; Carol is a stranger to the second one, which goes wrong."""
    alice, bob, carol = (opened(switch, number) for number in (ALICE, BOB, CAROL))
    switch.subscribe(switch.subscriber_of(bob), subscribing(5, "x > 0"), 100)
    switch.subscribe(switch.subscriber_of(carol), subscribing(5, "x = 1"), 100)
    switch.plant(bug, 3)
    events = [event for x in (1, 2) for event in switch.feed(alice, encode_publish(ALICE, x, 0, {"x": x}))]
    [told] = [event for event in events if event.type == EventType.PLANTED]
    assert (told.connection, told.code) == (bob, carol if bug is Bug.ASTRAY else bob)
    assert HEADER.unpack(told.frame)[8:10] == (ALICE, 2)
    assert tuple(switch.connection(client).deliveries for client in (bob, carol)) == copies


def test_control_frames_come_up_as_they_are(switch):
    alice = switch.open()
    frame = encode(Ping(5))
    events = switch.feed(alice, frame[:5]) + switch.feed(alice, frame[5:])
    assert [(event.type, event.kind, event.frame) for event in events] == [(EventType.FRAME, FrameKind.PING, frame)]


def test_a_fault_says_what_is_wrong(switch):
    alice = opened(switch, ALICE)
    [fault] = [event for event in switch.feed(alice, b"\x01\0\0\0") if event.type == EventType.FAULT]
    assert (fault.connection, fault.text) == (alice, "a frame has at least 8 bytes")


def test_a_socket_is_served_by_poll(switch):
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        alice = switch.open(ours.detach())
        theirs.sendall(encode(Ping(1)))
        assert [event.frame for event in switch.poll(1_000)] == [encode(Ping(1))]
        assert switch.send(alice, encode(Ping(2)))
        assert theirs.recv(100) == encode(Ping(2))
        theirs.close()
        assert [event.type for event in switch.poll(1_000)] == [EventType.CLOSED]
        assert not switch.send(alice, encode(Ping(2)))
        with pytest.raises(Gone):
            switch.admit(alice, admission(ALICE))
        assert switch.forget(alice, 1) == 0


def test_greetings_hold_no_message_up():
    options = SwitchOptions(number=1, epoch=2, connections_max=32, publishers_max=10, hop_limit=9)
    with closing(Table()) as table, closing(Switch(table, options)) as switch:
        theirs = []
        for number in range(21):
            ours, other = socket.socketpair()
            theirs.append(other)
            ours.setblocking(False)
            connection = switch.open(ours.detach())
            if number == 20:
                switch.admit(connection, admission(ALICE))
            other.sendall(encode_publish(ALICE, 1, 0, {"x": 1}, b"") if number == 20 else encode(Ping(number)))
        polls = []
        while events := switch.poll(1_000_000):
            polls.append([event.connection for event in events])
            assert switch.figures().messages_in == 1, "the message of the admitted client, first"
        assert max(map(len, polls)) <= 2, "greetings are left for the next poll"
        assert sorted(chain.from_iterable(polls)) == list(range(20)), "all had their turn"
        for each in theirs:
            each.close()


def test_who_was_slow_hears_of_the_gap_as_soon_as_it_has_read_all(switch):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(1)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    bob = switch.open(ours.detach())
    switch.admit(bob, admission(BOB))
    switch.subscribe(switch.subscriber_of(bob), subscribing(5, "exists x"), 100)
    alice = opened(switch, ALICE)
    for counter in range(1, 1_001):
        switch.feed(alice, encode_publish(ALICE, counter, 0, {"x": counter}, bytes(4_000)))
    reader, arrived, lost = FrameReader(), 0, 0
    reader.authenticated()
    while arrived + lost < 1_000:  # and nothing more is published, and no timer runs
        reader.feed(theirs.recv(65_536))
        for frame in map(decode, reader):
            arrived += isinstance(frame, DataFrame)
            lost += frame.messages if isinstance(frame, bodies.Lost) else 0
        switch.poll(1_000)
    assert arrived > 0
    assert lost > 0
    theirs.close()


def test_there_is_room_for_so_many(switch):
    assert [switch.open() for _ in range(4)] == [0, 1, 2, None]


def test_a_frame_is_taken_in_slices_and_refusals_name_the_filter(switch):
    bob = opened(switch, BOB)
    good = encode_filter(parse("x = 1").filters[0])
    subscriptions = [bodies.SubscriptionItem(number, (good,)) for number in range(10)]
    subscriptions[4] = bodies.SubscriptionItem(4, (b"\xc1",))
    frame = SubscribeFrame(encode(bodies.Subscribe(9, tuple(subscriptions), False, bodies.Reach.HOME, True)))
    assert (frame.request, frame.ids, frame.is_durable) == (9, list(range(10)), True)
    refused, left = [], []
    while frame.left:
        refused += switch.subscribe(switch.subscriber_of(bob), frame, 3)
        left.append(frame.left)
    assert left == sorted(left, reverse=True)
    assert len(left) >= 3
    assert [each[:3] for each in refused] == [(4, RefusalCode.BAD_FILTER, b"\xc1")]
    assert switch.figures().filters == 9


def test_what_is_subscribed_can_be_listed_and_ended(switch):
    bob = opened(switch, BOB)
    switch.subscribe(switch.subscriber_of(bob), subscribing(5, "x = 1", own=True), 10)
    found = switch.subscribed(0)
    assert (found.connection, found.subscription, found.own_messages) == (bob, 5, True)
    assert found.filter == encode_filter(parse("x = 1").filters[0])
    assert switch.subscribed(found.handle + 1) is None
    assert switch.unsubscribe(switch.subscriber_of(bob), 5)
    assert not switch.unsubscribe(switch.subscriber_of(bob), 5)
    assert switch.subscribed(0) is None


@pytest.mark.parametrize("body", [b"", b"\x90", b"\x95\x01\x90\xc2\x00\xc2", b"\x95\x01\x91\x92\x01\x90\xc2\x00\xc2"])
def test_a_frame_without_its_form_is_a_fault(body):
    with pytest.raises(FrameError, match="does not fit its table"):
        SubscribeFrame((8 + len(body)).to_bytes(4, "little") + b"\x20\0\0\0" + body)


def test_later_versions_may_append_fields():
    frame = subscribing(5, "x = 1").frame[8:]
    longer = b"\x97" + frame[1:].replace(b"\x92\x05\x91", b"\x96\x05\x91", 1).replace(
        b"\xc2\x00\xc2", b"\xc4\x00\x90\xa0\x01\xc2\x00\xc2\xa1g\xc0"
    )
    read = SubscribeFrame((8 + len(longer)).to_bytes(4, "little") + b"\x20\0\0\0" + longer)
    assert (read.ids, read.group) == ([5], "g")


def test_the_end_comes_after_what_is_queued(switch):
    alice = opened(switch, ALICE)
    switch.send(alice, encode(Ping(3)), urgent=False)
    switch.end(alice)
    assert Ping(3) in output(switch, alice)
    assert switch.tick()[-1].type == EventType.CLOSED


@pytest.mark.parametrize("figures", [SwitchFigures, ConnectionFigures, SubscriberFigures])
def test_figures_are_those_of_c(figures):
    declared = [name for name, _ in ffi.typeof(figures.C_TYPE).fields]
    assert declared == list(figures.__dataclass_fields__)


@pytest.mark.parametrize(("python", "c"), [(Admission, "tm_admission"), (SwitchOptions, "tm_switch_options")])
def test_settings_are_those_of_c(python, c):
    assert {name for name, _ in ffi.typeof(c).fields} == set(python.__dataclass_fields__)


# --- a message that could never be delivered -----------------------------------------------------------------------


def publish_of(size: int, counter: int, flags: int = 0) -> bytes:
    empty = len(encode_publish(ALICE, counter, 0, {"x": 2}))
    return encode_publish(ALICE, counter, 0, {"x": 2}, bytes(size - empty), flags)


def wide_admission(number: int) -> Admission:
    return replace(admission(number), queue_bytes_max=2**24, credit_bytes=2**24)


def test_the_largest_message_arrives_and_a_larger_one_is_refused_at_the_door(switch):
    """A DELIVER is eight bytes longer than its PUBLISH, and a frame like any other."""
    alice, bob = switch.open(), switch.open()
    switch.admit(alice, wide_admission(ALICE))
    switch.admit(bob, wide_admission(BOB))
    assert switch.subscribe(switch.subscriber_of(bob), subscribing(5, "x > 1"), 100) == []
    switch.feed(alice, publish_of(DELIVERABLE_BYTES_MAX, 1, Flags.CONFIRM))
    switch.feed(alice, publish_of(DELIVERABLE_BYTES_MAX + 1, 2, Flags.CONFIRM))
    switch.feed(alice, publish_of(DELIVERABLE_BYTES_MAX + 8, 3, Flags.CONFIRM))
    answers = [frame for frame in output(switch, alice) if isinstance(frame, bodies.Ack)]
    assert sorted(refusal.number for ack in answers for refusal in ack.refusals) == [2, 3]
    assert {refusal.code for ack in answers for refusal in ack.refusals} == {RefusalCode.TOO_LARGE}
    assert [entry for ack in answers for entry in ack.ranges] == [(1, 1)]
    assert switch.figures().deliveries == 1
    _, delivered = output(switch, bob)
    assert delivered.extensions == {5: (5,)}
    [fault] = [
        event for event in switch.feed(alice, publish_of(DELIVERABLE_BYTES_MAX + 1, 4)) if event.type == EventType.FAULT
    ]
    assert (fault.connection, fault.code) == (alice, ErrorCode.TOO_LONG)
    assert switch.figures().deliveries == 1


def test_a_client_chooses_no_member_of_a_group(switch):
    alice = switch.open()
    switch.admit(alice, admission(ALICE))
    chosen = {ExtensionType.GROUP_CHOICE: (GroupChoice(7, 9),)}
    message = Message({"x": 2}, b"", MessageId(ALICE, 1))
    [fault] = [
        event
        for event in switch.feed(alice, encode_data(DataFrame(FrameKind.PUBLISH, message, 0, extensions=chosen)))
        if event.type == EventType.FAULT
    ]
    assert fault.code == ErrorCode.BAD_EXTENSION
    assert "must not choose a member" in fault.text
