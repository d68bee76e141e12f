"""Logs of real routers, made as long as asked for, and analysed on one core and on two."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from tamis.bench.logs.analysis import measured, ring
from tamis.bench.scratch import scratch_folder
from tamis.bench.tables import markdown

RESULTS: Final = Path(__file__).parents[2] / "results"
FILES: Final = 16


@click.command()
@click.option(
    "--records", type=click.IntRange(min=10_000), default=1_000_000, show_default=True, help="Records of messages."
)
@click.option("--filters", type=click.IntRange(min=100), default=10_000, show_default=True)
@click.option("--job", "jobs", type=click.Choice([*measured.PARTS]), multiple=True, default=[*measured.PARTS])
@click.option("--master", "masters", multiple=True, default=("local[1]", "local[2]"), show_default=True)
@click.option(
    "--logs",
    type=click.Path(path_type=Path),
    help="Folder of the logs, kept for later runs (default: a temporary one).",
)
@click.option("--into", type=click.Path(path_type=Path), default=RESULTS, help="Folder for analysis.jsonl.")
@click.option("--measure", type=(str, str, click.Path(path_type=Path), click.Path(path_type=Path)), hidden=True)
def main(
    records: int,
    filters: int,
    jobs: tuple[str, ...],
    masters: tuple[str, ...],
    logs: Path | None,
    into: Path,
    measure: tuple[str, str, Path, Path] | None,
) -> None:
    """Records per second and memory of each job, by number of cores."""
    if measure is not None:
        click.echo(measured.here(*measure))
        return
    into.mkdir(parents=True, exist_ok=True)
    rows = []
    with scratch_folder() as folder:
        many = folder / "many" if logs is None else logs
        if not many.exists():
            _make(many, folder, records, filters)
        for job in jobs:
            for master in masters:
                print(f"{job}, {master}", file=sys.stderr, flush=True)
                rows.append(measured.apart(job, master, many, folder))
                with (into / "analysis.jsonl").open("a") as results:
                    results.write(json.dumps(asdict(rows[-1]) | {"filters": filters}) + "\n")
    click.echo(table(rows))


def _make(logs: Path, folder: Path, records: int, filters: int) -> None:
    from tamis.analysis import multiply
    from tamis.analysis.spark import session

    began_s = time.perf_counter()
    small = asyncio.run(ring.recorded(folder, filters))
    spark = session.start()
    logs.mkdir()
    made = multiply.write(spark, small, logs, records, FILES)
    spark.stop()
    size = sum(path.stat().st_size for path in logs.rglob("*.gz"))
    took_s = time.perf_counter() - began_s
    print(f"{made:,} records, {size / 1e6:,.0f} MB compressed, in {took_s:.0f} s", file=sys.stderr, flush=True)


def table(rows: list[measured.Figures]) -> str:
    head = ["job", "master", "records", "s", "records/s", "reading s", "looked at", "MB Java", "MB Python"]
    return markdown(
        head,
        [
            [
                *(row.job, row.master, f"{row.records:,}", f"{row.seconds:,.0f}"),
                *(f"{row.records / row.seconds:,.0f}", f"{row.parts['reading']:,.0f}", f"{row.looked_at:,}"),
                *(f"{row.java_bytes / 1e6:,.0f}", f"{row.python_bytes / 1e6:,.0f}"),
            ]
            for row in rows
        ],
    )


if __name__ == "__main__":
    main()
