"""An entry and a home begin with what their log recalls as with all records that they wrote, in networks of
tests/router/core/custody/world.py."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tamis.native.log import Log
from tamis.protocol.wire.custody_bodies import LogLife, packed_numbers
from tamis.router.core.custody.chain import Chain
from tamis.router.core.custody.entry import ChainBounds, EntryCustody
from tamis.router.core.custody.frames import Message
from tamis.router.core.custody.home import HomeCustody
from tamis.router.core.custody.records import (
    Arrived,
    Done,
    Doubt,
    Entered,
    GivenUp,
    NumbersLost,
    Record,
    Stated,
)
from tamis.router.durable.custody_log import CustodyLog, given_up_numbers
from tests.router.core.custody.world import World

SMALL = {"bytes_max": 1 << 20, "segment_bytes": 1 << 14, "ring_bytes": 1 << 14, "has_no_threads": True}
DURABLE = 1
QUICK = (6, 7, 10, 42)
"""Seeds of networks in which entries give up messages."""


def id_of(body: bytes) -> Message:
    publisher, counter = body.split(b" ")[:2]
    return int(publisher), int(counter)


def body_of(message: Message) -> bytes:
    return b"%d %d " % message + bytes(80)


class Writer:
    """Writes the records of a node into a log, with commits, maintenance and restarts at random."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.numbers: dict[int, int] = {}
        """By the number that the machine gave: that of the record."""
        self.homes: dict[int, Stated] = {}
        self.written: list[Record] = []
        self.restarts = 0
        self.open()

    def open(self) -> None:
        self.log = Log(self.folder, **SMALL)
        self.custody = CustodyLog(self.log, id_of, self.homes)
        self.recalled = [*self.homes.values(), *self.custody.recall()]

    def restart(self) -> None:
        while self.log.commit():
            pass
        self.log.close()
        self.restarts += 1
        self.open()

    def write(self, record: Record) -> None:
        if isinstance(record, Stated):
            self.homes[record.home] = record
            self.written.append(record)
            return
        record = self._numbered(record)
        body = body_of(record.message) if isinstance(record, Entered | Arrived) else b""
        n = self.custody.write(record, body, [DURABLE] if isinstance(record, Arrived) else [])
        if isinstance(record, Arrived) and self.chance.random() < 0.5:
            self.log.ack(DURABLE, 0, n)
        self.written.append(record)
        roll = self.chance.random()
        if roll < 0.3:
            self.log.commit()
        elif roll < 0.5:
            self.log.commit()
            self.log.maintain()
        elif roll < 0.55:
            self.restart()

    def _numbered(self, record: Record) -> Record:
        match record:
            case Entered(n, message):
                self.numbers[n] = self.log.next_number
                return replace(record, n=self.numbers[n], size=len(body_of(message)))
            case Done(home, home_log, have):
                return Done(home, home_log, self.numbers.get(have, 0))
            case GivenUp(home, numbers):
                return GivenUp(home, tuple(self.numbers[n] for n in numbers))
            case _:
                return record


def links(chain: Chain) -> list[int]:
    return [n for link in chain._links for n in link.numbers]


def same_entry(all_records: list[Record], recalled: Iterable[Record]) -> int:
    """Check that an entry is the same by both; return how many numbers its chains have."""
    made = [EntryCustody(1, LogLife(1, 0, 0), ChainBounds(), records) for records in (all_records, recalled)]
    count = 0
    for home, chain in made[0].chains.items():
        other = made[1].chains.get(home, Chain(0, 0))
        assert (links(other), other.have, other.home_log) == (links(chain), chain.have, chain.home_log), home
        count += len(links(chain))
    return count


def same_home(all_records: list[Record], recalled: Iterable[Record], custody: CustodyLog) -> int:
    """Check that a home is the same by both, with its totals; return how many chains it has."""
    made = [HomeCustody(11, 1, 0, records) for records in (all_records, recalled)]
    assert made[0].lives == made[1].lives
    for entry, (log, _) in made[0].lives.items():
        chains = [home._chain((entry, log)) for home in made]  # type: ignore[arg-type]
        assert (chains[0].have, chains[0].on_disk) == (chains[1].have, chains[1].on_disk)
        assert made[1]._ids.keys() <= made[0]._ids.keys()
        lost = sum(len(each.numbers) for each in all_records if isinstance(each, NumbersLost) and each.entry == entry)
        doubts = sum(isinstance(each, Doubt) and each.entry == entry for each in all_records)
        chain = custody._chain(entry)
        assert (chain.lost, chain.doubts) == (lost, doubts)
    return len(made[0].lives)


def check(seed: int, folder: Path) -> tuple[int, int, int, int]:
    world = World(seed)
    world.run()
    counts = [0, 0, 0, 0]
    for node in (*world.entries, *world.homes):
        writer = Writer(folder / f"{seed}-{node.number}", seed + node.number)
        cut = len(node.disk.records) * 3 // 4  # a network is at rest at its end, with nothing in its chains
        for record in node.disk.records[:cut]:
            writer.write(record)
        writer.restart()
        counts[0] += same_entry(writer.written, writer.recalled)
        counts[1] += same_home(writer.written, writer.recalled, writer.custody)
        counts[2] += sum(isinstance(record, GivenUp) for record in writer.written)
        counts[3] += writer.restarts
        writer.log.close()
    return counts[0], counts[1], counts[2], counts[3]


def test_a_router_goes_on_with_what_its_log_recalls(tmp_path: Path) -> None:
    counts = [sum(each) for each in zip(*(check(seed, tmp_path) for seed in QUICK), strict=True)]
    assert all(counts), counts


@pytest.mark.slow
def test_many_routers_go_on_with_what_their_logs_recall(tmp_path: Path) -> None:
    for seed in range(100, 130):
        check(seed, tmp_path)


def test_numbers_are_packed() -> None:
    for numbers in ((1,), (5, 6, 200), (2**40 + 3, 2**40 + 4, 2**41, 2**63)):
        body = b"\0\0\0\0" + len(numbers).to_bytes(4, "little") + packed_numbers(numbers)
        assert given_up_numbers(body) == numbers


def test_a_message_is_its_record(tmp_path: Path) -> None:
    with Log(tmp_path, **SMALL) as log:
        custody = CustodyLog(log, id_of)
        with pytest.raises(ValueError, match="would be record"):
            custody.write(Entered(1, (1, 1), (11,), 90), body_of((1, 1)))
        with pytest.raises(ValueError, match="no record of custody"):
            custody.write(Stated(11, 5))
        assert not log.commit()
