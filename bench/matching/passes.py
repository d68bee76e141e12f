"""Tables side by side, measured in turns: for each message the fastest of all passes, the whole three times over.

    repeat 1   pass 1 of each table, pass 2 of each, ... pass 7 of each (25 where passes are short)
    repeat 2   the same         repeat 3   the same

Law: a figure is the mean over messages of the fastest time of each, less what reading the clock takes; its spread is
that of the three repeats, each with its own minima. Passes are interleaved, because a shared machine drifts by more
than engines differ; a minimum of each message, and not of a pass, because no pass escapes its neighbours for long.
Every pass of every table must give the same answers. Beside times stand `steps`, which no neighbour can move.
"""

from __future__ import annotations

import math
import time
from array import array
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from tamis.bench.matching.contenders import Contender, EnginesDisagree, Progress, Setup
from tamis.native import Batch, Measurement, Table
from tamis.protocol.wire.attributes import encode_attributes

REPEATS: Final = 3
_PASSES_MAX: Final = 25
_REPEAT_S: Final = 0.05  # a repeat goes on so long if it has fewer passes than that
_MATCHES_OF_A_PASS: Final = 3  # tm_table_measure: to warm up, each with a clock, all without one
_PROBED: Final = 5  # messages that tell how long a pass will take


@dataclass(slots=True)
class Times:
    """Nanoseconds of each message: the least of all passes of each repeat."""

    repeats: list[array[int]] = field(default_factory=list)
    passes: int = 0
    matched: int = 0
    checksums: set[int] = field(default_factory=set)
    steps: float = 0.0
    """Of one message, on average."""

    def take(self, repeat: int, measured: Measurement) -> None:
        if repeat == len(self.repeats):
            self.repeats.append(measured.nanoseconds)
        else:
            self.repeats[repeat] = array("I", map(min, self.repeats[repeat], measured.nanoseconds))
        self.passes += 1
        self.matched = measured.matched
        self.checksums.add(measured.checksum)

    def best_us(self) -> list[float]:
        """Of each message."""
        return [_us(min(times)) for times in zip(*self.repeats, strict=True)]

    def repeats_us(self) -> list[float]:
        """Of the mean message, by the minima of each repeat alone."""
        return [sum(map(_us, repeat)) / max(len(repeat), 1) for repeat in self.repeats]

    def spread(self) -> float:
        """(slowest - fastest) / fastest repeat."""
        means = self.repeats_us()
        return (max(means) - min(means)) / max(min(means), 1e-9)


@dataclass(slots=True)
class Built:
    """A contender with its table and what has been measured so far. `too_slow` says why nothing more is."""

    contender: Contender
    table: Table
    handles: array[int]
    build_s: float
    times: Times = field(default_factory=Times)
    too_slow: str | None = None


def build(contender: Contender, filters: Batch, interfaces: array[int], progress: Progress) -> Built:
    progress(f"building {contender.label}")
    table = contender.table()
    start = time.perf_counter()
    handles = table.add_many(filters, interfaces)
    return Built(contender, table, handles, time.perf_counter() - start)


def measure_in_turns(
    tables: list[Built], messages: Batch, setup: Setup, progress: Progress, seconds_max: float
) -> None:
    """Fill `times` of each table, or say `too_slow` of one whose least number of passes takes longer than
    `seconds_max`; EnginesDisagree if they do."""
    for each in tables:
        _probe(each, messages, setup, seconds_max)
    able = [each for each in tables if each.too_slow is None]
    before = [each.table.stats().steps for each in able]
    for repeat in range(REPEATS):
        progress(f"repeat {repeat + 1} of {REPEATS}: {', '.join(each.contender.label for each in able)}")
        _repeat(able, repeat, messages, setup, seconds_max / REPEATS)
    for each, steps in zip(able, before, strict=True):
        matches = max(each.times.passes * _MATCHES_OF_A_PASS * len(messages), 1)
        each.times.steps = (each.table.stats().steps - steps) / matches
    check_equal({each.contender.label: each.times.checksums for each in able})


def check_equal(answers: dict[str, set[int]]) -> None:
    """EnginesDisagree unless there is one checksum in all."""
    if len(set().union(*answers.values())) > 1:
        told = ", ".join(f"{label} {' '.join(map(checksum_text, sums))}" for label, sums in answers.items())
        raise EnginesDisagree(f"engines disagree: checksums {told}")


def checksum_text(checksum: int) -> str:
    return f"{checksum:016x}"


def _probe(each: Built, messages: Batch, setup: Setup, seconds_max: float) -> None:
    if math.isinf(seconds_max):
        return
    few = Batch.of(messages[i] for i in range(min(_PROBED, len(messages))))
    probed = Times()
    for _ in range(REPEATS):
        probed.take(0, each.table.measure(few, grouping=setup.grouping))
    us = sum(probed.best_us()) / max(len(few), 1)
    least_s = us * _MATCHES_OF_A_PASS * REPEATS * len(messages) / 1e6
    if least_s > seconds_max:
        each.too_slow = f"about {us:,.0f} us a message: {REPEATS} passes take {least_s:,.0f} s"


def _repeat(tables: list[Built], repeat: int, messages: Batch, setup: Setup, seconds_max: float) -> None:
    spent, passes, going = dict.fromkeys(map(id, tables), 0.0), 0, tables
    while going:
        passes += 1
        for each in going:
            start = time.perf_counter()
            each.times.take(repeat, each.table.measure(messages, grouping=setup.grouping))
            spent[id(each)] += time.perf_counter() - start
        going = [each for each in going if _goes_on(spent[id(each)], passes, setup.passes, seconds_max)]


def _goes_on(spent_s: float, passes: int, wanted: int, seconds_max: float) -> bool:
    if spent_s >= seconds_max:
        return False
    return passes < wanted or (passes < _PASSES_MAX and spent_s < _REPEAT_S)


def _us(nanoseconds: int) -> float:
    return max(nanoseconds - clock_ns(), 0) / 1e3


@cache
def clock_ns() -> float:
    """What reading the clock adds to one message: an empty table is timed with a clock between messages and without."""
    messages = Batch.of([encode_attributes({"x": 1})] * 1_000)
    with Table() as table:
        passes = [table.measure(messages) for _ in range(_PASSES_MAX)]
    with_clock: int = sum(min(times) for times in zip(*(each.nanoseconds for each in passes), strict=True))
    return max(with_clock - min(each.total_ns for each in passes), 0) / len(messages)
