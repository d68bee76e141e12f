"""What criteria are made of: verdicts with numbers, slopes, and rows by what they say.

Law: a difference counts where it is more than twice the spread of what was measured; the caller gives the spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from tamis.papers.reproduce.figure import Judgement, ResultRow, ResultRows, Ruling, Scalar

Judge = Callable[[ResultRows], Judgement]


def ruled(is_so: bool, ours: str, why: str) -> Judgement:
    """Holds if `is_so`, and else differs because of `why`."""
    return Judgement(Ruling.HOLDS if is_so else Ruling.DIFFERS, ours, "" if is_so else why)


def undecided(ours: str, why: str) -> Judgement:
    return Judgement(Ruling.OPEN, ours, why)


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
