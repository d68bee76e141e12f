"""The sweep: the gallery's workloads and twenty mixtures at 21 sizes, against all engines.

    python -m tamis.bench.matching.sweep [--workload flows,mixture-3] [--sizes 10,100,1000] [--steps] [--json]

Prints the worst ten cells first: those where `tamis` takes most times as long as the fastest other engine; then where
steps fall by more than a third while filters grow. With `--steps` no other engine is measured, which takes a minute.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import click

from tamis.bench.commands import numbers, timed_progress
from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import contenders
from tamis.bench.matching.sweep.measure import Bounds, Cell, sweep
from tamis.bench.matching.sweep.page import page
from tamis.native import DEFAULT_ENGINE, ENGINES, engines_listed
from tamis.protocol.errors import TamisError

SIZES: Final = "10,15,22,33,50,75,110,160,250,370,550,800,1200,1800,2700,4000,6000,9000,13500,20000,30000"
_ROUNDS: Final = (0,)  # of sff, which competes once


@click.command()
@click.option("--workload", "chosen", default="all", show_default=True, help="Names of workloads and mixtures, or all.")
@click.option("--sizes", default=SIZES, show_default=True, callback=numbers, help="Numbers of filters.")
@click.option(
    "--engine",
    "engines",
    default="all",
    show_default=True,
    help="Engines beside tamis, as in tamis bench match, or all.",
)
@click.option("--steps", "only_steps", is_flag=True, help="Count the steps of tamis, and measure no other engine.")
@click.option("--messages", type=click.IntRange(min=1), default=100, show_default=True, help="Messages of a cell.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Rounds; medians are shown.")
@click.option(
    "--engine-s",
    type=click.FloatRange(min=0.01),
    default=2.0,
    show_default=True,
    help="An engine that takes longer for a cell is not measured at larger sizes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each cell.")
def main(
    chosen: str,
    sizes: Sequence[int],
    engines: str,
    only_steps: bool,
    messages: int,
    rounds: int,
    engine_s: float,
    as_json: bool,
) -> None:
    """Measure tamis and other engines on every workload and mixture, and print where tamis does too much."""
    names = [*workloads.WORKLOADS, *workloads.MIXTURES] if chosen == "all" else chosen.split(",")
    others = [each for each in ENGINES if each != DEFAULT_ENGINE] if engines == "all" else engines_listed(engines)
    try:
        wanted = contenders([DEFAULT_ENGINE, *([] if only_steps else others)], _ROUNDS)
        for name in names:
            workloads.kind_of(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    bounds, start = Bounds(messages, 1 if only_steps else rounds, engine_s), time.monotonic()
    cells: list[Cell] = []
    for number, name in enumerate(names, 1):
        timed_progress(start, number, len(names))(name)
        try:
            for cell in sweep(name, sizes, wanted, bounds):
                cells.append(cell)
                if as_json:
                    click.echo(json.dumps(asdict(cell)))
        except TamisError as error:
            raise click.ClickException(str(error)) from None
    if not as_json:
        click.echo(page(cells))


if __name__ == "__main__":
    main()
