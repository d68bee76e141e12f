"""Paper 004 to the letter under the simulator's judge: in how many networks somebody misses a message at rest.

    python -m tamis.papers.measures.literal [--networks 100] [--choice 8] [--prune bytes] [--json]

Law: a run is a function of its seed. The network stands before the first client comes, so nothing is missing for a link
that was not up yet. Judged is what is published when all is quiet: for each filter in force one content that few others
match, from every router.

    advertised      everybody has advertised what its clients want, nobody has asked yet
    one round       every router has asked the whole tree once, and been answered
    five rounds     what has not healed by now never does
    changed         on one shared tree, clients changed their minds, while each router asks at its own time

Losses need filters that several routers ask for: the fewer there are to choose from, the more losses.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import click

from tamis.router.core.core import CoreParts, CoreSettings
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.strategies.paper import PAPER_BYTES_PARTS, REQUEST_EVERY_US, Collecting, PaperCore
from tamis.router.core.strategies.paper_meaning import PAPER_PARTS
from tamis.simulate.faults import topologies
from tamis.simulate.faults.faults import MS, WISHES
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes.run_parts import AnyCore, RunParts, Wall
from tamis.simulate.world.clients import SimulatedClient
from tamis.simulate.world.world import World

S: Final = 1_000 * MS
SIZES: Final = range(5, 21)
STANDS_US: Final = 8 * S
ADVERTISED_US: Final = 14 * S
ANSWERED_US: Final = 15 * S
"""After the routers' requests, all of which start within a moment, all is quiet again."""
CHANGES_EACH: Final = 3
CHANGING_US: Final = 40 * S
PROBE_PUBLISHER: Final = 1_000


class Skipping(Collecting):
    """A request does not go where nothing is known to be wanted."""

    def _asked(self, requester: int) -> list[CoreLink]:
        return [link for link in super()._asked(requester) if self.predicates.of(link.neighbour)]


@dataclass(frozen=True, slots=True)
class Literal(RunParts):
    strategy: str = "paper"
    parts: CoreParts = PAPER_PARTS

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        return PaperCore(name, epoch, self.settings, paths, self.core_parts, unix_ms)


PRUNINGS: Final = {"covering": PAPER_PARTS, "bytes": PAPER_BYTES_PARTS}
"""By what an advertisement is compared with the predicate that it may widen."""


def skipping(parts: CoreParts) -> Literal:
    """Return what makes routers whose requests skip empty interfaces."""
    return Literal(parts=replace(parts, audits=Skipping))


class Standing(World):
    """Routers start within `spread_us`, and ask accordingly; clients come when the network stands, and choose among the
    first `choice` filters."""

    choice = WISHES
    spread_us = 50 * MS

    def begin(self) -> None:
        for node in self.nodes:
            self.clock.at(self._random.randrange(self.spread_us), self._first_start, node)
        self.clock.run_until(self.spread_us)
        for link in self.links:
            link.wake()
        self.clock.run_until(self.spread_us + STANDS_US)
        for client in self.clients:
            client.wishes.update(self._random.sample(range(self.choice), self._random.choice((0, 1, 1, 2))))
            self.clients.connect_after(client, self._random.randrange(S))

    def change_minds(self, from_us: int, until_us: int) -> None:
        for client in self.clients:
            for _ in range(CHANGES_EACH):
                self.clock.at(self._random.randrange(from_us, until_us), self._change_mind, client)

    def _change_mind(self, client: SimulatedClient) -> None:
        wish = self._random.randrange(self.choice)
        if client.wishes and self._random.random() < 0.5:
            self.clients.unsubscribe(client, self._random.choice(sorted(client.wishes)))
        else:
            self.clients.subscribe(client, wish)


def _standing(seed: int, kit: RunParts, choice: int, spread_us: int = 50 * MS) -> Standing:
    size = Random(f"{seed}/literal").choice(SIZES)
    world = Standing(topologies.make("random", size, seed), seed, kit)
    world.choice, world.spread_us = choice, spread_us
    world.begin()
    return world


def _missing(world: World) -> int:
    """Deliveries that must take place now and do not."""
    counts = world.recorder.deliveries.counts
    before = counts["missing"]
    probes = []
    for content in _telling({wish for client in world.clients for wish in client.wishes}, world):
        for index, node in enumerate(world.nodes):
            message = world.publish(index, content, PROBE_PUBLISHER + index)
            if message is not None:
                probes.append((node.number, message))
        world.clock.run_until(world.clock.now_us + 2 * MS)
    world.clock.run_until(world.clock.now_us + S)
    for source, message in probes:
        world.recorder.deliveries.at_rest(message, source)
    world.messages.clear()
    return counts["missing"] - before


def _telling(wishes: Iterable[int], world: World) -> list[int]:
    """For each wish that anything matches, the content that the fewest of the wishes match."""
    bits = [world.contents[wish] for wish in sorted(wishes)]
    matched = {content: sum(each >> content & 1 for each in bits) for content in range(len(CONTENTS))}
    chosen = (min((c for c in matched if each >> c & 1), key=lambda c: matched[c], default=None) for each in bits)
    return sorted({content for content in chosen if content is not None})


def _after_round(world: World, round_: int) -> int:
    world.clock.run_until(round_ * REQUEST_EVERY_US + ANSWERED_US)
    return _missing(world)


def literal(seed: int, choice: int, prune: str) -> dict[str, int]:
    """Missing deliveries of one network, at each moment; 0: that moment was clean."""
    parts = PRUNINGS[prune]
    world = _standing(seed, Literal(parts=parts), choice)
    world.clock.run_until(ADVERTISED_US)
    missing = {"advertised": _missing(world), "one round": _after_round(world, 1)}
    if missing["advertised"]:
        missing["five rounds, empty interfaces skipped"] = _after_round(_standing(seed, skipping(parts), choice), 5)
    return missing


def changed(seed: int, choice: int, prune: str) -> dict[str, int]:
    on_one_tree = Literal(settings=CoreSettings(broadcast="shared-tree"), parts=PRUNINGS[prune])
    world = _standing(seed, on_one_tree, choice, spread_us=REQUEST_EVERY_US)
    began_us = world.clock.now_us
    world.change_minds(began_us + 2 * S, began_us + CHANGING_US)
    world.clock.run_until(began_us + CHANGING_US + ANSWERED_US)
    return {"changed on one tree": _missing(world)}


def count(runs: Iterable[dict[str, int]]) -> dict[str, dict[str, int]]:
    """Of how many networks how many had missing deliveries, and how many those were."""
    networks: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for run in runs:
        for moment, lost in run.items():
            networks[moment] += 1
            bad[moment] += lost > 0
            missing[moment] += lost
    return {at: {"networks": networks[at], "with losses": bad[at], "missing": missing[at]} for at in networks}


@click.command()
@click.option("--networks", type=click.IntRange(min=1), default=100, show_default=True, help="Seeds from 1 on.")
@click.option("--choice", type=int, multiple=True, default=[80, 8], show_default=True, help="Filters to choose among.")
@click.option(
    "--prune",
    type=click.Choice([*PRUNINGS]),
    multiple=True,
    default=[*PRUNINGS],
    show_default=True,
    help="How advertisements are compared.",
)
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(networks: int, choice: tuple[int, ...], prune: tuple[str, ...], as_json: bool) -> None:
    """Count the networks in which somebody misses a message."""
    seeds = range(1, networks + 1)
    for filters, pruning in itertools.product(choice, prune):
        for moments in (literal, changed):
            for moment, counts in count(moments(seed, filters, pruning) for seed in seeds).items():
                row = {"choice": filters, "prune": pruning, "moment": moment, **counts}
                click.echo(json.dumps(row) if as_json else "  ".join(f"{key} {cell}" for key, cell in row.items()))


if __name__ == "__main__":
    main()
