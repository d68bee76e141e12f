"""The adversary's page: what 10,000 filters of one client can do to one message, searched for and printed.

    python -m tamis.bench.matching.adversary [--family names,boxes] [--engine tamis,sff] [--tries 60] [--json]

Law: see the package.
"""

from __future__ import annotations

import json
from typing import Final

import click

from tamis.bench.commands import chosen, say
from tamis.bench.matching.adversary.families import FAMILIES
from tamis.bench.matching.adversary.page import page_of, remark, worst_row
from tamis.bench.matching.adversary.search import Search, ordinary_us
from tamis.bench.matching.contenders import EnginesDisagree, contenders
from tamis.protocol.limits import FILTERS_PER_CLIENT

SEED: Final = 2003
TRIES: Final = 60


@click.command()
@click.option("--family", "families", default=",".join(FAMILIES), show_default=True)
@click.option(
    "--engine",
    "engines",
    default="tamis,sff,counting",
    show_default=True,
    help="Engines to measure; the search uses the first.",
)
@click.option("--filters", type=click.IntRange(min=1), default=FILTERS_PER_CLIENT, show_default=True)
@click.option("--tries", type=click.IntRange(min=1), default=TRIES, show_default=True, help="Shapes to try per family.")
@click.option("--seconds", type=click.FloatRange(min=0), default=120.0, show_default=True, help="Duration per family.")
@click.option("--seed", type=int, default=SEED, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(families: str, engines: str, filters: int, tries: int, seconds: float, seed: int, as_json: bool) -> None:
    """Search for the worst that the filters of one client can do to one message, and print it beside a plain table.

    The exit code is 1 if engines disagree.
    """
    names = chosen(families, FAMILIES, "--family")
    try:
        wanted = contenders(engines.split(","), [0])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if any(each.library for each in wanted):
        raise click.UsageError("--engine: libraries are not allowed here, only engines")
    search = Search(wanted, filters, ordinary_us(wanted[0], filters), seed)
    try:
        told = [worst_row(name, search, tries, seconds, say) for name in names]
    except EnginesDisagree as error:
        raise click.ClickException(str(error)) from None
    rows = [row for row in told if row is not None]
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
    else:
        click.echo("\n".join([page_of(rows, [each.label for each in wanted[1:]]), "", *map(remark, rows)]))


if __name__ == "__main__":
    main()
