"""What merging saves and what it costs: `python -m tamis.bench.networks.merging --layouts ring5,wan39`.

    filters   that routers state, of those that their clients want and no other one covers
    control   frames and bytes on all links until the network rests
    vain      of the arrivals at a router that states a matching filter, the share for which no client there wants it
    frames    of data on all links, by the trees of the sources, more than without merging

Law: who wants an event is found by a table of the filters of clients, and who states it by a table of what the routers
of the run state; the rows of one layout and workload have equal filters and events.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Final

import click

from tamis.bench.matching.workloads import Size, kind_of
from tamis.bench.networks.strategies.control import Budget, Network, layout, trees_of
from tamis.bench.networks.strategies.wants import PLAIN_ENGINE, SEED, Wants, make_wants
from tamis.native import Table
from tamis.native.batch import Batch
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.strategies import BY_NAME
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.simulate.nodes import view

BUDGET_S: Final = 600.0
Events = Sequence[dict[str, Value]]


@dataclass(frozen=True, slots=True)
class Row:
    layout: str
    workload: str
    strategy: str
    limit: float | None
    """None: no merging."""
    filters: int
    frames_of_control: int
    bytes_of_control: int
    arrivals: int
    in_vain: int
    frames_of_data: int


def topics(routers: int, subscriptions: int, events: int) -> Wants:
    """Filters of one topic each, with a price or a volume: hardly two of a router are alike."""
    return make_wants(routers, subscriptions, 0, events)


def buildings(routers: int, subscriptions: int, events: int) -> Wants:
    """Profiles of paper 003's application, dealt to all routers."""
    kind, random, size = kind_of("das"), Random(SEED), Size(subscriptions, events, 0)
    dealt: list[list[bytes]] = [[] for _ in range(routers)]
    for number, packed in enumerate(kind.filters(size, random)):
        dealt[number % routers].append(packed)
    return Wants(dealt, [], [], [decode_attributes(packed) for packed in kind.messages(size, random)])


def neighbourhoods(routers: int, subscriptions: int, events: int) -> Wants:
    """Each router's clients want values near each other: its own tenth of a line, in ranges of a hundredth."""
    random = Random(SEED)
    dealt: list[list[bytes]] = [[] for _ in range(routers)]
    for number in range(subscriptions):
        router = number % routers
        low = random.randrange(100_000) + router * 1_000_000 // routers
        dealt[router].append(encode_filter(Filter((Constraint("at", Op.BETWEEN, (low, low + 300)),))))
    return Wants(dealt, [], [], [{"at": random.randrange(1_000_000)} for _ in range(events)])


WORKLOADS: Final = {"topics": topics, "buildings": buildings, "neighbourhoods": neighbourhoods}


def measure(name: str, workload: str, strategy: str, limit: float | None, wants: Wants) -> Row:
    budget = Budget(BUDGET_S)
    with budget:
        network = Network(layout(name), strategy, budget, merge=limit)
        network.come_up()
        said = network.subscribe(wants)
    stated = [view.own_filters(node) for node in network.nodes]
    by_stated, by_wanted = _matching(stated, wants.events), _matching(wants.filters, wants.events)
    arrivals = in_vain = frames = 0
    for number, (routers, wanting) in enumerate(zip(by_stated, by_wanted, strict=True)):
        source = number % len(network.nodes)
        if not wanting <= routers:
            raise RuntimeError(f"event {number} is wanted by routers that do not state it")
        others = routers - {source}
        arrivals += len(others)
        in_vain += len(others - wanting)
        frames += len(_edges(network, source, others))
    filters = sum(map(len, stated))
    return Row(name, workload, strategy, limit, filters, said.frames, said.bytes, arrivals, in_vain, frames)


def _matching(filters: Sequence[Sequence[bytes]], events: Events) -> list[set[int]]:
    """Return for each event the routers, by index, that have a filter for it."""
    owners = array("I", (router for router, each in enumerate(filters) for _ in each))
    with Table(PLAIN_ENGINE, hash_seed=SEED) as table:
        table.add_many(Batch.of(packed for each in filters for packed in each), owners)
        return [set(table.match(event)) for event in events]


def _edges(network: Network, source: int, routers: Iterable[int]) -> set[tuple[int, int]]:
    """Return the edges on which a message goes from its source to these routers."""
    top, edges = network.nodes[source].number, set[tuple[int, int]]()
    by_number = {node.number: node for node in network.nodes}
    for router in routers:
        at = network.nodes[router].number
        while at != top:
            parent = trees_of(by_number[at]).parent(top)
            if parent is None:
                raise RuntimeError("the network is in parts")
            edges.add((parent, at))
            at = parent
    return edges


def text(row: Row, plain: Row) -> str:
    limit = "off" if row.limit is None else f"{row.limit:g}"
    vain = row.in_vain / row.arrivals if row.arrivals else 0.0
    more = row.frames_of_data / plain.frames_of_data - 1 if plain.frames_of_data else 0.0
    return (
        f"| {row.layout}, {row.workload} | {row.strategy} | {limit} | {row.filters:,} | {row.frames_of_control:,} "
        f"| {row.bytes_of_control:,} | {vain:.1%} | {more:+.1%} |"
    )


@click.command()
@click.option("--layouts", default="ring5", show_default=True)
@click.option("--workloads", default=",".join(WORKLOADS), show_default=True)
@click.option("--strategy", type=click.Choice([name for name, facts in BY_NAME.items() if facts.merges]))
@click.option("--limits", default="0,0.1,0.3,0.6", show_default=True)
@click.option("--subscriptions", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--events", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="A line for each row, with its counts.")
def main(
    layouts: str, workloads: str, strategy: str | None, limits: str, subscriptions: int, events: int, as_json: bool
) -> int:
    """Compare merging at some limits with none, on some layouts and workloads."""
    if not as_json:
        click.echo("| network, workload | strategy | limit | filters | control frames | bytes | vain | frames |")
        click.echo("|---|---|---|---|---|---|---|---|")
    for name in layouts.split(","):
        for workload in workloads.split(","):
            wants = WORKLOADS[workload](len(layout(name).names), subscriptions, events)
            plain: Row | None = None
            for limit in (None, *map(float, limits.split(","))):
                row = measure(name, workload, strategy or "advertise", limit, wants)
                plain = plain or row
                click.echo(json.dumps(asdict(row)) if as_json else text(row, plain))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(standalone_mode=False))
