"""Invariants 4 and 6: the tables of routers at rest, and the routes of messages by them.

Law: everything is compared with results that are computed from the truth from scratch. Where routers may choose between
equally short paths, their choices must agree with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tamis.simulate.oracle.asked import Asked, what_clients_want
from tamis.simulate.oracle.paths import Graph, component, costs_from, graph_of
from tamis.simulate.oracle.truth import Truth

Report = Callable[[int, str], None]
Filters = Mapping[int, bytes]


@dataclass(frozen=True, slots=True)
class Holding:
    """The state of one router at rest."""

    router: int
    versions: Mapping[int, tuple[int, int, bytes]]
    """Maps an issuer to the epoch, seq and digest of its statement."""
    advertised: Mapping[int, Filters]
    """Maps an issuer to its predicate, which has filters by id."""
    table: Mapping[int, Filters]
    """Maps an issuer to the filters by which messages are matched for it; without the router's own."""


class TreePlace(NamedTuple):
    """The forwarding of messages of one source by one router."""

    parent: int | None
    children: tuple[int, ...]
    below: Mapping[int, int]


class LayerPromise(NamedTuple):
    """The promises about routes; broadcast layers differ in them."""

    shortest: bool
    mutual: bool
    """True if the children of a router are exactly those that have it as their parent."""
    exact: bool
    """True if no router is expected behind a child from which it is not reached."""


LAYERS = {
    "source-trees": LayerPromise(shortest=True, mutual=True, exact=True),
    "shared-tree": LayerPromise(shortest=False, mutual=True, exact=True),
    "reverse-path": LayerPromise(shortest=True, mutual=False, exact=False),
}


class _Chosen(Protocol):
    @property
    def choices(self) -> Mapping[int, int]: ...


class Went(Protocol):
    """The part of a message that has its route."""

    @property
    def serial(self) -> int: ...

    @property
    def content(self) -> int: ...

    @property
    def visits(self) -> list[int]: ...

    @property
    def refusals(self) -> Mapping[str, int]: ...

    @property
    def chosen(self) -> Mapping[Any, _Chosen]:
        """Return the choices of its entry routers for worker groups."""


class Tables:
    def __init__(
        self,
        truth: Truth,
        layer: LayerPromise,
        meaning: Callable[[bytes], tuple[int, int]],
        report: Report,
        asked: Callable[[], Asked] | None = None,
        asked_by_groups: Callable[[], Mapping[int, Mapping[int, int]]] = dict,
        needed: Callable[[], Asked] | None = None,
    ) -> None:
        """`asked` returns the contents that each router should request now; by default those of its clients'
        subscriptions. `asked_by_groups` returns by router and number of a group the contents to which its members
        subscribe. `needed` returns the contents of messages that go to each router; by default those that it
        requests."""
        self._truth = truth
        self._asked = asked or (lambda: what_clients_want(truth, 0))
        self._asked_by_groups = asked_by_groups
        self._needed = needed or self._asked
        self._layer = layer
        self._meaning = meaning
        """Returns for a packed filter the number of its group, 0 for none, and its contents; KeyError for a filter to
        which no client ever subscribed."""
        self._report = report

    # 4: advertisements.

    def compare(self, holdings: Mapping[int, Holding]) -> None:
        graph = graph_of(self._truth.edges(self._truth.now_us), self._truth.living())
        seen: set[int] = set()
        for router in holdings:
            if router not in seen:
                together = component(graph, router)
                seen |= together
                self._compare_component([holdings[each] for each in sorted(together)])
        for holding in holdings.values():
            self._compare_table(holding)

    def _compare_component(self, holdings: list[Holding]) -> None:
        asked = self._asked()
        for issuer in holdings:
            version = issuer.versions[issuer.router]
            for other in holdings:
                held = other.versions.get(issuer.router)
                if held != version or other.advertised[issuer.router] != issuer.advertised[issuer.router]:
                    self._report(4, f"{other.router:x} holds {held} of {issuer.router:x}, which has {version}")
            self._compare_wishes(issuer, asked.get(issuer.router, 0))

    def _compare_wishes(self, issuer: Holding, asked: int) -> None:
        """Invariant 5: report an issuer whose advertised filters lack contents to which its clients subscribe.
        Invariant 4: report one that advertises others than its strategy requests."""
        said, shared = 0, dict[int, int]()
        for packed in issuer.advertised[issuer.router].values():
            group, contents = self._meaning(packed)
            if group:
                shared[group] = shared.get(group, 0) | contents
            else:
                said |= contents
        if shared != self._asked_by_groups().get(issuer.router, {}):
            self._report(
                15, f"{issuer.router:x} states {shared} for groups, which is not the interest of their members"
            )
        wanted = self._truth.contents_wanted_at(issuer.router)
        if said & wanted != wanted:
            self._report(5, f"{issuer.router:x} does not request contents {wanted & ~said:x} of its clients")
        if said & ~asked:
            self._report(4, f"{issuer.router:x} requests contents {said & ~asked:x} without a reason")
        elif asked & ~(said | wanted):
            self._report(4, f"{issuer.router:x} does not request contents {asked & ~said:x}, as its strategy demands")

    def _compare_table(self, holding: Holding) -> None:
        from_scratch = {
            issuer: filters for issuer, filters in holding.advertised.items() if filters and issuer != holding.router
        }
        if holding.table != from_scratch:
            self._report(4, f"the table of {holding.router:x} does not follow from its state")

    # 4: trees.

    def compare_ways(self, ways: Mapping[int, Mapping[int, TreePlace]]) -> None:
        """Invariant 4: report inconsistent routes. `ways` maps a router to its handling of messages of each source."""
        graph = graph_of(self._truth.edges(self._truth.now_us), self._truth.living())
        for source in next(iter(ways.values()), {}):
            together = component(graph, source)
            self._compare_tree(source, graph, {router: ways[router][source] for router in sorted(together)})

    def _compare_tree(self, source: int, graph: Graph, ways: Mapping[int, TreePlace]) -> None:
        costs = costs_from(graph, source)
        for router, way in ways.items():
            if router == source:
                continue
            if way.parent is None or way.parent not in graph[router]:
                self._report(4, f"{router:x} accepts messages of {source:x} from {way.parent}, which is no neighbour")
                return
            if self._layer.shortest and costs[way.parent] + graph[router][way.parent] != costs[router]:
                self._report(
                    4, f"{router:x} accepts messages of {source:x} from {way.parent:x}, not on a shortest path"
                )
        lines = {router: line_to(router, source, ways) for router in ways}
        if any(line is None for line in lines.values()):
            self._report(4, f"parents in the tree of {source:x} form a circle")
        elif self._layer.mutual:
            self._compare_children(source, ways, {router: line for router, line in lines.items() if line})

    def _compare_children(self, source: int, ways: Mapping[int, TreePlace], lines: Mapping[int, list[int]]) -> None:
        children: dict[int, list[int]] = {router: [] for router in ways}
        below: dict[int, dict[int, int]] = {router: {} for router in ways}
        for router, line in lines.items():
            if router != source:
                children[line[1]].append(router)
            for nearer, farther in zip(line[1:], line, strict=False):
                below[nearer][router] = farther
        for router, way in ways.items():
            if list(way.children) != sorted(children[router]):
                self._report(
                    4,
                    f"{router:x} has children in the tree of {source:x} that differ from those that have it as parent",
                )
            elif self._layer.exact and dict(way.below) != below[router]:
                self._report(4, f"{router:x} has wrong routers below it in the tree of {source:x}")

    # 6: where a message went.

    def went(
        self, message: Went, source: int, ways: Mapping[int, Mapping[int, TreePlace]], root: int | None = None
    ) -> None:
        """Judge the route of a message, by the tree of its source or of the `root` of its class."""
        visits, refusals = message.visits, sum(message.refusals.values())
        if len(set(visits)) != len(visits):
            self._report(6, f"a router accepted message {message.serial} twice")
        if not self._layer.exact:
            return
        asked = {router for router, contents in self._needed().items() if contents >> message.content & 1}
        asked.update(*(chosen.choices.values() for chosen in message.chosen.values()))
        top = source if root is None else root
        tree = {router: each[top] for router, each in ways.items() if top in each}
        asked.add(source)
        needed = {top}.union(
            *(
                line_to(router, top, tree) or ()
                for router in sorted(asked & tree.keys())
                if self._reaches(tree[router], router, top)
            )
        )
        if set(visits) != needed or refusals:
            vain, short = len(set(visits) - needed), len(needed - set(visits))
            what = f"reached {vain} routers without need, missed {short}, {refusals} copies refused"
            self._report(6, f"message {message.serial}: {what}")

    @staticmethod
    def _reaches(way: TreePlace, router: int, source: int) -> bool:
        return router == source or way.parent is not None


def line_to(router: int, source: int, ways: Mapping[int, TreePlace]) -> list[int] | None:
    """Return the routers from `router` up to the source by parents; None if they do not lead there."""
    line = [router]
    while line[-1] != source:
        way = ways.get(line[-1])
        if way is None or way.parent is None or len(line) > len(ways):
            return None
        line.append(way.parent)
    return line


def sources_of(routers: Iterable[int], at_most: int) -> list[int]:
    """Return at most `at_most` of the routers, spread evenly over their order."""
    listed = sorted(routers)
    return listed[:: max(1, -(-len(listed) // at_most))]
