"""Rows for people (a table for each measure) and for programs (one JSON object a line).

Law: a figure is the median of its rounds; its spread is (largest - smallest) / median. A ratio above 1 is in favour of
the row's own broker, whichever way the figure counts.
"""

from __future__ import annotations

import json

import click

from tamis.bench.router.brokers.measures import Measure
from tamis.bench.router.brokers.run import Row
from tamis.bench.tables import markdown, short

_DIGITS = 5


def tell(rows: list[Row], as_json: bool, **more: float) -> None:
    """Print the rows of one measure, with `more` in each that is for programs."""
    if as_json:
        for row in rows_for_programs(rows):
            click.echo(json.dumps(row | more))
    elif rows:
        click.echo(table_for_people(rows[0].measure, rows))


def tell_beside_disk(rows: list[Row], as_json: bool, disk_us: float) -> None:
    """Print the rows of one measure, and how long the disk's own fdatasync takes."""
    tell(rows, as_json, fdatasync_us=round(disk_us, 1))
    if not as_json:
        click.echo(f"one fdatasync of 4 KiB: {disk_us:,.0f} us (median)\n")


def rows_for_programs(rows: list[Row]) -> list[dict[str, object]]:
    return [_for_programs(row, rows) for row in rows]


def table_for_people(measure: Measure, rows: list[Row]) -> str:
    """A heading, a Markdown table, and a line for each broker that is not in it."""
    head = ["broker", *(figure.head for figure in measure.figures), "±", *(f"x {name}" for name in measure.against)]
    known = [row for row in rows if row.rounds]
    table = markdown(head, (_cells(row, rows) for row in known)) + "\n" if known else ""
    told = "".join(f"{row.broker}: {row.missing or row.trouble}\n" for row in rows if row.missing or row.trouble)
    return f"## {measure.name}: {measure.question}\n\n{table}{told}"


def ratio(row: Row, rows: list[Row], other: str) -> float | None:
    """How many times better than `other` in the measure's first figure; None if either has none."""
    base = next((each for each in rows if each.broker == other and each.rounds), None)
    figure = row.measure.figures[0]
    if base is None or not row.rounds:
        return None
    better, worse = (row, base) if figure.more_is_better else (base, row)
    return better.value(figure) / worse.value(figure) if worse.value(figure) else None


def _cells(row: Row, rows: list[Row]) -> list[str]:
    ratios = [ratio(row, rows, name) for name in row.measure.against]
    return [
        row.broker,
        *(short(row.value(figure)) for figure in row.measure.figures),
        f"{row.spread(row.measure.figures[0]):.0%}",
        *("" if value is None else short(value) for value in ratios),
    ]


def _for_programs(row: Row, rows: list[Row]) -> dict[str, object]:
    told: dict[str, object] = {"measure": row.measure.name, "broker": row.broker, "rounds": len(row.rounds)}
    if row.rounds:
        told |= {figure.name: _rounded(row.value(figure)) for figure in row.measure.figures}
        told["frame_bytes"] = row.rounds[0].seen["frame_bytes"]
        told["spread"] = {figure.name: _rounded(row.spread(figure)) for figure in row.measure.figures}
        ratios = {name: ratio(row, rows, name) for name in row.measure.against}
        told["times"] = {name: _rounded(value) for name, value in ratios.items() if value is not None}
    if row.missing or row.trouble:
        told["why"] = row.missing or row.trouble
    return told


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
