"""A program that appends to a log and notes what it was told: `python -m tests.power.writer FOLDER NOTES RECORD SEED`.

Each line of NOTES is one fact, written before the next step. A process that is killed leaves all but the last one.

    open N             the log was opened, with N committed
    append N SEED BYTES DURABLE...
    acking DURABLE FIRST LAST, then ack N
    committed N AT     the log said so when AT entries of the block device were recorded, or fewer
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from tamis.native.log import Log, LogBusy, LogFull
from tests.power.device import entries_so_far

DURABLES: Final = (1, 2, 3, 4)
STEPS: Final = 4000
SEGMENT_BYTES: Final = (64 << 10, 256 << 10, 1 << 20)
LOG_BYTES_MAX: Final = 16 << 20


def options(seed: int) -> dict[str, int]:
    """Those of a log whose run has this seed: small, so that segments come and go."""
    dice = Random(seed)
    segment_bytes = dice.choice(SEGMENT_BYTES)
    return {
        "bytes_max": min(LOG_BYTES_MAX, 24 * segment_bytes),
        "segment_bytes": segment_bytes,
        "ring_bytes": dice.choice((64 << 10, 512 << 10)),
        "checkpoint_ms": dice.choice((10, 100, 1000)),
        "scrub_bytes_per_s": 0,
    }


def body_of(seed: int, size: int) -> bytes:
    """What the record with this seed holds."""
    return hashlib.shake_128(seed.to_bytes(4)).digest(size)


class Writer:
    """One life of a log."""

    def __init__(self, log: Log, notes: int, record: Path, dice: Random) -> None:
        self.log, self.notes, self.record, self.dice = log, notes, record, dice
        self.last = self.first = log.committed
        self.sizes = dice.choice(((1, 300), (100, 4000), (3000, 15000)))

    def note(self, *fact: object) -> None:
        """One line, at once."""
        os.write(self.notes, (" ".join(map(str, fact)) + "\n").encode())

    def append(self) -> None:
        """One record for some keeps."""
        seed, size = self.dice.getrandbits(32), self.dice.randint(*self.sizes)
        durables = self.dice.sample(DURABLES, self.dice.randint(1, 2))
        self.last = self.log.append(body_of(seed, size), durables)
        self.first = self.first or self.last
        self.note("append", self.last, seed, size, *durables)

    def acknowledge(self, share: float) -> None:
        """One keep has done with everything up to a number, or with a few."""
        durable = self.dice.choice(DURABLES)
        end = self.last - int(self.dice.random() * (1 - share) * 500)
        first = 0 if self.dice.random() < 0.7 else max(0, end - 5)
        self.note("acking", durable, first, end)
        self.last = self.log.ack(durable, first, end)
        self.note("ack", self.last)

    def tell(self) -> None:
        """What is committed, and then how far the block device is."""
        committed = self.log.committed
        self.note("committed", committed, entries_so_far(self.record))

    def step(self) -> None:
        """A burst, an acknowledgement now and then, a wait now and then."""
        try:
            for _ in range(self.dice.choice((1, 1, 3, 20, 60))):
                self.append()
            if self.dice.random() < 0.4:
                self.acknowledge(0.5)
            if self.dice.random() < 0.3:
                self.log.wait(self.last)
        except LogBusy:
            time.sleep(0.002)
        except LogFull:
            self.make_room()
        self.tell()

    def make_room(self) -> None:
        """Acknowledge as much as the log takes."""
        with suppress(LogFull, LogBusy):
            for _ in range(8):
                self.acknowledge(1.0)
        time.sleep(0.01)


def main(folder: str, notes: str, record: str, seed: str) -> None:
    """Write until STEPS are done, or until somebody kills it."""
    run = int(seed) // 10
    with Path(notes).open("ab", buffering=0) as file, Log(Path(folder), **options(run)) as log:
        writer = Writer(log, file.fileno(), Path(record), Random(int(seed)))
        writer.note("open", log.committed)
        for _ in range(STEPS):
            writer.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
