"""One analysis in a process of its own: how long each part takes, and how much memory all of it.

Law: time runs from the first look at the files to the last table; Spark is there before. Memory is what Spark's process
held at most, and what all Python processes under it held at most together, looked at once a second: they end when they
have nothing to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

PARTS = {"traffic and latency": ("traffic", "latency"), "audit": ("delivery",)}


@dataclass(frozen=True, slots=True)
class Figures:
    """`parts`: seconds of reading and of each question; that of the logs themselves comes with all."""

    job: str
    master: str
    records: int
    seconds: float
    parts: dict[str, float]
    java_bytes: int
    python_bytes: int
    looked_at: int
    """Messages over links, or deliveries."""


def apart(job: str, master: str, logs: Path, scratch: Path) -> Figures:
    command = [sys.executable, "-m", "tamis.bench.logs.analysis", "--measure", job, master, str(logs), str(scratch)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - ourselves
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def here(job: str, master: str, logs: Path, scratch: Path) -> str:
    from tamis.analysis.job import Job, analyze
    from tamis.analysis.spark import session

    spark = session.start(master)
    times: list[tuple[str, float]] = []

    def told(what: str) -> None:
        times.append((what.partition("/")[0], time.perf_counter()))
        print(f"    {what}", file=sys.stderr, flush=True)

    gateway = spark.sparkContext._gateway
    assert gateway is not None, "the session has ended"  # noqa: S101 - it is ours
    java = gateway.proc.pid
    python = PythonPeak(java)
    with tempfile.TemporaryDirectory(prefix="answers-", dir=scratch) as out, python:
        analyze(spark, logs, Job(Path(out), PARTS[job]), told)
        ended_s = time.perf_counter()
        records, looked_at = _sound(Path(out))
    ends = [at_s for _, at_s in times[1:]] + [ended_s]
    parts: dict[str, float] = {}
    for (part, began_s), end_s in zip(times, ends, strict=True):
        parts[part] = parts.get(part, 0.0) + end_s - began_s
    java_bytes = _status_bytes(java, "VmHWM")
    figures = Figures(job, master, records, ended_s - times[0][1], parts, java_bytes, python.bytes, looked_at)
    return json.dumps(asdict(figures))


class PythonPeak:
    """The most that the processes under this one hold together, while it is open."""

    def __init__(self, parent: int) -> None:
        self.bytes = 0
        self._parent = parent
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(1.0):
            self.bytes = max(self.bytes, sum(_status_bytes(pid, "RssAnon") for pid in _below(self._parent)))


def _sound(out: Path) -> tuple[int, int]:
    """Records, and what was looked at; a benchmark of wrong answers is none."""
    from tamis.analysis.page import report

    tables = report.read(out)
    records = sum(row["lines"] for row in tables["logs/lines"] if row["family"] == "messages")
    assert not tables["logs/holes"], tables["logs/holes"][:3]  # noqa: S101
    if "delivery/counts" not in tables:
        crossed = sum(row["messages"] for row in tables["latency/by_length"])
        assert crossed == sum(row["hops"] for row in tables["traffic/by_source"])  # noqa: S101
        return records, crossed
    assert not tables["delivery/faults"], tables["delivery/faults"][:3]  # noqa: S101
    return records, sum(row["deliveries"] for row in tables["delivery/counts"])


def _below(parent: int) -> Iterator[int]:
    """All processes that came from it."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(path.parent.name)
            yield from _below(int(path.parent.name))


def cpu_s(pid: int) -> float:
    """The CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _status_bytes(pid: int, name: str) -> int:
    """One figure of a process's memory; 0 of one that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:")), 0)
