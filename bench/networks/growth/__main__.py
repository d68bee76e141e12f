"""`python -m tamis.bench.networks.growth [--only NAME,...] [--json]`: what the control plane costs as a network grows.

    growth    10 to 1,000 routers: coming up, rest, a new filter, a link cut; one router's memory and CPU
    many      64 routers and 100,000 filters: a link cut
    filters   memory of 100,000 filters of another router

`--json` prints the lines that `results/growth.jsonl` keeps and `report.py` reads.

Law: one process, one thing after the other. The garbage collector is off: it would look through a thousand routers for
the sake of one.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

import click

from tamis.bench.commands import chosen, numbers
from tamis.bench.networks.growth import many
from tamis.bench.networks.growth.growth import FILTERS_EACH, SEED, grown
from tamis.bench.networks.growth.network import small_filters
from tamis.bench.networks.growth.state import state_of

Found = Iterator[dict[str, Any]]
Sizes = tuple[int, ...]


def _growth(come_up: Sizes, stand: Sizes, alone: Sizes) -> Found:
    for routers in come_up:
        yield asdict(grown(routers, stands=False))
    for routers in stand:
        yield asdict(grown(routers, stands=True))
    for routers in alone:
        yield {"routers": routers, "state": state_of(routers, small_filters(FILTERS_EACH * routers), SEED)}


def _many(*_: Sizes) -> Found:
    for cut in many.cuts():
        yield {"routers": many.ROUTERS, "filters": many.FILTERS, **asdict(cut)}


def _filters(*_: Sizes) -> Found:
    yield {"filters": many.FILTERS, "bytes_each": many.bytes_per_filter()}


PARTS: Final[dict[str, Callable[[Sizes, Sizes, Sizes], Found]]] = {
    "growth": _growth,
    "many": _many,
    "filters": _filters,
}


@click.command()
@click.option("--only", default=",".join(PARTS), show_default=True, help="Parts to measure.")
@click.option(
    "--routers",
    default="10,30,100,300",
    show_default=True,
    callback=numbers,
    help="Sizes of networks that start router by router.",
)
@click.option(
    "--stand", default="1000", show_default=True, callback=numbers, help="Sizes of networks that exist at once."
)
@click.option(
    "--alone",
    default="3000,10000",
    show_default=True,
    callback=numbers,
    help="Sizes of networks known to a single router.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(only: str, routers: tuple[int, ...], stand: tuple[int, ...], alone: tuple[int, ...], as_json: bool) -> None:
    """Simulate, count, measure."""
    gc.disable()
    for name in chosen(only, PARTS, "--only"):
        for found in PARTS[name](routers, stand, alone):
            told = {"part": name} | found
            click.echo(json.dumps(told) if as_json else _text(told))


def _text(found: dict[str, Any]) -> str:
    return "\n".join(f"{'' if name == 'part' else '    '}{name}: {value}" for name, value in found.items())


if __name__ == "__main__":
    main()
