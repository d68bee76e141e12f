"""A folder that an earlier version wrote is read: `old_log.tar.gz` is one of commit 020733f2.

It was closed once and killed once: 80 records, the first twenty of which subscription 1 is done with.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from tamis.native.log import Log

FOLDER = Path(__file__).with_name("old_log.tar.gz")
SMALL = {"bytes_max": 1 << 18, "segment_bytes": 1 << 14, "ring_bytes": 1 << 13, "scrub_bytes_per_s": 1 << 30}


def body(i: int) -> bytes:
    return bytes([i]) * (300 + 7 * i)


def test_what_an_earlier_version_kept_is_read(tmp_path: Path) -> None:
    with tarfile.open(FOLDER) as packed:
        packed.extractall(tmp_path, filter="data")
    want = {1: [body(i) for i in range(20, 60)], 2: [body(i) for i in range(80) if i % 2 == 0 or i >= 60]}
    for _ in range(2):
        with Log(tmp_path / "old_log", **SMALL) as log:
            for durable, bodies in want.items():
                assert [record.body for record in log.read(durable)] == bodies
            assert (log.missing(), log.recovery()["damages"], log.state()["damaged"]) == ([], 0, 0)
            first = next(log.read(2)).n
            log.wait(log.ack(2, 0, first))
        want[2] = want[2][1:]
