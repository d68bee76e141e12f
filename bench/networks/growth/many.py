"""64 routers and 100,000 filters: a link is cut; and what 100,000 filters of one other router cost in memory.

Law: every router has its own path cache and its CPU is counted; nothing is shared but what travelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tamis.bench.networks.growth.growth import CUTS, SEED, Change, cut
from tamis.bench.networks.growth.network import Simulated, filters_of_the_paper
from tamis.bench.networks.growth.state import state_of

ROUTERS: Final = 64
FILTERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Cut:
    change: Change
    all_cpu_ms: float
    most_cpu_ms: float
    """Of the router that it cost most."""


def cuts() -> list[Cut]:
    net = Simulated(ROUTERS, filters_of_the_paper(FILTERS), SEED, all_alike=True)
    net.come_up()
    return [_cut(net) for _ in range(CUTS)]


def _cut(net: Simulated) -> Cut:
    cores = net.gauge.cores
    before = {name: core.cpu_ns for name, core in cores.items()}
    change = cut(net)
    spent = [(core.cpu_ns - before[name]) / 1e6 for name, core in cores.items()]
    return Cut(change, sum(spent), max(spent))


def bytes_per_filter() -> float:
    """Of one other router, in the control plane alone: the table is C and counts for itself."""
    filters = filters_of_the_paper(FILTERS)
    return (state_of(2, filters, SEED).bytes - state_of(2, (), SEED).bytes) / FILTERS
