"""How fast homes that were away catch up from the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.native.custody import Traffic
from tamis.router.durable.pace import BYTES_S, READ_BYTES, SHARED_READ_BYTES, CatchUpPace
from tests.native.test_departures import EAST
from tests.router.durable.test_departing_chains import Entry, ack, served

TICK_US = 100_000
STEP_US = 500


def read_in_a_second(pace: CatchUpPace, received_s: int, appended_s: int, behind: int = 1) -> int:
    """Return the bytes that are requested within a second in which this is received and appended."""
    done = 0
    for now_us in range(0, 2_000_000, STEP_US):
        if now_us % TICK_US == 0:
            traffic = Traffic(received_s * now_us // 1_000_000, appended_s * now_us // 1_000_000)
            pace.hear(traffic, behind, now_us)
        if pace.wait_us(now_us) == 0:
            size = pace.read_bytes
            pace.spend(size, now_us)
            done += size if now_us >= 1_000_000 else 0
    return done


def test_where_nothing_else_passes_homes_read_all_at_once() -> None:
    assert read_in_a_second(CatchUpPace(), 0, 0) == READ_BYTES * 1_000_000 // STEP_US


def test_beside_live_messages_homes_share_a_rate() -> None:
    assert read_in_a_second(CatchUpPace(), 2_000, 0, behind=5) == pytest.approx(BYTES_S, rel=0.05)


@pytest.mark.parametrize("behind", [1, 3])
def test_homes_get_more_than_is_appended_meanwhile(behind: int) -> None:
    appended = BYTES_S * 4 // 5
    assert read_in_a_second(CatchUpPace(), 100_000, appended, behind) == pytest.approx(2 * behind * appended, rel=0.05)


@pytest.fixture(name="entry")
def _entry(tmp_path: Path) -> Iterator[Entry]:
    entry = Entry(tmp_path / "entry")
    entry.state(7)
    yield entry
    entry.close()


def test_an_entry_reads_on_once_it_may(entry: Entry) -> None:
    count, size = 4 * SHARED_READ_BYTES // 8_000, 8_000
    for now_us in (0, TICK_US):
        for _ in range(count // 2):
            entry.publish(payload=bytes(size))
        entry.commit()
        entry.directed()
        entry.chains.tick(now_us)
    ack(entry, 0, window=4 << 20)
    ask_us = TICK_US
    found = []
    for _ in range(20):
        found.append(len(served(entry, ask_us)))
        wait_us = entry.chains.answered(ask_us)
        assert len(served(entry, ask_us + wait_us // 2)) == 0
        ask_us += wait_us
    assert entry.chain(EAST).sent == entry.chain(EAST).last
    assert max(found) * size <= SHARED_READ_BYTES
