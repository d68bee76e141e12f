"""Seeded filters and messages, in the wire forms that a router sees, by name.

    papers.py       sigcomm03, cu922, gryphon, and words: paper 004's with values that do not repeat
    places.py       geo with 2 to 5 names, and boxes of paper 001
    equalities.py   alerts, tenants, exceptions, lists, skewed
    ranges.py       market, prices, bands, events, links, thresholds, fractions
    flows.py        flows: families of ranges that share a few equal values
    texts.py        topics, logs, telemetry
    buildings.py    das: the application of paper 003
    mixtures.py     mixture-1 to mixture-20: families for which no engine was tuned
    kind.py         what a workload is: who writes such filters, how many a message hits, how they fall on interfaces
    pieces.py       bytes and distributions that all are made of

Law: equal arguments give equal bytes, on every machine. Filters and messages are drawn apart: what a message is like
may depend on how many filters there are (a fleet ten times as large has ten times as many devices), never on them.
"""

from __future__ import annotations

import random
from array import array
from typing import Final

from tamis.bench.matching.workloads.buildings import BUILDINGS
from tamis.bench.matching.workloads.equalities import EQUALITIES
from tamis.bench.matching.workloads.flows import FLOWS
from tamis.bench.matching.workloads.kind import Kind, Size, Workload
from tamis.bench.matching.workloads.mixtures import MIXTURES
from tamis.bench.matching.workloads.papers import PAPERS
from tamis.bench.matching.workloads.pieces import constraint_count, packed
from tamis.bench.matching.workloads.places import PLACES
from tamis.bench.matching.workloads.ranges import RANGES
from tamis.bench.matching.workloads.texts import TEXTS

__all__ = ["MIXTURES", "NAMES", "WORKLOADS", "Kind", "Size", "Workload", "deal", "kind_of", "make"]

NAMES: Final = 1_000
"""Attribute names (market: symbols) unless somebody says otherwise."""

WORKLOADS: Final[dict[str, Kind]] = {**PAPERS, **EQUALITIES, **PLACES, **RANGES, **TEXTS, **BUILDINGS, "flows": FLOWS}


def kind_of(workload: str) -> Kind:
    """The workload or mixture of that name; ValueError, which lists the workloads, for any other."""
    if workload in MIXTURES:
        return MIXTURES[workload]
    if workload not in WORKLOADS:
        raise ValueError(f"no workload {workload!r}; one of {', '.join(WORKLOADS)}")
    return WORKLOADS[workload]


def make(workload: str, filter_count: int, message_count: int, name_count: int, seed: int) -> Workload:
    """Draw the workload of this name; `name_count` is how many attribute names there are (for market: symbols)."""
    kind, size = kind_of(workload), Size(filter_count, message_count, name_count)
    filter_rng, message_rng = (_rng(workload, part, seed) for part in ("filters", "messages"))
    filters = packed(kind.filters(size, filter_rng))
    return Workload(filters, packed(kind.messages(size, message_rng)), constraint_count(filters))


def deal(workload: str, filter_count: int, interface_count: int, seed: int) -> array[int]:
    """The interface of each filter, from 0 on."""
    return kind_of(workload).deal(filter_count, interface_count, _rng(workload, "interfaces", seed))


def _rng(workload: str, part: str, seed: int) -> random.Random:
    return random.Random(f"{kind_of(workload).drawn_as or workload} {part} {seed}")
