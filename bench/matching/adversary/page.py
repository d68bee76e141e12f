"""A row for each family, and the page of them.

Law: the search is on the first contender; others answer the shape that it found, and must answer the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from tamis.bench.matching.adversary.families import FAMILIES
from tamis.bench.matching.adversary.search import Search, words_of
from tamis.bench.matching.contenders import Progress
from tamis.bench.tables import markdown, short
from tamis.protocol.limits import MATCH_STEPS

BAR: Final = 10.0

Row = dict[str, Any]


def worst_row(name: str, search: Search, tries: int, seconds: float, say: Progress) -> Row | None:
    """The worst shape of a family for the first contender, and what it costs the others; None if none is allowed."""
    worst = search.worst(name, FAMILIES[name], tries, seconds, say)
    if worst is None:
        say(f"{name}: no valid shape was tried")
        return None
    others = {label: asdict(cost) for label, cost in search.others(FAMILIES[name], worst).items()}
    return {"family": name, "factor": worst.factor, **asdict(worst), "others": others}


def page_of(rows: Sequence[Row], others: Sequence[str]) -> str:
    head = ["family", "us/msg", "plain us", "ordinary us", "factor", "steps", "plain steps", "matched"]
    cells = [
        [row["family"], *map(short, [*_figures(row), *(row["others"][name]["us"] for name in others)])] for row in rows
    ]
    return markdown([*head, *(f"{name} us" for name in others)], cells)


def _figures(row: Row) -> tuple[float, ...]:
    hostile, plain = row["hostile"], row["plain"]
    us = (hostile["us"], plain["mean_us"], row["ordinary_us"], row["factor"])
    return (*us, hostile["steps"], plain["steps"], hostile["matched"])


def remark(row: Row) -> str:
    """The shape in words, whether it is above the bar, and whether a router would drop the message."""
    above = f" (above the bar of {BAR:g})" if row["factor"] > BAR else ""
    is_dropped = row["hostile"]["steps"] > MATCH_STEPS
    dropped = f"; a router with the default match_steps {MATCH_STEPS:,} drops such a message" if is_dropped else ""
    return f"{row['family']}: {words_of(row['knobs'])}{above}{dropped}"
