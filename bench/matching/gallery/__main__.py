"""The gallery: every workload at growing sizes, engines side by side, a line in a file for each cell.

    python -m tamis.bench.matching.gallery --workload geo,alerts --sizes 1000,10000 --engine tamis,sff --json FILE

A cell is a workload, a size, a number of interfaces and a contender. Cells of one workload, size and number of
interfaces are measured together, in turns (passes.py); those that the file has already, of the same build on the same
processor, are not measured again, and the answers of new ones are held equal to theirs.

Law: engines that disagree, before, during or after updates, end the run with exit 1 and no figure of that group. A
contender that would take longer than --cell-s has a cell that says so. Ratios are taken within this file alone.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import click

from tamis.bench.commands import numbers, timed_progress
from tamis.bench.matching import libraries, workloads
from tamis.bench.matching.contenders import PASSES, contenders
from tamis.bench.matching.gallery.cells import Cells, cells_of, group_of
from tamis.bench.matching.gallery.measure import Bounds, measure, setups
from tamis.bench.matching.gallery.page import compared, pages
from tamis.native import engines_listed
from tamis.protocol.errors import TamisError

SIZES: Final = "1000,10000,100000,1000000"
SEED: Final = 2003


def _interface_count(text: str) -> int | None:
    if text != "F" and not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"--interfaces: {text!r} is neither F nor a positive number")
    return None if text == "F" else int(text)


@click.command()
@click.option("--workload", "chosen", default="all", show_default=True, help="Names of workloads (see --list), or all.")
@click.option("--sizes", default=SIZES, show_default=True, callback=numbers, help="Numbers of filters.")
@click.option(
    "--engine", "engines", default="tamis,sff,counting", show_default=True, help="Engines, as in tamis bench match."
)
@click.option("--rounds", default="0", show_default=True, help="Selectivity rounds of engines that have them.")
@click.option("--libraries", "with_libraries", is_flag=True, help="Also measure every installed library.")
@click.option("--interfaces", help="Numbers of interfaces, F is one for each filter (default: those of the workload).")
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option(
    "--passes", type=click.IntRange(min=1), default=PASSES, show_default=True, help="Passes in each of 3 repeats."
)
@click.option(
    "--cell-s", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Time limit of one contender."
)
@click.option("--callgrind", is_flag=True, help="Count instructions too, up to --callgrind-max filters.")
@click.option("--callgrind-max", type=click.IntRange(min=1), default=100_000, show_default=True)
@click.option("--updates", is_flag=True, help="Also print the time of updates.")
@click.option("--churn", is_flag=True, help="Also match during 50,000 adds and 50,000 removals a second.")
@click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Append one line per cell to this file."
)
@click.option(
    "--beside",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of another build: print its cells divided by these.",
)
@click.option("--list", "only_list", is_flag=True, help="Print the workloads and the users of such filters.")
def main(
    chosen: str,
    sizes: tuple[int, ...],
    engines: str,
    rounds: str,
    with_libraries: bool,
    interfaces: str | None,
    seed: int,
    passes: int,
    cell_s: float,
    callgrind: bool,
    callgrind_max: int,
    updates: bool,
    churn: bool,
    file: Path | None,
    beside: Path | None,
    only_list: bool,
) -> None:
    """Measure engines on natural workloads and the papers', side by side, and print times, steps, slopes and ratios."""
    if only_list:
        for name, kind in workloads.WORKLOADS.items():
            click.echo(f"{name}: {kind.about} A message matches {kind.hits}.")
        return
    bounds = Bounds(cell_s, callgrind_max if callgrind else 0, passes, churn)
    names = list(workloads.WORKLOADS) if chosen == "all" else chosen.split(",")
    try:
        wanted = contenders(
            [*engines_listed(engines), *_installed(with_libraries)], [int(each) for each in rounds.split(",")]
        )
        counts = [_interface_count(each) for each in interfaces.split(",")] if interfaces else []
        asked = list(setups(names, sizes, counts, bounds, seed))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    cells = Cells(file)
    start = time.monotonic()
    try:
        for number, setup in enumerate(asked, 1):
            measure(setup, wanted, cells, bounds, timed_progress(start, number, len(asked)))
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    keys = {group_of(setup) for setup in asked}
    labels = [each.label for each in wanted]
    shown = [row for row in cells.rows() if row["group"] in keys and row["contender"] in labels]
    click.echo(pages(shown, labels, with_updates=updates or churn))
    if beside is not None:
        click.echo("\n" + compared(cells_of(beside), shown))


def _installed(with_libraries: bool) -> list[str]:
    return [libraries.PREFIX + name for name in libraries.NAMES if with_libraries and libraries.is_installed(name)]


if __name__ == "__main__":
    main()
