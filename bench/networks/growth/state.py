"""What one router keeps and what new trees cost it: a core that has heard of a whole network, alone.

Law: every body comes through the wire's codec, so nothing is shared with anybody, as in a daemon. Bytes are what
`tracemalloc` counts between the first body and the end. The trees that are asked for are those that the switch asks for
at once; each further source is asked for when it first says something.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple, cast

from tamis.bench.networks.growth.gauge import ask_at_once
from tamis.bench.networks.growth.network import random_edges
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import NO_DIGEST, predicate_digest, stable_number
from tamis.protocol.wire.parts import AdvertisementPart, PartAssembler, split
from tamis.protocol.wire.routing_bodies import (
    Adjacency,
    AdvertisedFilter,
    Body,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
)
from tamis.router.core.core import Core
from tamis.router.core.events import Heard, LinkUp, Tick
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.trees import make_trees

SOURCES: Final = 10

Said = LinkState | ReceiverAdvertisement


class State(NamedTuple):
    """`bytes` is all of it: link states, filters, the graph, the trees in force."""

    bytes: int
    reroute_ms: float
    source_ms: float


def state_of(routers: int, filters: Sequence[bytes], seed: int) -> State:
    """Of the router in the middle of the list, in a network as `Simulated` makes them; the others have the filters."""
    edges = random_edges(routers, Random(f"{seed}/growth/{routers}"))
    names = [f"r{index}" for index in range(routers)]
    me = routers // 2
    gc.collect()
    tracemalloc.start()
    core = Core(names[me], 1)
    core.start(0)
    neighbours = sorted(stable_number(names[a + b - me]) for a, b in edges if me in (a, b))
    for neighbour in neighbours:
        core.handle(LinkUp(neighbour, 1, 1), 0)
    _hear(core, neighbours[0], _bodies(names, edges, filters, me))
    core.handle(Tick(), 1_000_000)
    for neighbour in neighbours:  # they hold the same, so the links are in force
        digest = core.figures().digest
        core.handle(Heard(neighbour, 1, SenderRequest(neighbour, 1, 1, Scope.NEIGHBOUR, digest, ())), 1_000_000)
    core.handle(Tick(), 9_000_000)
    ask_at_once(core.core_state.trees)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    graph = core.core_state.topology.graph
    if len(core.core_state.trees.routers) != routers:
        raise RuntimeError(f"{len(core.core_state.trees.routers)} of {routers} routers are in reach")
    return State(held, *_cpu_ms(graph, core.me))


def _hear(core: Core, neighbour: int, bodies: Iterable[Said]) -> None:
    for body in bodies:
        core.handle(Heard(neighbour, 1, _over_the_wire(body)), 0)


def _bodies(names: list[str], edges: list[tuple[int, int]], filters: Sequence[bytes], me: int) -> Iterator[Said]:
    numbers = [stable_number(name) for name in names]
    linked: list[list[int]] = [[] for _ in names]
    for a, b in edges:
        linked[a].append(numbers[b])
        linked[b].append(numbers[a])
    others = [index for index in range(len(names)) if index != me]
    for turn, index in enumerate(others):
        yield LinkState(names[index], 1, 1, tuple(Adjacency(neighbour, 1, 1) for neighbour in linked[index]))
        mine = filters[turn :: len(others)]
        added = tuple(AdvertisedFilter(id_, packed) for id_, packed in enumerate(mine, 1))
        digest = predicate_digest(added) if added else NO_DIGEST
        yield ReceiverAdvertisement(numbers[index], 1, 1, True, 0, added, (), digest, len(added), False)


def _over_the_wire(body: Said) -> Body:
    if isinstance(body, LinkState):
        return cast("LinkState", decode(encode(body)))
    assembler = PartAssembler()
    parts = [cast("AdvertisementPart", part) for part in split(body)]
    *_, whole = [assembler.add(cast("AdvertisementPart", decode(encode(part)))) for part in parts]
    return cast("ReceiverAdvertisement", whole)


def _cpu_ms(graph: Graph, me: int) -> tuple[float, float]:
    """New trees after a change, and one more source in them."""
    changed = graph.changed([(me, next(iter(graph.neighbours[me])), 2)])
    began = time.process_time()
    trees = make_trees("source-trees", changed, me, PathCache(), coarse=False)
    ask_at_once(trees)
    reached = sorted(trees.routers)
    rerouted = time.process_time()
    for source in reached[:SOURCES]:
        trees.parent(source)
        trees.below(source)
    ended = time.process_time()
    return 1e3 * (rerouted - began), 1e3 * (ended - rerouted) / min(SOURCES, len(reached))
