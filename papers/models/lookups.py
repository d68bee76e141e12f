"""Paper 001 to the letter, as a model: what its routers do with an event on a tree, counted. `python -m
tamis.papers.models.lookups` prints its strategies over densities.

    never       each router matches: for every other link whether one subscription matches, for its clients all of them
    always      the first router finds all; their keys travel with the event, and elsewhere keys are looked up
    partial n   the first router finds up to n behind each link. Up to n are all there are: the list is complete, and
                whoever gets it looks up keys alone. Else it is not: links with a key get the event with their keys,
                each other link is matched again, up to n, and so are clients, whole. The text leaves open which n keys
                these are where more match: `KeyOrder`

Law: an event goes where never takes it, whatever the strategy; only the work differs. `destinations` is not the
paper's: one match for all routers at the first one, and one for the clients of each other router.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import click

from tamis.configs import load_topology

DIMENSIONS: Final = 5
DENSITIES: Final = (0.001, 0.002, 0.01, 0.05, 0.2)
THRESHOLDS: Final = (40, 60, 120)
Keys = frozenset[tuple[int, int]]
"""Subscriptions that match, as (router, number there)."""
Neighbours = Mapping[int, Collection[int]]


class Finds(enum.Enum):
    """What a match looks for: whether one subscription matches, up to a number of them, or all."""

    ONE = "one"
    SOME = "some"
    ALL = "all"


class KeyOrder(enum.Enum):
    """Which n keys a match finds that stops after n: those that come first in this order."""

    HASH = "hash"
    """By the four bytes that a key is on the wire: the order of an index of hash values."""
    ROUTER = "router"
    """By the number of the router that holds the subscription."""


class LinkSearch(NamedTuple):
    """A match against the subscriptions behind one link, or of a router's own clients."""

    at_entry: bool
    finds: Finds
    subscriptions: int
    """How many it looks through."""


@dataclass(slots=True)
class Work:
    """What all routers did with one event."""

    visits: int = 0
    matches: int = 0
    lookups: int = 0
    keys_max: int = 0
    """Keys in the longest list on a link."""
    keys: int = 0
    """Keys of all lists on links."""
    searched: Counter[LinkSearch] = field(default_factory=Counter)
    delivered: set[tuple[int, int]] = field(default_factory=set)

    def search(self, at_entry: bool, finds: Finds, subscriptions: int) -> None:
        self.matches += 1
        self.searched[LinkSearch(at_entry, finds, subscriptions)] += 1


class Tree:
    """A tree of routers. `held` says how many subscriptions each router has, for who wants to know what is searched."""

    def __init__(self, neighbours: Neighbours, held: Mapping[int, int] | None = None) -> None:
        self._neighbours, self._held = neighbours, held or {}
        self._behind: dict[tuple[int, int], frozenset[int]] = {}
        self._sums: dict[tuple[int, int], int] = {}

    def links(self, router: int, came_from: int | None) -> list[int]:
        return [other for other in self._neighbours[router] if other != came_from]

    def behind(self, router: int, neighbour: int) -> frozenset[int]:
        """Return the routers that lie behind the link from `router` to `neighbour`."""
        if (router, neighbour) not in self._behind:
            farther = (self.behind(neighbour, other) for other in self.links(neighbour, router))
            self._behind[router, neighbour] = frozenset({neighbour}).union(*farther)
        return self._behind[router, neighbour]

    def own(self, router: int) -> int:
        """Return how many subscriptions a router's clients have."""
        return self._held.get(router, 0)

    def subscriptions(self, router: int, neighbour: int) -> int:
        """Return how many lie behind a link."""
        if (router, neighbour) not in self._sums:
            self._sums[router, neighbour] = sum(map(self.own, self.behind(router, neighbour)))
        return self._sums[router, neighbour]


def by_router(matching: Keys) -> dict[int, list[tuple[int, int]]]:
    """The keys of each router, sorted."""
    found: dict[int, list[tuple[int, int]]] = {}
    for key in sorted(matching):
        found.setdefault(key[0], []).append(key)
    return found


def never(tree: Tree, matching: Keys, entry: int) -> Work:
    work, found = Work(), by_router(matching)
    waiting: list[tuple[int, int | None]] = [(entry, None)]
    while waiting:
        router, came_from = waiting.pop()
        links = tree.links(router, came_from)
        work.visits += 1
        for link in links:
            work.search(came_from is None, Finds.ONE, tree.subscriptions(router, link))
        work.search(came_from is None, Finds.ALL, tree.own(router))
        work.delivered |= set(found.get(router, ()))
        waiting += [(link, router) for link in links if not tree.behind(router, link).isdisjoint(found)]
    return work


def always(tree: Tree, matching: Keys, entry: int) -> Work:
    """The list is not cut on its way, as the paper's figures say."""
    work = never(tree, matching, entry)
    searches = [*(tree.subscriptions(entry, link) for link in tree.links(entry, None)), tree.own(entry)]
    work.searched = Counter(LinkSearch(at_entry=True, finds=Finds.ALL, subscriptions=each) for each in searches)
    work.matches = len(searches)
    work.lookups = (work.visits - 1) * len(matching)
    work.keys_max, work.keys = len(matching), work.lookups
    return work


@functools.cache
def hashed(key: tuple[int, int]) -> bytes:
    """The four bytes that stand for a subscription on the wire."""
    return hashlib.blake2b(repr(key).encode(), digest_size=4).digest()


def ordered(matching: Keys, order: KeyOrder) -> list[tuple[int, int]]:
    """Keys in the order in which a match finds them."""
    return sorted(matching, key=lambda key: (hashed(key), key) if order is KeyOrder.HASH else (b"", key))


def partial(tree: Tree, matching: Keys, entry: int, limit: int, order: KeyOrder = KeyOrder.HASH) -> Work:
    work, found, first = Work(), by_router(matching), ordered(matching, order)
    nothing: Keys = frozenset()
    waiting: list[tuple[int, int | None, Keys, bool]] = [(entry, None, nothing, False)]
    while waiting:
        router, came_from, keys, is_complete = waiting.pop()
        work.visits += 1
        work.lookups += len(keys)
        if not is_complete:
            work.search(came_from is None, Finds.ALL, tree.own(router))
        work.delivered |= {key for key in (keys if is_complete else found.get(router, ())) if key[0] == router}
        for link in tree.links(router, came_from):
            behind = tree.behind(router, link)
            onward, is_all = frozenset(key for key in keys if key[0] in behind), is_complete
            if not onward and not is_complete:
                onward, is_all = _up_to(limit, behind, first)
                work.search(came_from is None, Finds.SOME, tree.subscriptions(router, link))
            if onward:
                work.keys_max = max(work.keys_max, len(onward))
                work.keys += len(onward)
                waiting.append((link, router, onward, is_all))
    return work


def _up_to(limit: int, behind: frozenset[int], first: Sequence[tuple[int, int]]) -> tuple[Keys, bool]:
    """The first keys behind a link, and whether there are no more."""
    keys = list(itertools.islice((key for key in first if key[0] in behind), limit + 1))
    return frozenset(keys[:limit]), len(keys) <= limit


def destinations(tree: Tree, matching: Keys, entry: int) -> Work:
    work = never(tree, matching, entry)
    work.matches = 1 + work.visits
    work.searched.clear()  # tables hold routers, not links: what they search is not the paper's
    return work


# --- the paper's workload


class Boxes:
    """Subscriptions of five intervals each, at random routers; an event satisfies a share of `density` of them."""

    def __init__(self, routers: Collection[int], count: int, density: float, rng: random.Random) -> None:
        length = density ** (1 / DIMENSIONS)
        places = sorted(routers)
        self._boxes = [
            ((rng.choice(places), number), [rng.uniform(0, 1 - length) for _ in range(DIMENSIONS)])
            for number in range(count)
        ]
        self._length, self._rng = length, rng

        self.held = Counter(key[0] for key, _ in self._boxes)
        """How many subscriptions each router has."""

    def matching(self) -> Keys:
        """Draw an event, and return the subscriptions that it satisfies."""
        values = [self._rng.random() for _ in range(DIMENSIONS)]
        length = self._length
        return frozenset(
            key
            for key, lows in self._boxes
            if all(low <= value <= low + length for low, value in zip(lows, values, strict=True))
        )


def measured(
    neighbours: Neighbours,
    subscriptions: int,
    events: int,
    density: float,
    thresholds: Sequence[int] = THRESHOLDS,
    order: KeyOrder = KeyOrder.HASH,
) -> dict[str, Work]:
    """Return the work of each strategy over all events; `delivered` is left empty."""
    rng = random.Random(f"{density} {subscriptions}")
    boxes, places = Boxes(neighbours, subscriptions, density, rng), sorted(neighbours)
    tree = Tree(neighbours, boxes.held)
    sums: dict[str, Work] = {}
    for _ in range(events):
        matching, entry = boxes.matching(), rng.choice(places)
        for name, work in of_each(tree, matching, entry, thresholds, order).items():
            if work.delivered != matching:
                raise RuntimeError(f"{name} delivers to {len(work.delivered)} of {len(matching)}")
            add(sums.setdefault(name, Work()), work)
    return sums


def of_each(
    tree: Tree, matching: Keys, entry: int, thresholds: Sequence[int], order: KeyOrder = KeyOrder.HASH
) -> dict[str, Work]:
    """What every strategy does with one event."""
    found = {"never": never(tree, matching, entry), "always": always(tree, matching, entry)}
    found |= {f"partial {limit}": partial(tree, matching, entry, limit, order) for limit in thresholds}
    found["destinations"] = destinations(tree, matching, entry)
    return found


def add(total: Work, work: Work) -> None:
    total.visits += work.visits
    total.matches += work.matches
    total.lookups += work.lookups
    total.keys += work.keys
    total.keys_max = max(total.keys_max, work.keys_max)
    total.searched += work.searched


def neighbours_of(topology: str | Path) -> dict[int, list[int]]:
    """Return the graph of a topology file; routers are numbered in its order."""
    network = load_topology(topology)
    numbers = {name: number for number, name in enumerate(network.routers)}
    neighbours: dict[int, list[int]] = {number: [] for number in numbers.values()}
    for link in network.links:
        one, other = (numbers[end] for end in link.ends)
        neighbours[one].append(other)
        neighbours[other].append(one)
    return neighbours


@click.command()
@click.option("--topology", type=click.Path(exists=True), default="configs/topologies/tree100.yaml", show_default=True)
@click.option("--subscriptions", type=click.IntRange(min=1), default=10_000, show_default=True)
@click.option("--events", type=click.IntRange(min=1), default=100, show_default=True)
def main(topology: str, subscriptions: int, events: int) -> None:
    """Print visits, matches and lookups an event, and keys of the longest list."""
    neighbours = neighbours_of(topology)
    for density in DENSITIES:
        for name, work in measured(neighbours, subscriptions, events, density).items():
            means = [f"{value / events:10.1f}" for value in (work.visits, work.matches, work.lookups)]
            click.echo(f"{density:6.1%}  {name:12}{''.join(means)}{work.keys_max:8}")


if __name__ == "__main__":
    main()
