"""`make bench`: measure every section of the results page and write it into `bench/results/`.

    python -m tamis.bench [--filters-max 4000000] [--minutes 180] [--gibibytes 16] [--into bench/results]

Law: what is written says on which machine, of which commit and when it was measured. The page is written after every
section and each row as it comes, so an interrupted run goes on where it was when the same command is given again.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from pathlib import Path

import click

from tamis.bench.cells import processor
from tamis.bench.matching import figures
from tamis.bench.matching.journal import Journal, build_digests
from tamis.bench.matching.runner import Runner, bound_memory
from tamis.bench.matching.sections import SECTIONS, Section
from tamis.protocol.errors import TamisError

RESULTS = Path(__file__).parents[1] / "results"


@click.command()
@click.option("--filters-max", type=click.IntRange(min=100), default=4_000_000, show_default=True)
@click.option("--minutes", type=click.FloatRange(min=0), default=180, show_default=True, help="No row begins later.")
@click.option("--gibibytes", type=click.FloatRange(min=1), default=16, show_default=True, help="Memory to use at most.")
@click.option("--into", type=click.Path(path_type=Path), default=RESULTS, help="Folder for tables and plots.")
def main(filters_max: int, minutes: float, gibibytes: float, into: Path) -> None:
    """Measure, and write matching.md, matching.json and the plots.

    Bounded: no row begins after --minutes, and none takes longer than about half an hour. Given again after an
    interruption, it goes on where it was. What did not fit into time or memory is listed on the page.
    """
    bound_memory(gibibytes)
    into.mkdir(parents=True, exist_ok=True)
    journal = Journal(into / "matching.rows.jsonl", build_digests() | {"processor": processor()})
    runner = Runner(lambda words: click.echo(words, err=True), journal, 60 * minutes)
    sections: list[Section] = []
    for measure in SECTIONS:
        try:
            sections.append(measure(runner, filters_max))
        except TamisError as error:
            raise click.ClickException(str(error)) from None
        _write(into, sections, runner.skipped)
    if not runner.out_of_time:
        journal.end()


def _write(into: Path, sections: list[Section], skipped: dict[str, str]) -> None:
    plots = {name: drawn for section in sections for name, drawn in section.plots.items()}
    for name, drawn in plots.items():
        (into / f"{name}.svg").write_text(drawn)
    (into / "matching.md").write_text(_page(sections, skipped, list(plots)))
    tables = {section.title: section.rows for section in sections}
    told = {"about": _about(), "tables": tables, "left out": skipped}
    (into / "matching.json").write_text(json.dumps(told, indent=1) + "\n")


def _page(sections: list[Section], skipped: dict[str, str], plots: list[str]) -> str:
    parts = ["# Matching, measured", "", *(f"- {key}: {value}" for key, value in _about().items())]
    for section in sections:
        parts += ["", f"## {section.title}", "", section.about, "", section.table]
        parts += ["", *(f"- {note}" for note in section.notes)] if section.notes else []
    if skipped:
        parts += ["", "## Left out", "", *(f"- {key}: {reason}" for key, reason in skipped.items())]
    return "\n".join([*parts, "", *(f"![{name}]({name}.svg)" for name in plots)]) + "\n"


def _about() -> dict[str, str]:
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _commit(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "workload": f"sigcomm03, {figures.NAMES:,} names, {figures.MESSAGES:,} messages, seed {figures.SEED}",
        "threads": "1",
    }


def _commit() -> str:
    """With `-dirty` if anything but these results differs from it."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)bench/results")
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)  # noqa: S603
    return done.stdout.strip()


if __name__ == "__main__":
    main()
