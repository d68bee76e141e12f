"""What it costs a router to record messages: `python -m tamis.bench.router.records`.

    off      no records are written
    none     records are written, but no message is chosen
    0.01     one message in a hundred, chosen by its id
    where    what a predicate chooses, which is none of these messages: the price of asking
    all      every message
    parquet  every message, with closed files as columns in place of compressed lines

Law: the same switch, messages of 150 bytes and filters each time; the same writer as a router has, which formats,
writes and rotates files in a temporary folder. One publisher, one subscriber, TCP on this machine. Runs of all choices
take turns, so that a busy machine slows all alike; of each the least counts. `serving_us` is the CPU time that a
message takes of the thread that serves, which is what bounds the router; `writing_us` that of the threads that write
and compress. With --callgrind the instructions of the thread that serves are counted, which nothing moves.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tamis.bench.router.transit import Around, Router, fed, instructions, measure, run_command
from tamis.bench.tables import tell
from tamis.native import RecordRing, Switch, Table
from tamis.protocol import record_columns  # noqa: F401 - as a router does, before it serves
from tamis.protocol.language import parse
from tamis.protocol.sampling import ALL, threshold_of
from tamis.router.records.converting import CLOSED
from tamis.router.records.files import Bounds
from tamis.router.records.lines import RecordLines
from tamis.router.records.writer import Writer

SHARES: Final = {"none": 0, "0.01": threshold_of(0.01), "where": 0, "all": ALL, "parquet": ALL}
CHOICES: Final = ("off", *SHARES)
WHERE: Final = 'symbol = "S7" and qty < 0'
BOUNDS: Final = Bounds(file_bytes_max=64 * 1024 * 1024, file_seconds_max=3_600, stored_bytes_max=512 * 1024 * 1024)


def around(choice: str) -> Around:
    """What stands around a run: records that are kept."""
    return contextlib.nullcontext if choice == "off" else partial(_recording, choice)


@contextlib.contextmanager
def _recording(choice: str, switch: Switch) -> Iterator[None]:
    lines = RecordLines("bench", 1)
    records = RecordRing(lines.prefix("message"), SHARES[choice], _wanted() if choice == "where" else None)
    with tempfile.TemporaryDirectory(prefix="tamis-records-") as folder:
        ending = CLOSED["parquet" if choice == "parquet" else "jsonl"]
        writer = Writer(Path(folder) / "bench", BOUNDS, lines, records, ending=ending)
        switch.record(records)
        writer.start()
        yield
        switch.record(None)
        writer.close()
        if records.lost:
            print(f"{choice}: {records.lost:,} records were lost", file=sys.stderr, flush=True)
        records.close()


def _wanted() -> Table:
    table = Table()
    for filter_ in parse(WHERE).filters:
        table.add(filter_, 0)
    return table


def _timed(filters: int, messages: int, rounds: int, as_json: bool) -> None:
    runs: dict[str, list[dict[str, float]]] = {choice: [] for choice in CHOICES}
    for _ in range(rounds):
        for choice in CHOICES:
            runs[choice].append(measure(("alone",), filters, messages, around(choice)))
    off_us = min(run["alone"] for run in runs["off"])
    for choice, found in runs.items():
        serving_us, writing_us = (min(run[key] for run in found) for key in ("alone", "beside"))
        rate = max(run["msgs_per_s"] for run in found)
        told = {"serving_us": serving_us, "more": serving_us / off_us - 1, "writing_us": writing_us, "msgs_per_s": rate}
        tell({"what": "through sockets", "records": choice, **told}, as_json)


def _counted(filters: int, messages: int, as_json: bool) -> None:
    found = {choice: instructions("tamis.bench.router.records", choice, filters, messages) for choice in CHOICES}
    for choice, count in found.items():
        told = {"instructions": count, "more": count / found["off"] - 1}
        tell({"what": "instructions a message", "records": choice, **told}, as_json)


def _fed(choice: str, filters: int, messages: int) -> float:
    return fed(Router("alone", filters), messages, around(choice))


def main() -> None:
    run_command("tamis.bench.router.records", __doc__, CHOICES, _fed, _counted, _timed)


if __name__ == "__main__":
    main()
