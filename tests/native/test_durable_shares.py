"""Shares of the log: while three quarters of it are in use, an owner beyond its share is full, others are not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tamis.client.durable.policy import durable_of
from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.native._tm import ffi, lib
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.reader import FrameReader

MIB = 1 << 20
LOG_BYTES, SEGMENT_BYTES = 32 * MIB, MIB
TIGHT_BYTES = (LOG_BYTES - 2 * SEGMENT_BYTES) * 3 // 4
"""Two segments are for acknowledgements."""
SHARE = 4 * MIB
ROW = 128
PUBLISHER, HOARDER, HONEST = 5, 1, 2


class World:
    """A switch with subscriptions of owners, and a small log."""

    def __init__(self, folder: Path) -> None:
        self.log = Log(
            folder, bytes_max=LOG_BYTES, segment_bytes=SEGMENT_BYTES, ring_bytes=1 << 22, has_no_threads=True
        )
        self.table = Table()
        options = SwitchOptions(
            number=99, epoch=1, connections_max=9, subscribers_max=99, publishers_max=9, hop_limit=9
        )
        self.switch = Switch(self.table, options)
        self.durables = SwitchDurables(self.switch, self.log, ring_bytes=1 << 22, has_no_thread=True)
        opened = self.switch.open()
        assert opened is not None
        self.publisher = opened
        self.switch.admit(opened, Admission(PUBLISHER, 1 << 40, 1 << 40, 100_000, 1 << 20, 1_000, version=2))
        self.reader = FrameReader()
        self.reader.authenticated()
        self.counter = 0
        self._idle = ffi.new("uint32_t *")

    def durable(self, number: int, owner: int, kind: str, **more: object) -> None:
        self.durables.open(number, durable_of("name", f'kind = "{kind}"', **more).policy)  # type: ignore[arg-type]
        self.durables.own(number, owner)

    def publish(self, kind: str, size: int = 60_000) -> bool:
        """Was it kept?"""
        self.counter += 1
        flags = Flags.CONFIRM | Flags.DURABLE
        frame = encode_publish(PUBLISHER, self.counter, 0, {"kind": kind}, bytes(size), flags)
        assert [e for e in self.switch.feed(self.publisher, frame) if e.type == EventType.FAULT] == []
        self.turn()
        while data := self.switch.output(self.publisher, 1 << 20):
            self.reader.feed(data)
        return not any(getattr(decode(each), "refusals", ()) for each in self.reader)

    def turn(self) -> None:
        while self.log.commit():
            pass
        self._idle[0] = 0
        while not self._idle[0]:
            assert lib.tm_log_maintain(self.log.c, self._idle) == lib.TM_OK
        for _ in range(3):
            self.switch.poll(0)
        self.durables.validate()

    def fill(self, kind: str) -> None:
        """Until shares bind."""
        for _ in range(2 * LOG_BYTES // 60_000):
            if self.durables.is_tight:
                return
            self.publish(kind)
        raise AssertionError("the log never becomes tight")

    def close(self) -> None:
        self.durables.close()
        self.switch.close()
        self.table.close()
        self.log.close()


@pytest.fixture(name="world")
def _world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "log")
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("overflow", ["drop-oldest", "refuse"])
def test_past_a_share_an_owner_is_full_and_no_other_is(world, overflow):
    world.durables.share(SHARE)
    world.durable(1, HOARDER, "mine", bytes=1 << 30, overflow=overflow)
    world.durable(2, HONEST, "yours", bytes=1 << 30, overflow=overflow)
    world.fill("mine")
    held = world.durables.charge(HOARDER)
    assert held > TIGHT_BYTES * 0.9
    assert all(world.publish("yours", 1_000) for _ in range(500))
    figures = world.durables.figures(2)
    assert (figures.open, figures.dropped) == (500, 0)
    kept = [world.publish("mine") for _ in range(200)]
    if overflow == "refuse":
        assert not any(kept)
        assert world.durables.charge(HOARDER) == held
        assert world.durables.figures(1).dropped == 0
    else:
        assert all(kept)
        assert world.durables.charge(HOARDER) < held
        assert world.durables.figures(1).dropped > 0
    assert all(world.publish("yours", 1_000) for _ in range(500))
    assert world.durables.figures(2).dropped == 0


@pytest.mark.slow
def test_without_names_no_share_binds_and_the_log_is_full_for_all(world):
    world.durable(1, HOARDER, "mine", bytes=1 << 30)
    world.durable(2, HONEST, "yours", bytes=1 << 30)
    world.fill("mine")
    assert not all(world.publish("mine") for _ in range(LOG_BYTES // 60_000))
    assert world.durables.figures(1).dropped == 0
    assert not world.publish("yours")


@pytest.mark.slow
def test_while_there_is_room_nobody_has_a_share(world):
    world.durables.share(SHARE)
    world.durable(1, HOARDER, "mine", bytes=1 << 30, overflow="refuse")
    while world.durables.charge(HOARDER) < 3 * SHARE:
        assert world.publish("mine")
    assert not world.durables.is_tight


@pytest.mark.slow
def test_the_larger_of_an_owner_gives_way_and_the_smaller_goes_on(world):
    world.durables.share(SHARE)
    world.durable(1, HOARDER, "old", bytes=1 << 30)
    world.durable(2, HOARDER, "new", bytes=1 << 30)
    world.fill("old")
    assert all(world.publish("new", 1_000) for _ in range(100))
    figures = world.durables.figures(2)
    assert (figures.open, figures.dropped) == (100, 0)


@pytest.mark.slow
def test_what_one_durable_holds_and_refuses_leaves_its_owner_no_room_in_another(world):
    world.durables.share(SHARE)
    world.durable(1, HOARDER, "held", bytes=1 << 30, overflow="refuse")
    world.durable(2, HOARDER, "new", bytes=1 << 30)
    world.fill("held")
    for _ in range(100):
        world.publish("new", 1_000)
    figures = world.durables.figures(2)
    assert (figures.open, figures.dropped) == (0, 100)


@pytest.mark.parametrize("seed", range(10))
def test_a_charge_is_what_keeps_have_whoever_owns_them_and_ends_with_them(world, seed):
    print(f"seed {seed}")
    random = Random(seed)
    kinds, owner_of = "abc", {}
    numbers = itertools.count(1)
    for _ in range(150):
        deed = random.choice(["keep", "own", "forget", *["publish"] * 5])
        if deed == "keep" and len(owner_of) < 6:
            number, owner = next(numbers), random.randint(1, 3)
            world.durable(number, owner, random.choice(kinds), count=random.choice([None, 2, 9]))
            owner_of[number] = owner
        elif deed == "publish":
            world.publish(random.choice(kinds), random.randrange(200))
        elif owner_of:
            number = random.choice(list(owner_of))
            if deed == "own":
                owner_of[number] = random.randint(1, 3)
                world.durables.own(number, owner_of[number])
            elif deed == "forget":
                del owner_of[number]
                while world.durables.remove(number, 1):
                    pass
        for owner in {*owner_of.values()}:
            figures = [world.durables.figures(number) for number, of in owner_of.items() if of == owner]
            assert world.durables.charge(owner) == sum(each.bytes + ROW * each.open for each in figures)
    for number in owner_of:
        world.durables.remove(number, 100)
    assert [world.durables.charge(owner) for owner in {*owner_of.values()}] == [0] * len({*owner_of.values()})


BOUND = MIB


@pytest.mark.slow
@pytest.mark.parametrize("overflow", ["drop-oldest", "refuse"])
def test_a_bound_of_an_owner_binds_while_there_is_room_and_no_other(world, overflow):
    world.durable(1, HOARDER, "mine", bytes=1 << 30, overflow=overflow)
    world.durable(2, HONEST, "yours", bytes=1 << 30, overflow=overflow)
    world.durables.bound(HOARDER, BOUND, ())
    kept = [world.publish("mine") for _ in range(40)]
    assert BOUND - 61_000 < world.durables.charge(HOARDER) <= BOUND
    assert kept == ([n < 17 for n in range(40)] if overflow == "refuse" else [True] * 40)
    assert all(world.publish("yours") for _ in range(40))
    world.durables.bound(HOARDER, 0, ())
    assert all(world.publish("mine") for _ in range(40))
    assert world.durables.charge(HOARDER) > 2 * BOUND


@pytest.mark.slow
def test_a_pool_binds_the_owners_that_are_in_it_together(world):
    for number, owner in ((1, 1), (2, 2), (3, 3)):
        world.durable(number, owner, f"of {owner}", bytes=1 << 30)
    world.durables.bound_pool(4, BOUND)
    for _ in range(12):
        assert world.publish("of 1")
        assert world.publish("of 3")
    world.durables.bound(1, 0, [4])
    assert world.durables.pool_charge(4) == world.durables.charge(1)
    world.durables.bound(2, 0, [4, 5])
    for _ in range(12):
        assert world.publish("of 2")
        assert world.publish("of 3")
    world.switch.tick()
    world.turn()
    assert world.durables.pool_charge(4) == world.durables.charge(1) + world.durables.charge(2) <= BOUND
    assert world.durables.pool_charge(5) == world.durables.charge(2)
    assert world.durables.figures(1).dropped > 0
    assert world.durables.figures(3).dropped == 0
    world.durables.bound(2, 0, [5])
    assert world.durables.pool_charge(4) == world.durables.charge(1)
    with pytest.raises(KeyError):
        world.durables.bound(99_999, 0, ())
