"""The cells of the gallery for people: a line for each cell, and one for each workload with its slopes.

Law: a ratio is the time of the first contender over that of the fastest other in the same group; where they were not
measured in one run it has a `~`. A slope is that of the straight line through log(time) over log(filters).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tamis.bench.matching.libraries import PREFIX
from tamis.bench.tables import markdown, percent, short

Cell = dict[str, Any]


def pages(cells: Sequence[Cell], labels: Sequence[str], *, with_updates: bool) -> str:
    parts = [_times(cells, labels), _slopes(cells, labels)]
    if with_updates:
        parts.append(_updates(cells))
    notes = [f"{cell['key']}: {cell['skipped']}" for cell in cells if "skipped" in cell]
    notes += [f"{cell['key']}: {cell['note']}" for cell in cells if cell.get("note")]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def ratio(group: Sequence[Cell], first: str) -> tuple[float, bool] | None:
    """The first contender's time over the fastest other's, and whether all were measured in one run. A library that
    expresses a part of the filters is compared with `tamis` on that part, and is not among the others here."""
    measured = {cell["contender"]: cell for cell in group if "mean_us" in cell and cell.get("share", 1.0) == 1.0}
    others = [cell for label, cell in measured.items() if label != first]
    if first not in measured or not others:
        return None
    fastest = min(others, key=lambda cell: float(cell["mean_us"]))
    return measured[first]["mean_us"] / max(fastest["mean_us"], 1e-9), measured[first]["run"] == fastest["run"]


def slope(points: Iterable[tuple[float, float]]) -> float | None:
    """Of log(y) over log(x) by least squares; None of fewer than two points."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x, mean_y = sum(x for x, _ in logs) / len(logs), sum(y for _, y in logs) / len(logs)
    over = sum((x - mean_x) * (x - mean_x) for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / over


def _groups(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    grouped: dict[str, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell["group"], []).append(cell)
    return grouped


def _times(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    head = ["workload", "filters", "interfaces", "contender", "us/msg", "±", "steps", "instr/msg", "matched"]
    head += ["B/constraint", "build s", f"{labels[0]} / fastest other"]
    rows = []
    for group in _groups(cells).values():
        told = ratio(group, labels[0])
        for cell in group:
            is_first = cell["contender"] == labels[0]
            rows.append([*_cells(cell), _ratio_text(told) if is_first else ""])
    return markdown(head, rows)


def _ratio_text(told: tuple[float, bool] | None) -> str:
    return "" if told is None else f"{'' if told[1] else '~'}{short(told[0])}"


def _cells(cell: Cell) -> list[str]:
    asked = [cell["workload"], f"{cell['filters']:,}", _interfaces(cell), cell["contender"]]
    if "skipped" in cell:
        return [*asked, "skipped", *[""] * 6]
    figures = [short(cell["mean_us"]), percent(cell.get("spread"))]
    figures += [short(cell.get(name)) for name in ("steps", "instructions", "matched_mean", "bytes_per_constraint")]
    return [*asked, *figures, short(cell["build_s"])]


def _interfaces(cell: Cell) -> str:
    return "F" if cell["interfaces"] is None else f"{cell['interfaces']:,}"


def _slopes(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """Of time, of steps, and of results, over filters."""
    head = [
        "workload",
        "interfaces",
        *labels,
        *(f"steps, {label}" for label in labels if not _is_library(label)),
        "results",
    ]
    rows = []
    for workload, interfaces in dict.fromkeys((cell["workload"], _interfaces(cell)) for cell in cells):
        same = [
            cell
            for cell in cells
            if (cell["workload"], _interfaces(cell)) == (workload, interfaces) and "mean_us" in cell
        ]
        times = [_slope_of(same, "mean_us", label) for label in labels]
        steps = [_slope_of(same, "steps", label) for label in labels if not _is_library(label)]
        rows.append([workload, interfaces, *times, *steps, _slope_of(same, "matched_mean")])
    return "Log-log slopes over filters:\n\n" + markdown(head, rows)


def _is_library(label: str) -> bool:
    return label.startswith(PREFIX)


def _slope_of(cells: Iterable[Cell], figure: str, label: str | None = None) -> str:
    of_label = [cell for cell in cells if label in (None, cell["contender"]) and cell.get(figure) is not None]
    found = slope((cell["filters"], cell[figure]) for cell in of_label)
    return "" if found is None else f"{found:.2f}"


def _updates(cells: Sequence[Cell]) -> str:
    kinds = [f"{kind}_{part}us" for kind in ("add", "remove") for part in ("", "p50_", "p99_", "p999_", "max_")]
    head = ["workload", "filters", "interfaces", "contender", "add mean", "p50", "p99", "p99.9", "worst"]
    head += ["remove mean", "p50", "p99", "p99.9", "worst"]
    rows = [
        [
            *(cell["workload"], f"{cell['filters']:,}", _interfaces(cell), cell["contender"]),
            *(short(cell[kind]) for kind in kinds),
        ]
        for cell in cells
        if "add_us" in cell
    ]
    return "Microseconds of single updates of the full table:\n\n" + markdown(head, rows)
