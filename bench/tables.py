"""What every benchmark prints: rows, Markdown tables that read as well unrendered, and figures of three digits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping


def markdown(head: list[str], rows: Iterable[list[str]]) -> str:
    """Columns padded, so that it reads as well unrendered."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, ["-" * (width - 1) + ("-" if column == 0 else ":") for column, width in enumerate(widths)])
    return "\n".join("| " + " | ".join(_padded(line, widths)) + " |" for line in lines)


def short(number: float | None) -> str:
    """Three significant digits, and never an exponent; nothing for what is not known."""
    if number is None or not math.isfinite(number):
        return ""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:#.3g}"


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _padded(line: list[str], widths: list[int]) -> list[str]:
    """The first column is words, the others are numbers."""
    first, *others = widths
    return [line[0].ljust(first), *(cell.rjust(width) for cell, width in zip(line[1:], others, strict=True))]


def tell(row: Mapping[str, object], as_json: bool) -> None:
    """Print a row: one object, or in a line its words, and its figures with their names."""
    if as_json:
        print(json.dumps(row))
    else:
        print("   ".join(cell if isinstance(cell, str) else f"{name} {_figure(cell)}" for name, cell in row.items()))


def _figure(cell: object) -> str:
    return f"{cell:,.3f}" if isinstance(cell, float) else str(cell)
