"""What a workload is: who writes its filters, how both sides are drawn, and how filters fall on interfaces.

Law: equal arguments give equal bytes, on every machine.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tamis.native import Batch


@dataclass(frozen=True, slots=True)
class Size:
    """How much is drawn. `names` counts attribute names where a workload has no names of its own (market: symbols)."""

    filters: int
    messages: int
    names: int


Draw = Callable[[Size, random.Random], Iterator[bytes]]
"""Packed filters, or packed messages, as many as the size says."""

Deal = Callable[[int, int, random.Random], "array[int]"]
"""The interface of each filter, of (filters, interfaces, rng)."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Which interface a filter belongs to is said apart, by `deal`: it changes nothing in the bytes."""

    filters: Batch
    messages: Batch
    constraint_count: int


def evenly(filter_count: int, interface_count: int, _rng: random.Random) -> array[int]:
    """Dealt out in turn: every interface has the same number of filters, give or take one. Filters are drawn
    independently, so this is as random as drawing the interfaces too."""
    return array("I", (index % interface_count for index in range(filter_count)))


def unevenly(filter_count: int, interface_count: int, rng: random.Random) -> array[int]:
    """As paper 004 draws it: the filters of an interface are a number from 1 to twice the mean, evenly drawn. Numbers
    are scaled to the filters there are, and the filters of all interfaces come mixed."""
    if interface_count >= filter_count:
        return evenly(filter_count, interface_count, rng)
    most = max(2 * filter_count // interface_count - 1, 1)
    above_one = [rng.randint(1, most) - 1 for _ in range(interface_count)]
    whole, rest = max(sum(above_one), 1), filter_count - interface_count
    ends = [i + rest * part // whole for i, part in enumerate(accumulate(above_one, initial=0))]
    ends[-1] = filter_count
    dealt = [interface for interface, (low, high) in enumerate(pairwise(ends)) for _ in range(high - low)]
    rng.shuffle(dealt)
    return array("I", dealt)


@dataclass(frozen=True, slots=True)
class Kind:
    """A workload before it is drawn. `about` says who writes such filters; `hits` how many of F a message satisfies."""

    about: str
    hits: str
    filters: Draw
    messages: Draw
    deal: Deal = evenly
    interfaces: tuple[int | None, ...] = (None,)
    """The numbers that the gallery measures it with; None is one for each filter."""
    messages_measured: tuple[int, int] = (1_000, 300)
    """By the gallery: up to 100,000 filters, and above."""
    drawn_as: str | None = None
    """The name whose random numbers are used: two spellings of one workload, or two ways to deal one, draw the same."""
