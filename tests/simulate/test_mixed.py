"""Routers with different layouts in one simulated network: all go by source trees, and nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import pytest

from tamis.protocol.strategies import BY_NAME, Asks
from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.core import CoreSettings
from tamis.router.core.routing.paths import PathCache
from tamis.router.core.routing.trees import Broadcast
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.simulate import run as runs
from tamis.simulate.faults import topologies
from tamis.simulate.faults.faults import MIXES
from tamis.simulate.nodes.classes import classes_of_run
from tamis.simulate.nodes.run_parts import AnyCore, RunParts, Wall
from tamis.simulate.oracle.asked import AskedBy, each_by_its_own
from tamis.simulate.run import Scenario, run

FAULTS = ",".join(kind for kind in MIXES["all"] if kind != "add")
"""A new link may make neighbours of two routers with one layer, who then agree if they are parted from the rest."""


@dataclass(frozen=True, slots=True)
class MixedParts(RunParts):
    """Each router has a layer and a strategy of its own; the judge goes by those of the settings."""

    layers: tuple[tuple[str, Broadcast], ...] = ()
    strategies: tuple[str, ...] = ("advertise",)

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        settings = replace(self.settings, broadcast=dict(self.layers)[name])
        strategy = self.strategies[stable_number(name) % len(self.strategies)]
        return STRATEGIES[strategy].core(name, epoch, settings, paths, self.core_parts, unix_ms)


def two_coloured(topology: str, seed: int, *layers: Broadcast) -> tuple[tuple[str, Broadcast], ...]:
    """Layers for the routers of a network without odd cycles, so that each two neighbours differ."""
    network = topologies.read(topology, seed)
    colours = {0: 0}
    while len(colours) < len(network.names):
        for a, b, _ in network.links:
            for one, other in ((a, b), (b, a)):
                if one in colours:
                    colours.setdefault(other, 1 - colours[one])
    return tuple((name, layers[colours[place]]) for place, name in enumerate(network.names))


def assert_mixed_ring_is_clean(monkeypatch: pytest.MonkeyPatch, seed: int, strategies: tuple[str, ...]) -> None:
    """Run a ring of seven, each with one of these strategies. The judge takes all for `advertise`: what those that
    flood ask for beyond that (4, 6) is not counted."""
    layers: tuple[tuple[str, Broadcast], ...] = tuple(
        (name, "source-trees") for name in topologies.read("ring:7", seed).names
    )
    kit = MixedParts(layers=layers, strategies=strategies)
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario("ring:7", 100, "all", seed))
    assert [str(violation) for violation in outcome.violations if violation.invariant not in (4, 6)] == []
    assert outcome.counts["required at rest"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "seed", "layers"),
    [
        ("grid:9", 1, ("shared-tree", "reverse-path")),
        ("ring:8", 2, ("shared-tree", "source-trees")),
        ("tree:10", 3, ("source-trees", "reverse-path")),
    ],
)
def test_neighbours_that_differ_go_by_source_trees(
    topology: str, seed: int, layers: tuple[Broadcast, Broadcast], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = MixedParts(layers=two_coloured(topology, seed, *layers))
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario(topology, 150, FAULTS, seed))
    assert [str(violation) for violation in outcome.violations] == []
    assert outcome.counts["required at rest"]


@pytest.mark.slow
def test_one_router_of_another_layer_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without faults that part the network: a part in which all agree goes by its own layer, as it should."""
    names = topologies.read("random:8", 4).names
    layers = tuple((name, "source-trees" if place == 3 else "shared-tree") for place, name in enumerate(names))
    monkeypatch.setattr(runs, "_kit", lambda *_: MixedParts(layers=layers))
    assert run(Scenario("random:8", 80, "stall,flood,rewind", 4)).violations == []


@pytest.mark.slow
def test_routers_that_do_not_notice_lose_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.router.core.core import CoreParts
    from tamis.router.core.statements.link_states import LinkStates

    class Heedless(LinkStates):
        def _is_agreed(self, _: object) -> bool:
            return True

    layers = two_coloured("grid:9", 1, "shared-tree", "reverse-path")
    kit = MixedParts(parts=CoreParts(link_states=Heedless), layers=layers)
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario("grid:9", 20, "none", 1))
    assert {violation.invariant for violation in outcome.violations} & {1, 4}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_advertise_and_flood_mix(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge takes all for `advertise`: what those that flood ask for beyond that (4), and where messages go for it
    (6), is not counted."""
    names = topologies.read("ring:7", seed).names
    layers = tuple((name, "source-trees") for name in names)
    kit = MixedParts(layers=layers, strategies=("advertise", "flood", "flood-everywhere"))  # type: ignore[arg-type]
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario("ring:7", 100, "all", seed))
    lost = [str(v) for v in outcome.violations if v.invariant not in (4, 6)]
    assert lost == []
    assert outcome.counts["required at rest"]


@dataclass(frozen=True, slots=True)
class HalfByEdges(RunParts):
    """Every other router has the default layout, as a router of an earlier release has; the others speak for edges. So
    no two neighbours agree, and the judge knows what each router asks for."""

    layers: tuple[tuple[str, Broadcast], ...] = ()
    by_edges: str = "profile"

    def core(self, name: str, epoch: int, paths: PathCache, unix_ms: Wall) -> AnyCore:
        layer = dict(self.layers)[name]
        strategy = "advertise" if layer == "source-trees" else self.by_edges
        own = STRATEGIES[strategy].facts.layer or layer
        settings = replace(self.settings, broadcast=cast("Broadcast", own))
        return STRATEGIES[strategy].core(name, epoch, settings, paths, self.core_parts, unix_ms)

    @property
    def asked_by(self) -> AskedBy:
        asks = {True: Asks.WANTED, False: Asks.BY_EDGES}
        return partial(each_by_its_own, {stable_number(n): asks[of == "source-trees"] for n, of in self.layers})


def half_by_edges(topology: str, seed: int, strategy: str) -> HalfByEdges:
    """Routers that speak for edges have classes, so that messages could name roots."""
    names = topologies.read(topology, seed).names
    classes = classes_of_run(names)
    has_roots = BY_NAME[strategy].has_roots
    settings = CoreSettings(classes=classes.choices if has_roots else ())
    layers = two_coloured(topology, seed, "source-trees", "shared-tree")
    return HalfByEdges("advertise", settings, classes=replace(classes, truths=()), layers=layers, by_edges=strategy)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["profile", "profile-preventive", "rendezvous", "rendezvous-preventive"])
@pytest.mark.parametrize(("topology", "seed"), [("ring:6", 1), ("grid:9", 2), ("line:5", 3), ("tree:8", 4)])
def test_half_of_the_routers_by_edges_lose_nothing(
    topology: str, seed: int, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = half_by_edges(topology, seed, strategy)
    monkeypatch.setattr(runs, "_kit", lambda *_: kit)
    outcome = run(Scenario(topology, 120, FAULTS, seed))
    assert [str(violation) for violation in outcome.violations] == []
    assert outcome.counts["required at rest"]
    assert outcome.counts["required in motion"]
    assert not any(what in outcome.counts for what in ("sent edge statements", "sent edge requests"))
