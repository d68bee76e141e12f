"""Intervals over the two ordered kinds, in one form: the lowest value included, the end excluded.

Law: two intervals with equal values are equal objects. This form is unique because every value has a successor:
numbers are the 64-bit integers and the finite doubles, a finite list, and the successor of the string s is s + "\\0".
Strings have no predecessors (no string is directly below "b"), so the upper end is excluded. Nested prefixes such as
"a" and "a\\U0010ffff" have equal ends; only their lowest values distinguish them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tamis.protocol.values import Value, canonical

Number = int | float

LOWEST_NUMBER: Number = -sys.float_info.max
HIGHEST_NUMBER: Number = sys.float_info.max
LOWEST_STRING = ""
_TOP_CHARACTER = "\U0010ffff"
_INTEGERS_END = 2**63  # it is the double 2.0**63, so the numbers are symmetric around zero


@dataclass(frozen=True, slots=True)
class Interval:
    """All values of one kind from `low` on and below `high`; unbounded if `high` is None."""

    low: Value
    high: Value | None = None

    def __contains__(self, value: Value) -> bool:
        return self.low <= value and (self.high is None or value < self.high)  # type: ignore[operator]

    @property
    def is_empty(self) -> bool:
        return self.high is not None and self.high <= self.low  # type: ignore[operator]

    @property
    def is_single(self) -> bool:
        return self.high == successor(self.low)

    def within(self, other: Interval) -> bool:
        if self.low < other.low:  # type: ignore[operator]
            return False
        return other.high is None or (self.high is not None and self.high <= other.high)  # type: ignore[operator]

    def meets(self, other: Interval) -> bool:
        return _is_below(self.low, other.high) and _is_below(other.low, self.high)

    def meet(self, other: Interval) -> Interval:
        low = max(self.low, other.low)
        return Interval(low, self.high if _is_below(self.high, other.high) else other.high)

    def hull(self, other: Interval) -> Interval:
        low = min(self.low, other.low)
        return Interval(low, other.high if _is_below(self.high, other.high) else self.high)

    def values(self) -> Iterator[Value]:
        """Yield the values from `low` upwards; most intervals have too many to list."""
        value: Value | None = self.low
        while value is not None and value in self:
            yield value
            value = successor(value)


ALL_NUMBERS = Interval(LOWEST_NUMBER)
ALL_STRINGS = Interval(LOWEST_STRING)


def at(value: Value) -> Interval:
    """Return the interval that contains only `value`."""
    return Interval(value, successor(value))


def up_to(value: Value) -> Interval:
    return Interval(lowest_like(value), successor(value))


def below(value: Value) -> Interval:
    return Interval(lowest_like(value), value)


def starting_with(prefix: str) -> Interval:
    return Interval(prefix, prefix_end(prefix))


def lowest_like(value: Value) -> Value:
    return LOWEST_STRING if isinstance(value, str) else LOWEST_NUMBER


def everything_like(value: Value) -> Interval:
    return ALL_STRINGS if isinstance(value, str) else ALL_NUMBERS


def successor(value: Value) -> Value | None:
    """Return the next value of this kind; None after the largest number."""
    if isinstance(value, str):
        return value + "\0"
    nearest = float(value)
    above = nearest if nearest > value else math.nextafter(nearest, math.inf)
    if -_INTEGERS_END <= value < _INTEGERS_END and (whole := math.floor(value) + 1) < above:
        return whole
    return canonical(above) if math.isfinite(above) else None


def predecessor(number: Number) -> Number:
    """Return the number before `number`, which must not be the lowest. Strings have none, unless they end in "\\0"."""
    opposite = successor(-number)
    if opposite is None:
        raise ValueError(f"no number is below {number}")
    before = -opposite  # type: ignore[operator]
    return float(before) if before == _INTEGERS_END else canonical(before)  # type: ignore[return-value]


def prefix_end(prefix: str) -> str | None:
    """Return the first string above all that start with `prefix`; None if there is none."""
    stem = prefix.rstrip(_TOP_CHARACTER)
    if not stem:
        return None
    code = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if code == 0xD800 else code)


def prefix_before(end: str) -> str | None:
    """Return the shortest prefix whose strings all lie below `end` and reach up to it; None if there is none."""
    code = ord(end[-1])
    return None if code == 0 else end[:-1] + chr(0xD7FF if code == 0xE000 else code - 1)


def common_prefix(interval: Interval) -> str:
    """Return the longest prefix that all strings of `interval` share."""
    low, high = str(interval.low), interval.high
    length = 0 if high is None else shared_length(low, str(high))
    if length < len(low) and (high is None or prefix_end(low[: length + 1]) == high):
        length += high is not None
        while length < len(low) and low[length] == _TOP_CHARACTER:
            length += 1
    return low[:length]


def shared_length(a: str, b: str) -> int:
    """Return how many characters `a` and `b` share at the start."""
    for place, (ours, theirs) in enumerate(zip(a, b, strict=False)):
        if ours != theirs:
            return place
    return min(len(a), len(b))


def _is_below(a: Value | None, b: Value | None) -> bool:
    """Return whether a < b, where None is above every value."""
    return a is not None and (b is None or a < b)  # type: ignore[operator]
