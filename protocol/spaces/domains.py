"""The values that an attribute may have: six kinds of domain.

Law: `violation` decides for every value of a message whether it is in the domain, and why not; nothing is rounded or
rewritten. 1 and 1.0 are one value, as everywhere. A float is in a fixed-point domain if it is the float nearest to a
decimal number with that many digits, so equality with such a number is exact.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as shortened
from typing import Final

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value, ValueKind, canonical, check_value, kind_of


class Violation(enum.IntEnum):
    """Why an attribute of a message violates the space. The numbers equal those of TM_MISFIT_* in tm_switch_api.h."""

    MISSING = 1
    UNDECLARED = 2
    KIND = 3
    OUTSIDE = 4
    TOO_FINE = 5
    NOT_LISTED = 6
    NO_SPACE = 7

    @property
    def text(self) -> str:
        """The end of a sentence that begins with the attribute, about the violation."""
        return _VIOLATION_TEXTS[self]


_VIOLATION_TEXTS: Final = {
    Violation.MISSING: "is missing",
    Violation.UNDECLARED: "is not declared",
    Violation.KIND: "is of another kind",
    Violation.OUTSIDE: "lies outside its range",
    Violation.TOO_FINE: "has too many digits",
    Violation.NOT_LISTED: "is none of its values",
    Violation.NO_SPACE: "names no space",
}


@dataclass(frozen=True, slots=True)
class TextDomain:
    """Any string."""

    kind = ValueKind.STRING

    @property
    def allowed(self) -> str:
        return "a string"

    def violation(self, value: Value) -> Violation | None:
        return None if isinstance(value, str) else Violation.KIND


@dataclass(frozen=True, slots=True)
class TruthDomain:
    """`true` and `false`."""

    kind = ValueKind.BOOLEAN

    @property
    def allowed(self) -> str:
        return "true or false"

    def violation(self, value: Value) -> Violation | None:
        return None if isinstance(value, bool) else Violation.KIND


@dataclass(frozen=True, slots=True)
class NumberDomain:
    """Any number."""

    kind = ValueKind.NUMBER

    @property
    def allowed(self) -> str:
        return "a number"

    def violation(self, value: Value) -> Violation | None:
        return None if kind_of(value) is ValueKind.NUMBER else Violation.KIND


@dataclass(frozen=True, slots=True)
class IntegerDomain:
    """The integers from `low` to `high`, both included."""

    low: int
    high: int
    kind = ValueKind.NUMBER
    digits = 0

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise Refused(f"integer: the bounds are two integers, not {shortened(bound)}")
            check_value(bound)
        if self.low > self.high:
            raise Refused(f"integer: the lower bound comes first, {self.low} is above {self.high}")

    @property
    def allowed(self) -> str:
        return f"an integer from {self.low} to {self.high}"

    def violation(self, value: Value) -> Violation | None:
        if isinstance(value, str | bool):
            return Violation.KIND
        if not self.low <= value <= self.high:
            return Violation.OUTSIDE
        return None if isinstance(canonical(value), int) else Violation.TOO_FINE


@dataclass(frozen=True)
class FixedDomain:
    """The decimal numbers of at most `digits` digits behind the point, from `low` to `high`, both included. The bounds
    are counted in the last digit: 12.50 of two digits is 1250."""

    low: int
    high: int
    digits: int
    kind = ValueKind.NUMBER

    def __post_init__(self) -> None:
        if isinstance(self.digits, bool) or not isinstance(self.digits, int):
            raise Refused(f"digits: a number of digits is an integer, not {shortened(self.digits)}")
        if not 0 <= self.digits <= limits.SPACE_DIGITS_MAX:
            raise Refused(f"digits: 0 to {limits.SPACE_DIGITS_MAX} digits, not {self.digits}")
        if max(abs(self.low), abs(self.high)) > limits.SPACE_UNITS_MAX:
            raise Refused(
                f"fixed: with {self.digits} digits the bounds lie within "
                f"{self.value(-limits.SPACE_UNITS_MAX)} and {self.value(limits.SPACE_UNITS_MAX)}"
            )
        if self.low > self.high:
            raise Refused(
                f"fixed: the lower bound comes first, {self.value(self.low)} is above {self.value(self.high)}"
            )

    @classmethod
    def between(cls, low: object, high: object, digits: int) -> FixedDomain:
        """Return the domain with bounds as in a file, numbers of at most `digits` digits."""
        if isinstance(digits, int) and 0 <= digits <= limits.SPACE_DIGITS_MAX:
            return cls(_units(low, digits), _units(high, digits), digits)
        return cls(0, 0, digits)  # the constructor refuses it

    def value(self, units: int) -> int | float:
        """Return the number that is `units` of the last digit: the float nearest to it, or an integer."""
        scale: int = 10**self.digits
        return units // scale if units % scale == 0 else units / scale

    @cached_property
    def bounds(self) -> tuple[int | float, int | float]:
        return self.value(self.low), self.value(self.high)

    @property
    def allowed(self) -> str:
        low, high = self.bounds
        return f"a number of at most {self.digits} digits behind the point from {low} to {high}"

    def violation(self, value: Value) -> Violation | None:
        if isinstance(value, str | bool):
            return Violation.KIND
        if not self.bounds[0] <= value <= self.bounds[1]:
            return Violation.OUTSIDE
        return None if is_decimal(value, self.digits) else Violation.TOO_FINE


@dataclass(frozen=True)
class ChoiceDomain:
    """One of these strings. Their order here is their order in predicates."""

    values: tuple[str, ...]
    kind = ValueKind.STRING

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= limits.SPACE_VALUES_MAX:
            raise Refused(f"one_of: 1 to {limits.SPACE_VALUES_MAX} values, this list has {len(self.values)}")
        for value in self.values:
            if not isinstance(value, str):
                raise Refused(f"one_of: the values are strings, not {shortened(value)}")
            check_value(value, limits.OPERAND_BYTES_MAX)
        if len(self.ranks) < len(self.values):
            twice = next(value for value in self.values if self.values.count(value) > 1)
            raise Refused(f"one_of: {shortened(twice)} is listed twice")

    @cached_property
    def ranks(self) -> dict[str, int]:
        return {value: rank for rank, value in enumerate(self.values)}

    @property
    def allowed(self) -> str:
        shown = ", ".join(self.values[:_VALUES_SHOWN])
        return f"one of {shown}" if len(self.values) <= _VALUES_SHOWN else f"one of {shown}, ..."

    def violation(self, value: Value) -> Violation | None:
        if not isinstance(value, str):
            return Violation.KIND
        return None if value in self.ranks else Violation.NOT_LISTED


Domain = TextDomain | TruthDomain | NumberDomain | IntegerDomain | FixedDomain | ChoiceDomain

_VALUES_SHOWN = 8


def is_decimal(value: float, digits: int) -> bool:
    """Return whether the number is an integer, or the float nearest to a decimal number of `digits` digits."""
    return isinstance(value, int) or float(f"{value:.{digits}f}") == value


def _units(bound: object, digits: int) -> int:
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise Refused(f"fixed: the bounds are two numbers, not {shortened(bound)}")
    check_value(bound)
    if not is_decimal(bound, digits):
        raise Refused(f"fixed: the bound {bound} has more than {digits} digits behind the point")
    return bound * 10**digits if isinstance(bound, int) else int(f"{bound:.{digits}f}".replace(".", ""))
