"""Paper 001 to the letter, as a model: what its routers do with an event on a tree, counted. `python -m
tamis.simulate.models.lookups` prints its strategies over densities.

    never       each router matches: for every other link whether one subscription matches, for its clients all of them
    always      the first router finds all; their keys travel with the event, and elsewhere keys are looked up
    partial n   the first router finds up to n behind each link. Up to n are all there are: the list is complete, and
                whoever gets it looks up keys alone. Else it is not: links with a key get the event with their keys,
                each other link is matched anew, up to n, and so are clients, whole

Law: an event goes where never takes it, whatever the strategy; only the work differs. `destinations` is not the
paper's: one match for all routers at the first one, and one for the clients of each other router.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import click

from tamis.configs import load_topology

DIMENSIONS: Final = 5
DENSITIES: Final = (0.001, 0.002, 0.01, 0.05, 0.2)
THRESHOLDS: Final = (40, 60, 120)
Keys = frozenset[tuple[int, int]]
"""Subscriptions that match, as (router, number there)."""
Neighbours = Mapping[int, Collection[int]]


@dataclass(slots=True)
class Work:
    """What all routers did with one event."""

    visits: int = 0
    matches: int = 0
    lookups: int = 0
    keys_max: int = 0
    """Keys in the longest list on a link."""
    delivered: set[tuple[int, int]] = field(default_factory=set)


class Tree:
    """A tree of routers."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        self._behind: dict[tuple[int, int], frozenset[int]] = {}

    def links(self, router: int, came_from: int | None) -> list[int]:
        return [other for other in self._neighbours[router] if other != came_from]

    def behind(self, router: int, neighbour: int) -> frozenset[int]:
        """Return the routers that lie behind the link from `router` to `neighbour`."""
        if (router, neighbour) not in self._behind:
            farther = (self.behind(neighbour, other) for other in self.links(neighbour, router))
            self._behind[router, neighbour] = frozenset({neighbour}).union(*farther)
        return self._behind[router, neighbour]


def never(tree: Tree, matching: Keys, entry: int) -> Work:
    work = Work()
    routers = {router for router, _ in matching}
    waiting: list[tuple[int, int | None]] = [(entry, None)]
    while waiting:
        router, came_from = waiting.pop()
        links = tree.links(router, came_from)
        work.visits += 1
        work.matches += len(links) + 1
        work.delivered |= {key for key in matching if key[0] == router}
        waiting += [(link, router) for link in links if tree.behind(router, link) & routers]
    return work


def always(tree: Tree, matching: Keys, entry: int) -> Work:
    """The list is not cut on its way, as the paper's figures say."""
    work = never(tree, matching, entry)
    work.matches = len(tree.links(entry, None)) + 1
    work.lookups = (work.visits - 1) * len(matching)
    work.keys_max = len(matching)
    return work


def partial(tree: Tree, matching: Keys, entry: int, limit: int) -> Work:
    work = Work()
    nothing: Keys = frozenset()
    waiting: list[tuple[int, int | None, Keys, bool]] = [(entry, None, nothing, False)]
    while waiting:
        router, came_from, keys, is_complete = waiting.pop()
        work.visits += 1
        work.lookups += len(keys)
        work.matches += not is_complete  # of clients
        work.delivered |= {key for key in (keys if is_complete else matching) if key[0] == router}
        for link in tree.links(router, came_from):
            behind = tree.behind(router, link)
            onward, is_all = frozenset(key for key in keys if key[0] in behind), is_complete
            if not onward and not is_complete:
                found = sorted(key for key in matching if key[0] in behind)
                onward, is_all = frozenset(found[:limit]), len(found) <= limit
                work.matches += 1
            if onward:
                work.keys_max = max(work.keys_max, len(onward))
                waiting.append((link, router, onward, is_all))
    return work


def destinations(tree: Tree, matching: Keys, entry: int) -> Work:
    work = never(tree, matching, entry)
    work.matches = 1 + work.visits
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

    def matching(self) -> Keys:
        """Draw an event, and return the subscriptions that it satisfies."""
        values = [self._rng.random() for _ in range(DIMENSIONS)]
        length = self._length
        return frozenset(
            key
            for key, lows in self._boxes
            if all(low <= value <= low + length for low, value in zip(lows, values, strict=True))
        )


def measured(tree: Tree, routers: Collection[int], subscriptions: int, events: int, density: float) -> dict[str, Work]:
    """Return the work of each strategy over all events; `delivered` is left empty."""
    rng = random.Random(f"{density} {subscriptions}")
    boxes, places = Boxes(routers, subscriptions, density, rng), sorted(routers)
    sums: dict[str, Work] = {}
    for _ in range(events):
        matching, entry = boxes.matching(), rng.choice(places)
        found = {"never": never(tree, matching, entry), "always": always(tree, matching, entry)}
        found |= {f"partial {limit}": partial(tree, matching, entry, limit) for limit in THRESHOLDS}
        found["destinations"] = destinations(tree, matching, entry)
        for name, work in found.items():
            if work.delivered != matching:
                raise RuntimeError(f"{name} delivers to {len(work.delivered)} of {len(matching)}")
            added = sums.setdefault(name, Work())
            added.visits += work.visits
            added.matches += work.matches
            added.lookups += work.lookups
            added.keys_max = max(added.keys_max, work.keys_max)
    return sums


@click.command()
@click.option("--topology", type=click.Path(exists=True), default="configs/topologies/tree100.yaml", show_default=True)
@click.option("--subscriptions", type=click.IntRange(min=1), default=10_000, show_default=True)
@click.option("--events", type=click.IntRange(min=1), default=100, show_default=True)
def main(topology: str, subscriptions: int, events: int) -> None:
    """Print visits, matches and lookups an event, and keys of the longest list."""
    network = load_topology(topology)
    numbers = {name: number for number, name in enumerate(network.routers)}
    neighbours: dict[int, list[int]] = {number: [] for number in numbers.values()}
    for link in network.links:
        one, other = (numbers[end] for end in link.ends)
        neighbours[one].append(other)
        neighbours[other].append(one)
    for density in DENSITIES:
        for name, work in measured(Tree(neighbours), neighbours, subscriptions, events, density).items():
            means = [f"{value / events:10.1f}" for value in (work.visits, work.matches, work.lookups)]
            click.echo(f"{density:6.1%}  {name:12}{''.join(means)}{work.keys_max:8}")


if __name__ == "__main__":
    main()
