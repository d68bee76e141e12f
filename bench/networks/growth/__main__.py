"""`python -m tamis.bench.networks.growth [--only NAME,...] [--json]`: what the control plane costs as a network grows.

    growth    10 to 1,000 routers: coming up, rest, a new filter, a link cut; one router's memory and CPU
    many      64 routers and 100,000 filters: a link cut
    filters   memory of 100,000 filters of another router
    literal   paper 004 to the letter: networks that lose messages

`--json` prints the lines that `results/growth.jsonl` keeps and `report.py` reads.

Law: one process, one thing after the other. The garbage collector is off: it would look through a thousand routers for
the sake of one.
"""

from __future__ import annotations

import gc
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import click

from tamis.bench.networks.growth import literal, many
from tamis.bench.networks.growth.growth import FILTERS_EACH, SEED, grown
from tamis.bench.networks.growth.network import small_filters
from tamis.bench.networks.growth.state import state_of


@dataclass(frozen=True, slots=True)
class Asked:
    routers: tuple[int, ...]
    stand: tuple[int, ...]
    alone: tuple[int, ...]
    networks: int
    choice: tuple[int, ...]
    prune: tuple[str, ...]


Found = Iterator[dict[str, Any]]


def _growth(asked: Asked) -> Found:
    for routers in asked.routers:
        yield asdict(grown(routers, stands=False))
    for routers in asked.stand:
        yield asdict(grown(routers, stands=True))
    for routers in asked.alone:
        yield {"routers": routers, "state": state_of(routers, small_filters(FILTERS_EACH * routers), SEED)}


def _many(_: Asked) -> Found:
    for cut in many.cuts():
        yield {"routers": many.ROUTERS, "filters": many.FILTERS, **asdict(cut)}


def _filters(_: Asked) -> Found:
    yield {"filters": many.FILTERS, "bytes_each": many.bytes_per_filter()}


def _literal(asked: Asked) -> Found:
    seeds = range(1, asked.networks + 1)
    for choice, prune in itertools.product(asked.choice, asked.prune):
        told = {"choice": choice, "prune": prune}
        yield told | literal.count(literal.literal(seed, choice, prune) for seed in seeds)
        yield told | literal.count(literal.changed(seed, choice, prune) for seed in seeds)


PARTS: Final[dict[str, Callable[[Asked], Found]]] = {
    "growth": _growth,
    "many": _many,
    "filters": _filters,
    "literal": _literal,
}


def _numbers(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in value.split(",") if each)
    except ValueError as error:
        raise click.BadParameter("numbers with commas between them") from error


@click.command()
@click.option("--only", default=",".join(PARTS), show_default=True, help="Which.")
@click.option("--routers", default="10,30,100,300", show_default=True, callback=_numbers, help="Networks that come up.")
@click.option("--stand", default="1000", show_default=True, callback=_numbers, help="Networks that stand at once.")
@click.option("--alone", default="3000,10000", show_default=True, callback=_numbers, help="One router that knows all.")
@click.option("--networks", type=click.IntRange(min=1), default=100, show_default=True, help="For literal.")
@click.option("--choice", default="80,8", show_default=True, callback=_numbers, help="Filters to choose among, for it.")
@click.option(
    "--prune",
    type=click.Choice([*literal.PRUNINGS]),
    multiple=True,
    default=[*literal.PRUNINGS],
    show_default=True,
    help="For literal: how advertisements are compared.",
)
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(
    only: str,
    routers: tuple[int, ...],
    stand: tuple[int, ...],
    alone: tuple[int, ...],
    networks: int,
    choice: tuple[int, ...],
    prune: tuple[str, ...],
    as_json: bool,
) -> None:
    """Simulate, count, measure."""
    asked = Asked(routers, stand, alone, networks, choice, prune)
    gc.disable()
    for name in only.split(","):
        if name not in PARTS:
            raise click.UsageError(f"--only: no {name!r}; one of {', '.join(PARTS)}")
        for found in PARTS[name](asked):
            told = {"part": name} | found
            click.echo(json.dumps(told) if as_json else _text(told))


def _text(found: dict[str, Any]) -> str:
    return "\n".join(f"{'' if name == 'part' else '    '}{name}: {value}" for name, value in found.items())


if __name__ == "__main__":
    main()
