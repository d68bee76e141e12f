"""Keeps in C through random histories: consumers that acknowledge late, never, twice or what another has; crashes that
lose what was not on disk; clocks that jump. The judge is that of the keeps in Python."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tamis.native.keeps import SwitchKeeps
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.deliver_view import DeliverView
from tests.native.keeps_world import NativeWorld
from tests.router.keeps.oracle import Wrong
from tests.router.keeps.walks import step, walk


def walked(folder: Path, seeds: range) -> None:
    for seed in seeds:
        (folder / str(seed)).mkdir()
        world = NativeWorld(folder / str(seed))
        walk(world, seed)
        world.close()


def test_random_walks_break_no_rule(tmp_path: Path) -> None:
    walked(tmp_path, range(8))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(8, 30), *(range(first, first + 100) for first in (400, 500, 600))], ids=str)
def test_many_random_walks_break_no_rule(tmp_path: Path, seeds: range) -> None:
    walked(tmp_path, seeds)


def test_the_newest_of_a_value_is_the_last_that_the_log_has_of_it(tmp_path: Path) -> None:
    found = 0
    for seed in range(4):
        (tmp_path / str(seed)).mkdir()
        world, chance = NativeWorld(tmp_path / str(seed)), Random(seed)
        world.keep("latest")
        for _ in range(150):
            step(world, chance)
            world.commit(50)
            if world.is_kept("latest"):
                found += newest_is_right(world)
        world.settle()
        world.close()
    assert found > 100


def newest_is_right(world: NativeWorld) -> bool:
    """Ask for each value, and for one that nobody publishes; return whether one was there."""
    number = world.kept["latest"][0]
    last: dict[object, int] = {}
    for record in world.log.read(number):
        attributes = DeliverView(record.body).attributes
        last[attributes["v"]] = record.n
    for value in (0, 1, 2, "0", 0.5):
        assert world.keeps.newest(number, encode_attributes({"v": value})) == last.get(value)
    assert world.keeps.newest(number, encode_attributes({"kind": "a"})) is None
    assert world.keeps.newest(number, b"\xc1") is None
    assert world.keeps.newest(2**31 - 1, encode_attributes({"v": 0})) is None
    return bool(last)


def test_a_message_is_lost_once(tmp_path: Path) -> None:
    walked(tmp_path, range(303, 304))


def test_a_start_that_does_not_fill_keeps_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SwitchKeeps.open
    monkeypatch.setattr(SwitchKeeps, "open", lambda self, number, terms, **_: real(self, number, terms))
    with pytest.raises((Wrong, AssertionError, KeyError)):
        walked(tmp_path, range(20))
