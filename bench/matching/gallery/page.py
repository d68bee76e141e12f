"""The cells of the gallery for people: a line for each cell, and one for each workload with its slopes.

Law: a ratio is the time of the first contender over that of the fastest other in the same group; where they were not
measured in one run it has a `~`. A slope is that of the straight line through log(time) over log(filters).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tamis.bench.matching.libraries import PREFIX
from tamis.bench.matching.workloads import WORKLOADS
from tamis.bench.tables import markdown, percent, short

SLOWER_MAX: Final = 1.1

Cell = dict[str, Any]


def pages(cells: Sequence[Cell], labels: Sequence[str], *, with_updates: bool) -> str:
    parts = [_times(cells, labels), _slopes(cells, labels)]
    parts += [slower] if (slower := _slower(cells, labels[0])) else []
    parts += [twins] if (twins := _twins(cells, labels[0])) else []
    if with_updates:
        parts.append(_updates(cells))
    notes = [f"{cell['key']}: {cell['skipped']}" for cell in cells if "skipped" in cell]
    notes += [f"{cell['key']}: {cell['note']}" for cell in cells if cell.get("note")]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def compared(old: Mapping[str, Cell], cells: Sequence[Cell]) -> str:
    """The figures of another build over those of these cells: above 1, this one is faster, or does less work. Times
    were taken at other moments: believe steps and instructions first."""
    head = ["workload", "filters", "interfaces", "contender", "us/msg", "was", "times faster"]
    head += ["steps", "instr/msg", "add", "remove", "B/constraint"]
    figures = ("steps", "instructions", "add_us", "remove_us", "bytes_per_constraint")
    rows = []
    for cell in cells:
        was = old.get(cell["key"])
        if was is not None and "mean_us" in was and "mean_us" in cell:
            times = [short(cell["mean_us"]), short(was["mean_us"]), _over(was, cell, "mean_us")]
            rows.append([*_named(cell), *times, *(_over(was, cell, figure) for figure in figures)])
    return "Time of the other build divided by this one:\n\n" + markdown(head, rows)


def _over(was: Cell, cell: Cell, figure: str) -> str:
    before, now = was.get(figure), cell.get(figure)
    return "" if before is None or not now else f"{before / now:.2f}"


def ratio(group: Sequence[Cell], first: str) -> tuple[float, bool] | None:
    """The first contender's time over the fastest other's, and whether both were measured in one run."""
    found = _fastest_other(group, first)
    if found is None:
        return None
    ours, other = found
    return ours["mean_us"] / max(other["mean_us"], 1e-9), ours["run"] == other["run"]


def _fastest_other(group: Sequence[Cell], first: str) -> tuple[Cell, Cell] | None:
    """The first contender's cell, and the other. A library that expresses a part of the filters is compared with
    `tamis` on that part, and is not among the others here."""
    measured = {cell["contender"]: cell for cell in group if "mean_us" in cell and cell.get("share", 1.0) == 1.0}
    others = [cell for label, cell in measured.items() if label != first]
    if first not in measured or not others:
        return None
    return measured[first], min(others, key=lambda cell: float(cell["mean_us"]))


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
    asked = _named(cell)
    if "skipped" in cell:
        return [*asked, "skipped", *[""] * 6]
    figures = [short(cell["mean_us"]), percent(cell.get("spread"))]
    figures += [short(cell.get(name)) for name in ("steps", "instructions", "matched_mean", "bytes_per_constraint")]
    return [*asked, *figures, short(cell["build_s"])]


def _named(cell: Cell) -> list[str]:
    return [cell["workload"], f"{cell['filters']:,}", _interfaces(cell), cell["contender"]]


def _interfaces(cell: Cell) -> str:
    return "F" if cell["interfaces"] is None else f"{cell['interfaces']:,}"


def _slopes(cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """Of time, of steps, and of results, over filters."""
    steps_of = [label for label in labels if not _is_library(label)]
    head = ["workload", "interfaces", *labels, *(f"steps, {label}" for label in steps_of), "results"]
    rows = []
    for workload, interfaces in dict.fromkeys((cell["workload"], _interfaces(cell)) for cell in cells):
        same = [
            cell
            for cell in cells
            if (cell["workload"], _interfaces(cell)) == (workload, interfaces) and "mean_us" in cell
        ]
        times = [_slope_of(same, "mean_us", label) for label in labels]
        steps = [_slope_of(same, "steps", label) for label in steps_of]
        rows.append([workload, interfaces, *times, *steps, _slope_of(same, "matched_mean")])
    return "Log-log slopes over filters:\n\n" + markdown(head, rows)


def _slower(cells: Sequence[Cell], first: str) -> str:
    """The groups in which the first contender is slower than it may be, its fastest repeat than the other's slowest."""
    told = []
    for name, group in _groups(cells).items():
        found = _fastest_other(group, first)
        if found is None:
            continue
        ours, other = found
        times = ours["mean_us"] / max(other["mean_us"], 1e-9)
        apart = min(ours["repeats_us"]) > max(other.get("repeats_us") or [other["mean_us"]])
        if times > SLOWER_MAX and apart:
            told.append(f"- {name}: {short(times)} times {other['contender']}")
    head = f"More than {SLOWER_MAX:g} times slower than the fastest other, beyond the spread of the repeats:"
    return "\n".join([head, "", *told]) if told else ""


def _twins(cells: Sequence[Cell], first: str) -> str:
    """Workloads that are spelled or dealt in two ways, for the first contender."""
    ours = {
        (cell["workload"], cell["filters"], cell["interfaces"]): cell for cell in cells if cell["contender"] == first
    }
    rows = []
    for (workload, filters, interfaces), cell in ours.items():
        twin = ours.get((WORKLOADS[workload].drawn_as or "", filters, interfaces))
        if twin not in (None, cell) and "mean_us" in cell and "mean_us" in twin:
            apart = (_apart(cell, twin, figure) for figure in ("mean_us", "steps", "instructions"))
            rows.append([f"{workload}, {twin['workload']}", f"{filters:,}", _interfaces(cell), *apart])
    head = ["twins", "filters", "interfaces", "us/msg", "steps", "instr/msg"]
    return f"Twins, {first}, the slower divided by the faster one:\n\n{markdown(head, rows)}" if rows else ""


def _apart(one: Cell, other: Cell, figure: str) -> str:
    both = sorted((one.get(figure) or 0, other.get(figure) or 0))
    return f"{both[1] / both[0]:.2f}" if both[0] else ""


def _is_library(label: str) -> bool:
    return label.startswith(PREFIX)


def _slope_of(cells: Iterable[Cell], figure: str, label: str | None = None) -> str:
    of_label = [cell for cell in cells if label in (None, cell["contender"]) and cell.get(figure) is not None]
    found = slope((cell["filters"], cell[figure]) for cell in of_label)
    return "" if found is None else f"{found:.2f}"


def _updates(cells: Sequence[Cell]) -> str:
    kinds = [f"{kind}_{part}us" for kind in ("add", "remove") for part in ("", "p50_", "p99_", "p999_", "max_")]
    head = ["workload", "filters", "interfaces", "contender", "add mean", "p50", "p99", "p99.9", "worst"]
    head += ["remove mean", "p50", "p99", "p99.9", "worst", "speed left"]
    able = (cell for cell in cells if "add_us" in cell)
    rows = [[*_named(cell), *(short(cell[kind]) for kind in kinds), percent(cell.get("churn"))] for cell in able]
    return "Microseconds of single updates of the full table:\n\n" + markdown(head, rows)
