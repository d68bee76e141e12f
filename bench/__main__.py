"""`make bench`: run the table of targets and the figures, and write them into `bench/results/`.

    python -m tamis.bench [--filters-max 1000000] [--into bench/results]

Law: what is written says on which machine, of which commit and when it was measured.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from tamis.bench import figures
from tamis.bench.figures import Measured, Runner

RESULTS = Path(__file__).parent / "results"


@click.command()
@click.option("--filters-max", type=click.IntRange(min=100), default=1_000_000, show_default=True)
@click.option("--into", type=click.Path(path_type=Path), default=RESULTS, help="Folder for tables and plots.")
def main(filters_max: int, into: Path) -> None:
    """Measure, and write matching.md, matching.json and the plots."""
    into.mkdir(parents=True, exist_ok=True)
    runner = Runner(lambda words: print(words, file=sys.stderr, flush=True))
    targets = figures.targets(runner, filters_max)
    growth = figures.growth(runner, filters_max)
    figure_10 = figures.filters_per_interface(runner, filters_max)
    figure_11 = figures.rounds(runner, filters_max)
    (into / "matching.svg").write_text(figures.draw_growth(growth))
    (into / "figure10.svg").write_text(figures.draw_filters_per_interface(figure_10))
    (into / "figure11.svg").write_text(figures.draw_rounds(figure_11))
    tables = {"Targets": targets, "Growth": growth, "Filters per interface": figure_10, "Rounds": figure_11}
    (into / "matching.md").write_text(_page(tables))
    (into / "matching.json").write_text(json.dumps({"about": _about(), "tables": _plain(tables)}, indent=1) + "\n")


def _page(tables: dict[str, list[Measured]]) -> str:
    parts = ["# Matching, measured", *(f"- {key}: {value}" for key, value in _about().items())]
    for title, measured in tables.items():
        parts += ["", f"## {title}", "", figures.table_of(measured)]
    plots = [f"![{name}]({name}.svg)" for name in ("matching", "figure10", "figure11")]
    return "\n".join([*parts, "", *plots]) + "\n"


def _plain(tables: dict[str, list[Measured]]) -> dict[str, list[object]]:
    return {title: [asdict(each) for each in measured] for title, measured in tables.items()}


def _about() -> dict[str, str]:
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _commit(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "workload": f"sigcomm03, {figures.NAMES:,} names, {figures.MESSAGES:,} messages, seed {figures.SEED}",
        "threads": "1",
    }


def _commit() -> str:
    command: Sequence[str] = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)  # noqa: S603
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


if __name__ == "__main__":
    main()
