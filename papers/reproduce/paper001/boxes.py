"""The subscriptions and events of paper 001, packed: five intervals of one length, for any density."""

from __future__ import annotations

import random
from array import array
from typing import Final

from tamis.bench.matching.workloads import Workload
from tamis.bench.matching.workloads.pieces import condition_head, conjunction, message, pack, packed
from tamis.papers.models.lookups import DIMENSIONS
from tamis.protocol.filters import Op

_NAMES: Final = tuple(f"x{k}" for k in range(1, DIMENSIONS + 1))


def boxes(count: int, events: int, density: float, seed: int) -> Workload:
    """Each of the subscriptions is satisfied by a share of `density` of the events, at random places."""
    rng = random.Random(f"boxes {density} {seed}")
    heads = [condition_head(name, Op.BETWEEN, 2) for name in _NAMES]
    length = density ** (1 / DIMENSIONS)
    filters = packed(conjunction(*(head + _interval(rng, length) for head in heads)) for _ in range(count))
    messages = packed(message(rng, *(pack(name) + pack(rng.random()) for name in _NAMES)) for _ in range(events))
    return Workload(filters, messages, count * DIMENSIONS)


def _interval(rng: random.Random, length: float) -> bytes:
    low = rng.random() * (1 - length)
    return pack(low) + pack(low + length)


def all_behind(interface: int, count: int) -> array[int]:
    return array("I", [interface]) * count
