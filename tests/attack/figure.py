"""One number that an attack has measured, and what it may be.

Law: a bound is what must hold whatever anybody sends; `before` is what commit da1168e showed, on the machine and by the
hand that attacked it then, and is never compared by a program.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tests.slowdown import slowdown
from tests.stranger.routers import Router

HOLD_MS = 50.0
"""Nothing may hold the loop for longer, by the CPU time of its thread."""
TRIES = 3
"""How often a test repeats an attack in which only processor times exceed their bound."""


@dataclass(frozen=True, slots=True)
class Figure:
    shape: str
    what: str
    before: str
    now: float
    bound: float
    is_least: bool = False
    """The bound is the least it may be, not the most."""
    is_time: bool = False
    """It is a time of the clock, which a busy machine makes longer: the command judges it, tests do not."""
    is_cpu: bool = False
    """It is a processor time, which a busy machine makes longer, too, but not each time: tests judge the least of
    several, by the bound times the slowdown of the machine."""

    def holds(self, slowdown: float = 1.0) -> bool:
        bound = self.bound * (slowdown if self.is_cpu else 1.0)
        return self.now >= bound if self.is_least else self.now <= bound


Attack = Callable[[Path, float], list[Figure]]
"""In a folder of its own, at a scale: 1 is that of the attacks at da1168e."""


class Meter:
    """What a router spends on what is done in a `with` block. `headers`: of its requests to administration."""

    def __init__(self, router: Router, **headers: str) -> None:
        self.router, self.headers = router, headers
        self.cpu_s = self.hold_ms = 0.0

    def __enter__(self) -> Self:
        self._before = self.router.metrics(**self.headers)
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            return
        time.sleep(0.1)  # the watch has had its beat
        after = self.router.metrics(**self.headers)
        self.cpu_s = after["process_cpu_seconds_total"] - self._before["process_cpu_seconds_total"]
        grew = after["tamis_loop_stall_max_seconds"] > self._before["tamis_loop_stall_max_seconds"]
        # The longest hold is kept from the start on: one that is no longer than that is not longer than it.
        self.hold_ms = after["tamis_loop_stall_max_seconds"] * 1e3 if grew else 0.0


def hold(shape: str, what: str, before: str, now_ms: float) -> Figure:
    """Return the longest time for which an attack held the loop, as a figure."""
    return Figure(shape, what, before, now_ms, HOLD_MS, is_cpu=True)


def least_times(attack: Callable[[], list[Figure]]) -> list[Figure]:
    """Run an attack, and again while nothing but processor times exceeds its bound, at most TRIES times; return the
    figures of the last run with the least processor times of all runs."""
    runs = [attack()]
    while len(runs) < TRIES and (broken := _broken(runs[-1])) and all(each.is_cpu for each in broken):
        runs.append(attack())
    return [
        replace(each, now=min(run[i].now for run in runs)) if each.is_cpu else each for i, each in enumerate(runs[-1])
    ]


def _broken(figures: Iterable[Figure]) -> list[Figure]:
    """Return the figures that a test counts as broken."""
    exceeded = [each for each in figures if not each.holds() and not each.is_time]
    if any(each.is_cpu for each in exceeded):
        slower = slowdown()
        return [each for each in exceeded if not each.holds(slower)]
    return exceeded


def holds(figures: Iterable[Figure]) -> None:
    """For tests: all of them but times of the clock, or an AssertionError that lists those that do not."""
    told = list(figures)
    for each in told:
        print(f"{each.shape}: {each.what}: {each.now:.4g} (bound {each.bound:g}; at da1168e {each.before})")
    broken = _broken(told)
    assert not broken, "; ".join(f"{each.what}: {each.now:.4g}, bound {each.bound:g}" for each in broken)
