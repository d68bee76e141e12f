"""One central router beside a network with the same filters, each of its own destination (paper 004, section 5.4):

    python -m tamis.papers.measures.network_effect [--filters 1000000] [--fan 100,20] [--engine tamis,sff]

    central   one table, an interface for each destination
    network   a tree of routers with `fan` interfaces each, destinations at its leaves; of the longest way, from the
              first leaf up to the root and down to the last, every router's table
    assumed   what the paper reckons with: at every router of that way a table whose interfaces all have as many filters

Law: a router of the tree holds all filters, each under the interface that leads to its destination, as a network must
that lets anybody publish anywhere; so at the lower routers most filters stand behind one interface, and few interfaces
end a match early. Tables are made one after the other, for each engine; what a way costs is the sum of its routers, as
if every message went all of it: the latency that forwarding adds. By symmetry the routers of the way down cost what
those of the way up do. Engines must give equal answers at every router.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import click

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import Contender, EnginesDisagree, contenders
from tamis.bench.matching.passes import Times, check_equal
from tamis.bench.matching.workloads import Workload
from tamis.bench.tables import markdown
from tamis.papers.measures.waiting import Waiting

PASSES: Final = 5
_CENTRAL: Final = 0


@dataclass(frozen=True, slots=True)
class Row:
    """`fan` 0 is the central router. Times are of one message, in microseconds: the fastest of each, on average."""

    engine: str
    fan: int
    hops: int
    way_us: float
    hop_us: tuple[float, ...]
    """Of the leaf, the routers above it, and the root."""
    spread: float
    checksums: tuple[int, ...]
    assumed_us: float | None = None
    """The whole way if every table were dealt out evenly, as the paper assumes."""
    central_ratio: float = 1.0
    """How many times less than the central router the whole way takes, and then as the paper assumes."""
    assumed_ratio: float | None = None


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


@dataclass(frozen=True, slots=True)
class Hop:
    """One table: microseconds of a message, by how much halves of the passes differed or how long they waited for a
    processor, and what it answered."""

    us: float
    spread: float
    checksum: int


def measure(contender: Contender, workload: Workload, interfaces: array[int]) -> Hop:
    times = Times()
    with contender.table() as table:
        table.add_many(workload.filters, interfaces)
        with Waiting() as waiting:
            for number in range(2 * PASSES):
                times.take(number // PASSES, table.measure(workload.messages))
    best = times.best_us()
    return Hop(sum(best) / len(best), max(times.spread(), waiting.share), min(times.checksums))


def central(contender: Contender, workload: Workload) -> Row:
    hop = measure(contender, workload, array("I", range(len(workload.filters))))
    return Row(contender.label, _CENTRAL, 1, hop.us, (hop.us,), hop.spread, (hop.checksum,))


def network(contender: Contender, workload: Workload, fan: int, central_us: float) -> Row:
    filters = len(workload.filters)
    levels = height(filters, fan)
    hops = [measure(contender, workload, interfaces_at(level, filters, fan)) for level in range(levels)]
    even = measure(contender, workload, array("I", (i % fan for i in range(filters))))
    way_us = 2 * sum(hop.us for hop in hops[:-1]) + hops[-1].us
    assumed_us = (2 * levels - 1) * even.us
    return Row(
        *(contender.label, fan, 2 * levels - 1, way_us, tuple(hop.us for hop in hops)),
        *(max(hop.spread for hop in hops), (*(hop.checksum for hop in hops), even.checksum)),
        *(assumed_us, central_us / way_us, central_us / assumed_us),
    )


def ways(chosen: Sequence[Contender], workload: Workload, fans: Sequence[int], say: Callable[[str], None]) -> list[Row]:
    """A row for each engine and way, the central router first; EnginesDisagree if they do, at any router."""
    rows: list[Row] = []
    for contender in chosen:
        say(f"{contender.label}: the central router")
        rows.append(central(contender, workload))
        central_us = rows[-1].way_us
        for fan in fans:
            say(f"{contender.label}: a tree of routers with {fan} interfaces")
            rows.append(network(contender, workload, fan, central_us))
    for fan in dict.fromkeys(row.fan for row in rows):
        same = [row for row in rows if row.fan == fan]
        for router in range(len(same[0].checksums)):
            check_equal({row.engine: {row.checksums[router]} for row in same})
    return rows


def _table(rows: Sequence[Row]) -> str:
    head = ["engine", "routers", "interfaces of each", "on the way", "us each, from the leaf to the root"]
    head += ["us of the way", "±", "x faster than one", "us if dealt evenly", "x faster then"]
    return markdown(head, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    is_central = row.fan == _CENTRAL
    return [
        *(row.engine, "one" if is_central else "tree", "F" if is_central else str(row.fan), str(row.hops)),
        *(" ".join(f"{us:.2f}" for us in row.hop_us), f"{row.way_us:.2f}", f"{row.spread:.0%}"),
        *(f"{row.central_ratio:.2f}", "" if row.assumed_us is None else f"{row.assumed_us:.2f}"),
        "" if row.assumed_ratio is None else f"{row.assumed_ratio:.2f}",
    ]


@click.command()
@click.option("--filters", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Destinations.")
@click.option(
    "--fan", "fans", default="1000,100,32,20,10", show_default=True, help="Interfaces of a router of the tree."
)
@click.option("--messages", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--workload", default="sigcomm03", show_default=True)
@click.option("--engine", "engines", default="tamis", show_default=True, help="Engines, one after the other.")
@click.option("--rounds", default="0", show_default=True, help="Selectivity rounds of engines that have them.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(
    filters: int, fans: str, messages: int, workload: str, engines: str, rounds: str, seed: int, as_json: bool
) -> None:
    """What forwarding adds to the way of a message: in one router that has all, and in a tree of smaller ones.

    The exit code is 1 if engines disagree.
    """
    try:
        wanted = [int(fan) for fan in fans.split(",")]
    except ValueError:
        wanted = []
    if not wanted or min(wanted) < 3:
        raise click.UsageError(f"--fan: {fans!r} is no list of numbers from 3 up, such as 100,10")
    try:
        chosen = contenders(engines.split(","), [int(each) for each in rounds.split(",")])
        made = workloads.make(workload, filters, messages, workloads.NAMES, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if any(each.library for each in chosen):
        raise click.UsageError("--engine: a library has no table of Tamis; name engines alone")
    try:
        rows = ways(chosen, made, wanted, lambda words: click.echo(words, err=True))
    except EnginesDisagree as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
    else:
        click.echo(_table(rows))


if __name__ == "__main__":
    main()
