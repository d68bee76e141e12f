"""The page of a sweep: the worst ten cells first, then falls of steps, and all cells by size.

Law: a cell is judged by the time of the first engine over that of the fastest other, and a fall by its steps over those
of the next larger size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final

from tamis.bench.matching.sweep.measure import Cell
from tamis.bench.tables import markdown, short

TIMES_MAX: Final = 1.15
FALL_MAX: Final = 1.5
"""A fall by a third."""
_WORST: Final = 10


def page(cells: Sequence[Cell]) -> str:
    """Return the tables of a sweep."""
    parts = []
    timed = [cell for cell in cells if cell.best is not None]
    if timed:
        parts += ["## The worst ten cells", _worst(timed), _over(timed)]
    parts += ["## Falls of steps by more than a third", _falls(cells)]
    parts += ["## Steps", _by_size(cells, [short(cell.steps) for cell in cells])]
    if timed:
        parts += ["## Time over that of the fastest other", _by_size(timed, [f"{cell.times:.2f}" for cell in timed])]
    return "\n\n".join(parts)


def falls(cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Return the cells that take over half as many steps again as the next larger size, and those; worst first."""
    found = [
        (before, after)
        for _, rows in groupby(cells, key=_series)
        for before, after in pairwise(rows)
        if before.steps > FALL_MAX * after.steps
    ]
    return sorted(found, key=lambda both: both[1].steps / both[0].steps)


def _worst(cells: Sequence[Cell]) -> str:
    head = ["workload", "filters", "interfaces", "us", "fastest other", "us of it", "times", "steps", "matched"]
    rows = [
        [
            *(cell.workload, f"{cell.filters:,}", _interfaces(cell), short(next(iter(cell.us.values())))),
            *(cell.best or "", short(cell.us[cell.best or ""]), f"{cell.times:.2f}"),
            *(short(cell.steps), short(cell.matched)),
        ]
        for cell in sorted(cells, key=lambda cell: -cell.times)[:_WORST]
    ]
    return markdown(head, rows)


def _over(cells: Sequence[Cell]) -> str:
    over = sum(cell.times > TIMES_MAX for cell in cells)
    return f"{over:,} of {len(cells):,} cells take over {TIMES_MAX:g} times the fastest other engine."


def _falls(cells: Sequence[Cell]) -> str:
    found = falls(cells)
    if not found:
        return "None."
    head = ["workload", "interfaces", "filters", "steps", "at filters", "steps there"]
    return markdown(
        head,
        [
            [
                *(before.workload, _interfaces(before), f"{before.filters:,}", short(before.steps)),
                *(f"{after.filters:,}", short(after.steps)),
            ]
            for before, after in found
        ],
    )


def _by_size(cells: Sequence[Cell], texts: Sequence[str]) -> str:
    """Return a line for each workload with a column for each size."""
    sizes = sorted({cell.filters for cell in cells})
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for cell, text in zip(cells, texts, strict=True):
        rows.setdefault(_series(cell), {})[cell.filters] = text
    head = ["workload", "interfaces", *(f"{size:,}" for size in sizes)]
    return markdown(head, [[*key, *(row.get(size, "") for size in sizes)] for key, row in rows.items()])


def _series(cell: Cell) -> tuple[str, str]:
    return cell.workload, _interfaces(cell)


def _interfaces(cell: Cell) -> str:
    return "F" if cell.interfaces is None else f"{cell.interfaces:,}"
