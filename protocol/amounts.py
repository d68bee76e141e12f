"""Times and sizes as an application gives them: `7`, `"7d"`, a timedelta; `1073741824`, `"1 GiB"`.

Law: a result is a whole number of milliseconds or bytes within the range of the wire; anything else is Refused with the
name of the argument and its valid forms.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Final

from tamis.protocol.errors import Refused

Duration = float | str | timedelta
"""Seconds, text such as "30s", "15m", "12h" and "7d", or a timedelta."""
Size = int | str
"""Bytes, or text such as "64 MiB"."""

MS_OF: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
BYTES_OF: Final = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_DURATION: Final = re.compile(r"(\d{1,15}(?:\.\d{1,3})?) ?(ms|s|m|h|d)")
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,3})?) ?(B|KiB|MiB|GiB|TiB|)")
_U32: Final = 2**32 - 1
_U64: Final = 2**63


def milliseconds_of(what: str, value: Duration, most: int = _U64) -> int:
    """Return a time in milliseconds, from 1 to `most`; `what` names the argument in the error."""
    if isinstance(value, timedelta):
        ms = value.total_seconds() * 1_000
    elif isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if found is None:
            raise Refused(
                f'{what} is seconds, a timedelta, or text such as "30s", "15m", "12h" and "7d", not {value!r}'
            )
        ms = float(found[1]) * MS_OF[found[2]]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        ms = value * 1_000
    else:
        raise Refused(f"{what} is seconds, a timedelta, or text, not {type(value).__name__}")
    if not 1 <= ms <= most:
        raise Refused(f"{what} is 0.001 to {most / 1_000:,.0f} seconds, not {value!r}")
    return round(ms)


def short_milliseconds_of(what: str, value: Duration) -> int:
    """Return a time in milliseconds that fits 32 bits: at most 49 days."""
    return milliseconds_of(what, value, _U32)


def patience_of(what: str, value: float) -> float:
    """Return the time in seconds that a caller waits at most."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise Refused(f"{what} is a number of seconds, 0 or more, not {value!r}")
    return value


def octets_of(what: str, value: Size) -> int:
    """Return a size in bytes, at least 1."""
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if found is None:
            raise Refused(f'{what} is a number of bytes, or text such as "64 MiB" and "1 GiB", not {value!r}')
        octets = round(float(found[1]) * BYTES_OF[found[2]])
    elif isinstance(value, int) and not isinstance(value, bool):
        octets = value
    else:
        raise Refused(f"{what} is a number of bytes, or text, not {type(value).__name__}")
    if not 1 <= octets <= _U64:
        raise Refused(f"{what} is 1 to {_U64:,} bytes, not {value!r}")
    return octets


def count_of(what: str, value: int | None, least: int = 1, most: int = _U32) -> int:
    """Return a whole number within its bounds; 0 for None, which means no bound."""
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Refused(f"{what} is a whole number from {least:,} to {most:,}, or None for no limit, not {value!r}")
    return value
