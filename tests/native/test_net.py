"""Several switches in one process, frame by frame beside the twin, simulate/twin/forwarder.py, over the same trees.

Law: bytes are carried by hand, one frame at a time, so that each frame that a switch takes is judged alone: refused for
the same reason as by the twin, or sent on by the same links with as many hops left, and delivered to the same clients.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import cast

import pytest

from tamis.native import (
    DEFAULT_ENGINE,
    Admission,
    EventType,
    SlowPolicy,
    SubscribeFrame,
    Switch,
    SwitchEvent,
    SwitchOptions,
    Table,
)
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire import numbers
from tamis.protocol.wire.data_frames import DataFrame, decode_data, encode_data, encode_publish
from tamis.protocol.wire.extensions import ExtensionType, LinkKeys, Route, RouteMode, RouterSet
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import root_named
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import NO_DIGEST
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.paths import Graph, PathCache
from tamis.router.core.routing.reuse import HeldTables
from tamis.router.core.routing.rooted_tree import RootedTree
from tamis.router.core.routing.trees import Broadcast, Trees, make_trees
from tamis.router.core.times import MS, Times
from tamis.router.links.routes import towards
from tamis.simulate.twin import policies
from tamis.simulate.twin.forwarder import Forwarder, TransitId, TransitRefusal
from tamis.simulate.twin.table import PureTable
from tamis.simulate.twin.windows import PublisherWindows
from tests.router.core.graphs import Edge, number, random_edges

HOLD_MS = 1_000_000_000  # of the switches' clocks, which run on by themselves: no test takes so long
TIMES = Times(tree_hold_us=HOLD_MS * MS)
EPOCH = 3
NAMES = ("price", "size", "venue", "age")
POLICIES = tuple(policies.POLICIES.values())
CLASSES = (Filter((Constraint("venue", Op.EQ, (1,)),)), Filter((Constraint("size", Op.LT, (2,)),)))
"""Of messages, where they name a root; some are in both, and some in none."""
REASONS = {
    TransitRefusal.NOT_FROM_PARENT: "parent",
    TransitRefusal.SEEN: "transit",
    TransitRefusal.NO_HOPS_LEFT: "hops",
}


def some_filter(chance: random.Random) -> Filter:
    names = chance.sample(NAMES, chance.randint(0, 2))
    return Filter(
        tuple(Constraint(name, chance.choice((Op.EQ, Op.LT, Op.GE)), (chance.randint(0, 3),)) for name in names)
    )


def some_attributes(chance: random.Random) -> dict[str, Value]:
    return {name: chance.randint(0, 3) for name in NAMES if chance.random() < 0.7}


def admission(of: int, is_link: bool) -> Admission:
    credit = 0 if is_link else 1 << 40
    limits = (1 << 26, credit, 0 if is_link else 1 << 30, 1 << 20, 0 if is_link else 1_000)
    return Admission(of, *limits, 0, 0, 0, SlowPolicy.DROP_NEWEST, is_link)


class Node:
    """A router: its switch with one client, and beside it what the twin needs."""

    def __init__(self, router: int, lazily: bool, forwarding: str = "wanted", engine: str = DEFAULT_ENGINE) -> None:
        self.number, self.lazily = router, lazily
        self.local, self.network = Table(), Table(engine)
        self.switch = Switch(self.local, SwitchOptions(router, EPOCH, 40, 10_000, 1))
        self.switch.join(self.network, 64, forwarding)
        self.client = self._opened(router // 2 + 1, is_link=False)
        self.client_number = router // 2 + 1
        self.links: dict[int, int] = {}
        self.filters: dict[int, Filter] = {}
        self.counter = 0
        policy = next(policy for policy in POLICIES if policy.name == forwarding)
        self.changes = 0
        if forwarding == "match-first":
            policy = replace(policy, destinations_max=router % 4 + 1)
            self.switch.list_routers(policy.destinations_max)
        if forwarding == "keys":
            policy = replace(policy, keys_max=router % 3 + 1)
            self.switch.limit_keys(policy.keys_max)
        self.classes = Table()
        if forwarding == "by-root":
            for number_, each in enumerate(CLASSES):
                self.classes.add(each, number_)
            self.switch.classify(self.classes, len(CLASSES))
        self.twin = Forwarder(router, EPOCH, TIMES, policy)
        self.publishers = PublisherWindows()
        self.generations: deque[tuple[int, Trees, Forest]] = deque(maxlen=4)

    def close(self) -> None:
        self.switch.validate()
        self.switch.close()
        self.local.close()
        self.network.close()
        self.classes.close()

    def _opened(self, of: int, is_link: bool) -> int:
        connection = self.switch.open()
        assert connection is not None
        takes = is_link and (of + self.number) % 5 > 0  # some neighbours are of an earlier release
        known = {"takes_route": takes, "takes_set": takes, "takes_tree": takes, "takes_keys": takes}
        self.switch.admit(connection, replace(admission(of, is_link), **known))
        return connection

    def link(self, neighbour: int) -> None:
        self.links[neighbour] = self._opened(neighbour, is_link=True)

    def unlink(self, neighbour: int) -> None:
        connection = self.links.pop(neighbour)
        self.switch.end(connection, now=True)
        self.switch.tick()
        assert self.switch.forget(connection, 1) == 0

    def reroute(self, trees: Trees, now_us: int, forest: Forest = NO_FOREST) -> None:
        self.twin.reroute(trees, now_us, forest=forest)
        generation = self.switch.begin_routes(max(each.hop_limit() for each in (trees, *forest.trees.values())))
        self.generations.append((generation, trees, forest))
        for source in [self.number] if self.lazily else trees.routers:
            assert self._route(source, generation, trees)
        for root in forest.trees:
            assert self._route_along(root, generation, forest)
        self.switch.commit(HOLD_MS)
        if forest.roots:
            self.switch.send_by(forest.roots)

    def _route(self, source: int, generation: int, trees: Trees) -> bool:
        return self.switch.route(generation, source, trees.parent(source), trees.below(source))

    def _route_along(self, root: int, generation: int, forest: Forest) -> bool:
        if root not in forest.trees:
            return self.switch.route_tree(generation, root, {}, {})
        tree = forest.trees[root]
        return self.switch.route_tree(generation, root, towards(tree), tree.below(root))

    def take(self, connection: int, frame: bytes) -> list[SwitchEvent]:
        """Feed a frame; where a route is missing, do what a router would."""
        events = self.switch.feed(connection, frame)
        for event in events:
            if event.type == EventType.UNROUTED:
                source, root = decode_data(event.frame).transit.source, root_named(event.frame)
                for generation, trees, forest in self.generations:
                    if root is None:
                        self._route(source, generation, trees)
                    else:
                        self._route_along(root, generation, forest)
                self.switch.retake(event.connection, event.frame)
        return [event for event in events if event.type not in (EventType.OUTPUT, EventType.UNROUTED)]

    def hold(self, tables: HeldTables) -> None:
        self.twin.tables = tables
        self.switch.hold(tables.digest if tables.digest != NO_DIGEST else None, tables.routers)

    def sent(self, connection: int) -> list[DataFrame]:
        reader = FrameReader()
        reader.authenticated()
        while data := self.switch.output(connection, 1 << 26):
            reader.feed(data)
        bodies_ = [decode(frame) for frame in reader]
        return [body for body in bodies_ if isinstance(body, DataFrame)]

    def wants(self, attributes: dict[str, Value]) -> bool:
        return any(filter_matches(filter_, attributes) for filter_ in self.filters.values())

    def drops(self) -> Counter[str]:
        return Counter(dict(zip(DROP_REASONS, self.switch.figures().dropped, strict=True)))


AnyRoute = Route | RouterSet | LinkKeys | None


def route_of(frame: DataFrame) -> AnyRoute:
    return cast("AnyRoute", frame.extensions.get(ExtensionType.ROUTE))


def named(route: AnyRoute) -> int | None:
    """The root that a message names."""
    return route.routers[0] if isinstance(route, Route) and route.mode is RouteMode.TREE else None


class Keyed:
    """The filters of all routers but one, by their keys, as the twin asks for them."""

    def __init__(self, nodes: Collection[Node], attributes: dict[str, Value]) -> None:
        self.found = {
            (node.number, numbers.filter_key(node.number, id_)): filter_matches(filter_, attributes)
            for node in nodes
            for id_, filter_ in node.filters.items()
        }

    def keys_of(self, _: int) -> tuple[tuple[int, int], ...]:
        return tuple(pair for pair, matches in self.found.items() if matches)

    def issuers_of(self, key: int) -> tuple[int, ...]:
        return tuple(issuer for issuer, each in self.found if each == key)


class Net:
    """`narrow`: share of the filters that do not match everything. `crowd`: so many filters of each router match no
    message, so that tables are asked and no plan is made."""

    def __init__(
        self,
        seed: int,
        broadcast: Broadcast,
        coarse: bool,
        lazily: bool,
        forwarding: str = "wanted",
        narrow: float = 1.0,
        crowd: int = 0,
        engine: str = DEFAULT_ENGINE,
    ) -> None:
        self.narrow = narrow
        self.chance, self.unknown = random.Random(seed), random.Random(seed)
        self.layer, self.now_us, self.cache = (broadcast, coarse), 0, PathCache()
        size = self.chance.randint(2, 8)
        self.edges: dict[frozenset[int], int] = {}
        self.nodes = {number(index): Node(number(index), lazily, forwarding, engine) for index in range(size)}
        self.waiting: deque[tuple[int, int, DataFrame, bytes]] = deque()
        self.refused: Counter[str] = Counter()
        self.delivered = self.listed = 0
        self.believed = 0
        self.crowd = crowd
        self.by_root, self.by_keys = forwarding == "by-root", forwarding == "keys"
        self.changes = self.along = 0
        for edge in random_edges(size, min(3, size - 1), self.chance):
            self._set(*edge)
        nothing = {10_000 + id_: encode_filter(Filter((Constraint("age", Op.EQ, (99,)),))) for id_ in range(crowd)}
        for node in self.nodes.values():
            others = [other for other in self.nodes if other != node.number]
            assert [node.switch.install(other, nothing) for other in others] == [{} for _ in others]
        self.reroute()

    def _set(self, one: int, other: int, cost: int) -> None:
        self.edges[frozenset((one, other))] = cost
        self.nodes[one].link(other)
        self.nodes[other].link(one)

    def _graph(self) -> Graph:
        edges: list[Edge] = [(*sorted(pair), cost) for pair, cost in self.edges.items()]  # type: ignore[misc]
        return Graph.of(sorted(edges), self.nodes)

    def reroute(self) -> None:
        """News reaches the routers one by one: between two of them messages may be on their way."""
        self.changes += 1
        graph = self._graph()
        for node in self.chance.sample(list(self.nodes.values()), len(self.nodes)):
            broadcast, coarse = self.layer
            trees = make_trees(broadcast, graph, node.number, self.cache, coarse)
            node.reroute(trees, self.now_us, self._forest(graph, node) if self.by_root else NO_FOREST)
            self._hold(node)
            if self.chance.random() < 0.3:
                self.publish()
            if self.chance.random() < 0.3:
                self.carry(self.chance.randint(0, 9))

    def _forest(self, graph: Graph, node: Node) -> Forest:
        """The roots of three classes, of which two may be one router; they move at times, and all in reach agree."""
        reach = sorted(graph.component(node.number))
        roots = tuple(reach[(number + self.changes // 3) % len(reach)] for number in (0, 1, 3))
        return Forest({root: RootedTree(graph, node.number, self.cache, root) for root in roots}, roots)

    def _hold(self, node: Node) -> None:
        """What a node holds is what all in its reach want; at times it says that it does not."""
        routers = node.generations[-1][1].routers if self.unknown.random() < 0.8 else ()
        wanted = [
            numbers.entry_digest(each.number, EPOCH, each.changes, numbers.NO_DIGEST)
            for each in self.nodes.values()
            if each.number in routers
        ]
        node.hold(HeldTables(numbers.add(NO_DIGEST, *wanted), tuple(sorted(routers))))

    def change_edge(self) -> None:
        one, other = self.chance.sample(sorted(self.nodes), 2)
        if frozenset((one, other)) in self.edges:
            del self.edges[frozenset((one, other))]
            self.nodes[one].unlink(other)
            self.nodes[other].unlink(one)
            self.waiting = deque(item for item in self.waiting if {item[0], item[1]} != {one, other})
        else:
            self._set(one, other, self.chance.randint(1, 5))
        self.reroute()

    def change_filter(self) -> None:
        node = self.chance.choice(list(self.nodes.values()))
        node.changes += 1
        self._change_filter_of(node)
        for each in self.nodes.values():
            self._hold(each)

    def _change_filter_of(self, node: Node) -> None:
        others = [other for other in self.nodes.values() if other is not node]
        if node.filters and self.chance.random() < 0.4:
            id_, _ = node.filters.popitem()
            assert node.switch.unsubscribe(node.switch.subscriber_of(node.client), id_)
            assert [other.switch.uninstall(node.number, [id_]) for other in others] == [[] for _ in others]
            return
        id_ = max(node.filters, default=0) + 1
        node.filters[id_] = some_filter(self.chance) if self.chance.random() < self.narrow else Filter(())
        packed = encode_filter(node.filters[id_])
        wanted = (bodies.SubscriptionItem(id_, (packed,)),)
        frame = SubscribeFrame(encode(bodies.Subscribe(1, wanted, True, bodies.Reach.HOME, False)))
        assert node.switch.subscribe(node.switch.subscriber_of(node.client), frame, 10) == []
        assert [other.switch.install(node.number, {id_: packed}) for other in others] == [{} for _ in others]

    def pass_time(self) -> None:
        self.now_us += 2 * HOLD_MS * MS
        for node in self.nodes.values():
            node.switch.advance(2 * HOLD_MS)
            assert [event for event in node.switch.tick() if event.type != EventType.OUTPUT] == []

    # --- messages ------------------------------------------------------------------------------------------------

    def publish(self) -> None:
        node = self.chance.choice(list(self.nodes.values()))
        node.counter += 1
        attributes = some_attributes(self.chance)
        transit, hops = node.twin.enter(self.now_us)
        assert node.publishers.fresh(node.client_number, node.counter)
        assert node.take(node.client, encode_publish(node.client_number, node.counter, 0, attributes, b"...")) == []
        self._check(node, transit, attributes, node.wants(attributes), hops, None, None)

    def _check(
        self,
        node: Node,
        transit: TransitId,
        attributes: dict[str, Value],
        delivered: bool,
        hops: int,
        came_from: int | None,
        route: AnyRoute,
    ) -> None:
        """What left a switch is what leaves the twin. `route`: what the message says of the routers that it goes to."""
        got = node.sent(node.client)
        assert [(frame.transit, frame.hop_limit) for frame in got] == [(transit, hops)] * delivered
        assert all(ExtensionType.ROUTE not in frame.extensions for frame in got)
        self.delivered += delivered
        wanting = [other.number for other in self.nodes.values() if other is not node and other.wants(attributes)]
        matched: Collection[int] = wanting
        if self.by_keys:
            others = [other for other in self.nodes.values() if other is not node]
            self._check_keys(node, transit, hops, came_from, route, Keyed(others, attributes), wanting)
            return
        if isinstance(route, RouterSet):
            believed = node.twin.believed(route)
            matched = wanting if believed is None else believed
            self.believed += believed is not None
        elif isinstance(route, Route) and route.mode is RouteMode.TREE:
            pass  # matched along the tree
        elif isinstance(route, Route):
            matched = route.routers
        if came_from is None and (listed := node.twin.listed(wanting, self.now_us)):
            route = Route(RouteMode.LIST, tuple(sorted(listed)))
        elif came_from is None and self.crowd:  # a plan of few filters costs less
            route = node.twin.stated(wanting, self.now_us)
        if came_from is None and self.by_root:
            classes = [number for number, each in enumerate(CLASSES) if filter_matches(each, attributes)]
            root = node.twin.root_of(classes, self.now_us)
            route = None if root is None else Route(RouteMode.TREE, (root,))
        expected = node.twin.departures(transit.source, matched, self.now_us, came_from, named(route))
        for neighbour, connection in node.links.items():
            frames = node.sent(connection)
            left = hops if came_from is None else hops - 1
            assert [(frame.kind, frame.transit, frame.hop_limit) for frame in frames] == (
                [(FrameKind.PUBLISH, transit, left)] if neighbour in expected else []
            )
            takes_route = (neighbour + node.number) % 5 > 0
            for frame in frames:
                assert route_of(frame) == (route if takes_route else None)
                self.listed += route is not None
                self.along += came_from is not None and named(route_of(frame)) is not None
                self.waiting.append((node.number, neighbour, frame, encode_data(frame)))

    def _check_keys(
        self,
        node: Node,
        transit: TransitId,
        hops: int,
        came_from: int | None,
        route: AnyRoute,
        table: Keyed,
        wanting: list[int],
    ) -> None:
        """Which keys of several a switch takes is its own choice; their number, and whether they are all, is not."""
        stated = route if isinstance(route, LinkKeys) else None
        keyed = cast("PureTable", table)
        links = node.twin.by_keys(transit.source, 0, stated, keyed, self.now_us, came_from)
        self.believed += stated is not None and links is not None
        if links is None:
            links = dict.fromkeys(node.twin.departures(transit.source, wanting, self.now_us, came_from))
        for neighbour, connection in node.links.items():
            frames = node.sent(connection)
            left = hops if came_from is None else hops - 1
            assert [(frame.transit, frame.hop_limit) for frame in frames] == [(transit, left)] * (neighbour in links)
            expected = links.get(neighbour) if (neighbour + node.number) % 5 > 0 else None
            for frame in frames:
                got = route_of(frame)
                assert isinstance(got, LinkKeys) == (expected is not None)
                if isinstance(got, LinkKeys) and expected is not None:
                    assert (got.complete, got.digest, len(got.keys)) == (*expected[:2], len(expected.keys))
                    assert set(got.keys) <= {key for _, key in table.keys_of(0)} | set(stated.keys if stated else ())
                    self.listed += 1
                self.waiting.append((node.number, neighbour, frame, encode_data(frame)))

    def carry(self, frames: int) -> None:
        while self.waiting and frames > 0:
            frames -= 1
            came_from, to, frame, data = self.waiting.popleft()
            self._arrive(self.nodes[to], came_from, frame, data)
            if self.chance.random() < 0.2:
                self._stray(frame)

    def _stray(self, frame: DataFrame) -> None:
        """Somebody sends a copy from where it should not come, or out of its epoch, or at the end of its hops."""
        node = self.chance.choice(list(self.nodes.values()))
        epoch = self.chance.choice((EPOCH, EPOCH, EPOCH - 1, EPOCH + 1))
        hops = self.chance.choice((frame.hop_limit, frame.hop_limit, 0, 1))
        copy = replace(frame, transit=frame.transit._replace(epoch=epoch), hop_limit=hops)
        for neighbour in self.chance.sample(sorted(node.links), min(1, len(node.links))):
            self._arrive(node, neighbour, copy, encode_data(copy))

    def _arrive(self, node: Node, came_from: int, frame: DataFrame, data: bytes) -> None:
        transit, hops = TransitId(*frame.transit), frame.hop_limit
        before = node.drops()
        refusal = node.twin.arrive(transit, hops, came_from, self.now_us, named(route_of(frame)))
        assert node.take(node.links[came_from], data) == []
        refused = node.drops() - before
        if refusal is not None:
            assert refused == {REASONS[refusal] if node.generations else "no_route": 1}
            assert all(node.sent(connection) == [] for connection in (node.client, *node.links.values()))
            self.refused[REASONS[refusal]] += 1
            return
        attributes = dict(frame.message.attributes)
        wanted = node.wants(attributes)
        is_new = not wanted or node.publishers.fresh(*frame.message.id)
        assert set(refused) <= {"unmatched", "duplicate", "no_link"}
        assert refused["duplicate"] == (not is_new)
        self._check(node, transit, attributes, wanted and is_new, hops, came_from, route_of(frame))


@pytest.fixture
def nets() -> Iterator[list[Net]]:
    made: list[Net] = []
    yield made
    for net in made:
        for node in net.nodes.values():
            node.close()


LAYERS: tuple[tuple[Broadcast, bool], ...] = (
    ("source-trees", False),
    ("source-trees", True),
    ("shared-tree", False),
    ("reverse-path", False),
)


ROUTES = pytest.mark.parametrize(
    "lazily", [pytest.param(False, marks=pytest.mark.slow), True], ids=["all routes", "routes as needed"]
)


@ROUTES
@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_switches_do_what_the_twin_does(nets, seed, broadcast, coarse, lazily):
    _live(Net(seed, broadcast, coarse, lazily), nets)


@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))])
def test_switches_do_what_the_twin_does_as_time_passes(nets, seed, broadcast, coarse):
    """Sources are out of reach for longer than the hold, and come back."""
    _live(Net(seed, broadcast, coarse, lazily=True), nets, pauses=8)


@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [10, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(11, 18))])
def test_switches_whose_tables_are_asked_do_what_the_twin_does(nets, seed, broadcast, coarse):
    """By the ways of one generation, and by the groupings of several."""
    for crowd, engine in ((0, DEFAULT_ENGINE), (40, DEFAULT_ENGINE), (40, "pst")):
        _live(Net(seed, broadcast, coarse, seed % 2 == 0, crowd=crowd, engine=engine), nets)
    planned, *asked = [{node.number: node.drops() for node in net.nodes.values()} for net in nets]
    assert asked == [planned, planned]  # what is lost on links that are down, too


@pytest.mark.parametrize(
    "narrow", [pytest.param(0.0, marks=pytest.mark.slow), 0.05], ids=["all want everything", "few want less"]
)
@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_switches_that_flood_do_what_the_twin_does(nets, seed, broadcast, coarse, narrow):
    _live(Net(seed, broadcast, coarse, seed == 0, "flood", narrow), nets)


@pytest.mark.parametrize("crowd", [pytest.param(0, marks=pytest.mark.slow), 40])
@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_switches_that_match_first_do_what_the_twin_does(nets, seed, broadcast, coarse, crowd):
    net = Net(seed, broadcast, coarse, seed % 2 == 0, "match-first", crowd=crowd)
    _live(net, nets)
    assert net.listed > 10


@pytest.mark.parametrize("crowd", [pytest.param(0, marks=pytest.mark.slow), 40])
@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9))])
def test_switches_that_write_and_believe_sets_do_what_the_twin_does(nets, seed, broadcast, coarse, crowd):
    net = Net(seed, broadcast, coarse, seed % 2 == 0, "destinations", crowd=crowd)
    _live(net, nets)
    assert (net.believed > 0) == (net.listed > 0) == (crowd > 0)
    figures = [node.switch.figures() for node in net.nodes.values()]
    assert sum(each.sets_believed for each in figures) == net.believed


@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9))])
def test_switches_that_look_up_keys_send_where_the_twin_does(nets, seed, broadcast, coarse):
    """Keys are used by the routes of one generation alone, so time passes often."""
    engine = ("counting", "kdtree", "sff", "pst")[seed % 4]
    net = Net(seed, broadcast, coarse, seed % 2 == 0, "keys", crowd=40, engine=engine)
    _live(net, nets, pauses=8)
    assert net.believed > 0
    assert net.listed > 0


@ROUTES
@pytest.mark.parametrize("crowd", [0, 40])
@pytest.mark.parametrize(("broadcast", "coarse"), LAYERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_switches_do_what_the_twin_does_along_the_trees_of_roots(nets, seed, broadcast, coarse, crowd, lazily):
    engine = "pst" if seed % 3 == 2 else DEFAULT_ENGINE
    net = Net(seed, broadcast, coarse, lazily, "by-root", crowd=crowd, engine=engine)
    _live(net, nets)
    assert net.along > 10


def _live(net: Net, nets: list[Net], pauses: int = 1) -> None:
    nets.append(net)
    steps = [net.change_filter] * 5 + [net.publish] * 8 + [net.change_edge] + [net.pass_time] * pauses
    for _ in range(80):
        net.chance.choice(steps)()
        net.carry(net.chance.randint(0, 20))
    net.carry(1 << 30)
    assert net.delivered > 20
    assert net.refused.keys() <= set(REASONS.values())


@pytest.mark.parametrize("generations", [1, 2])
def test_a_table_in_which_all_want_everything_is_not_asked(generations):
    """But for the first messages of a shape, until the names that no filter speaks of are known."""
    for forwarding, narrow, is_asked in (("flood", 0, False), ("flood", 1, True), ("wanted", 0, True)):
        node = Node(number(0), lazily=False, forwarding=forwarding)
        for other in (1, 2):
            node.link(number(other))
            filters = [Filter(())] * (40 - narrow) + [Filter((Constraint("price", Op.EQ, (7,)),))] * narrow
            packed = {id_: encode_filter(filter_) for id_, filter_ in enumerate(filters, 1)}  # more than a plan takes
            assert node.switch.install(number(other), packed) == {}
        graph = Graph.of([(*sorted((number(0), number(other))), 1) for other in (1, 2)], map(number, range(3)))
        for _ in range(generations):
            node.reroute(make_trees("source-trees", graph, number(0), PathCache(), coarse=False), 0)
        steps = []
        for counter in range(1, 20):
            frame = encode_publish(node.client_number, counter, 0, {"price": 1, "size": 2}, b"...")
            assert node.take(node.client, frame) == []
            assert [len(node.sent(link)) for link in node.links.values()] == [1, 1]
            steps.append(node.network.stats().steps)
        assert (steps[-1] > steps[9]) == is_asked, (forwarding, narrow)
        node.close()
