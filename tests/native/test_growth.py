"""No call of a table or of the switch takes long, however many filters there are: what grows, grows a little at a time.

Law: a time is what the thread computed, of the longest single call; the best of RUNS runs counts, because a machine
busy with other things only ever adds to it. Growth itself is held by counts in native/tests/test_growth.c.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import pytest

from tamis.native import Admission, Batch, SlowPolicy, SubscribeFrame, Switch, SwitchOptions, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.packed_filters import encode_filter
from tests.slowdown import slowdown

FILTERS = 1_000_000
RUNS = 3
LONGEST_S = 0.05
PLACE = "########"
PER_FRAME = 10_000
FILTERS_AT_ONCE = 50


def symbols() -> Filter:
    return Filter((Constraint("symbol", Op.EQ, (PLACE,)), Constraint("price", Op.LT, (100_000,))))


def names() -> Filter:
    return Filter((Constraint(PLACE, Op.EQ, (1,)),))


def prefixes() -> Filter:
    return Filter((Constraint("symbol", Op.PREFIX, (PLACE,)),))


def packed(make: Callable[[], Filter]) -> list[bytes]:
    before, after = encode_filter(make()).split(PLACE.encode())
    return [before + b"%08x" % (number * 0x9E3779B1 % 2**32) + after for number in range(FILTERS)]


@pytest.mark.long
@pytest.mark.parametrize("make", [symbols, names, prefixes])
def test_a_million_filters_come_and_go_and_none_of_them_takes_long(make):
    filters = Batch.of(packed(make))
    interfaces = array("I", bytes(4 * FILTERS))
    longest_s = []
    for _ in range(RUNS):
        with Table() as table:
            handles, added_ns = table.measure_add(filters, interfaces)
            removed_ns = table.measure_remove(handles)
            longest_s.append(max(*added_ns, *removed_ns) / 1e9)
    assert min(longest_s) < LONGEST_S * slowdown(), longest_s


def subscribed(switch: Switch, frames: list[bytes]) -> float:
    """The longest of the calls that take the frames' filters, and of those that let them go again."""
    connection = switch.open()
    window = 1 << 20
    switch.admit(
        connection,
        Admission(
            number=1,
            queue_bytes_max=window,
            credit_bytes=window,
            credit_frames=1_000,
            frame_bytes_max=window,
            filters_max=FILTERS,
            policy=SlowPolicy.DROP_NEWEST,
        ),
    )
    longest_s = 0.0
    for sent in frames:
        frame = SubscribeFrame(sent)
        while frame.left:
            start_s = time.thread_time()
            assert switch.subscribe(switch.subscriber_of(connection), frame, FILTERS_AT_ONCE) == []
            longest_s = max(longest_s, time.thread_time() - start_s)
    for number in range(FILTERS):
        start_s = time.thread_time()
        assert switch.unsubscribe(switch.subscriber_of(connection), number)
        longest_s = max(longest_s, time.thread_time() - start_s)
    return longest_s


@pytest.mark.long
def test_a_million_subscriptions_come_and_go_and_no_call_of_the_switch_takes_long():
    filters = packed(prefixes)
    frames = [
        encode(
            bodies.Subscribe(
                first,
                tuple(
                    bodies.SubscriptionItem(number, (filters[number],)) for number in range(first, first + PER_FRAME)
                ),
                False,
                bodies.Reach.HOME,
                False,
            )
        )
        for first in range(0, FILTERS, PER_FRAME)
    ]
    longest_s = []
    for _ in range(RUNS):
        table = Table()
        switch = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
        longest_s.append(subscribed(switch, frames))
        switch.close()
        table.close()
    assert min(longest_s) < LONGEST_S * slowdown(), longest_s


def test_a_frame_of_large_filters_is_taken_a_few_at_a_time():
    wide = Filter(
        tuple(Constraint(f"n{number}", Op.IN, tuple("x" * 60 + str(n) for n in range(9))) for number in range(9))
    )
    one = encode_filter(wide)
    subscriptions = tuple(bodies.SubscriptionItem(number, (one,)) for number in range(20))
    table = Table()
    switch = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
    connection = switch.open()
    switch.admit(
        connection,
        Admission(
            number=1,
            queue_bytes_max=1 << 20,
            credit_bytes=1 << 20,
            credit_frames=100,
            frame_bytes_max=1 << 20,
            filters_max=1_000,
            policy=SlowPolicy.DROP_NEWEST,
        ),
    )
    frame = SubscribeFrame(encode(bodies.Subscribe(1, subscriptions, False, bodies.Reach.HOME, False)))
    calls = 0
    while frame.left:
        left = frame.left
        assert switch.subscribe(switch.subscriber_of(connection), frame, 1_000) == []
        assert 1 <= left - frame.left <= 16_384 // len(one) + 1
        calls += 1
    assert calls >= 20 * len(one) // (16_384 + len(one))
    assert table.stats().filters == 20
    switch.close()
    table.close()
