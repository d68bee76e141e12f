"""The routes of messages, from the core's trees into the switch.

Law: the switch holds a route for a source once a message of that source has arrived, in every generation of trees that
is in force (R5b); this router is a source from the beginning, and so are the roots of the newest forest. A change of
topology therefore takes work for the sources in use, not for all sources.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from tamis.protocol.wire.header import TRANSIT_OFFSET, root_named
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.trees import GENERATIONS_MAX, Trees

_SOURCE: Final = slice(TRANSIT_OFFSET, TRANSIT_OFFSET + 8)

EXPIRED_WITHIN_S: Final = 0.3
"""The switch checks at each of its ticks, ten a second, whether earlier trees have ended."""


class RoutingSwitch(Protocol):
    """The switch, as its routes need it; a generation of them is identified by its number."""

    def begin_routes(self, hop_limit: int) -> int: ...

    def route(self, generation: int, source: int, parent: int | None, below: Mapping[int, int]) -> bool: ...

    def route_tree(self, generation: int, root: int, ways: Mapping[int, int], below: Mapping[int, int]) -> bool: ...

    def commit(self, hold_ms: int, wait_ms: int = 0) -> None: ...

    def send_by(self, roots: Sequence[int]) -> None: ...

    def retake(self, connection: int, frame: bytes) -> None: ...


class Generation(NamedTuple):
    trees: Trees
    forest: Forest


class Routes:
    """The routes of one switch. `hold_ms`: how long the previous trees stay in force; `wait_ms`: how long messages that
    arrive by the present trees wait for those by earlier ones. `brings` returns whether a neighbour may bring messages
    of a router; those that it may not have no route over its link, and are dropped for that."""

    def __init__(
        self,
        switch: RoutingSwitch,
        me: int,
        hold_ms: int,
        wait_ms: int,
        brings: Callable[[int, int], bool] = lambda _neighbour, _router: True,
    ) -> None:
        self._brings = brings
        self._switch, self._me, self._hold_ms, self._wait_ms = switch, me, hold_ms, wait_ms
        self._generations: OrderedDict[int, Generation] = OrderedDict()
        self._roots: tuple[int, ...] = ()
        self._alone_from_s = 0.0

    def reroute(self, trees: Trees, is_whole: bool, forest: Forest = NO_FOREST) -> None:
        """Send messages by `trees` and `forest` from now on. `is_whole`: no path of the previous ones has broken."""
        hop_limit = max(each.hop_limit() for each in (trees, *forest.trees.values()))
        number, generation = self._switch.begin_routes(hop_limit), Generation(trees, forest)
        self._switch.route(number, self._me, None, trees.below(self._me))
        for root in forest.trees:
            self._set_tree(number, generation, root)
        self._switch.commit(self._hold_ms, self._wait_ms if is_whole else 0)
        if self._generations:
            self._alone_from_s = time.monotonic() + self._hold_ms / 1_000 + EXPIRED_WITHIN_S
        self.name(forest.roots)
        self._generations[number] = generation
        while len(self._generations) > GENERATIONS_MAX:
            self._generations.popitem(last=False)

    @property
    def earlier_s(self) -> float:
        """The seconds for which messages also use earlier trees (R5b); 0: they use the present ones alone."""
        return max(self._alone_from_s - time.monotonic(), 0.0)

    def name(self, roots: tuple[int, ...]) -> None:
        """E10: stamp messages that enter here with these roots from now on."""
        if roots != self._roots:
            self._switch.send_by(roots)
            self._roots = roots

    def unrouted(self, connection: int, frame: bytes) -> None:
        """Set the routes that the switch lacks for a message, of its source or of the root that it names, and process
        the message again; Gone if its link has ended."""
        source, root = int.from_bytes(frame[_SOURCE], "little"), root_named(frame)
        for number, generation in list(self._generations.items()):
            trees = generation.trees
            is_in_force = (
                self._switch.route(number, source, self._parent(trees, source), trees.below(source))
                if root is None
                else self._set_tree(number, generation, root)
            )
            if not is_in_force:
                del self._generations[number]
        self._switch.retake(connection, frame)

    def _parent(self, trees: Trees, source: int) -> int | None:
        parent = trees.parent(source)
        return parent if parent is None or self._brings(parent, source) else None

    def _set_tree(self, number: int, generation: Generation, root: int) -> bool:
        """Set the route of a root's messages; in a generation without a tree of the root they have none. False: the
        generation is no longer in force."""
        tree = generation.forest.trees.get(root)
        if tree is None:
            return self._switch.route_tree(number, root, {}, {})
        ways = {router: way for router, way in towards(tree).items() if self._brings(way, router)}
        return self._switch.route_tree(number, root, ways, tree.below(root))


def towards(tree: Trees) -> Mapping[int, int]:
    """Return the neighbour behind which each router lies on a tree."""
    ways = ((router, tree.next_hop(router)) for router in tree.routers)
    return {router: way for router, way in ways if way is not None}
