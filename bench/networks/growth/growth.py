"""Networks of more and more routers: coming up, rest, one change, a link cut.

Law: a figure of a network is one of its whole life in virtual time, in this order, and of one seed. Bytes are those of
control frames by their fields (`simulate/nodes/control.py`); heartbeats are not simulated and are the same at any size.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tamis.bench.networks.growth.network import S, Simulated, small_filters
from tamis.bench.networks.growth.state import State, state_of

FILTERS_EACH: Final = 2
SEED: Final = 1
INTERVAL_US: Final = 30 * S
INTERVALS: Final = 6
CUTS: Final = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What followed from one thing that was done, until the last table or tree had changed."""

    seconds: float
    bytes_per_link: float
    cpu_ms: float
    """Of the watched router's core."""


@dataclass(frozen=True, slots=True)
class Grown:
    routers: int
    links: int
    state: State
    up: Change | None
    """None: it stood from the beginning."""
    up_bytes: dict[str, int] | None
    quiet: list[float]
    """Bytes per link and second, in one interval after the other."""
    filter: Change
    cuts: list[Change]
    simulation_s: float
    """CPU of all of it."""


def grown(routers: int, stands: bool) -> Grown:
    """`stands`: without coming up, which costs the simulator the most by far."""
    began_s = time.process_time()
    filters = small_filters(FILTERS_EACH * routers + 1)
    net = Simulated(routers, filters[:-1], SEED)
    up = up_bytes = None
    if stands:
        net.stand()
    else:
        up = measured(net, net.come_up)
        up_bytes = dict(net.gauge.bytes)
    quiet = [_interval(net) for _ in range(INTERVALS)]
    filter_ = measured(net, lambda: net.nodes[0].want(0, tuple(filters[-1:]), 0))
    cuts = [cut(net) for _ in range(CUTS)]
    simulated_s = time.process_time() - began_s
    state = state_of(routers, filters[:-1], SEED)
    return Grown(routers, len(net.links), state, up, up_bytes, quiet, filter_, cuts, simulated_s)


def measured(net: Simulated, do: Callable[[], None]) -> Change:
    """Do it, and wait for rest."""
    gauge, watched = net.gauge, net.watched.name
    began_us, said, cpu_ns = net.clock.now_us, gauge.bytes.total(), _cpu_ns(net, watched)
    do()
    net.rest()
    spent_ns = _cpu_ns(net, watched) - cpu_ns
    seconds = max(0, gauge.changed_us - began_us) / S
    return Change(seconds, (gauge.bytes.total() - said) / len(net.links), spent_ns / 1e6)


def _cpu_ns(net: Simulated, name: str) -> int:
    return net.gauge.cores[name].cpu_ns if name in net.gauge.cores else 0


def _interval(net: Simulated) -> float:
    before = net.gauge.bytes.total()
    net.run(INTERVAL_US)
    return (net.gauge.bytes.total() - before) / len(net.links) / (INTERVAL_US / S)


def cut(net: Simulated) -> Change:
    """And mended again, which is not measured."""
    link = net.spare_link()
    change = measured(net, lambda: link.cut(silently=False))
    link.restore()
    net.rest()
    return change
