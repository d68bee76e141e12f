"""The cost of the log of stored messages: `python -m tamis.bench.durable.log`.

    append     records of one size, as fast as the ring takes them; each is on disk before the clock stops
    replay     messages of 150 bytes looked at in a second of CPU, from the page cache, by predicates that select
               more and more of them, as a router has them compiled

Law: the disk's own fdatasync of 4 KiB is measured beside, before and after, as rates mean nothing without it.
CPU is that of the whole process, the log's threads and this loop's calls included.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown, short
from tamis.native import Table
from tamis.native.log import Log
from tamis.protocol.language import parse
from tamis.protocol.normal import normalize_predicate
from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import encode_publish

FRAME_BYTES: Final = (150, 1024)
BLOCK: Final = 4096
SYNCS: Final = 200
ATTRIBUTES: Final[dict[str, Value]] = {"symbol": "S7", "side": "buy", "price": 1_000_000, "quantity": 3}
PRICES: Final = 10_000
PREDICATES: Final = {
    "none": 'symbol = "S8" and price > 3',
    "0.01 %": 'symbol = "S7" and price = 7',
    "10 %": 'symbol = "S7" and price < 1000',
    "all": 'symbol = "S7" and price >= 0',
}
"""By what they select."""
REPLAYS: Final = 3
"""Of which the fastest counts."""


def sync_us(folder: Path) -> float:
    """Median time of a write of 4 KiB and its fdatasync, over existing blocks."""
    with (folder / "probe").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, SYNCS * 4096)
        times = []
        for i in range(SYNCS):
            start = time.perf_counter()
            os.pwrite(file.fileno(), b"x" * 4096, i * 4096)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def written() -> int:
    """Bytes that this process had the system write to disks."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("write_bytes")))


def frame_of(frame_bytes: int) -> bytes:
    """Return a PUBLISH of so many bytes."""
    shell = len(encode_publish(1, 1, 0, ATTRIBUTES, b""))
    return encode_publish(1, 1, 0, ATTRIBUTES, b"x" * (frame_bytes - shell))


def measure(folder: Path, frame_bytes: int, records: int) -> dict[str, float]:
    """One size: append all."""
    frame = frame_of(frame_bytes)
    before_us = sync_us(folder)
    bytes_max = max(1 << 30, 2 * records * (frame_bytes + 128) + (512 << 20))
    with Log(folder / f"log-{frame_bytes}", bytes_max=bytes_max, scrub_bytes_per_s=0) as log:
        blocks = records // BLOCK
        bytes_before, cpu, start = written(), time.process_time(), time.perf_counter()
        n = log.append_blocks(frame, [7], BLOCK, blocks)
        log.wait(n, 600)
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
        state, disk = log.state(), written() - bytes_before
    count = blocks * BLOCK
    return {
        "frame_bytes": len(frame),
        "records": count,
        "records_s": count / seconds,
        "batches_s": state["batches"] / seconds,
        "cpu_ns": cpu_s / count * 1e9,
        "amplification": state["batch_bytes"] / (count * len(frame)),
        "disk_amplification": disk / (count * len(frame)),
        "fdatasync_us": (before_us + sync_us(folder)) / 2,
    }


def measure_replays(folder: Path, records: int) -> dict[str, float]:
    """Messages looked at in a second of CPU, by what the predicate selects."""
    shell = len(encode_publish(1, 1, 0, ATTRIBUTES | {"price": PRICES - 1}, b""))
    payload = b"x" * (FRAME_BYTES[0] - shell)
    frames = [encode_publish(1, 1, 0, ATTRIBUTES | {"price": price}, payload) for price in range(PRICES)]
    found = {}
    with Log(folder / "replayed", bytes_max=1 << 34, scrub_bytes_per_s=0) as log:
        for _ in range(max(1, records // PRICES)):
            last = log.append_messages(frames, [7])
        log.wait(last, 600)
        for selected, predicate in PREDICATES.items():
            with Table("linear") as table:
                for filter_ in normalize_predicate(parse(predicate)).filters:
                    table.add(filter_, 0)
                rounds = [log.replay_count(table) for _ in range(REPLAYS)]
            found[selected] = max(looked_at / seconds for looked_at, seconds in rounds)
    return found


def main(arguments: Sequence[str]) -> int:
    """Print two tables, or with --json a line for each size and one of the replays."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--records", type=int, default=1_000_000, help="records of each size; at least 4096 (default: %(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="folder of the log (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each size")
    asked = parser.parse_args(arguments)
    if asked.records < BLOCK:
        parser.error(f"--records {asked.records}: at least {BLOCK}")
    rows = []
    with scratch_folder() as scratch:
        for frame_bytes in FRAME_BYTES:
            print(f"frames of {frame_bytes} bytes ...", file=sys.stderr)
            found = measure(asked.folder or scratch, frame_bytes, asked.records)
            if asked.json:
                print(json.dumps(found))
            rows.append([str(found["frame_bytes"]), *(short(found[name]) for name in COLUMNS)])
        print("replays ...", file=sys.stderr)
        replays = measure_replays(asked.folder or scratch, asked.records)
    if asked.json:
        print(json.dumps({"replay_records_s": replays}))
    else:
        print(markdown(["frame, bytes", *COLUMNS.values()], rows), "", sep="\n")
        rates = [[selected, short(rate)] for selected, rate in replays.items()]
        print(markdown(["selected by a replay", "records read per CPU second"], rates))
    return 0


COLUMNS: Final = {
    "records_s": "records/s on disk",
    "batches_s": "batches/s",
    "cpu_ns": "CPU, ns a record",
    "amplification": "bytes of batches a byte",
    "disk_amplification": "bytes to disk a byte",
    "fdatasync_us": "one fdatasync, us",
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
