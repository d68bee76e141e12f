"""The share of a wide region that a narrower one admits, if the messages that the wide one admits are spread evenly.

Law: a share is between 0 and 1, and 1 for the whole. It is an estimate that a router compares with a limit; no result
about messages follows from it. Spread evenly means:

    a set of values            each value the same share
    numbers between two ends   by length; one value is a unit of length if it is an integer, else a thousandth of all
    numbers with one end       likewise: up to twice the farthest end that one of the filters names, and down to zero if
                               all that they name are positive
    all numbers                by the length of log(1 + |x|), up to 2**63
    strings                    by their bytes, so a prefix longer by one byte leaves a 256th; a character more of a
                               suffix leaves a twentieth, as does one of a substring, which may stand in four places
    several kinds of values    a tenth of the messages with the attribute have a boolean, the others a number or a
                               string in equal parts; half of the messages lack the attribute, where that is allowed

Holes are subtracted from numbers; strings ruled out are not worth counting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from tamis.protocol._intervals import Interval, at, common_prefix
from tamis.protocol._regions import UNIVERSE, Broad, Finite, OrderedPart, Region
from tamis.protocol.values import Value, ValueKind, kind_of

_KIND_WEIGHT = {ValueKind.BOOLEAN: 0.1, ValueKind.NUMBER: 0.45, ValueKind.STRING: 0.45}
_ABSENT_WEIGHT = 1.0
_ORDERED = (ValueKind.NUMBER, ValueKind.STRING)
_VALUE_SHARE = 0.001
_CHARACTER_SHARE = 0.05
_PLACES = 4
_LOG_END = math.log1p(2.0**63)
_BOUNDED = 1e300
"""A lower end below the negative of this stands for none."""


def share_of(narrow: Mapping[str, Region], wide: Mapping[str, Region]) -> float:
    """Return the share of the messages of filter `wide` that filter `narrow`, which it covers, admits."""
    return math.prod(_region_share(region, wide.get(name, UNIVERSE)) for name, region in narrow.items())


def _region_share(narrow: Region, wide: Region) -> float:
    if narrow == wide:
        return 1.0
    if isinstance(wide, Finite):
        return sum(narrow.admits(value) for value in wide.values.values()) / len(wide.values)
    kinds = [kind for kind in _ORDERED if wide.part(kind) is not None]
    boolean_weight = _KIND_WEIGHT[ValueKind.BOOLEAN] * len(wide.booleans) / 2
    total = boolean_weight + sum(_KIND_WEIGHT[kind] for kind in kinds) + _ABSENT_WEIGHT * wide.absent
    admitted = _ABSENT_WEIGHT * (isinstance(narrow, Broad) and narrow.absent)
    admitted += _KIND_WEIGHT[ValueKind.BOOLEAN] / 2 * sum(narrow.admits(value) for value in wide.booleans)
    for kind in kinds:
        part = wide.part(kind)
        if part is not None:
            admitted += _KIND_WEIGHT[kind] * _share_of_kind(narrow, part, kind)
    return min(1.0, admitted / total)


def _share_of_kind(narrow: Region, wide: OrderedPart, kind: ValueKind) -> float:
    if isinstance(narrow, Finite):
        values = [value for value in narrow.values.values() if kind_of(value) is kind]
        return min(1.0, sum(_value_share(value, wide) for value in values))
    part = narrow.part(kind)
    return 0.0 if part is None else 1.0 if part == wide else _part_share(part, wide)


def _value_share(value: Value, wide: OrderedPart) -> float:
    if isinstance(value, str) or not float(value).is_integer():
        return _VALUE_SHARE
    ends = _ends(at(value), wide.interval)
    return _VALUE_SHARE if ends is None else 1.0 / (_length(wide.interval, ends) + 1.0)


def _part_share(narrow: OrderedPart, wide: OrderedPart) -> float:
    if kind_of(wide.interval.low) is ValueKind.STRING:
        patterns = _pattern_share(narrow.suffix, narrow.contains) / _pattern_share(wide.suffix, wide.contains)
        return min(1.0, _string_share(narrow.interval, wide.interval) * min(1.0, patterns))
    ends = _ends(narrow.interval, wide.interval)
    whole = _length(wide.interval, ends)
    left = _length(narrow.interval, ends) - sum(_length(hole, ends) for hole in narrow.holes)
    return min(1.0, max(0.0, left / whole)) if whole > 0 else 1.0


def _ends(narrow: Interval, wide: Interval) -> tuple[float, float] | None:
    """Return where numbers are taken to begin and to end; None if `wide` has all of them."""
    if not _has_low(wide) and wide.high is None:
        return None
    known = [float(each.low) for each in (narrow, wide) if _has_low(each)]
    known += [float(each.high) for each in (narrow, wide) if each.high is not None]
    far = 2.0 * max(map(abs, known)) + 1.0
    return (0.0 if min(known) > 0.0 else -far), far


def _has_low(interval: Interval) -> bool:
    return float(interval.low) > -_BOUNDED


def _length(interval: Interval, ends: tuple[float, float] | None) -> float:
    if ends is None:
        return (1.0 if interval.high is None else _log_place(float(interval.high))) - _log_place(float(interval.low))
    low = float(interval.low) if _has_low(interval) else ends[0]
    return (ends[1] if interval.high is None else float(interval.high)) - low


def _log_place(value: float) -> float:
    """Return where `value` stands among all numbers, from 0 to 1."""
    return 0.5 + 0.5 * math.copysign(min(1.0, math.log1p(abs(value)) / _LOG_END), value)


def _string_share(narrow: Interval, wide: Interval) -> float:
    start = common_prefix(wide)
    whole = _end_place(wide, start) - _text_place(str(wide.low), start)
    return (_end_place(narrow, start) - _text_place(str(narrow.low), start)) / whole if whole > 0 else 1.0


def _end_place(interval: Interval, start: str) -> float:
    high = interval.high
    return _text_place(high, start) if isinstance(high, str) and high.startswith(start) else 1.0


def _text_place(text: str, start: str) -> float:
    """Return where `text` stands among the strings that begin with `start`, from 0 to 1."""
    return sum(byte / 256.0 ** (place + 1) for place, byte in enumerate(text[len(start) :].encode()[:8]))


def _pattern_share(suffix: str, contains: Iterable[str]) -> float:
    pieces = (min(1.0, _PLACES * _CHARACTER_SHARE ** len(piece)) for piece in contains)
    return float(_CHARACTER_SHARE ** min(len(suffix), 64) * math.prod(pieces))
