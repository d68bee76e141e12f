"""Outcomes of a durable subscription after a start: by dead letters that no counts include, and by earlier counts."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.client.durable.policy import durable_of
from tamis.native import Switch, SwitchOptions, Table
from tamis.native.durables import CATALOG, SwitchDurables
from tamis.native.log import DEAD_LETTER, Log
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.header import Flags

FROM, TO = 1, 2
COUNT, DEAD_LETTERS = 7, 5
WAYS_BEFORE = 7
POLICY = durable_of("jobs", "n >= 0").policy


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Log]:
    log = Log(folder, bytes_max=1 << 26, segment_bytes=1 << 20, ring_bytes=1 << 22, has_no_threads=True)
    yield log
    while log.commit():
        pass
    log.close()


@contextlib.contextmanager
def durables_of(log: Log, order: tuple[int, ...] = (FROM, TO)) -> Iterator[SwitchDurables]:
    table = Table()
    options = SwitchOptions(number=9, epoch=1, connections_max=9, subscribers_max=9, publishers_max=9, hop_limit=9)
    switch = Switch(table, options)
    durables = SwitchDurables(switch, log, ring_bytes=1 << 22, has_no_thread=True)
    for number in order:
        durables.open(number, POLICY, recovered_from=1)
    durables.validate()
    yield durables
    switch.tick()
    switch.tick()
    durables.validate()
    durables.close()
    switch.close()
    table.close()


def written(folder: Path) -> None:
    """Write messages for a subscription, and dead letters of some for another one, as a crash may leave them."""
    with opened(folder) as log:
        frames = [encode_publish(3, n + 1, 0, {"n": n}, b"", Flags.CONFIRM | Flags.DURABLE) for n in range(COUNT)]
        positions = [log.append(frame, [FROM]) for frame in frames]
        for position, frame in zip(positions[:DEAD_LETTERS], frames, strict=False):
            head = struct.pack("<QQQQ", FROM, position, position, 0) + struct.pack("<QII", 1, 3, 2)
            log.append(head + b"no" + frame, [TO], kind=DEAD_LETTER)


@pytest.mark.parametrize("order", [(FROM, TO), (TO, FROM)])
def test_dead_letters_that_no_counts_record_counts_are_counted_by_a_start_and_for_ever(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    written(tmp_path / "log")
    for _ in range(2):
        with opened(tmp_path / "log") as log, durables_of(log, order) as durables:
            found = durables.figures(FROM)
            assert (found.dead, found.open, found.appended) == (DEAD_LETTERS, COUNT - DEAD_LETTERS, COUNT)
            assert (durables.figures(TO).open, durables.figures(TO).dead) == (DEAD_LETTERS, 0)
    with opened(tmp_path / "log") as log:
        log.ack(TO, 0, log.state()["appended"])
    with opened(tmp_path / "log") as log, durables_of(log, order) as durables:
        assert (durables.figures(FROM).dead, durables.figures(TO).open) == (DEAD_LETTERS, 0)


def test_a_counts_record_of_before_messages_could_be_skipped_is_read(tmp_path: Path) -> None:
    left = range(1, WAYS_BEFORE + 1)
    body = struct.pack("<QQQQ", FROM, 0, 0, 0)
    body += struct.pack(f"<Q{WAYS_BEFORE}Q{WAYS_BEFORE}QQQQ", FROM, *left, *(100 * each for each in left), 4, 5, 6)
    with opened(tmp_path / "log") as log:
        log.append(body, [CATALOG], kind=DEAD_LETTER)
    with opened(tmp_path / "log") as log, durables_of(log) as durables:
        found = durables.figures(FROM)
        ways = (found.acked, found.expired, found.dropped, found.replaced, found.dead, found.undeliverable)
        assert (*ways, found.damaged, found.skipped) == (*left, 0)
        assert (found.unknowns, found.unknown_first, found.unknown_last) == (4, 5, 6)
        assert found.appended == sum(left)
