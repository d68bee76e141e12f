"""What filters take of the table is counted for whoever holds them, bounds what one client may take, and is given back.

Law: what is counted lies within a factor of two of what the table really takes.
"""

from __future__ import annotations

import random
import time
from array import array
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest

from tamis.native import DEFAULT_ENGINE, Admission, Batch, InterfaceKind, SubscribeFrame, Switch, SwitchOptions, Table
from tamis.protocol.filters import Op
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.packed_filters import OPCODES
from tests.slowdown import slowdown

IN, EQ, LT, CONTAINS, PREFIX, BETWEEN, NE, EXISTS = (
    OPCODES[op] for op in (Op.IN, Op.EQ, Op.LT, Op.CONTAINS, Op.PREFIX, Op.BETWEEN, Op.NE, Op.EXISTS)
)
MIB = 2**20
WINDOW = 2**24
ROWS = list[list[object]]


def large(i: int) -> ROWS:
    """134 kB of table, of 17 kB on the wire."""
    return [[f"a{k}", IN, *range(i, i + 256)] for k in range(16)]


def text(rng: random.Random, dead_letters: str, count: int) -> str:
    return "".join(rng.choices(dead_letters, k=count))


SHAPES = {
    "large": (200, lambda i, _: large(i)),
    "in of strings": (200, lambda i, _: [["sym", IN, *[f"S{i}-{k}" for k in range(256)]]]),
    "in of equal strings": (200, lambda i, _: [["sym", IN, *[f"S{k}" for k in range(256)]], ["x", EQ, i]]),
    "long strings": (
        100,
        lambda _, rng: [[f"n{k}", IN, *[rng.randbytes(32).hex() for _ in range(29)]] for k in range(16)],
    ),
    "plain": (10_000, lambda i, _: [["price", EQ, i]]),
    "plain order": (10_000, lambda i, _: [["price", LT, i]]),
    "fractions": (10_000, lambda i, _: [["price", LT, i + 0.5]]),
    "three": (10_000, lambda i, _: [["symbol", EQ, f"S{i % 100}"], ["price", LT, i], ["side", EQ, "buy"]]),
    "own names": (10_000, lambda i, _: [[f"sensors.{i:08d}.celsius", EQ, 2]]),
    "own names, order": (10_000, lambda i, _: [[f"sensors.{i:08d}.celsius", LT, 2]]),
    "own names, between": (10_000, lambda i, _: [[f"sensors.{i:08d}.celsius", BETWEEN, 2, 9]]),
    "own strings": (10_000, lambda i, _: [["x", LT, f"{i:08d}" + "y" * 100]]),
    "patterns": (5_000, lambda _, rng: [["x", CONTAINS, text(rng, "ab", 20)]]),
    "long patterns": (1_000, lambda _, rng: [["x", CONTAINS, text(rng, "abcdefgh", 128)]]),
    "short patterns": (10_000, lambda i, _: [["x", PREFIX, f"{i}"]]),
    "negated": (10_000, lambda i, _: [["x", 128 | EQ, i]]),
    "exists": (10_000, lambda _, __: [["x", EXISTS], ["y", EXISTS]]),
    "between": (10_000, lambda i, _: [["x", BETWEEN, i, i + 100]]),
    "pairs": (10_000, lambda i, _: [[f"x{i % 300}", LT, i], [f"y{i % 290}", NE, i]]),
    "many names": (500, lambda i, _: [[f"n{i}.{k}", EQ, k] for k in range(16)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_counted_is_what_is_taken(engine: str, shape: str) -> None:
    count, make = SHAPES[shape]
    rng = random.Random(1)
    table = Table(engine, hash_seed=1)
    table.set_interface(0, InterfaceKind.CLIENT)
    taken, counted = table.stats().memory_bytes, table.used
    filters = Batch.of(msgpack.packb(make(i, rng)) for i in range(count))
    handles = table.add_many(filters, array("I", [0] * count))
    taken, counted = table.stats().memory_bytes - taken, table.used - counted
    assert taken / 2 <= counted <= 2 * taken, f"{counted / taken:.2f} of what is taken"
    table.remove_many(handles)
    table.validate()
    assert table.used == 0


def test_whoever_brings_a_name_first_pays_for_it(engine: str) -> None:
    table = Table(engine)
    first, second = (table.used + 0 * table.add(msgpack.packb([["n" * 200, EQ, 1]]), i) for i in range(2))
    assert first == 0
    if engine == "linear":  # each of its filters brings its own names
        assert table.used - second == second - first
    else:
        assert table.used - second < second - first


# --- the switch ------------------------------------------------------------------------------------------------------


class Scene:
    """A switch with clients, and what they are refused."""

    def __init__(self, table_bytes_max: int, quota: int, engine: str = DEFAULT_ENGINE) -> None:
        self.table = Table(engine, memory_bytes_max=table_bytes_max)
        self.switch = Switch(self.table, SwitchOptions(1, 2, connections_max=50, publishers_max=10, hop_limit=9))
        self._admission = Admission(7, WINDOW, WINDOW, 100, 2**20, 10_000, 60_000, 60_000, table_bytes_max=quota)
        self.start = self.table.stats().memory_bytes

    def client(self) -> int:
        connection = self.switch.open()
        assert connection is not None
        self.switch.admit(connection, replace(self._admission, number=100 + connection))
        return connection

    def subscribe(self, client: int, number: int, *rows: ROWS) -> list[RefusalCode]:
        wanted = bodies.SubscriptionItem(number, tuple(msgpack.packb(row) for row in rows))
        frame = SubscribeFrame(encode(bodies.Subscribe(1, (wanted,), False, bodies.Reach.HOME, False)))
        return [
            RefusalCode(refused.code)
            for refused in self.switch.subscribe(self.switch.subscriber_of(client), frame, 1_000)
        ]

    def fill(self, client: int) -> int:
        """Large filters until one is refused; how many were taken."""
        for i in range(10_000):
            if self.subscribe(client, i + 1, large(i)) == [RefusalCode.OVER_QUOTA]:
                return i
        raise AssertionError("nothing was refused")

    def leave(self, client: int) -> float:
        """The longest that one slice of the removal took of the thread's time."""
        self.switch.end(client, now=True)
        self.switch.tick()
        longest, left = 0.0, 1
        while left:
            start = time.thread_time()
            left = self.switch.forget(client, 500)
            longest = max(longest, time.thread_time() - start)
        return longest

    @property
    def taken(self) -> int:
        return self.table.stats().memory_bytes - self.start

    def close(self) -> None:
        self.switch.validate()
        self.table.validate()
        self.switch.close()
        self.table.close()


def test_a_subscription_over_the_quota_leaves_nothing_behind() -> None:
    scene = Scene(0, quota=MIB)
    client = scene.client()
    taken = scene.fill(client)
    assert scene.taken / 2 <= MIB <= 2 * scene.taken
    figures = scene.switch.connection(client)
    assert (figures.subscriptions, figures.filters) == (taken, taken)
    assert MIB * 0.8 < figures.table_bytes <= MIB
    assert scene.subscribe(client, 20_000, *[[["x", EQ, i]] for i in range(3)]) == []
    assert scene.subscribe(client, 20_001, [["x", EQ, 1]], large(5_000)) == [RefusalCode.OVER_QUOTA]
    assert scene.switch.connection(client).filters == taken + 3
    for i in range(taken):
        assert scene.switch.unsubscribe(scene.switch.subscriber_of(client), i + 1)
    assert scene.switch.unsubscribe(scene.switch.subscriber_of(client), 20_000)
    assert scene.switch.connection(client).table_bytes == 0
    assert scene.fill(client) == taken
    scene.close()


@pytest.mark.parametrize("engine", ["tamis", "pst"])
def test_a_table_that_gets_smaller_as_a_filter_comes_charges_nobody(engine: str) -> None:
    """Filters of three values on ten names, of which some let the table free what it had kept apart."""
    dice = random.Random(7)
    scene = Scene(0, quota=256 * MIB, engine=engine)
    client = scene.client()
    for number in range(1_500):
        row = [[f"a{k}", EQ, dice.randrange(3)] for k in range(10) if dice.random() < 0.98 * 0.82**k]
        assert scene.subscribe(client, number + 1, row) == [], row
    assert scene.switch.connection(client).table_bytes < 256 * MIB
    scene.close()


@pytest.mark.slow
def test_one_client_leaves_room_for_the_others() -> None:
    """One fills its tenth; twenty others ask for ten filters of 256 names each: all taken."""
    scene = Scene(64 * MIB, quota=64 * MIB // 10)
    scene.fill(scene.client())
    for _ in range(20):
        other = scene.client()
        for i in range(10):
            names = [f"S{i}-{k}" for k in range(256)]
            assert scene.subscribe(other, i + 1, [["sym", IN, *names]]) == []
    scene.close()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


@pytest.mark.slow
def test_what_a_large_client_leaves_goes_back_to_the_system() -> None:
    """300 MB of filters, while others stay; and no slice of their removal is long."""
    scene = Scene(0, quota=300 * MIB)
    start = resident()
    client, other = scene.client(), scene.client()
    scene.fill(client)
    assert scene.subscribe(other, 1, [["sym", IN, *[f"S{k}" for k in range(256)]]]) == []
    taken, held = scene.taken, resident() - start
    assert taken > 250 * MIB
    assert scene.leave(client) < 0.05 * slowdown()
    assert scene.taken < 0.2 * taken
    assert resident() - start < 0.2 * held
    assert scene.switch.figures().memory_bytes < 4 * MIB
    scene.close()
