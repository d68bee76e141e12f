"""The routers of a network as switches of one process, joined by hand: what is to be sent over a link is fed to the
neighbour.

Law: the switches, their tables and the frames are those of daemons; sockets are left out. A pass publishes every event
once, in waves: all that waits on a connection is fed in one block for each role, and timed alone. The *entry* takes an
event from its client; a *transit* router sends it on to others; a *leaf* does not. Each event has a counter of its own
in each pass, as a router drops what it has seen.
"""

from __future__ import annotations

import struct
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from tamis.bench.networks.strategies.control import Budget, classes_of, forest_of, trees_of
from tamis.bench.networks.strategies.wants import SEED, Event, Wants
from tamis.native import Admission, SlowPolicy, SubscribeFrame, Switch, SwitchOptions, Table
from tamis.protocol.strategies import StrategyFacts
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.core.core import Core
from tamis.router.core.routing.forest import Forest
from tamis.router.core.routing.roots import RootChoice
from tamis.router.core.routing.trees import Trees
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.router.links.classes import classify
from tamis.router.links.routes import towards
from tamis.simulate.nodes.node import Node
from tamis.simulate.twin.policies import POLICIES

ENTRY: Final = "entry"
TRANSIT: Final = "transit"
LEAF: Final = "leaf"
ROLES: Final = (ENTRY, TRANSIT, LEAF)
PAYLOAD: Final = b"x" * 16
PUBLISHER: Final = 1 << 20
"""Number of the publisher at the first router; the next ones follow."""
SUBSCRIBER: Final = 1 << 30
EPOCH: Final = 1
ITEMS: Final = 1_000
"""Filters of a frame in which a client subscribes."""
ROOM_BYTES: Final = 1 << 30
_PUBLISH: Final = int(FrameKind.PUBLISH)
_DELIVER: Final = int(FrameKind.DELIVER)
_LENGTH: Final = struct.Struct("<I")
_COUNTER: Final = struct.Struct("<Q")
_COUNTER_AT: Final = 40
"""Where a header has the publisher's counter."""


@dataclass(slots=True)
class Pass:
    """What one pass of all events found."""

    ns: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    visits: Counter[str] = field(default_factory=Counter)
    frames: int = 0
    bytes: int = 0
    arrived: Counter[int] = field(default_factory=Counter)
    """Messages by the router, of its own clients and of its neighbours."""
    delivered: Counter[tuple[int, int]] = field(default_factory=Counter)
    """(event, router) -> how often."""


class Router:
    """One switch, with a publisher, a subscriber and its links."""

    def __init__(
        self, node: Node, place: int, facts: StrategyFacts, engine: str, routers: int, classes: tuple[RootChoice, ...]
    ) -> None:
        self.place = place
        trees, policy = trees_of(node), POLICIES[STRATEGIES[facts.name].policy]
        options = SwitchOptions(
            node.number, EPOCH, len(node.links) + 2, publishers_max=routers, hop_limit=trees.hop_limit(), hash_seed=SEED
        )
        self.local, self.network = Table(engine, hash_seed=SEED), Table(engine, hash_seed=SEED)
        self.switch = Switch(self.local, options)
        self.switch.join(self.network, routers, policy.name)
        if policy.destinations_max:
            self.switch.list_routers(policy.destinations_max)
        for issuer, filters in node.table.filters.items():
            if issuer != node.number and self.switch.install(issuer, filters):
                raise RuntimeError(f"router {node.name} refused filters of router {issuer}")
        if policy.reuses or policy.keys_max:
            tables = cast("Core", node.core).tables
            self.switch.hold(tables.digest, tables.routers)
        self.classes = classify(self.switch, classes)
        self._route(node.number, trees, forest_of(node))
        self.publisher = self._admit(PUBLISHER + place, is_link=False)
        self.subscriber = self._admit(SUBSCRIBER + place, is_link=False)
        self.links = {neighbour: self._admit(neighbour, is_link=True) for neighbour in sorted(node.links)}

    def _route(self, number: int, trees: Trees, forest: Forest) -> None:
        generation = self.switch.begin_routes(trees.hop_limit())
        for source in sorted(trees.routers):
            parent = None if source == number else trees.parent(source)
            self.switch.route(generation, source, parent, trees.below(source))
        for root, tree in forest.trees.items():
            self.switch.route_tree(generation, root, towards(tree), tree.below(root))
        self.switch.commit(0)
        self.switch.send_by(forest.roots)

    def _admit(self, number: int, is_link: bool) -> int:
        connection = self.switch.open()
        if connection is None:
            raise RuntimeError("no room for a connection")
        credit = (0, 0) if is_link else (1 << 50, 1 << 31)
        limits = (ROOM_BYTES, *credit, 1 << 20, 0 if is_link else 1 << 24)
        extensions = dict.fromkeys(("takes_route", "takes_set", "takes_tree", "takes_keys"), is_link)
        admission = Admission(number, *limits, policy=SlowPolicy.DROP_NEWEST, is_link=is_link, **extensions)
        self.switch.admit(connection, admission)
        return connection

    def subscribe(self, filters: Sequence[bytes]) -> None:
        subscriber = self.switch.subscriber_of(self.subscriber)
        for first in range(0, len(filters), ITEMS):
            some = enumerate(filters[first : first + ITEMS], first)
            items = tuple(SubscriptionItem(number, (packed,)) for number, packed in some)
            frame = SubscribeFrame(encode(Subscribe(first + 1, items, False, Reach.HOME, False)))
            while frame.left:
                if self.switch.subscribe(subscriber, frame, ITEMS):
                    raise RuntimeError("a subscription was refused")
        while self.switch.output(self.subscriber, ROOM_BYTES):
            pass  # answers to subscriptions, which would come out in place of the first messages

    @property
    def memory_bytes(self) -> int:
        """Everything that C keeps: both tables, and the switch with its routes, windows and connections."""
        return self.switch.figures().memory_bytes + sum(t.stats().memory_bytes for t in (self.local, self.network))


@dataclass(frozen=True, slots=True)
class _Block:
    """Where frames wait: at which router, on which of its connections."""

    router: int
    connection: int
    role: str


class Fleet:
    """The first pass finds roles, and is kept as `first`; its times and steps are of no use."""

    def __init__(
        self,
        nodes: Sequence[Node],
        wants: Wants,
        facts: StrategyFacts,
        engine: str,
        budget: Budget | None = None,
        classes: tuple[RootChoice, ...] | None = None,
    ) -> None:
        self._budget = budget
        of_messages = classes_of(facts, classes)
        self.routers = [Router(node, place, facts, engine, len(nodes), of_messages) for place, node in enumerate(nodes)]
        for router, filters in zip(self.routers, wants.filters, strict=True):
            router.subscribe(filters)
        self.events: Sequence[Event] = wants.events
        self._place = {node.number: place for place, node in enumerate(nodes)}
        self._number = [node.number for node in nodes]
        self._counter = 0
        self._onward: set[tuple[int, int]] = set()
        """(router, event): the router sends it on, as the first pass found."""
        self.first = self.run()

    def run(self) -> Pass:
        """Publish every event once."""
        found, base = Pass(), self.take_counters()
        wave = self._entering(base)
        while wave:
            following: dict[_Block, list[bytes]] = defaultdict(list)
            for block, frames in wave.items():
                self._feed(block, frames, found)
                for neighbour, event, frame in self._sent(block.router, base, found):
                    role = TRANSIT if (neighbour, event) in self._onward else LEAF
                    connection = self.routers[neighbour].links[self._number[block.router]]
                    following[_Block(neighbour, connection, role)].append(frame)
                    self._onward.add((block.router, event))
            wave = following
        return found

    def publish(self, events: Sequence[Event]) -> None:
        """Go on with other events, which pass once as `first`."""
        self.events = events
        self._onward.clear()
        self.first = self.run()

    def take_counters(self) -> int:
        """Return the counter before that of the first event of a pass; no other pass has these."""
        base = self._counter
        self._counter += len(self.events)
        return base

    def waiting_on_links(self, place: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Give (neighbour, its connection, messages) of each link of a router on which messages wait."""
        for neighbour, connection in self.routers[place].links.items():
            frames: list[bytes] = []
            while data := self.routers[place].switch.output(connection, ROOM_BYTES):
                frames += [frame for kind, _, frame in _frames(data, 0) if kind == _PUBLISH]
            if frames:
                to = self._place[neighbour]
                yield to, self.routers[to].links[self._number[place]], frames

    def _entering(self, base: int) -> Mapping[_Block, list[bytes]]:
        wave: dict[_Block, list[bytes]] = defaultdict(list)
        for number, event in enumerate(self.events):
            router = self.routers[number % len(self.routers)]
            frame = encode_publish(PUBLISHER + router.place, base + number + 1, 0, event, PAYLOAD)
            wave[_Block(router.place, router.publisher, ENTRY)].append(frame)
        return wave

    def _feed(self, block: _Block, frames: list[bytes], found: Pass) -> None:
        switch, data = self.routers[block.router].switch, b"".join(frames)
        if self._budget is not None:
            self._budget.check("messages are forwarded")
        steps = switch.figures().steps
        began_ns = time.thread_time_ns()
        switch.feed(block.connection, data)
        found.ns[block.role] += time.thread_time_ns() - began_ns
        found.steps[block.role] += switch.figures().steps - steps
        found.visits[block.role] += len(frames)
        found.arrived[block.router] += len(frames)

    def _sent(self, place: int, base: int, found: Pass) -> Iterator[tuple[int, int, bytes]]:
        """Give (neighbour, event, frame) of each copy that waits on a link, and count what clients get."""
        router = self.routers[place]
        router.switch.output(router.publisher, ROOM_BYTES)
        for kind, event, _ in _frames(router.switch.output(router.subscriber, ROOM_BYTES), base):
            if kind == _DELIVER:
                found.delivered[event, place] += 1
        for neighbour, connection in router.links.items():
            for kind, event, frame in _frames(router.switch.output(connection, ROOM_BYTES), base):
                if kind == _PUBLISH:
                    found.frames += 1
                    found.bytes += len(frame)
                    yield self._place[neighbour], event, frame


def _frames(data: bytes, base: int) -> Iterator[tuple[int, int, bytes]]:
    """Give (kind, event, frame) of each; the event of a frame without a data header is -1."""
    position = 0
    while position < len(data):
        (length,) = _LENGTH.unpack_from(data, position)
        kind = data[position + 4]
        counter = base
        if length >= HEADER_BYTES:
            (counter,) = _COUNTER.unpack_from(data, position + _COUNTER_AT)
        yield kind, counter - base - 1, data[position : position + length]
        position += length
