"""The emulated fleet: real switches and tables of one process, each with a clock of its own.

    clock of a router   goes on by the CPU that its switch took for a block of frames, as measured
    a block             up to BLOCK_BYTES of what waits on one connection of a router, the oldest first
    efficiency          events / the time when the last router is idle; all events wait at their routers at time 0

Law: a router works on one block at a time, and what it sends is there for its neighbour when the block is done: as if
each router had a machine of its own, and links took no time. So two cores can show a network of any size. The frames
that crossed links are those of the waves (`Fleet.first`), which are held to the model; otherwise the run ends.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tamis.bench.networks.strategies.fleet import PAYLOAD, PUBLISHER, ROOM_BYTES, Fleet
from tamis.papers.reproduce.figure import Disagreement
from tamis.protocol.wire.data_frames import encode_publish

BLOCK_BYTES: Final = 64 << 10
PASSES: Final = 3
TIMES_OVER: Final = 3


@dataclass(frozen=True, slots=True)
class ClockedRate:
    """The best of all passes. `spread`: PASSES are made TIMES_OVER; how much more time the best of one group took than
    that of another, as a share."""

    events_per_s: float
    spread: float
    busiest_share: float
    """Of the time, how much the busiest router worked, in the best pass."""


def rate(fleet: Fleet, passes: int = PASSES) -> ClockedRate:
    """The events that a fleet takes in a second; Disagreement if a pass sends other frames than the waves did."""
    found = [
        min((ClockedPass(fleet).run() for _ in range(passes)), key=lambda each: each.took_ns) for _ in range(TIMES_OVER)
    ]
    best = min(found, key=lambda each: each.took_ns)
    worst = max(each.took_ns for each in found)
    events = len(fleet.events)
    return ClockedRate(events * 1e9 / best.took_ns, worst / best.took_ns - 1, max(best.worked_ns) / best.took_ns)


@dataclass(frozen=True, slots=True)
class ClockedTimes:
    took_ns: int
    worked_ns: list[int]


class ClockedPass:
    """All events of a fleet, once."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        count = len(fleet.routers)
        self._clock_ns, self._worked_ns = [0] * count, [0] * count
        self._waiting: list[list[tuple[int, int, int, bytes]]] = [[] for _ in range(count)]
        """Of each router (since when, number, connection, frames), the oldest first."""
        self._numbers = itertools.count()
        self._frames = 0

    def run(self) -> ClockedTimes:
        self._publish()
        while (at := self._next()) is not None:
            self._work(at)
        if self._frames != self._fleet.first.frames:
            raise Disagreement(f"clocked routers sent {self._frames} frames, in waves {self._fleet.first.frames}")
        return ClockedTimes(max(self._clock_ns), self._worked_ns)

    def _publish(self) -> None:
        fleet, frames = self._fleet, defaultdict[int, list[bytes]](list)
        base = fleet.take_counters()
        for number, event in enumerate(fleet.events):
            place = number % len(fleet.routers)
            frames[place].append(encode_publish(PUBLISHER + place, base + number + 1, 0, event, PAYLOAD))
        for place, own in frames.items():
            self._wait(place, fleet.routers[place].publisher, own, 0)

    def _wait(self, place: int, connection: int, frames: list[bytes], since_ns: int) -> None:
        for block in _blocks(frames):
            heapq.heappush(self._waiting[place], (since_ns, next(self._numbers), connection, block))

    def _next(self) -> int | None:
        """The router that begins its next block first."""
        begins = [
            (max(self._clock_ns[place], waiting[0][0]), place) for place, waiting in enumerate(self._waiting) if waiting
        ]
        return min(begins)[1] if begins else None

    def _work(self, place: int) -> None:
        since_ns, _, connection, block = heapq.heappop(self._waiting[place])
        router = self._fleet.routers[place]
        began_ns = time.thread_time_ns()
        router.switch.feed(connection, block)
        took_ns = time.thread_time_ns() - began_ns
        self._worked_ns[place] += took_ns
        self._clock_ns[place] = max(self._clock_ns[place], since_ns) + took_ns
        for client in (router.publisher, router.subscriber):
            while router.switch.output(client, ROOM_BYTES):
                pass
        for neighbour, own, frames in self._fleet.waiting_on_links(place):
            self._frames += len(frames)
            self._wait(neighbour, own, frames, self._clock_ns[place])


def _blocks(frames: list[bytes]) -> Iterator[bytes]:
    block: list[bytes] = []
    size = 0
    for frame in frames:
        if size + len(frame) > BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
        block.append(frame)
        size += len(frame)
    if block:
        yield b"".join(block)
