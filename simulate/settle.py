"""Rest: wait until nothing is in flight, then examine all routers and send messages that must arrive.

Law: the wait is bounded by the times of the protocol, so any later activity is a violation (invariant 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Final, cast

from tamis.protocol.strategies import Asks
from tamis.protocol.wire.routing_bodies import Body, ReceiverAdvertisement, SpaceStatement, UpdateReply
from tamis.simulate.faults.faults import DAY_MS, MS
from tamis.simulate.faults.workload import CONTENTS
from tamis.simulate.nodes import view
from tamis.simulate.nodes.link import HOLD_US
from tamis.simulate.nodes.node import Node
from tamis.simulate.oracle import costs
from tamis.simulate.oracle.asked import Asked, what_clients_want
from tamis.simulate.oracle.edges import OfRoot, compare_edges
from tamis.simulate.oracle.merged import MergedStatements
from tamis.simulate.oracle.paths import graph_of
from tamis.simulate.oracle.stated import compare_stated
from tamis.simulate.oracle.tables import LAYERS, LayerPromise, Tables, TreePlace, sources_of
from tamis.simulate.world.world import World

CLIENTS_US: Final = 5_000 * MS
"""The time after the last operation within which a client may still reconnect."""
SPARE_US: Final = 3_000 * MS
PROBE_SOURCES: Final = 12
PROBES_EACH: Final = 3
PROBE_GAP_US: Final = 2 * MS
PROBE_PUBLISHER: Final = 1_000
EPOCHS_AHEAD_MS: Final = DAY_MS
"""The time by which an epoch may lie ahead of a clock. A router whose clock is further behind refuses the epoch, so its
owner may have to lower it: a router with a single neighbour accepts that neighbour's clock unchecked, and a router
whose epoch most of its neighbours refuse lowers it."""
GLANCE: Final = 4
"""The number of routers that are examined before each operation."""
QUIET_KINDS: Final = (
    *("link states", "advertisements", "confirmations", "requests", "spaces"),
    *("durables", "durables confirmations"),
    *("edge statements", "edge confirmations", "edge requests"),
)


class Rest:
    """Waits until one world is at rest, then judges it."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._seed = seed
        self._versions = costs.Versions(world.recorder.report)
        self._turn = 0
        self._spaces: dict[int, dict[str, SpaceStatement]] = {}
        """Maps a router to its spaces at the last full examination."""
        settings = world.kit.settings
        layer = LAYERS[settings.broadcast]
        if settings.coarse:
            layer = LayerPromise(
                layer.shortest, layer.mutual, exact=layer.exact and settings.broadcast == "shared-tree"
            )
        self._layer = layer
        truth = world.recorder.truth
        asked: Callable[[], Asked] = partial(world.kit.asked_by, truth, world.everything)
        groups = world.recorder.groups
        self._is_by_edges = world.kit.facts.asks is Asks.BY_EDGES
        needed = partial(what_clients_want, truth, world.everything) if self._is_by_edges else asked
        self._merged = self._judge_of_merging()
        if self._merged is not None:
            needed = self._stated_contents
            asked = asked if self._is_by_edges else needed
        self._tables = Tables(truth, layer, world.meaning, world.recorder.report, asked, groups.asked, needed)
        world.recorder.on_learnt = self._learnt

    def merged_counts(self) -> dict[str, int]:
        """Return sums over routers and rests of what was merged; empty where nothing is."""
        merged = self._merged
        if merged is None:
            return {}
        return {
            "merged filters at rest": merged.merged,
            "parts of merged filters at rest": merged.parts,
            "wanted contents at rest": merged.wanted,
            "surplus contents at rest": merged.vain,
        }

    @property
    def compares(self) -> bool:
        """Whether the state of routers can be compared with the truth."""
        return self._world.kit.facts.loses_nothing

    def glance(self, at_all: bool) -> None:
        """Invariant 8, between operations: examine a few routers, different ones each time, or with `at_all` all of
        them."""
        if not self.compares:
            return
        nodes = self._world.nodes
        for _ in range(len(nodes) if at_all else min(GLANCE, len(nodes))):
            self._turn = (self._turn + 1) % len(nodes)
            self._look_at_versions(self._turn)

    def come(self, round_: int) -> None:
        """Wait for rest, judge the messages of the round, examine all tables, and send probes."""
        world = self._world
        world.lose_no_more()
        world.leave_victims_alone()
        recorder, truth = world.recorder, world.recorder.truth
        world.clock.run_until(world.clock.now_us + self._wait_us())
        for message in world.messages:
            recorder.deliveries.in_motion(message)
            recorder.gaps.judge(message)
            recorder.groups.in_motion(message)
        recorder.gaps.at_rest()
        world.messages.clear()
        truth.is_tainted = False
        truth.forged.clear()
        truth.are_edges_forged = False
        world.waits.at_rest()
        said = Counter(recorder.said)
        ways = self._look()
        self._probe(round_, ways)
        costs.quiet({what: recorder.said[what] - said[what] for what in QUIET_KINDS}, recorder.report)
        recorder.counts["rests"] += 1
        self.forget()

    def forget(self) -> None:
        self._world.messages.clear()
        recorder = self._world.recorder
        before_us = self._world.clock.now_us - 2 * recorder.patience.known_us - recorder.patience.asked_us
        recorder.truth.forget(before_us)
        recorder.groups.forget(before_us)
        recorder.deliveries.forget()

    def _wait_us(self) -> int:
        times = self._world.kit.settings.times
        news_us = 2 * HOLD_US + times.topology_damp_max_us + 2 * times.retry_us
        narrow_us = times.narrow_hold_us + times.damp_narrow_max_us
        repair_us = 2 * (times.request_every_us * 4 // 3) if self._world.recorder.truth.is_tainted else 0
        hops_us = len(self._world.nodes) * times.damp_hop_max_us if self._is_by_edges else 0
        return CLIENTS_US + news_us + narrow_us + hops_us + repair_us + SPARE_US

    # Examination.

    def _look(self) -> dict[int, dict[int, TreePlace]]:
        """Invariants 4, 7, 8, 11: judge the state of routers. Return the current routes of messages from some
        sources."""
        world, report = self._world, self._world.recorder.report
        for link in world.links:
            for way in link.ways:
                name = "/".join(f"{end:x}" for end in link.name)
                costs.accounts(name, way.sent, way.delivered, way.dropped, way.queued, report)
            if link.passable and not link.open:
                report(9, f"link {link.name} is not open, although it could be")
        if not self.compares:
            return {}
        living = [node for node in world.nodes if node.alive]
        self._look_at_merged(living)
        holdings = {node.number: view.holding(node) for node in living}
        self._tables.compare(holdings)
        self._look_at_spaces(living)
        self._look_at_durables(living)
        self._look_at_custody(living)
        if world.kit.facts.states_all:
            compare_stated(holdings.values(), world.recorder.truth, world.clients.filters_of, report)
        for index, node in enumerate(world.nodes):
            self._look_at_versions(index)
            if node.alive:
                costs.unfinished(node.number, view.unfinished(node), report)
        sources = {*sources_of((node.number for node in living), PROBE_SOURCES), *self._first_of_components(living)}
        ways = {node.number: view.ways(node, sources) for node in living}
        self._tables.compare_ways(ways)
        if world.kit.facts.has_roots:
            return self._look_at_roots(living)
        if self._is_by_edges:
            held = {node.number: view.edge_holding(node) for node in living}
            compare_edges(held, ways, self._wanted_at, self._contents_of, report)
        return ways

    def _judge_of_merging(self) -> MergedStatements | None:
        """Return the judge of what routers state; None: filters are not merged."""
        world = self._world
        if world.kit.settings.merge is None:
            return None
        levels = [cast("int", content["level"]) for content in CONTENTS]
        recorder = world.recorder
        return MergedStatements(recorder.truth, levels, self._packed_of, self._contents_of, recorder.report)

    def _look_at_merged(self, living: list[Node]) -> None:
        if self._merged is not None:
            for node in living:
                self._merged.judge(node.number, view.own_filters(node))

    def _look_at_roots(self, living: list[Node]) -> dict[int, dict[int, TreePlace]]:
        """Invariant 4 of strategies with roots: judge whether routers have the trees of the roots that follow from the
        truth, and hold the statements about the edges of each. Return the routes of messages by these roots."""
        world, report = self._world, self._world.recorder.report
        ways = {node.number: view.root_ways(node) for node in living}
        by_number = {node.number: node for node in living}
        left = set(by_number)
        while left:
            together = sorted(world.reachable(by_number[min(left)]))
            left.difference_update(together)
            contents_by_root = world.lanes.contents_by_root(together)
            differing = [router for router in together if ways[router].keys() != contents_by_root.keys()]
            for router in differing:
                report(4, f"{router:x} has trees of the wrong roots")
            if differing:
                continue
            self._tables.compare_ways({router: ways[router] for router in together})
            for root, contents in contents_by_root.items():
                held = {router: view.edge_holding(by_number[router], root) for router in together}
                of_root = {router: {root: ways[router][root]} for router in together}
                compare_edges(held, of_root, self._wanted_at, self._contents_of, report, OfRoot(root, contents))
        return ways

    def _contents_of(self, packed: bytes) -> int:
        return self._world.meaning(packed)[1]

    def _packed_of(self, wish: int) -> bytes:
        return self._world.wishes[wish].packed

    def _stated_contents(self) -> dict[int, int]:
        """Return the contents that living routers state where filters are merged, which include a surplus."""
        truth = self._world.recorder.truth
        return {} if self._merged is None else {router: self._merged.stated[router] for router in truth.living()}

    def _wanted_at(self, router: int) -> int:
        """Return the contents that a router must request from others."""
        if self._merged is not None:
            return self._merged.stated[router]
        return self._world.recorder.truth.contents_wanted_at(router)

    def _first_of_components(self, living: list[Node]) -> set[int]:
        """Return one router of each part of the network, for judgements about state that all sources there share."""
        return {min(self._world.reachable(node)) for node in living} if self._is_by_edges else set()

    def _look_at_spaces(self, living: list[Node]) -> None:
        """Invariants 4 and 8 for spaces, in a run that has some."""
        world, truth = self._world, self._world.recorder.truth
        if not world.kit.declared:
            return
        held = {(node.number, node.life): view.spaces(node) for node in living}
        self._spaces = {router: spaces for (router, _), spaces in held.items()}
        kept = [each for node in world.nodes for each in view.spaces(node).values()]
        graph = graph_of(truth.edges(world.clock.now_us), truth.living())
        world.recorder.schemas.at_rest(held, kept, graph)
        world.recorder.schemas.forget(held.keys())

    def _look_at_durables(self, living: list[Node]) -> None:
        """Invariants 4 and 17 for durable subscriptions."""
        world, truth = self._world, self._world.recorder.truth
        known = {node.number: view.durables(node) for node in living}
        written = {node.number: node.disk.written for node in living}
        world.recorder.durables.at_rest(known, written, graph_of(truth.edges(world.clock.now_us), truth.living()))

    def _look_at_custody(self, living: list[Node]) -> None:
        """Invariant 19, in a run with custody."""
        world = self._world
        if world.kit.custody is not None:
            reach = {node.number: world.reachable(node) for node in living}
            world.recorder.custody.at_rest(reach, {pair: links for node in living for pair, links in view.behind(node)})
            world.recorder.bounds.at_rest(reach)

    def _look_at_versions(self, index: int) -> None:
        node = self._world.nodes[index]
        if node.alive:
            self._versions.look(node.number, node.life, view.versions(node), self._epoch_max)

    def _learnt(self, router: int, body: Body) -> None:
        """Invariant 8, after each statement: examine the versions that the statement changed, because an intermediate
        version may excuse or prove a step back."""
        if not self.compares or not isinstance(body, ReceiverAdvertisement | UpdateReply):
            return
        node, epoch_max = self._world.by_number[router], self._epoch_max
        issuers = [body.issuer] if isinstance(body, ReceiverAdvertisement) else [entry.issuer for entry in body.entries]
        for issuer in issuers:
            self._versions.look_at(router, node.life, issuer, view.version(node, issuer), epoch_max)

    @property
    def _epoch_max(self) -> int:
        return min(node.unix_ms() for node in self._world.nodes) + EPOCHS_AHEAD_MS

    # Probing.

    def _probe(self, round_: int, ways: Mapping[int, Mapping[int, TreePlace]]) -> None:
        """Invariants 1, 2, 3, 6, 15: publish from many routers, now that everything must work; judge the deliveries."""
        world, recorder = self._world, self._world.recorder
        random = Random(f"{self._seed}/probes/{round_}")
        living = {node.number: index for index, node in enumerate(world.nodes) if node.alive}
        probes = []
        for source in sources_of(living, PROBE_SOURCES):
            for content in random.sample(range(len(CONTENTS)), PROBES_EACH):
                message = world.publish(living[source], content, PROBE_PUBLISHER + living[source])
                if message is None or not world.rules.enters(living[source], message.publisher, content):
                    continue
                if self._spaces:
                    held = self._spaces[source]
                    recorder.schemas.probed(message.serial, content, message.is_unfit, held)
                if not message.is_unfit:
                    probes.append((source, message))
                world.clock.run_until(world.clock.now_us + PROBE_GAP_US)
        world.clock.run_until(world.clock.now_us + 1_000 * MS)
        for source, message in probes:
            recorder.deliveries.at_rest(message, source)
            recorder.groups.at_rest(message, source)
            if ways:
                self._tables.went(message, source, ways, self._root_of(source, message.content))

    def _root_of(self, source: int, content: int) -> int | None:
        """Return the root for a content published at a router; None: it uses the tree of its source."""
        world = self._world
        contents_by_root = world.lanes.contents_by_root(world.reachable(world.by_number[source]))
        return next((root for root, contents in contents_by_root.items() if contents >> content & 1), None)

    # The end.

    def long_after(self) -> None:
        """Invariant 7: let one router leave for good, and check that every other one forgets it in time."""
        world = self._world
        if not self.compares:
            return
        world.leave_for_good()
        world.clock.run_until(world.clock.now_us + world.kit.settings.times.age_out_us + self._wait_us())
        for node in world.nodes:
            if node.alive:
                costs.still_kept(node.number, view.known(node), world.reachable(node), world.recorder.report)
