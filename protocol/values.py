"""The four types of a value and the one order of numbers.

Law: integer and float are one domain, compared exactly (2**53 + 1 is above 2.0**53); `1` and `1.0`, `0.0` and `-0.0`
are one value; a boolean is not a number, although Python says `True == 1`. Never compare two values with `==` before
their kinds are known to agree: use `same` and `identity`. Strings order by code point, which is the order of their
UTF-8 bytes and the order of Python's `str`.
"""

from __future__ import annotations

import enum
import math

from tamis.protocol import limits
from tamis.protocol.errors import Refused

Value = str | int | float | bool


class ValueKind(enum.Enum):
    """The kind of a value; only values of one kind can be compared. Mixed values are sorted in this order."""

    BOOLEAN = 0
    NUMBER = 1
    STRING = 2

    __hash__ = object.__hash__  # the hash of Enum is written in Python, and slower

    def __lt__(self, other: ValueKind) -> bool:
        return self.value < other.value


def kind_of(value: Value) -> ValueKind:
    if isinstance(value, bool):
        return ValueKind.BOOLEAN
    return ValueKind.STRING if isinstance(value, str) else ValueKind.NUMBER


def identity(value: Value) -> tuple[int, Value]:
    """Return a key that is equal exactly for equal values and sorts values of mixed kinds."""
    return (0 if isinstance(value, bool) else 2 if isinstance(value, str) else 1, value)  # the numbers of ValueKind


def same(a: Value, b: Value) -> bool:
    return identity(a) == identity(b)


def canonical(value: Value) -> Value:
    """Return the one form of a value: a float that equals a 64-bit integer becomes that integer."""
    if isinstance(value, float) and value.is_integer() and limits.INT_MIN <= value <= limits.INT_MAX:
        return int(value)
    return value


def check_value(value: object, string_bytes_max: int = limits.STRING_BYTES_MAX) -> Value:
    """Return `value` itself if it has one of the four types and is within bounds; otherwise Refused with the reason."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not limits.INT_MIN <= value <= limits.INT_MAX:
            raise Refused(f"integer {value} is outside 64 bits ({limits.INT_MIN} to {limits.INT_MAX})")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Refused(f"a float must be finite, not {value}")
        return value
    if isinstance(value, str):
        _check_text(value, string_bytes_max, "a string")
        return value
    what = _OTHERS.get(type(value), type(value).__name__)
    raise Refused(f"a value is a string, an integer, a float or a boolean, not {what}")


_OTHERS = {type(None): "null", list: "a list", dict: "an object", bytes: "bytes"}


def check_name(name: object) -> str:
    """Return `name` itself if it is a valid name of an attribute; otherwise Refused with the reason."""
    if type(name) is str and name.isascii() and 1 <= len(name) <= limits.NAME_BYTES_MAX:
        return name
    if not isinstance(name, str):
        raise Refused(f"an attribute name is a string, not {type(name).__name__}")
    if not name:
        raise Refused(f"an attribute name has 1 to {limits.NAME_BYTES_MAX} bytes, this one is empty")
    _check_text(name, limits.NAME_BYTES_MAX, "an attribute name")
    return name


def _check_text(text: str, bytes_max: int, what: str) -> None:

    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise Refused(f"{what} must be valid Unicode; character {error.start} is a lone surrogate") from None
    if size > bytes_max:
        raise Refused(f"{what} has at most {bytes_max} bytes of UTF-8, this one has {size}")
