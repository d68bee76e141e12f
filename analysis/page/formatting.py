"""Figures and filters as readable text: moments, durations, bytes, counts, predicates, messages.

Law: the text is exact to its digits, three or more; the caller stores the exact value beside it. Nothing here depends
on a table or a page.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from tamis.analysis.questions.programs import index_part
from tamis.protocol.errors import Refused
from tamis.protocol.json_form import decode_filter, decode_message
from tamis.protocol.language.format import format_filter
from tamis.protocol.message_text import format_attributes

ALWAYS_US: Final = 1 << 61
"""Moments this far from the epoch of Unix time mean no beginning, or no end."""
_DURATIONS: Final = ((86_400e6, "d"), (3_600e6, "h"), (60e6, "min"), (1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_BYTES: Final = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_COUNTS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_EXACT_BELOW: Final = 10_000.0
"""Counts below this are shown with all digits."""


def moment(at_us: int) -> str:
    """Return the date and time in UTC, to the millisecond."""
    if abs(at_us) >= ALWAYS_US:
        return "the beginning" if at_us < 0 else "the end"
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def span(from_us: int, to_us: int) -> str:
    """Return both moments to the second, the date once if it is one."""
    one, other = (datetime.fromtimestamp(at_us / 1e6, UTC) for at_us in (from_us, to_us))
    until = other.strftime("%H:%M:%S" if one.date() == other.date() else "%Y-%m-%d %H:%M:%S")
    return f"{one:%Y-%m-%d %H:%M:%S} to {until} UTC"


def duration(us: float) -> str:
    """Return a duration in the largest unit that it has one of: `3.61 s`, `412 µs`."""
    size, unit = next((each for each in _DURATIONS if abs(us) >= each[0]), _DURATIONS[-1])
    if not us:
        return "0 s"
    return f"{digits(us / size)} {unit}"


def volume(bytes_: float) -> str:
    """Return a number of bytes: `43.5 MB`."""
    size, unit = next((each for each in _BYTES if abs(bytes_) >= each[0]), (1.0, "B"))
    return f"{digits(bytes_ / size)} {unit}"


def count(number: float) -> str:
    """Return a count: exact below ten thousand, then `12.3k`, `4.57M`."""
    if abs(number) < _EXACT_BELOW:
        return f"{number:,}" if isinstance(number, int) else digits(number)
    size, unit = next(each for each in _COUNTS if abs(number) >= each[0])
    return f"{digits(number / size)}{unit}"


def so_many(number: int, noun: str) -> str:
    """Return a count with its noun: `1 router`, `12.4k routers`."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def share(part: float) -> str:
    return f"{digits(100 * part)}%"


def digits(number: float) -> str:
    """Return three digits of `number`, more if there are more before the point; no exponent, no zeros behind."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    places = 2 if abs(number) >= 1 else 1 - next((k for k in range(-1, -12, -1) if abs(number) >= 10.0**k), -11) + 1
    text = f"{number:,.{1 if abs(number) >= 10 else places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def predicate(form: str) -> str:
    """Return a filter's JSON form in the words of the language; the form itself if this version cannot read it."""
    try:
        constraints = index_part(form)
        text = format_filter(decode_filter(constraints))
        return text if len(constraints) == len(json.loads(form)) else f"{text}, and a residual program"
    except (Refused, ValueError):
        return form


def attributes(form: str) -> str:
    """Return a message's attributes, given as JSON, as `tamis pub` takes them; what was given if it is no message."""
    try:
        return format_attributes(decode_message(form))
    except (Refused, ValueError):
        return form
