"""One central router beside a network with the same filters, each of its own destination (paper 004, section 5.4):
`python -m tamis.bench.matching.network_effect [--filters 1000000] [--fan 1000,100,32,10]`.

    central   one table, an interface for each destination
    network   a tree of routers with `fan` interfaces each, destinations at its leaves; of the longest way, from the
              first leaf up to the root and down to the last, every router's table

Law: a router of the tree holds all filters, each under the interface that leads to its destination, as a network must
that lets anybody publish anywhere. Tables are made one after the other; what a way costs is the sum of its routers, as
if every message went all of it: the latency that forwarding adds. By symmetry the routers of the way down cost what
those of the way up do.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import click

from tamis.bench.matching.workloads import Workload, make
from tamis.bench.tables import markdown
from tamis.native import Table
from tamis.protocol.limits import MATCH_STEPS_MAX

PASSES: Final = 5
_CENTRAL: Final = 0


@dataclass(frozen=True, slots=True)
class Row:
    """`fan` 0 is the central router. Times are of one message, in microseconds, of the fastest pass."""

    fan: int
    hops: int
    way_us: float
    hop_us: tuple[float, ...]
    """Of the leaf, the routers above it, and the root."""
    spread: float
    central_ratio: float = 1.0
    """How many times less than the central router the whole way takes."""


def height(filters: int, fan: int) -> int:
    """Routers between a destination and the root, the root included; each but the root has one interface upwards."""
    levels, room = 1, fan
    while room < filters:
        levels, room = levels + 1, room * (fan - 1)
    return levels


def interfaces_at(level: int, filters: int, fan: int) -> array[int]:
    """The one that leads to each destination, at the first router of that level (0: the leaf; the last: the root)."""
    below, last = (fan - 1) ** level, fan - 1
    return array("I", (min(destination // below, last) for destination in range(filters)))


def measure(workload: Workload, interfaces: array[int]) -> tuple[float, float]:
    """Microseconds of a message in the fastest pass, and by how much passes differed."""
    with Table(match_steps=MATCH_STEPS_MAX) as table:
        table.add_many(workload.filters, interfaces)
        count = len(workload.messages)
        table.measure(workload.messages)
        passes = [table.measure(workload.messages).total_ns / 1e3 / count for _ in range(PASSES)]
    return min(passes), (max(passes) - min(passes)) / min(passes)


def central(workload: Workload, filters: int) -> Row:
    us, spread = measure(workload, array("I", range(filters)))
    return Row(_CENTRAL, 1, us, (us,), spread)


def network(workload: Workload, filters: int, fan: int, central_us: float) -> Row:
    levels = height(filters, fan)
    seen = [measure(workload, interfaces_at(level, filters, fan)) for level in range(levels)]
    hop_us = tuple(us for us, _ in seen)
    way_us = 2 * sum(hop_us[:-1]) + hop_us[-1]
    return Row(fan, 2 * levels - 1, way_us, hop_us, max(spread for _, spread in seen), central_us / way_us)


def _table(rows: Sequence[Row]) -> str:
    head = ["routers", "interfaces of each", "on the way", "us each, from the leaf to the root", "us of the way", "±"]
    cells = [
        [
            "one" if row.fan == _CENTRAL else "tree",
            "F" if row.fan == _CENTRAL else str(row.fan),
            str(row.hops),
            " ".join(f"{us:.2f}" for us in row.hop_us),
            f"{row.way_us:.2f}",
            f"{row.spread:.0%}",
            f"{row.central_ratio:.2f}",
        ]
        for row in rows
    ]
    return markdown([*head, "x faster than one"], cells)


@click.command()
@click.option("--filters", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Destinations.")
@click.option("--fan", "fans", default="1000,100,32,10", show_default=True, help="Interfaces of a router of the tree.")
@click.option("--messages", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--workload", default="sigcomm03", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(filters: int, fans: str, messages: int, workload: str, seed: int, as_json: bool) -> None:
    """What forwarding adds to the way of a message: in one router that has all, and in a tree of smaller ones."""
    try:
        wanted = [int(fan) for fan in fans.split(",")]
    except ValueError:
        wanted = []
    if not wanted or min(wanted) < 3:
        raise click.UsageError(f"--fan: {fans!r} is no list of numbers from 3 up, such as 100,10")
    made = make(workload, filters, messages, 1_000, seed)
    click.echo(f"{filters:,} filters of {workload}: the central router", err=True)
    rows = [central(made, filters)]
    for fan in wanted:
        click.echo(f"a tree of routers with {fan} interfaces", err=True)
        rows.append(network(made, filters, fan, rows[0].way_us))
    for row in rows if as_json else ():
        click.echo(json.dumps(asdict(row)))
    if not as_json:
        click.echo(_table(rows))


if __name__ == "__main__":
    main()
