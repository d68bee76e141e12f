"""The values that a conjunction admits for one attribute: the basis of the normal form, covering and merging.

    Region   Finite   a set of values
             Broad    absent or not, some booleans, a Part of the numbers, a Part of the strings
    Part     an interval, minus holes, and for strings a suffix, substrings, and suffixes and substrings ruled out

Law: a region admits exactly the values that its constraints admit. Parts are tidy: no component follows from the
others, and an empty part is None. Tidying detects every contradiction of numbers and of intervals, but only pairwise
contradictions of patterns: None means empty, any other part may still be empty. Callers use emptiness only where an
undetected one is harmless: a filter is not removed, a covering is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce

from tamis.protocol import _intervals as intervals
from tamis.protocol._intervals import ALL_NUMBERS, ALL_STRINGS, Interval, at, common_prefix
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.values import Value, ValueKind, identity, kind_of

_FINITE_RUN_MAX = 16
"""The most consecutive strings, such as "a", "a\\0", "a\\0\\0", that are listed one by one; longer runs stay
intervals."""

_KNOWN_REGIONS_MAX = 4_096
"""Regions of single constraints kept in a cache. With the longest operands they take some 20 MB."""

_BOTH = frozenset({False, True})


@dataclass(frozen=True, slots=True)
class OrderedPart:
    """Values of one ordered kind. The patterns are those of strings; numbers leave them empty."""

    interval: Interval
    holes: tuple[Interval, ...] = ()
    suffix: str = ""
    contains: tuple[str, ...] = ()
    not_suffixes: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()
    has_patterns: bool = field(init=False, repr=False, compare=False)
    is_plain: bool = field(init=False, repr=False, compare=False)  # has only the interval

    def __post_init__(self) -> None:
        # Stored, because inclusion reads it far more often than parts are made.
        has_patterns = bool(self.suffix or self.contains or self.not_suffixes or self.not_contains)
        object.__setattr__(self, "has_patterns", has_patterns)
        object.__setattr__(self, "is_plain", not has_patterns and not self.holes)

    @property
    def excludes_empty_text(self) -> bool:
        """Whether patterns exclude the empty string: `suffix "a"` and `contains "a"` both do, for any interval."""
        return self.has_patterns and not self._admits_text("")

    def admits(self, value: Value) -> bool:
        if value not in self.interval:
            return False
        if self.is_plain:
            return True
        if any(value in hole for hole in self.holes):
            return False
        return not self.has_patterns or self._admits_text(str(value))

    def _admits_text(self, text: str) -> bool:
        return (
            text.endswith(self.suffix)
            and all(piece in text for piece in self.contains)
            and not any(piece in text for piece in self.not_contains)
            and not any(text.endswith(suffix) for suffix in self.not_suffixes)
        )

    def implies_contains(self, piece: str) -> bool:
        known = (common_prefix(self.interval), self.suffix, *self.contains)
        return any(piece in text for text in known)


@dataclass(frozen=True, slots=True)
class Finite:
    """The attribute is present and has one of these values."""

    values: dict[tuple[int, Value], Value]

    def admits(self, value: Value) -> bool:
        return identity(value) in self.values


@dataclass(frozen=True, slots=True)
class Broad:
    """The attribute is absent, if that is allowed, or has a value of a part that is not None."""

    absent: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: OrderedPart | None = None
    strings: OrderedPart | None = None

    def admits(self, value: Value) -> bool:
        if isinstance(value, bool):
            return value in self.booleans
        part = self.strings if isinstance(value, str) else self.numbers
        return part is not None and part.admits(value)

    def part(self, kind: ValueKind) -> OrderedPart | None:
        return self.numbers if kind is ValueKind.NUMBER else self.strings

    @property
    def only_part(self) -> OrderedPart | None:
        """The part, if the attribute must be present and of that kind; else None."""
        if self.absent or self.booleans or (self.numbers is not None and self.strings is not None):
            return None
        return self.strings if self.numbers is None else self.numbers


Region = Finite | Broad

_ANY_NUMBER = OrderedPart(ALL_NUMBERS)
_ANY_STRING = OrderedPart(ALL_STRINGS)
PRESENT = Broad(False, _BOTH, _ANY_NUMBER, _ANY_STRING)
UNIVERSE = replace(PRESENT, absent=True)


# --- from constraints to a region ------------------------------------------------------------------------------


def region_of(constraints: Sequence[Constraint]) -> Region | None:
    """Return the region of a conjunction of constraints on one attribute; None if it is empty."""
    if len(constraints) == 1 and len(constraints[0].operands) <= 1:
        constraint = constraints[0]
        return _region_of_one(constraint.op, constraint.negated, *constraint.operands)
    return _region_of_all(constraints)


# Most attributes have one short constraint, and few different operands occur. Filters then share
# their regions, which saves most of their memory and lets covering begin with `is`.
@lru_cache(maxsize=_KNOWN_REGIONS_MAX, typed=True)  # typed: 1 == True
def _region_of_one(op: Op, negated: bool, *operands: Value) -> Region | None:
    return _region_of_all([Constraint("any", op, operands, negated)])


def _region_of_all(constraints: Sequence[Constraint]) -> Region | None:
    regions = [_one(constraint) for constraint in constraints]
    finite = [region for region in regions if isinstance(region, Finite)]
    if finite:
        return _finite(_admitted_by_all(finite, constraints))
    broad = reduce(_meet, (region for region in regions if isinstance(region, Broad)), UNIVERSE)
    broad = Broad(broad.absent, broad.booleans, tidy(broad.numbers), tidy(broad.strings))
    few = None if broad.absent else _few_values(broad)
    return broad if few is None else _finite(few)


def _admitted_by_all(finite: Sequence[Finite], constraints: Sequence[Constraint]) -> Iterator[Value]:
    """Yield the values of every finite region that the other constraints admit. Values that are left out are looked up
    in a set: there may be thousands."""
    first, *rest = sorted(finite, key=lambda region: len(region.values))
    others: list[Region] = [*rest]
    left_out: set[tuple[int, Value]] = set()
    for constraint in constraints:
        if constraint.negated and constraint.op in (Op.EQ, Op.IN):
            left_out.update(map(identity, constraint.operands))
        elif isinstance(region := _one(constraint), Broad):
            others.append(region)
    for key, value in first.values.items():
        if key not in left_out and all(region.admits(value) for region in others):
            yield value


def _finite(values: Iterable[Value]) -> Finite | None:
    return Finite(found) if (found := {identity(value): value for value in values}) else None


def _few_values(broad: Broad) -> list[Value] | None:
    """Return every value of `broad` if its intervals are a single number or a short run of strings; None if it has
    more."""
    found: list[Value] = sorted(broad.booleans)
    for part in (broad.numbers, broad.strings):
        if part is None:
            continue
        if not part.interval.is_single and not _is_short_run(part.interval):
            return None
        found += [value for value in part.interval.values() if part.admits(value)]
    return found


def _is_short_run(interval: Interval) -> bool:
    low, high = interval.low, interval.high
    if not isinstance(low, str) or not isinstance(high, str) or len(high) - len(low) > _FINITE_RUN_MAX:
        return False
    return high == low.ljust(len(high), "\0")


def _one(constraint: Constraint) -> Region:
    """Return the region of one constraint, not tidied."""
    op, operands = constraint.op, constraint.operands
    if op is Op.EXISTS:
        return Broad(absent=True) if constraint.negated else PRESENT
    if op in (Op.EQ, Op.IN):
        return _without(operands) if constraint.negated else Finite({identity(value): value for value in operands})
    if op is Op.NE:
        return _one_of_kind(operands[0], constraint.negated)
    part = _NEGATED_PARTS[op](*operands) if constraint.negated else _PARTS[op](*operands)
    return _with_part(UNIVERSE if constraint.negated else Broad(), operands[0], part)


def _without(operands: tuple[Value, ...]) -> Broad:
    """Return the region of all values except `operands`, and of absence."""
    found = UNIVERSE
    for kind, whole in ((ValueKind.NUMBER, ALL_NUMBERS), (ValueKind.STRING, ALL_STRINGS)):
        if chosen := [value for value in operands if kind_of(value) is kind]:
            found = _with_part(found, chosen[0], OrderedPart(whole, tuple(at(value) for value in chosen)))
    return replace(found, booleans=_BOTH.difference(value for value in operands if isinstance(value, bool)))


def _one_of_kind(value: Value, negated: bool) -> Broad:
    """Return the region of `!= value`; with `negated` the region of its negation: the value itself, another kind, or
    absence."""
    if isinstance(value, bool):
        return replace(UNIVERSE, booleans=frozenset({value})) if negated else Broad(booleans=_BOTH - {value})
    if negated:
        return _with_part(UNIVERSE, value, OrderedPart(at(value)))
    return _with_part(Broad(), value, OrderedPart(intervals.everything_like(value), (at(value),)))


def _with_part(region: Broad, like: Value, part: OrderedPart) -> Broad:
    if isinstance(like, str):
        return Broad(region.absent, region.booleans, region.numbers, part)
    return Broad(region.absent, region.booleans, part, region.strings)


_PARTS: dict[Op, Callable[..., OrderedPart]] = {
    Op.LT: lambda value: OrderedPart(intervals.below(value)),
    Op.LE: lambda value: OrderedPart(intervals.up_to(value)),
    Op.GT: lambda value: OrderedPart(_above(value)),
    Op.GE: lambda value: OrderedPart(Interval(value)),
    Op.BETWEEN: lambda low, high: OrderedPart(Interval(low, intervals.successor(high))),
    Op.PREFIX: lambda prefix: OrderedPart(intervals.starting_with(prefix)),
    Op.SUFFIX: lambda suffix: OrderedPart(ALL_STRINGS, suffix=suffix),
    Op.CONTAINS: lambda piece: OrderedPart(ALL_STRINGS, contains=(piece,)),
}
_NEGATED_PARTS: dict[Op, Callable[..., OrderedPart]] = {
    Op.LT: _PARTS[Op.GE],
    Op.LE: _PARTS[Op.GT],
    Op.GT: _PARTS[Op.LE],
    Op.GE: _PARTS[Op.LT],
    Op.BETWEEN: lambda low, high: OrderedPart(
        intervals.everything_like(low), (Interval(low, intervals.successor(high)),)
    ),
    Op.PREFIX: lambda prefix: OrderedPart(ALL_STRINGS, (intervals.starting_with(prefix),)),
    Op.SUFFIX: lambda suffix: OrderedPart(ALL_STRINGS, not_suffixes=(suffix,)),
    Op.CONTAINS: lambda piece: OrderedPart(ALL_STRINGS, not_contains=(piece,)),
}


def _above(value: Value) -> Interval:
    after = intervals.successor(value)
    # No value is above the largest number: return an empty interval.
    return Interval(value, value) if after is None else Interval(after)


# --- meeting and tidying ---------------------------------------------------------------------------------------


def _meet(a: Broad, b: Broad) -> Broad:
    return Broad(
        a.absent and b.absent,
        a.booleans & b.booleans,
        meet_parts(a.numbers, b.numbers),
        meet_parts(a.strings, b.strings),
    )


def meet_parts(a: OrderedPart | None, b: OrderedPart | None) -> OrderedPart | None:
    """Return the part that both parts admit, not tidied; None if their intervals or suffixes exclude each other."""
    if a is None or b is None:
        return None
    longer, shorter = (a.suffix, b.suffix) if len(a.suffix) >= len(b.suffix) else (b.suffix, a.suffix)
    if not longer.endswith(shorter):
        return None
    return OrderedPart(
        a.interval.meet(b.interval),
        a.holes + b.holes,
        longer,
        a.contains + b.contains,
        a.not_suffixes + b.not_suffixes,
        a.not_contains + b.not_contains,
    )


def tidy(part: OrderedPart | None) -> OrderedPart | None:
    """Return a part with equal values in which no component follows from the others; None if a contradiction is
    detected."""
    if part is None or part.interval.is_empty:
        return None
    if part.is_plain:
        return part
    # 1. Exclude the empty string if a pattern excludes it. (Other strings that fail a pattern stay in the interval.)
    if part.interval.low == "" and part.excludes_empty_text:
        part = replace(part, interval=Interval("\0", part.interval.high))
    # 2. Remove holes that patterns already exclude, before holes move the ends of the interval.
    holes = [hole for hole in part.holes if not _patterns_exclude(part, hole)]
    # 3. Holes at the ends become ends of the interval.
    interval = _trimmed(part.interval, holes)
    if interval.is_empty:
        return None
    part = replace(part, interval=interval, holes=_largest(holes, interval))
    # 4. With a single value left, the other components only decide whether it is admitted.
    if interval.is_single:
        return OrderedPart(interval) if part.admits(interval.low) else None
    return _with_tidy_patterns(part) if part.has_patterns else part


def _patterns_exclude(part: OrderedPart, hole: Interval) -> bool:
    if not part.has_patterns:
        return False
    start = common_prefix(hole)
    if any(piece in start for piece in part.not_contains):
        return True
    return hole.is_single and not replace(part, interval=ALL_STRINGS, holes=()).admits(start)


def _trimmed(interval: Interval, holes: Sequence[Interval]) -> Interval:
    """Return `interval` cut by the holes that reach one of its ends, until no hole does."""
    for hole in _from_low(holes):  # in this order a hole that is passed over never reaches the end later
        if interval.low in hole:
            # An unbounded hole contains the rest of the interval: make it empty.
            empty = Interval(interval.low, interval.low)
            interval = empty if hole.high is None else Interval(hole.high, interval.high)
        if interval.is_empty:
            return interval
    for hole in sorted(holes, key=_end, reverse=True):
        if hole.meets(interval) and Interval(hole.low, interval.high).within(hole):
            interval = Interval(interval.low, hole.low)
    return interval


def _largest(holes: Iterable[Interval], interval: Interval) -> tuple[Interval, ...]:
    """Return the holes that lie inside `interval` and inside no other hole, in order."""
    kept: list[Interval] = []
    for hole in _from_low(hole for hole in holes if hole.meets(interval)):
        # Those before it begin no later, and of those the last one kept ends last.
        if not kept or not hole.within(kept[-1]):
            kept.append(hole)
    return tuple(kept)


def _from_low(holes: Iterable[Interval]) -> list[Interval]:
    """Return intervals by their lowest value; of equal ones the longest first."""
    return sorted(sorted(holes, key=_end, reverse=True), key=lambda hole: hole.low)


def _end(interval: Interval) -> tuple[bool, Value]:
    return (True, interval.low) if interval.high is None else (False, interval.high)


def _with_tidy_patterns(part: OrderedPart) -> OrderedPart | None:
    start = common_prefix(part.interval)
    known = (start, part.suffix, *part.contains)
    if any(piece in text for piece in part.not_contains for text in known):
        return None
    if any(part.suffix.endswith(suffix) for suffix in part.not_suffixes):
        return None
    contains = _minimal(part.contains, lambda piece, other: piece in other)
    not_contains = _minimal(part.not_contains, lambda piece, other: other in piece)
    not_suffixes = _minimal(part.not_suffixes, lambda suffix, other: suffix.endswith(other))
    return replace(
        part,
        contains=tuple(piece for piece in contains if piece not in start and piece not in part.suffix),
        not_contains=not_contains,
        not_suffixes=tuple(
            suffix
            for suffix in not_suffixes
            if suffix.endswith(part.suffix) and not any(piece in suffix for piece in not_contains)
        ),
    )


def _minimal(texts: Iterable[str], follows: Callable[[str, str], bool]) -> tuple[str, ...]:
    """Return `texts` in order, without those that follow from another."""
    distinct = set(texts)
    return tuple(sorted(t for t in distinct if not any(t != other and follows(t, other) for other in distinct)))


# --- inclusion -------------------------------------------------------------------------------------------------


def includes(a: Region, b: Region) -> bool:
    """Return whether `a` admits every value that `b` admits. True is always right; false may be wrong."""
    if isinstance(b, Finite):
        if isinstance(a, Finite):
            return b.values.keys() <= a.values.keys()
        for value in b.values.values():  # noqa: SIM110  hot loop of the index; a generator costs twice as much
            if not a.admits(value):
                return False
        return True
    if isinstance(a, Finite):
        return _lists(a, b)
    return (
        (a.absent or not b.absent)
        and b.booleans <= a.booleans
        and _part_includes(a.numbers, b.numbers)
        and _part_includes(a.strings, b.strings)
    )


def _lists(a: Finite, b: Broad) -> bool:
    """Return whether `b` is of one kind and has few values, all of them in `a`: a short range may equal a
    list."""
    part = b.only_part
    return part is not None and all(a.admits(value) for value in _outside_holes(part))


def _outside_holes(part: OrderedPart) -> Iterator[Value]:
    """Yield the values outside the holes, upwards. A hole is skipped in one step, since a hole of strings may have no
    last value."""
    value: Value | None = part.interval.low
    while value is not None and value in part.interval:
        hole = next((hole for hole in part.holes if value in hole), None)
        if hole is None:
            yield value
        value = intervals.successor(value) if hole is None else hole.high


def _part_includes(a: OrderedPart | None, b: OrderedPart | None) -> bool:
    if b is None or a is b:
        return True
    if a is None:
        return False
    if not b.interval.within(a.interval):
        return False
    if a.is_plain:
        return True
    if b.interval.is_single:
        return a.admits(b.interval.low)
    for hole in a.holes:
        if hole.meets(b.interval) and (b.is_plain or tidy(meet_parts(b, OrderedPart(hole))) is not None):
            return False
    return not a.has_patterns or _patterns_include(a, b)


def _patterns_include(a: OrderedPart, b: OrderedPart) -> bool:
    if not b.suffix.endswith(a.suffix) or not all(b.implies_contains(piece) for piece in a.contains):
        return False
    ruled_out = [OrderedPart(ALL_STRINGS, suffix=suffix) for suffix in a.not_suffixes]
    ruled_out += [OrderedPart(ALL_STRINGS, contains=(piece,)) for piece in a.not_contains]
    return all(tidy(meet_parts(b, part)) is None for part in ruled_out)
