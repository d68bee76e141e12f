"""Routers with service times: queues in virtual time, and the rate at which a network is overloaded.

    journey     the visits of one message at routers, the first at the router of its publisher
    visit       service in microseconds, and the visits that follow, each after the delay of a link
    router      one server; messages wait in the order of arrival
    overloaded  the queue of some router has grown by more than GROWTH of its arrivals, over the second half of a run

Law: routers are numbers, and the caller makes the journeys, so it decides which router matches, and how. Arrivals are
drawn from a seed (Poisson), so equal inputs have equal results. The average rate that the busiest router can serve
(`bound_per_s`) is not used by the simulation: overload follows from the queues alone.
"""

from __future__ import annotations

import heapq
import itertools
import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

GROWTH: Final = 0.01
PRECISION: Final = 0.05
"""The relative precision of a saturation rate."""
_US: Final = 1_000_000
_VISITS_MAX: Final = 20_000_000
"""The most visits in one run; a run that would need more is refused."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The work of one router on a message; `onward` are the visits that follow, with the delay of each link."""

    router: int
    service_us: float
    onward: tuple[tuple[Visit, float], ...] = ()

    def all(self) -> list[Visit]:
        """Return this visit and those that follow, in any order."""
        found, front = [], [self]
        while front:
            visit = front.pop()
            found.append(visit)
            front += [each for each, _ in visit.onward]
        return found


Journey = Visit


@dataclass(slots=True)
class Queueing:
    """The results of one run at one rate."""

    arrived: Counter[int] = field(default_factory=Counter)
    """Arrivals by router in the second half."""
    grown: dict[int, int] = field(default_factory=dict)
    """The growth of the queue of each router from the middle to the end."""
    waited_us: float = 0.0
    visits: int = 0

    @property
    def is_overloaded(self) -> bool:
        return any(more > GROWTH * self.arrived[router] for router, more in self.grown.items())

    @property
    def mean_wait_us(self) -> float:
        return self.waited_us / max(self.visits, 1)


def bound_per_s(journeys: Sequence[Journey]) -> float:
    """Return the messages a second that the busiest router can serve, if all journeys are equally likely."""
    spent: defaultdict[int, float] = defaultdict(float)
    for journey in journeys:
        for visit in journey.all():
            spent[visit.router] += visit.service_us
    return _US * len(journeys) / max(spent.values())


def run(journeys: Sequence[Journey], rate_per_s: float, seconds: float, seed: int) -> Queueing:
    """Simulate arrivals for the given time, each journey in turn, and their service; ValueError if that is too much
    work."""
    count = rate_per_s * seconds * sum(len(journey.all()) for journey in journeys) / len(journeys)
    if count > _VISITS_MAX:
        raise ValueError(f"{rate_per_s:g} messages/s for {seconds:g} s are {count:.0f} visits; at most {_VISITS_MAX}")
    free_us: defaultdict[int, float] = defaultdict(float)
    came_us, left_us = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    found, numbers, end_us = Queueing(), itertools.count(), seconds * _US
    coming = [(at_us, next(numbers), journey) for at_us, journey in _arrivals(journeys, rate_per_s, end_us, seed)]
    while coming:  # a heap: it is sorted at first
        now_us, _, visit = heapq.heappop(coming)
        begins_us = max(now_us, free_us[visit.router])
        free_us[visit.router] = done_us = begins_us + visit.service_us
        came_us[visit.router].append(now_us)
        left_us[visit.router].append(done_us)
        found.waited_us += begins_us - now_us
        found.visits += 1
        for each, delay_us in visit.onward:
            if done_us + delay_us < end_us:
                heapq.heappush(coming, (done_us + delay_us, next(numbers), each))
    for router, came in came_us.items():
        waiting = [bisect_right(came, at_us) - bisect_right(left_us[router], at_us) for at_us in (end_us / 2, end_us)]
        found.grown[router] = waiting[1] - waiting[0]
        found.arrived[router] = len(came) - bisect_right(came, end_us / 2)
    return found


def _arrivals(
    journeys: Sequence[Journey], rate_per_s: float, end_us: float, seed: int
) -> Iterator[tuple[float, Journey]]:
    rng, at_us = random.Random(f"served {seed}"), 0.0
    for journey in itertools.cycle(journeys):
        at_us += rng.expovariate(rate_per_s / _US)
        if at_us >= end_us:
            return
        yield at_us, journey


def saturation_per_s(journeys: Sequence[Journey], seconds: float, seed: int) -> float:
    """Return the highest rate at which no queue grows without end, to within PRECISION."""
    high = bound_per_s(journeys)
    low = high / 2
    while run(journeys, low, seconds, seed).is_overloaded:
        low, high = low / 2, low
    while not run(journeys, high, seconds, seed).is_overloaded:
        low, high = high, high * 1.5
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        if run(journeys, middle, seconds, seed).is_overloaded:
            high = middle
        else:
            low = middle
    return (low + high) / 2
