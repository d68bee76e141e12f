"""What criteria are made of: verdicts with numbers, readings, slopes, and rows by what they say.

Law: a timed value is over or under a bound only where it differs by more than twice the spread of its run; a claim
that needs it to be cannot be judged otherwise. A run that waited for a processor has a spread of at least the share in
which it waited (`measures/waiting.py`), so that a loaded machine gives no verdict on times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from tamis.papers.reproduce.figure import Judgement, Reading, ResultRow, ResultRows, Ruling, Scalar

Judge = Callable[[ResultRows], Judgement]


def ruled(is_so: bool, ours: str, why: str) -> Judgement:
    """Holds if `is_so`, and else differs because of `why`."""
    return Judgement(Ruling.HOLDS if is_so else Ruling.DIFFERS, ours, "" if is_so else why)


def undecided(ours: str, why: str) -> Judgement:
    return Judgement(Ruling.OPEN, ours, why)


def exceeds(value: float, bound: float, spread: float) -> Ruling:
    """Whether a timed value is over `bound`. Both are positive, and `spread` is a share of the time."""
    if value > bound * (1 + 2 * spread):
        return Ruling.HOLDS
    return Ruling.DIFFERS if value * (1 + 2 * spread) < bound else Ruling.OPEN


def under(value: float, bound: float, spread: float) -> Ruling:
    """Whether a timed value is under `bound`."""
    return exceeds(bound, value, spread)


def every(*rulings: Ruling) -> Ruling:
    """The ruling of a claim that has several parts: one that differs decides, and then one that is open."""
    for worse in (Ruling.DIFFERS, Ruling.OPEN):
        if worse in rulings:
            return worse
    return Ruling.HOLDS


def ruled_by_time(ruling: Ruling, spread: float, ours: str, why: str) -> Judgement:
    """The judgement of a timed claim; `why` is the reason if it differs."""
    ours = f"{ours}; spread {spread:.0%}"
    if ruling is Ruling.OPEN:
        return undecided(ours, "the effect is not larger than twice the spread")
    return ruled(ruling is Ruling.HOLDS, ours, why)


def widest_spread(rows: ResultRows) -> float:
    """The spread of the run: that of the row whose passes differ most."""
    return max(number(row, "spread") for row in rows if row.get("spread") is not None)


def read(*readings: Reading) -> Judgement:
    """The judgement of a claim whose text leaves something open.

    It is that of the reading which the paper's own figures suggest. Where they suggest none, the claim holds if one of
    the readings holds, and is judged by the first of them otherwise.
    """
    suggested = [each for each in readings if each.is_suggested]
    if len(suggested) > 1:
        raise ValueError(f"the paper's figures suggest one reading, not {', '.join(each.name for each in suggested)}")
    holding = [each for each in readings if each.judged.ruling is Ruling.HOLDS]
    deciding = (suggested or holding or list(readings))[0].judged
    return Judgement(deciding.ruling, deciding.ours, deciding.why, readings)


def chosen(rows: ResultRows, **values: Scalar) -> list[ResultRow]:
    """The rows that say all of that."""
    return [row for row in rows if all(row.get(name) == value for name, value in values.items())]


def number(row: ResultRow, name: str) -> float:
    value = row[name]
    if value is None or isinstance(value, str):
        raise ValueError(f"{name} is {value!r}, not a number, in {row}")
    return float(value)


def points(rows: ResultRows, x: str, y: str) -> list[tuple[float, float]]:
    """(x, y) of each row, by x."""
    return sorted((number(row, x), number(row, y)) for row in rows)


def slope(line: Sequence[tuple[float, float]]) -> float:
    """The log-log slope by least squares: 1 is proportional, 0 is flat."""
    logs = [(math.log(x), math.log(max(y, 1e-12))) for x, y in line]
    mean_x, mean_y = (sum(each[k] for each in logs) / len(logs) for k in (0, 1))
    above = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    return above / sum((x - mean_x) ** 2 for x, _ in logs)


def listed(values: Sequence[float], digits: int = 2) -> str:
    return ", ".join(f"{value:,.{digits}f}" for value in values)


def is_rising(values: Sequence[float], slack: float = 0.0) -> bool:
    """Whether none is below the one before it, by more than that share."""
    return all(b >= a * (1 - slack) for a, b in pairwise(values))


def is_falling(values: Sequence[float], slack: float = 0.0) -> bool:
    return is_rising(values[::-1], slack)
