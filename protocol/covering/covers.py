"""Covering: a covers b if every message that matches b matches a.

Law: True is always right. False is exact for one constraint against one on each attribute, and for any number of
ranges, sets and prefixes; it may be wrong where suffixes and substrings meet those on one attribute (`>= "a"` and
`suffix "b"` imply `> "a"`), and between predicates, where one filter of p must cover all of a filter of q. Attributes
are independent, so covering is decided attribute by attribute (`_regions.includes`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol._regions import Region, includes
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import Filter, Predicate
from tamis.protocol.normal import regions_of

Regions = Mapping[str, Region]


def covers(a: Filter, b: Filter) -> bool:
    """Return whether every message that matches `b` matches `a`. A filter that never matches is covered by every
    filter."""
    narrow = _regions_or_none(b)
    if narrow is None:
        return True
    wide = _regions_or_none(a)
    return wide is not None and regions_cover(wide, narrow)


def covers_normal(a: Filter, b: Filter) -> bool:
    """Return the result of `covers` for two normal forms. This is faster: an attribute that `a` names and `b` does not
    decides."""
    if not {constraint.name for constraint in a.constraints} <= {constraint.name for constraint in b.constraints}:
        return False
    return a == b or regions_cover(regions_of(a), regions_of(b))


def regions_cover(a: Regions, b: Regions) -> bool:
    """Return the result of `covers` for two filters given by their regions, as the index stores them."""
    if not a.keys() <= b.keys():
        return False
    for name, region in a.items():
        other = b[name]
        if region is not other and not includes(region, other):
            return False
    return True


def predicate_covers(p: Predicate, q: Predicate) -> bool:
    """Return whether every message that matches `q` matches `p`. True is always right; false may be wrong where only
    several filters of `p` together cover one of `q`."""
    wide = [regions for filter_ in p.filters if (regions := _regions_or_none(filter_)) is not None]
    narrow = [regions for filter_ in q.filters if (regions := _regions_or_none(filter_)) is not None]
    return all(any(regions_cover(a, b) for a in wide) for b in narrow)


def _regions_or_none(filter_: Filter) -> Regions | None:
    try:
        return regions_of(filter_)
    except NeverMatches:
        return None
