"""Boxes: filters that are ranges over the same two to five names, on a map and in paper 001.

Law: a box on a map is as large as lets a message lie in about ten of them, so that results do not grow with filters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import condition, condition_head, conjunction, message, pack
from tamis.protocol.filters import Op
from tamis.protocol.values import Value

_HITS = 10
_CATEGORIES = [f"category-{k:02d}" for k in range(20)]


# --- geo -------------------------------------------------------------------------------------------------------------


def _degrees(least: float, most: float, share: float) -> Value:
    return round(least + (most - least) * share, 6)


def _whole(least: float, most: float, share: float) -> Value:
    return int(least + (most - least) * share)


_NAMES = (
    ("lat", partial(_degrees, -90.0, 90.0)),
    ("lon", partial(_degrees, -180.0, 180.0)),
    ("height", partial(_whole, 0, 10_000)),
    ("speed", partial(_whole, 0, 10_000)),
    ("minute", partial(_whole, 0, 10_080)),
)


def _boxes(dimensions: int, with_category: bool, size: Size, rng: random.Random) -> Iterator[bytes]:
    names = [(condition_head(name, Op.BETWEEN, 2), scaled) for name, scaled in _NAMES[:dimensions]]
    category = [[condition("category", Op.EQ, each)] for each in _CATEGORIES] if with_category else [[]]
    side = min(_HITS * len(category) / size.filters, 1.0) ** (1 / dimensions)
    for _ in range(size.filters):
        parts = list(category[int(rng.random() * len(category))])
        for head, scaled in names:
            length = side * (0.5 + rng.random())
            low = rng.random() * max(1 - length, 0)
            parts.append(head + pack(scaled(low)) + pack(scaled(min(low + length, 1))))
        yield conjunction(*parts)


def _positions(size: Size, rng: random.Random) -> Iterator[bytes]:
    vehicle, category = pack("vehicle"), pack("category")
    for _ in range(size.messages):
        here = (pack(name) + pack(scaled(rng.random())) for name, scaled in _NAMES)
        what = category + pack(rng.choice(_CATEGORIES))
        yield message(rng, *here, what, vehicle + pack(f"bus-{rng.randrange(10**6)}"))


def _geo(about: str, dimensions: int, with_category: bool = False) -> Kind:
    return Kind(about, f"about {_HITS}", partial(_boxes, dimensions, with_category), _positions)


GEO = _geo("An app that shows events near a place: rectangles of latitude and longitude.", 2)
GEO_CATEGORY = _geo("An app for one kind of place: a rectangle and one of 20 categories.", 2, with_category=True)
GEO_3 = _geo("A flight control that watches a volume: a rectangle and a range of heights.", 3)
GEO_4 = _geo("A flight control as above, with a range of speeds.", 4)
GEO_5 = _geo("A flight control as above, with hours of the week: ranges on five names.", 5)


# --- paper 001 -------------------------------------------------------------------------------------------------------

_PAPER_NAMES = tuple(f"x{k}" for k in range(1, 6))


def _fraction(share: float) -> Value:
    return round(share, 9)  # a bound with all its digits has a shorter neighbour, which the normal form would choose


def _paper_boxes(density: float, size: Size, rng: random.Random) -> Iterator[bytes]:
    heads = [condition_head(name, Op.BETWEEN, 2) for name in _PAPER_NAMES]
    length = density ** (1 / len(heads))
    for _ in range(size.filters):
        lows = (rng.random() * (1 - length) for _ in heads)
        yield conjunction(
            *(
                head + pack(_fraction(low)) + pack(_fraction(low + length))
                for head, low in zip(heads, lows, strict=True)
            )
        )


def _paper_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    for _ in range(size.messages):
        yield message(rng, *(pack(name) + pack(_fraction(rng.random())) for name in _PAPER_NAMES))


BOXES = Kind(
    about="Paper 001: five intervals of one length at random places; a message lies in 0.1 % of them.",
    hits="about F / 1,000",
    filters=partial(_paper_boxes, 0.001),
    messages=_paper_messages,
)
BOXES_DENSE = Kind(
    about="Paper 001 at its densest: a message lies in 20 % of all boxes.",
    hits="about F / 5",
    filters=partial(_paper_boxes, 0.2),
    messages=_paper_messages,
    messages_measured=(300, 30),
)

PLACES = {"geo": GEO, "geo-category": GEO_CATEGORY, "geo-3": GEO_3, "geo-4": GEO_4, "geo-5": GEO_5}
PLACES |= {"boxes": BOXES, "boxes-dense": BOXES_DENSE}
