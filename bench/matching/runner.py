"""Runs settings within bounds of time and memory, and writes each row down as it comes.

Law: filters are made once for each count and seed, whatever the interfaces; a row that is in the journal is not
measured again; a row that is not measured has its reason in `skipped`, and nothing else is ever left out.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from tamis.bench.matching.contenders import Progress, Setup
from tamis.bench.matching.journal import Journal
from tamis.bench.matching.match import Result, run
from tamis.bench.matching.report import label
from tamis.bench.matching.updates import UpdateTimes
from tamis.bench.matching.workloads import Workload

CONTENDER_S = 180.0  # for all passes of one contender: three of 1,000,000 filters x F take sff 25 s


@dataclass(frozen=True, slots=True)
class Measured:
    """A setting and what its contenders did."""

    setup: Setup
    results: list[Result]


class Runner:
    def __init__(self, progress: Progress, journal: Journal, seconds_max: float) -> None:
        self._progress, self._journal = progress, journal
        self._start = time.monotonic()
        self._seconds_max = seconds_max
        self.skipped: dict[str, str] = {}
        self.out_of_time = False

    def say(self, words: str) -> None:
        minutes, seconds = divmod(round(time.monotonic() - self._start), 60)
        self._progress(f"[{minutes}:{seconds:02d}, {len(self._journal)} rows] {words}")

    def run(self, setup: Setup) -> Measured | None:
        """None if time or memory does not allow it. A contender that is too slow has no times, and is in `skipped`."""
        rows = self.row(_key(setup), lambda: [asdict(each) for each in self._measured(setup)])
        results = [_result(row) for row in rows or []]
        for each in results:
            if math.isinf(each.mean_us):
                self.skip(f"{_key(setup)}: {label(each)}", each.note or "no figures")
        return None if rows is None else Measured(setup, results)

    def _measured(self, setup: Setup) -> list[Result]:
        return run(setup, workload_of(setup), self.say, CONTENDER_S)

    def all(self, setups: Iterable[Setup]) -> list[Measured]:
        return [measured for setup in setups if (measured := self.run(setup)) is not None]

    def row(self, key: str, measure: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
        """What is in the journal, or what `measure` says; None if time or memory does not allow it."""
        if key in self._journal:
            return self._journal[key]
        if self._time_is_up():
            self.out_of_time = True
            return self.skip(key, "time was up")
        self.say(f"== {key}")
        try:
            self._journal.put(key, measure())
        except MemoryError:
            return self.skip(key, "more memory than allowed")
        return self._journal[key]

    def _time_is_up(self) -> bool:
        return time.monotonic() - self._start > self._seconds_max

    def skip(self, key: str, reason: str) -> None:
        self.say(f"left out, {reason}: {key}")
        self.skipped[key] = reason


def bound_memory(gibibytes: float) -> None:
    """This process and its children ask for no more: an allocation past it fails, instead of the machine."""
    size = round(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def workload_of(setup: Setup) -> Workload:
    return _made(replace(setup, interface_count=None, group_count=None, contenders=()))


def size_label(setup: Setup) -> str:
    grouped = "" if setup.group_count is None else f", {setup.group_count} links"
    return f"{setup.filter_count:,} x {interfaces_label(setup)}{grouped}"


def interfaces_label(setup: Setup) -> str:
    return "F" if setup.interface_count is None else f"{setup.interface_count:,}"


@lru_cache(maxsize=1)
def _made(setup: Setup) -> Workload:
    return setup.make()


def _key(setup: Setup) -> str:
    return f"{setup.workload} {size_label(setup)}: {', '.join(each.label for each in setup.contenders)}"


def _result(row: dict[str, Any]) -> Result:
    return Result(**{**row, "updates": UpdateTimes(**row["updates"]) if row["updates"] else None})
