"""The three types of CESQL, and what a value of one becomes in another.

Law: this is the meaning of the casts of a residual program, too: what fails here ends one with ERROR.
"""

from __future__ import annotations

import enum
import re
from typing import Final

from tamis.protocol.residual.instructions import NUMBER_BYTES_MAX
from tamis.protocol.values import Value

INT32: Final = range(-(2**31), 2**31)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


class CesqlType(enum.Enum):
    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    STRING = "a text"


def type_of_value(value: Value) -> CesqlType:
    if isinstance(value, bool):
        return CesqlType.BOOLEAN
    return CesqlType.STRING if isinstance(value, str) else CesqlType.INTEGER


def cast_value(value: Value, to: CesqlType) -> Value | None:
    """Return what a value becomes, None if that is an error."""
    if to is CesqlType.STRING:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if to is CesqlType.BOOLEAN:
        return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else bool(value)
    if not isinstance(value, str):
        return int(value)
    if len(value) > NUMBER_BYTES_MAX or not _INTEGER.fullmatch(value):
        return None
    number = int(value)
    return number if number in INT32 else None
