"""One table: every engine side by side, on the workloads of the five papers and on the gallery of natural ones.

    python -m tamis.bench.matching.table [--sizes 1000,2000,10000] [--minutes 60] [--into bench/results]

Writes engines.jsonl, a line for each cell (gallery/cells.py), and engines.md, the page that is made of it. Given again,
the command measures what the file does not have of this build and processor, so an interrupted run goes on.

Law: all engines of a row see the same filters, messages and interfaces, in turns within one run (passes.py); a time is
the mean over messages of the fastest of all passes. Engines that disagree end the run, and their row has no figures.
The page says what was left out, and why.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from tamis.bench.cells import processor
from tamis.bench.commands import numbers
from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import Setup, contenders
from tamis.bench.matching.gallery.cells import Cells, group_of
from tamis.bench.matching.gallery.measure import Bounds, measure, setups
from tamis.bench.tables import markdown, short
from tamis.native import ENGINES, engines_listed
from tamis.protocol.errors import TamisError

PAPERS: Final = ("sigcomm03", "cu922", "boxes", "gryphon", "das")
"""Of papers 004, 000, 001, 002 and 003, in this order in the table."""
VARIANTS: Final = ("pst:delay=8", "interval:form=tree")
"""Beside each engine as it is: those whose figures are another thing with an option."""
SIZES: Final = "1000,2000,10000"
SEED: Final = 2003
_RESULTS: Final = Path(__file__).parents[1] / "results"

Cell = dict[str, Any]
Groups = dict[str, dict[str, Cell]]
"""The cells of each row, by contender."""


@click.command()
@click.option("--workload", "only", default="all", show_default=True, help="Names of workloads, or all.")
@click.option("--sizes", default=SIZES, show_default=True, callback=numbers, help="Numbers of filters.")
@click.option("--engine", "engines", default="all", show_default=True, help="Engines, as in tamis bench match, or all.")
@click.option("--messages", type=click.IntRange(min=1), default=300, show_default=True, help="Message limit.")
@click.option("--passes", type=click.IntRange(min=1), default=3, show_default=True, help="Passes in each of 3 repeats.")
@click.option(
    "--cell-s", type=click.FloatRange(min=0.1), default=3.0, show_default=True, help="Time limit of one engine."
)
@click.option(
    "--minutes", type=click.FloatRange(min=0), default=60, show_default=True, help="Begin no row after this time."
)
@click.option("--into", type=click.Path(path_type=Path), default=_RESULTS, help="Folder for engines.jsonl and .md.")
def main(
    only: str, sizes: Sequence[int], engines: str, messages: int, passes: int, cell_s: float, minutes: float, into: Path
) -> None:
    """Measure every engine on every workload, and write one page: time, p99, steps, bytes, build, add and remove."""
    start, bounds = time.monotonic(), Bounds(cell_s, 0, passes)
    names = list(workloads.WORKLOADS) if only == "all" else only.split(",")
    try:
        wanted = contenders([*ENGINES, *VARIANTS] if engines == "all" else engines_listed(engines), [_rounds()])
        rows = list(_rows(names, sizes, messages, bounds))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    into.mkdir(parents=True, exist_ok=True)
    cells = Cells(into / "engines.jsonl")
    labels, left_out = [each.label for each in wanted], 0
    for number, setup in enumerate(rows, 1):
        if time.monotonic() - start > 60 * minutes and not _is_there(setup, cells, labels):
            left_out += 1
            continue
        click.echo(f"[{number} of {len(rows)}] {group_of(setup)}", err=True)
        try:
            measure(setup, wanted, cells, bounds, lambda _words: None)
        except TamisError as error:
            raise click.ClickException(str(error)) from None
    (into / "engines.md").write_text(page(rows, cells.rows(), labels))
    if left_out:
        click.echo(f"{left_out} rows are not measured: run the command again", err=True)


def _rounds() -> int:
    """Of `sff`, where nothing is said."""
    return ENGINES["sff"].options["rounds"].standard


def _rows(names: Sequence[str], sizes: Sequence[int], messages: int, bounds: Bounds) -> Iterator[Setup]:
    """The papers' workloads first, each from its smallest size up, with its own first number of interfaces."""
    ordered = [name for name in PAPERS if name in names] + [name for name in names if name not in PAPERS]
    for name in ordered:
        interfaces = workloads.kind_of(name).interfaces[0]
        for setup in setups([name], sizes, [interfaces], bounds, SEED):
            yield replace(setup, message_count=min(messages, setup.message_count))


def _is_there(setup: Setup, cells: Cells, labels: Sequence[str]) -> bool:
    return {cell["contender"] for cell in cells.group(setup)} >= set(labels)


# --- the page --------------------------------------------------------------------------------------------------------


def page(rows: Sequence[Setup], cells: Sequence[Cell], labels: Sequence[str]) -> str:
    """What was measured of `rows`, and what was not."""
    groups: Groups = {group_of(setup): {} for setup in rows}
    for cell in cells:
        groups.get(cell["group"], {})[cell["contender"]] = cell
    there = [setup for setup in rows if groups[group_of(setup)]]
    parts = [_HEAD.format(date=time.strftime("%Y-%m-%d", time.gmtime()), processor=processor())]
    parts += ["## Microseconds a message", _overview(there, groups, labels, "mean_us")]
    parts += ["## Steps a message", _overview(there, groups, labels, "steps")]
    parts += ["## All figures", _all(there, groups, labels)]
    missing = [group_of(setup) for setup in rows if setup not in there]
    notes = [f"- {key}: {cell['skipped']}" for key, cell in _skipped(there, groups)]
    notes += [f"- {group}: not measured" for group in missing]
    return "\n\n".join([*parts, *(["## Left out", "\n".join(notes)] if notes else [])]) + "\n"


_HEAD: Final = """# Every engine side by side

Made by `python -m tamis.bench.matching.table` on {date}, {processor}, one thread, all engines of a row in one run
and in turns. A time is the mean over messages of the fastest of all passes; a step is counted work, equal in every run,
and [another thing for each engine](../../docs/design/engines.md#steps). F is an interface for each filter. The fastest
of a row, or the one of the fewest steps, is **bold**."""


def _overview(rows: Sequence[Setup], groups: Groups, labels: Sequence[str], figure: str) -> str:
    lines = []
    for setup in rows:
        told = [groups[group_of(setup)].get(label, {}).get(figure) for label in labels]
        least = min((value for value in told if value is not None), default=None)
        lines.append([*_named(setup), *(f"**{short(value)}**" if value == least else short(value) for value in told)])
    return markdown(["workload", "filters", "interfaces", *labels], lines)


def _all(rows: Sequence[Setup], groups: Groups, labels: Sequence[str]) -> str:
    head = ["workload", "filters", "interfaces", "engine", "build s", "mean us", "p99 us", "steps", "B/constraint"]
    head += ["add us", "remove us", "matched"]
    figures = ("build_s", "mean_us", "p99_us", "steps", "bytes_per_constraint", "add_us", "remove_us", "matched_mean")
    lines = []
    for setup in rows:
        for label in labels:
            cell = groups[group_of(setup)].get(label)
            if cell is not None and "skipped" not in cell:
                lines.append([*_named(setup), label, *(short(cell.get(name)) for name in figures)])
    return markdown(head, lines)


def _named(setup: Setup) -> list[str]:
    interfaces = "F" if setup.interface_count is None else f"{setup.interface_count:,}"
    return [setup.workload, f"{setup.filter_count:,}", interfaces]


def _skipped(rows: Sequence[Setup], groups: Groups) -> Iterator[tuple[str, Cell]]:
    for setup in rows:
        yield from ((cell["key"], cell) for cell in groups[group_of(setup)].values() if "skipped" in cell)


if __name__ == "__main__":
    main()
