"""A rough guess at the share of messages that a filter lets through, to compare merges with each other.

The model: attributes are independent, each is there in half of the messages, a tenth of the values are booleans and
the rest numbers and strings in equal parts. A number's magnitude is spread evenly over log(1 + |x|) up to 2**63; a
string's bytes are spread evenly, so a prefix of n bytes leaves 256**-n; a character of a suffix leaves a twentieth, as
does each of a substring, which may stand in four places. One value, whatever it is, is a thousandth of its kind.
Values left out by holes and negated patterns are not worth counting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from tamis.protocol._regions import Finite, OrderedPart, Region
from tamis.protocol.values import Value, ValueKind, kind_of

_PRESENT = 0.5
_KIND_SHARE = {ValueKind.BOOLEAN: 0.1, ValueKind.NUMBER: 0.45, ValueKind.STRING: 0.45}
_VALUE_SHARE = 0.001
_CHARACTER_SHARE = 0.05
_PLACES = 4
_LOG_END = math.log1p(2.0**63)


def filter_share(regions: Mapping[str, Region]) -> float:
    return math.prod(_region_share(region) for region in regions.values())


def _region_share(region: Region) -> float:
    if isinstance(region, Finite):
        return _PRESENT * min(1.0, sum(_value_share(value) for value in region.values.values()))
    share = _KIND_SHARE[ValueKind.BOOLEAN] * len(region.booleans) / 2
    for kind in (ValueKind.NUMBER, ValueKind.STRING):
        part = region.part(kind)
        share += 0.0 if part is None else _KIND_SHARE[kind] * _part_share(part)
    return share * _PRESENT + (1 - _PRESENT) * region.absent


def _value_share(value: Value) -> float:
    kind = kind_of(value)
    return _KIND_SHARE[kind] * (0.5 if kind is ValueKind.BOOLEAN else _VALUE_SHARE)


def _part_share(part: OrderedPart) -> float:
    high = part.interval.high
    width = (1.0 if high is None else _position(high)) - _position(part.interval.low)
    return max(width, _VALUE_SHARE) * _pattern_share(part.suffix, part.contains)


def _pattern_share(suffix: str, contains: Iterable[str]) -> float:
    pieces = (min(1.0, _PLACES * _CHARACTER_SHARE ** len(piece)) for piece in contains)
    return float(_CHARACTER_SHARE ** len(suffix) * math.prod(pieces))


def _position(value: Value) -> float:
    """Return where `value` stands among the values of its kind, from 0 to 1."""
    if isinstance(value, str):
        return sum(byte / 256.0 ** (place + 1) for place, byte in enumerate(value.encode()[:8]))
    return 0.5 + 0.5 * math.copysign(min(1.0, math.log1p(abs(value)) / _LOG_END), value)
