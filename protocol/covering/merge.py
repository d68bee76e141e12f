"""Merging: one filter that covers two, as tight as one filter can easily be.

Law: the merged filter covers both. An attribute that only one of them constrains is free in it. For the others:

    one region includes the other   the wider
    two sets of values              their union, up to VALUES_MAX; beyond, as below
    one kind                        the hull of the ranges, the shared prefix, the shared suffix
    several kinds                   `exists`
    in any case                     every constraint of one that the other implies
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.protocol import _intervals as intervals
from tamis.protocol import limits
from tamis.protocol._intervals import Interval, at, shared_length
from tamis.protocol._regions import PRESENT, UNIVERSE, Broad, Finite, OrderedPart, Region, includes, region_of, tidy
from tamis.protocol.covering.covers import regions_cover
from tamis.protocol.covering.shares import share_of
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import Constraint, Filter
from tamis.protocol.normal import normalize, regions_of, spell_region
from tamis.protocol.values import Value, ValueKind, kind_of

VALUES_MAX = 16
"""Values that a merged set may have at most. A range is shorter to send than more of them, and as quick to match."""

_LEAST_WIDENING = 1e-6
"""The least widening of a merge that admits anything new, however small the estimate is."""


@dataclass(frozen=True, slots=True)
class Merged:
    """`widening` is the share of what `filter` admits that neither original does, estimated for messages spread evenly
    (`shares.py`); 0.0 is exact."""

    filter: Filter
    widening: float


def merge(a: Filter, b: Filter, widenings: tuple[float, float] = (0.0, 0.0)) -> Merged:
    """Return a normal form that covers both. A filter that never matches adds nothing; two of them raise NeverMatches.
    `widenings` are those of the originals, where they are merged filters themselves; they count in the result."""
    try:
        narrow = regions_of(b)
    except NeverMatches:
        return Merged(normalize(a), widenings[0])
    try:
        wide = regions_of(a)
    except NeverMatches:
        return Merged(normalize(b), widenings[1])
    if regions_cover(wide, narrow):
        return Merged(normalize(a), widenings[0])
    if regions_cover(narrow, wide):
        return Merged(normalize(b), widenings[1])
    constraints: list[Constraint] = []
    for name in wide.keys() & narrow.keys():
        constraints += spell_region(name, _join(name, wide[name], narrow[name]))
    constraints.sort(key=lambda constraint: constraint.identity)
    # A filter with one conjunct less is wider, so those that it has no room for can be left out.
    merged = normalize(Filter(tuple(constraints[: limits.CONSTRAINTS_MAX])))
    return Merged(merged, _widening(wide, narrow, regions_of(merged), widenings))


# --- one attribute ---------------------------------------------------------------------------------------------


def _join(name: str, a: Region, b: Region) -> Region:
    if includes(a, b):
        return a
    if includes(b, a):
        return b
    if isinstance(a, Finite) and isinstance(b, Finite) and len(a.values | b.values) <= VALUES_MAX:
        return Finite(dict(sorted((a.values | b.values).items())))
    kept = [constraint for constraint in spell_region(name, a) if _implies(b, constraint)]
    kept += [constraint for constraint in spell_region(name, b) if _implies(a, constraint)]
    kept += spell_region(name, _hull(a, b))
    # Both originals imply every constraint kept, so together they are no contradiction.
    return region_of(kept) or UNIVERSE


def _implies(region: Region, constraint: Constraint) -> bool:
    wider = region_of([constraint])
    return wider is not None and includes(wider, region)


def _hull(a: Region, b: Region) -> Region:
    ours, theirs = _only_part(a), _only_part(b)
    if ours is not None and theirs is not None and _kind(ours) is _kind(theirs):
        suffix = _shared_suffix(ours.suffix, theirs.suffix)
        hull = tidy(OrderedPart(_interval_hull(ours.interval, theirs.interval), suffix=suffix))
        return Broad(numbers=hull) if _kind(ours) is ValueKind.NUMBER else Broad(strings=hull)
    return UNIVERSE if _may_be_absent(a) or _may_be_absent(b) else PRESENT


def _only_part(region: Region) -> OrderedPart | None:
    """Return the part of a region of one ordered kind: for a set, the range that it spans and the suffix that it
    shares."""
    if isinstance(region, Broad):
        return region.only_part
    values: list[Value] = list(region.values.values())
    first, last = values[0], values[-1]
    if kind_of(first) is not kind_of(last) or isinstance(first, bool):
        return None
    suffix = str(first) if isinstance(first, str) else ""
    for value in values:
        suffix = _shared_suffix(suffix, str(value)) if suffix else ""
    return OrderedPart(at(first).hull(at(last)), suffix=suffix)


def _interval_hull(a: Interval, b: Interval) -> Interval:
    if _is_prefix(a) and _is_prefix(b):
        low, other = str(a.low), str(b.low)
        return intervals.starting_with(low[: shared_length(low, other)])
    return a.hull(b)


def _is_prefix(interval: Interval) -> bool:
    return isinstance(interval.low, str) and interval == intervals.starting_with(interval.low)


def _shared_suffix(a: str, b: str) -> str:
    length = shared_length(a[::-1], b[::-1])
    return a[len(a) - length :]


def _kind(part: OrderedPart) -> ValueKind:
    return kind_of(part.interval.low)


def _may_be_absent(region: Region) -> bool:
    return isinstance(region, Broad) and region.absent


# --- the widening --------------------------------------------------------------------------------------------------


def _widening(
    a: Mapping[str, Region], b: Mapping[str, Region], merged: Mapping[str, Region], widenings: tuple[float, float]
) -> float:
    """Return the share of `merged` that is in neither of the parts of `a` and `b` that are not widenings. The meet of
    the two counts as needed once at most, so the estimate errs to the high side."""
    is_exact = _is_exact(a, b, merged)
    if is_exact and widenings == (0.0, 0.0):
        return 0.0
    one, other = ((1.0 - own) * share_of(each, merged) for each, own in zip((a, b), widenings, strict=True))
    needed = max(one, other, one + other - _meet_share(a, b, merged))
    return min(1.0, max(0.0 if is_exact else _LEAST_WIDENING, 1.0 - needed))


def _meet_share(a: Mapping[str, Region], b: Mapping[str, Region], merged: Mapping[str, Region]) -> float:
    met: dict[str, Region] = {}
    for name in a.keys() | b.keys():
        spelled = [constraint for side in (a, b) if name in side for constraint in spell_region(name, side[name])]
        region = region_of(spelled)
        if region is None:
            return 0.0
        met[name] = region
    return share_of(met, merged)


def _is_exact(a: Mapping[str, Region], b: Mapping[str, Region], merged: Mapping[str, Region]) -> bool:
    """Return whether `merged` admits nothing new: `a` and `b` differ in one attribute, and nothing lies between them
    there."""
    differing = [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
    if len(differing) != 1:
        return False
    name = differing[0]
    return _is_filled(merged.get(name, UNIVERSE), a.get(name, UNIVERSE), b.get(name, UNIVERSE))


def _is_filled(merged: Region, a: Region, b: Region) -> bool:
    if isinstance(merged, Finite):
        return True
    both = (a, b)
    if merged.absent and not any(_may_be_absent(region) for region in both):
        return False
    if not all(any(region.admits(value) for region in both) for value in merged.booleans):
        return False
    return all(_is_part_filled(merged, a, b, kind) for kind in (ValueKind.NUMBER, ValueKind.STRING))


def _is_part_filled(merged: Broad, a: Region, b: Region, kind: ValueKind) -> bool:
    part = merged.part(kind)
    if part is None or any(isinstance(region, Broad) and region.part(kind) == part for region in (a, b)):
        return True
    pieces = tuple(_pieces(a, kind) + _pieces(b, kind))
    return tidy(OrderedPart(part.interval, part.holes + pieces)) is None


def _pieces(region: Region, kind: ValueKind) -> list[Interval]:
    """Return the intervals between the holes; none if patterns leave out more."""
    if isinstance(region, Finite):
        return [at(value) for value in region.values.values() if kind_of(value) is kind]
    part = region.part(kind)
    if part is None or part.has_patterns:
        return []
    rest, pieces = part.interval, []
    for hole in part.holes:
        pieces.append(Interval(rest.low, hole.low))
        rest = Interval(rest.low if hole.high is None else hole.high, rest.high)
    return [*pieces, rest]
