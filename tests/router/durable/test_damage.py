"""A log that is damaged: consumers get what is sound, and a Gap for what is not, once for all lives of the router."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgpack
import pytest

from tamis import Gap, GapReason
from tamis.blocking import Consumer
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import DURABLE_KEYS, PATIENCE_S, client, publish, received

pytestmark = pytest.mark.slow
COUNT = 200
QUIET_S = 1.0
SECTOR = 512


@dataclass
class Consumed:
    numbers: list[int] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """How many the Gaps say that are missing; those of which nobody knows how many are not among them."""
        return sum(gap.count or 0 for gap in self.gaps)


def consumed(one: BlockingRouter, durable: str) -> Consumed:
    """Take and acknowledge all that a keep has."""
    found = Consumed()
    with client(one, "consumer") as consumer, consumer.consume(durable, credit=20) as work:
        while True:
            item = _next(work)
            if item is None:
                return found
            if isinstance(item, Gap):
                found.gaps.append(item)
            else:
                number = item["n"]
                assert isinstance(number, int)
                found.numbers.append(number)
                item.ack(confirm=True)


def _next(work: Consumer) -> Gap | object | None:
    try:
        return work.receive(QUIET_S)
    except TimeoutError:
        return None


@contextlib.contextmanager
def router(folder: Path, keys: str = DURABLE_KEYS) -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{keys}\nrouters: {{a: {{{ports}, data: data}}}}\n")
    with blocking.started(file, "a") as one:
        yield one


def segments(folder: Path) -> list[Path]:
    return sorted(folder.rglob("segment-*"), key=lambda path: path.stat().st_mtime_ns)


def sector_of(segment: Path, number: int) -> int:
    """Return the sector in which the message with this `n` begins."""
    return segment.read_bytes().index(msgpack.packb({"n": number})) // SECTOR


def overwrite(segment: Path, first: int, count: int) -> None:
    with segment.open("r+b") as file:
        file.seek(first * SECTOR)
        file.write(b"\xff" * count * SECTOR)


def test_what_a_sealed_segment_has_lost_is_counted_for_whom_it_was(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
            consumer.durable("others", "n < 0")
        publish(one, range(COUNT))
        one.leave()
        [segment] = segments(tmp_path)
        overwrite(segment, sector_of(segment, 50), 5)
        one.start()
        found = consumed(one, "numbers")
        assert 1 <= found.lost == COUNT - len(found.numbers) <= 10
        assert found.numbers == sorted(set(found.numbers))
        assert {gap.reason for gap in found.gaps} == {GapReason.LOG_DAMAGED}
        assert consumed(one, "others").gaps == [], "it had nothing there"
        total = found.gaps[-1].in_all
        one.kill()
        one.start()
        again = consumed(one, "numbers")
        assert not again.numbers
        assert [gap.in_all for gap in again.gaps] == [total], "a count since the keep was made, and no other"


def test_where_nobody_knows_for_whom_it_was_the_gap_says_so(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        publish(one, range(COUNT))
        one.kill()  # the segment has no footer: nothing says which numbers were whose
        [segment] = segments(tmp_path)
        overwrite(segment, sector_of(segment, 50), 5)
        one.start()
        with client(one, "late") as late:
            late.durable("late", "n >= 0")
        found = consumed(one, "numbers")
        [gap] = found.gaps
        assert gap.reason is GapReason.LOG_DAMAGED
        assert gap.count is None
        assert gap.positions is not None
        first, last = gap.positions
        missing = COUNT - len(found.numbers)
        assert 1 <= missing <= last - first + 1, "the positions are those that are missing"
        assert consumed(one, "late").gaps == [], "the keep was made after that"
        one.leave()
        one.start()
        again = consumed(one, "numbers")
        assert [(each.positions, each.unknown_ranges) for each in again.gaps] == [(gap.positions, gap.unknown_ranges)]
        form = one.ask("/durables?name=numbers")["durables"][0]
        assert (form["unknown_ranges"], form["unknown_range"]) == (1, [first, last])


def test_damage_of_a_running_router_is_told_to_who_is_attached(tmp_path: Path) -> None:
    keys = "durable: {bytes: 268435456, segment_bytes: 1048576, memory_bytes: 1048576}"
    with router(tmp_path, keys) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        with client(one, "publisher") as publisher:
            for n in range(COUNT):
                publisher.publish({"n": n}, bytes(60_000), confirm="stored")
        with client(one, "consumer") as consumer, consumer.consume("numbers", credit=1) as work:
            first = received(work)
            segment = segments(tmp_path)[1]
            assert segment.stat().st_size == 1048576
            overwrite(segment, 200, 300)
            numbers, gaps = [first["n"]], list[Gap]()
            first.ack()
            while len(numbers) + sum(gap.count or 0 for gap in gaps) < COUNT:
                item = work.receive(PATIENCE_S)
                if isinstance(item, Gap):
                    gaps.append(item)
                else:
                    numbers.append(item["n"])
                    item.ack()
        assert sum(gap.count or 0 for gap in gaps) == COUNT - len(numbers) >= 2
        assert {gap.reason for gap in gaps} == {GapReason.LOG_DAMAGED}
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("size", [0, 100, 4_095, 4_096, 300_032])
def test_a_segment_that_lost_its_end_is_told_and_set_aside(tmp_path: Path, size: int) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        with client(one, "publisher") as publisher:
            for n in range(60):
                publisher.publish({"n": n}, bytes(50_000), confirm="stored")
        one.kill()
        segment = sorted(tmp_path.rglob("segment-*"))[1]  # the first has the record of the keep
        assert segment.stat().st_size == 1 << 20
        with segment.open("r+b") as file:
            file.truncate(size)
        whole = segment.read_bytes()
        one.start()
        found = consumed(one, "numbers")
        [gap] = found.gaps
        assert gap.reason is GapReason.LOG_DAMAGED
        assert gap.positions is not None
        first, last = gap.positions
        assert last - first + 1 == 60 - len(found.numbers) > 10, "what is behind the file's end, and no more"
        status = one.ask("/status")["durable"]["log"]
        assert (status["damaged"], status["missing"]) == (1, 60 - len(found.numbers))
        [aside] = _until_there(tmp_path, f"damaged/{segment.name}")
        assert aside.read_bytes() == whole
        assert "the log of stored messages is damaged" in one.log.read_text()
        _until(lambda: "was moved to damaged/" in one.log.read_text())


def _until(what: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def _until_there(folder: Path, name: str) -> list[Path]:
    _until(lambda: list(folder.rglob(name)))
    return list(folder.rglob(name))
