"""`python -m tamis.bench.networks.strategies`: what each strategy costs, on one layout after the other.

    --layouts ring5,wan39      networks of configs/topologies, or a kind of shape with its size (line9)
    --strategy advertise,link-matching/pst      strategies, and after a stroke an engine that is not the usual one
    --json FILE                a line for each cell: given again, what the file has of this build is not measured again

All strategies of the table are compared, each with the usual engine; one whose paper has an engine with that, too.

Law: figures of one group were measured in turns and are compared; a strategy that delivers anything else than the
others, or sends another number of copies than its model, ends the run with exit code 1 and no figure of the group. A
cell that takes longer than --cell-s is left out, as are larger ones of its kind, and the page says so.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import click

from tamis.bench.commands import numbers, timed_progress
from tamis.bench.networks.strategies.cells import Cells, Contender, Setup
from tamis.bench.networks.strategies.control import layout
from tamis.bench.networks.strategies.measure import Disagrees, measure
from tamis.bench.networks.strategies.page import page
from tamis.native import DEFAULT_ENGINE
from tamis.protocol.strategies import BY_NAME, STRATEGIES, StrategyFacts

SCALES: Final[dict[str, dict[str, tuple[int, ...]]]] = {
    "small": {"ring5": (1_000, 10_000), "wan39": (1_000, 10_000), "tree100": (1_000,)},
    "paper": {"ring5": (1_000, 10_000, 100_000), "wan39": (1_000, 10_000, 100_000), "tree100": (1_000, 10_000)},
    "brokers": {"bus4": (1_000, 20_000, 200_000), "das9": (1_000, 20_000, 200_000)},
}
"""Layouts, and the subscriptions of each."""
ENGINES_OF_PAPERS: Final = {"link-matching": "pst"}
"""Strategies whose paper has an engine of its own, which is compared, too."""
LIMITING_ENGINE: Final = "counting"
"""The engine of strategies that need one whose matches can stop after some filters."""


def contenders(names: str | None) -> list[Contender]:
    """Return the contenders that `--strategy` names; None: all of the table. UsageError for one that is not there."""
    if names is None:
        usual = [Contender(facts.name, _usual_engine(facts)) for facts in STRATEGIES]
        return usual + [Contender(name, engine) for name, engine in ENGINES_OF_PAPERS.items()]
    found = []
    for name in names.split(","):
        strategy, _, engine = name.partition("/")
        if strategy not in BY_NAME:
            raise click.UsageError(f"--strategy: unknown {strategy!r}; allowed: {', '.join(BY_NAME)}")
        found.append(Contender(strategy, engine or _usual_engine(BY_NAME[strategy])))
    return found


def _usual_engine(facts: StrategyFacts) -> str:
    return LIMITING_ENGINE if facts.limits_matches else DEFAULT_ENGINE


def setups(
    scale: str, layouts: str | None, subscriptions: tuple[int, ...], coverable: tuple[int, ...], events: int
) -> list[Setup]:
    """Return what is to be compared, the smaller first; UsageError for a layout that is none."""
    asked = SCALES[scale]
    names = layouts.split(",") if layouts else list(asked)
    for name in names:
        try:
            layout(name)
        except ValueError as error:
            raise click.UsageError(f"--layouts: {error}") from None
    return [
        Setup(name, count, share, events)
        for name in names
        for count in sorted(subscriptions or asked.get(name, (1_000,)))
        for share in coverable
    ]


@click.command()
@click.option(
    "--scale", type=click.Choice([*SCALES]), default="small", show_default=True, help="Size of the comparison."
)
@click.option("--layouts", help="Networks (default: those of the scale).")
@click.option(
    "--subscriptions", callback=numbers, help="Subscriptions of the whole network (default: those of the scale)."
)
@click.option(
    "--coverable", default="0,50,90", show_default=True, callback=numbers, help="Per cent of coverable subscriptions."
)
@click.option("--strategy", "names", help="Strategies, each with an optional /ENGINE (default: all).")
@click.option("--events", type=click.IntRange(min=1), default=2_000, show_default=True, help="Messages in one pass.")
@click.option("--passes", type=click.IntRange(min=1), default=6, show_default=True)
@click.option(
    "--cell-s", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="CPU limit of one cell."
)
@click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Append one line per cell to this file."
)
def main(
    scale: str,
    layouts: str | None,
    subscriptions: tuple[int, ...],
    coverable: tuple[int, ...],
    names: str | None,
    events: int,
    passes: int,
    cell_s: float,
    file: Path | None,
) -> None:
    """Compare strategies, and print a table for each layout, count of subscriptions and coverable share."""
    wanted, asked, cells = contenders(names), setups(scale, layouts, subscriptions, coverable, events), Cells(file)
    slow: dict[tuple[str, int, Contender], int] = {}
    began_s = time.monotonic()
    for number, setup in enumerate(asked):
        kinds = {each: (setup.layout, setup.coverable, each) for each in wanted}
        missing = [each for each in wanted if not cells.has(setup, each, cell_s)]
        for each in missing:
            if kinds[each] in slow:
                reason = f"which took more than {cell_s:g} s with {slow[kinds[each]]:,}"
                cells.put(setup, each, {"skipped": reason, "budget_s": cell_s})
        missing = [each for each in missing if kinds[each] not in slow]
        try:
            if missing:
                measure(setup, missing, cells, passes, cell_s, timed_progress(began_s, number, len(asked)))
        except Disagrees as error:
            raise click.ClickException(str(error)) from None
        left_out = {(row["strategy"], row["engine"]) for row in cells.group(setup) if "skipped" in row}
        for each in wanted:
            if (each.strategy, each.engine) in left_out:
                slow.setdefault(kinds[each], setup.subscriptions)
    click.echo(page(asked, cells))


if __name__ == "__main__":
    main()
