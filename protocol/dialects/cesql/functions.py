"""The operators and functions of CESQL: what they take, what they give, and their results of known values.

Law: None is an error. Positions and lengths count characters.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tamis.protocol.dialects.cesql.casts import INT32, CesqlType, cast_value
from tamis.protocol.dialects.cesql.likeness import is_like
from tamis.protocol.residual.cases import lower, upper
from tamis.protocol.values import Value

CASTS: Final = {CesqlType.BOOLEAN: "bool", CesqlType.INTEGER: "int", CesqlType.STRING: "string"}
ARITHMETIC: Final = ("+", "-", "*", "/", "%", "negative")
ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WHITE_CODES: Final = (
    *range(0x09, 0x0E),
    *(0x20, 0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
WHITE: Final = "".join(map(chr, _WHITE_CODES))
"""The characters that are white space in Unicode."""


@dataclass(frozen=True, slots=True)
class FunctionForm:
    takes: tuple[CesqlType | None, ...]
    """The types of the parameters; None is any type."""
    gives: CesqlType
    optional: int = 0
    """How many of the last parameters may be left out."""
    more: CesqlType | None = None
    """The type of further parameters."""

    def parameters(self, count: int) -> tuple[CesqlType | None, ...] | None:
        """Return the types of `count` parameters, None if the function takes another count of them."""
        beyond = count - len(self.takes)
        if beyond < -self.optional or (beyond > 0 and self.more is None):
            return None
        return (*self.takes[:count], *(self.more for _ in range(beyond)))

    def counts(self) -> str:
        """Return in words how many parameters the function takes."""
        most = len(self.takes)
        if self.more:
            return f"{most} or more"
        return f"{most - 1} or {most}" if self.optional else str(most)


_BOOLEAN, _INTEGER, _STRING = CesqlType
FUNCTIONS: Final = {
    "length": FunctionForm((_STRING,), _INTEGER),
    "concat": FunctionForm((), _STRING, more=_STRING),
    "concat_ws": FunctionForm((_STRING,), _STRING, more=_STRING),
    "lower": FunctionForm((_STRING,), _STRING),
    "upper": FunctionForm((_STRING,), _STRING),
    "trim": FunctionForm((_STRING,), _STRING),
    "left": FunctionForm((_STRING, _INTEGER), _STRING),
    "right": FunctionForm((_STRING, _INTEGER), _STRING),
    "substring": FunctionForm((_STRING, _INTEGER, _INTEGER), _STRING, optional=1),
    "abs": FunctionForm((_INTEGER,), _INTEGER),
    "int": FunctionForm((None,), _INTEGER),
    "bool": FunctionForm((None,), _BOOLEAN),
    "string": FunctionForm((None,), _STRING),
    "is_int": FunctionForm((None,), _BOOLEAN),
    "is_bool": FunctionForm((None,), _BOOLEAN),
}


def result(op: str, values: list[Any]) -> Value | None:
    """Return the result of an operator or a function of values that have the types it takes."""
    if op in ARITHMETIC:
        return _calculated(op, values)
    if op in ORDER:
        return ORDER[op](*values)
    return _RESULTS[op](*values)


def _calculated(op: str, values: list[int]) -> int | None:
    left, right = values if len(values) == 2 else (0, *values)
    if op in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) is (right < 0) else -1)
        found = quotient if op == "/" else left - quotient * right
    else:
        found = {"+": operator.add, "*": operator.mul}.get(op, operator.sub)(left, right)
    return found if found in INT32 else None


def _absolute(number: int) -> int | None:
    return abs(number) if abs(number) in INT32 else None


def _left(text: str, length: int) -> str | None:
    return text[:length] if length >= 0 else None


def _right(text: str, length: int) -> str | None:
    return text[max(0, len(text) - length) :] if length >= 0 else None


def _substring(text: str, start: int, length: int | None = None) -> str | None:
    if abs(start) > len(text) or (length is not None and length < 0):
        return None
    first = start - 1 if start > 0 else len(text) + start
    return text[first:][:length] if start else ""


_RESULTS: Final[Mapping[str, Callable[..., Value | None]]] = {
    "not": operator.not_,
    "xor": lambda *values: sum(values) % 2 == 1,
    "=": operator.eq,
    "in": lambda value, *others: value in others,
    "like": is_like,
    "length": len,
    "concat": lambda *texts: "".join(texts),
    "concat_ws": lambda mark, *texts: mark.join(texts),
    "lower": lower,
    "upper": upper,
    "trim": lambda text: text.strip(WHITE),
    "left": _left,
    "right": _right,
    "substring": _substring,
    "abs": _absolute,
    "is_int": lambda value: cast_value(value, CesqlType.INTEGER) is not None,
    "is_bool": lambda value: cast_value(value, CesqlType.BOOLEAN) is not None,
}
