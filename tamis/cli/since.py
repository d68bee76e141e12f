"""A time in the past, given as an age or as a time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

import click

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
HELP: Final = "Start at this time: `10m` ago (s, m, h, d), or a time such as 2026-01-31T09:00."


def since_us(text: str, now_s: float) -> int:
    """Return the time that `text` denotes at `now_s`, in microseconds since 1970; a usage error if it denotes none."""
    ago = re.fullmatch(r"(\d+)([smhd])", text)
    if ago:
        return int((now_s - int(ago[1]) * _UNITS[ago[2]]) * 1e6)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1e6)
    except ValueError:
        raise click.UsageError(
            f"--since {text!r} is neither an age such as 10m nor a time such as 2026-01-31T09:00"
        ) from None
