"""What the command lines of measurements share: names that are asked for, progress, and an end by a signal."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import click

Options = Callable[[Callable[..., Any]], Callable[..., Any]]


def round_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a comparison in rounds: `rounds`, `seconds` and `as_json`."""
    options: tuple[Options, ...] = (
        click.option(
            "--rounds",
            type=click.IntRange(min=1),
            default=3,
            show_default=True,
            help="Rounds of each; medians are shown.",
        ),
        click.option(
            "--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Duration of a round."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def chosen(names: str, known: Iterable[str], option: str) -> list[str]:
    """Return the names of a list with commas; UsageError for one that is not known."""
    found = names.split(",")
    for name in found:
        if name not in known:
            raise click.UsageError(f"{option}: unknown {name!r}; allowed: {', '.join(known)}")
    return found


def numbers(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    """The callback of an option that is a list of numbers from 0 up."""
    found = value.split(",") if value else []
    if not all(map(str.isdecimal, found)):
        raise click.BadParameter(f"{value!r} is not a comma-separated list of numbers")
    return tuple(map(int, found))


def say(words: str) -> None:
    """Print progress on stderr."""
    click.echo(words, err=True)


def timed_progress(began_s: float, number: int, count: int) -> Callable[[str], None]:
    """Return `say` with the time since `began_s`, by the monotonic clock, and the number of the part that runs."""

    def told(words: str) -> None:
        minutes, seconds = divmod(round(time.monotonic() - began_s), 60)
        say(f"[{minutes}:{seconds:02d}, {number} of {count}] {words}")

    return told


def leave_on_sigterm() -> None:
    """End by SystemExit on SIGTERM, so that what was started is stopped."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(1)
