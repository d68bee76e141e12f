"""Results as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.protocol.shown import shown


def columns(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return one line for each row below the heads, with numbers aligned right and unprintable characters escaped."""
    cells = [list(head), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(head))]
    right = [all(isinstance(row[at], int | float) for row in rows) and bool(rows) for at in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in cells
    )


def fitted(
    head: Sequence[str], rows: Sequence[Sequence[object]], width: int, first_to_go: Sequence[str]
) -> tuple[list[str], list[list[object]]]:
    """Return the heads and rows without as many of the columns `first_to_go` as must be dropped, in their order, to fit
    lines of `width` characters; columns without any value are dropped first."""
    kept = [at for at in range(len(head)) if not rows or any(row[at] != "" for row in rows)]

    def chosen() -> tuple[list[str], list[list[object]]]:
        return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]

    for name in first_to_go:
        if max(map(len, columns(*chosen()).splitlines())) <= width:
            break
        kept = [at for at in kept if head[at] != name]
    return chosen()


def so_many(count: int, noun: str) -> str:
    """Return a count with its noun: `1 message`, `2,000 messages`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def byte_count(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.0f} {units[0]}" if units[0] == "B" else f"{value:.1f} {units[0]}"


def duration(seconds: float) -> str:
    whole = int(seconds)
    days, hours, minutes = whole // 86_400, whole // 3_600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{seconds:.2f} s"


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else shown(str(cell))
