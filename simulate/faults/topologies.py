"""Networks for experiments: shapes of a given size, and those of topology files.

Law: equal kind, size and seed give an equal network, which is connected, with at most one link for each pair of
routers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import cast

from tamis.configs import load_topology
from tamis.router.core.routing.trees import Broadcast

Edge = tuple[int, int]
COSTS = (1, 1, 1, 2, 5)
"""The link costs to draw from; equal costs are common, so there are often several shortest paths."""


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """A network to simulate: names of routers by index, and links (smaller index, larger index, cost)."""

    names: tuple[str, ...]
    links: tuple[tuple[int, int, int], ...]
    broadcast: Broadcast = "source-trees"


def tree(size: int, random: Random) -> set[Edge]:
    return {(random.randrange(i), i) for i in range(1, size)}


def line(size: int, _: Random) -> set[Edge]:
    return {(i - 1, i) for i in range(1, size)}


def ring(size: int, random: Random) -> set[Edge]:
    return line(size, random) | ({(0, size - 1)} if size > 2 else set())


def grid(size: int, _: Random) -> set[Edge]:
    width = max(1, round(size**0.5))
    across = {(i - 1, i) for i in range(1, size) if i % width}
    return across | {(i - width, i) for i in range(width, size)}


def any_shape(size: int, random: Random) -> set[Edge]:
    """Return a random tree of `size` routers with half as many further links anywhere."""
    edges = tree(size, random)
    for _ in range(size // 2 + 1):
        a, b = random.randrange(size), random.randrange(size)
        if a != b:
            edges.add((min(a, b), max(a, b)))
    return edges


def scale_free(size: int, random: Random) -> set[Edge]:
    """Return a network in which each newcomer links to two earlier routers, preferably well linked ones."""
    edges: set[Edge] = set()
    ends = [0]
    for i in range(1, size):
        for j in sorted({random.choice(ends), random.choice(ends)}):
            edges.add((j, i))
            ends += [i, j]
    return edges


def dumbbell(size: int, random: Random) -> set[Edge]:
    """Return two well linked halves with one link between them."""
    half = size // 2
    left = any_shape(half, random) if half else set()
    right = {(a + half, b + half) for a, b in any_shape(size - half, random)}
    return left | right | ({(half - 1, half)} if half else set())


KINDS: dict[str, Callable[[int, Random], set[Edge]]] = {
    "tree": tree,
    "line": line,
    "ring": ring,
    "grid": grid,
    "random": any_shape,
    "scale-free": scale_free,
    "dumbbell": dumbbell,
}
SIZE_MAX = 10_000


def make(kind: str, size: int, seed: int) -> NetworkPlan:
    random = Random(f"{seed}/{kind}/{size}")
    costs = COSTS if random.random() < 0.5 else (1,)
    edges = sorted(KINDS[kind](size, random))
    return NetworkPlan(tuple(f"r{i}" for i in range(size)), tuple((a, b, random.choice(costs)) for a, b in edges))


def read(what: str, seed: int) -> NetworkPlan:
    """Return the network that `what` names: "KIND:N", or the path of a topology file. ValueError for an unknown kind or
    a bad size."""
    kind, colon, size = what.partition(":")
    if not colon or Path(what).exists():
        return from_file(what)
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of network; choose {', '.join(KINDS)}, or name a topology file")
    if not size.isdecimal() or not 1 <= int(size) <= SIZE_MAX:
        raise ValueError(f"a network has 1 to {SIZE_MAX} routers, not {size!r}")
    return make(kind, int(size), seed)


def from_file(path: str) -> NetworkPlan:
    topology = load_topology(path)
    names = tuple(sorted(topology.routers))
    index = {name: i for i, name in enumerate(names)}
    links = tuple((index[a], index[b], cost) for a, b, cost in topology.edges)
    return NetworkPlan(names, links, cast("Broadcast", topology.broadcast))
