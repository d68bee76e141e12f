"""The cost of a start with a large log: `python -m tamis.bench.durable.start --gib 10`.

    log    the log is opened: files, footers, the checkpoint
    tail   identities of the last messages are read
    keep   the durable subscription gets a row for each open message

Law: a log is written, closed, and opened as a router opens it, `--starts` times; the least CPU counts, which is that of
the whole process. Everything in the log is open for one subscription. It is removed at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tamis.bench.durable.log import BLOCK, frame_of
from tamis.bench.scratch import scratch_folder
from tamis.native import Table
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.native.switch import Switch
from tamis.native.switch_values import SwitchOptions
from tamis.protocol.filters import Filter
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.packed_filters import encode_filter

DURABLE: Final = 7
RING_BYTES: Final = 32 << 20
PARTS: Final = ("log", "tail", "keep")


def write(folder: Path, gib: float, frame_bytes: int) -> int:
    """Write a log of `gib` GiB and return its number of records."""
    blocks = max(1, int(gib * 2**30 / (frame_bytes + 64)) // BLOCK)
    with Log(folder, bytes_max=_bytes_max(gib), ring_bytes=RING_BYTES, scrub_bytes_per_s=0) as log:
        log.wait(log.append_blocks(frame_of(frame_bytes), [DURABLE], BLOCK, blocks), 3_600)
    return blocks * BLOCK


def start(folder: Path, gib: float) -> dict[str, tuple[float, float]]:
    """Open the log and the subscription; return seconds and CPU seconds of each part."""
    taken: dict[str, tuple[float, float]] = {}

    @contextmanager
    def timed(part: str) -> Iterator[None]:
        began, cpu = time.perf_counter(), time.process_time()
        yield
        taken[part] = time.perf_counter() - began, time.process_time() - cpu

    policy = DurablePolicy((encode_filter(Filter(())),), bytes=2**50)
    options = SwitchOptions(number=99, epoch=1, connections_max=8, subscribers_max=8, publishers_max=8, hop_limit=9)
    with timed("log"):
        log = Log(folder, bytes_max=_bytes_max(gib), ring_bytes=RING_BYTES, scrub_bytes_per_s=0)
    with log, Table() as table, closing(Switch(table, options)) as switch:
        with timed("tail"):
            durables = SwitchDurables(switch, log, ring_bytes=RING_BYTES, memory_bytes_max=0)
        with durables, timed("keep"):
            durables.open(DURABLE, policy, recovered_from=1)
            assert durables.figures(DURABLE).open > 0  # noqa: S101 - else nothing was measured
    return taken


def _bytes_max(gib: float) -> int:
    return int(gib * 2**30 * 1.5) + (1 << 30)


def main(arguments: Sequence[str]) -> int:
    """Print a line for each part; with --json one object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gib", type=float, default=1.0, help="size of the log in GiB (default: %(default)s)")
    parser.add_argument("--frame-bytes", type=int, default=1024, help="size of each message (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=3, help="number of starts (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(arguments)
    with scratch_folder() as scratch:
        folder = scratch / "log"
        print(f"writing {asked.gib} GiB ...", file=sys.stderr)
        records = write(folder, asked.gib, asked.frame_bytes)
        rounds = [start(folder, asked.gib) for _ in range(asked.starts)]
    best = {part: min((each[part] for each in rounds), key=lambda found: found[1]) for part in PARTS}
    if asked.json:
        parts = {part: {"seconds": seconds, "cpu_s": cpu} for part, (seconds, cpu) in best.items()}
        print(json.dumps({"gib": asked.gib, "records": records} | parts))
    else:
        for part, (seconds, cpu) in best.items():
            print(f"{part:<5} {seconds:8.3f} s  {cpu:8.3f} s of CPU")
        print(f"all   {sum(s for s, _ in best.values()):8.3f} s  {sum(c for _, c in best.values()):8.3f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
