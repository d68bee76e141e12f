"""When the route from one router to another was unsteady: changes elsewhere do not affect messages on that route.

    as a saw it       a-c-d .................. a-c-d | a-e-d ...........
    unsteady                                [notice] | [settle]          and so about each change of a-c, c-d, a, c, d

Law: the route is all links on the shortest paths between the two, in the topology that the source used; any of equally
short paths may be used. It is steady while every router on it recorded an equal route, and none of its links and
routers came or went: messages are accepted along all trees in force (R5b), so trees that differ elsewhere do no harm.
If messages use other trees, or there are too many routers to examine each pair, a change anywhere counts for every
route: `unrest.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import groupby
from typing import Any, Final, NamedTuple

from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.health import RecordedLife, RecordHole
from tamis.analysis.questions.unrest import NetworkChange
from tamis.protocol.strategies import recorded_as

ROUTERS_MAX: Final = 48
"""Routers up to which routes are compared: some two thousand routes, seconds of work for each hundred topologies."""
TREES: Final = "source-trees"
"""The broadcast layer for which the law above holds."""
REMEMBERED: Final = 65_536
"""Routes in the cache, a few hundred bytes each."""

Link = tuple[str, str]
Graph = dict[str, dict[str, int]]
Way = frozenset[Link]


class RestlessSpan(NamedTuple):
    from_us: int
    to_us: int

    def later(self, offset_us: int) -> RestlessSpan:
        return RestlessSpan(self.from_us + offset_us, self.to_us + offset_us)

    def wider(self, before_us: int, after_us: int) -> RestlessSpan:
        return RestlessSpan(self.from_us - before_us, self.to_us + after_us)

    def within(self, whole: RestlessSpan) -> RestlessSpan:
        return RestlessSpan(max(self.from_us, whole.from_us), min(self.to_us, whole.to_us))


Unsteady = dict[tuple[str, str], list[RestlessSpan]]
"""For a source and a router: when the route from one to the other was unsteady, in order."""


class RouterPicture(NamedTuple):
    """The topology that a router used from `from_us` on; `edges` are lines `a b cost`."""

    from_us: int
    edges: str


@dataclass(frozen=True)
class Past:
    """The past of the whole network, on one clock. `dark` has when a router's topology was not recorded, or is lost."""

    whole: RestlessSpan
    views: dict[str, list[RouterPicture]]
    changes: list[NetworkChange]
    dark: dict[str, list[RestlessSpan]]
    errors_us: dict[str, int]


@dataclass(frozen=True)
class Told:
    """The routers' records about the network. `topology` and `changes` are on one clock; `lives` and `holes` on the
    routers' own."""

    topology: Sequence[Mapping[str, Any]]
    changes: Sequence[NetworkChange]
    lives: Sequence[RecordedLife]
    holes: Sequence[RecordHole]
    clocks: Mapping[str, RouterClock]


def past(told: Told, unknown_us: int) -> Past | None:
    """Return the past of the network; None if nothing is known of it, the law above does not hold for it, or it has too
    many routers. `unknown_us` is the error of a clock that was never compared."""
    lives = told.lives
    if not lives or len({life.router for life in lives}) > ROUTERS_MAX or not all(map(_is_known, lives)):
        return None
    offsets_us = {router: clock.offset_us for router, clock in told.clocks.items()}
    errors_us = {
        router: unknown_us if clock.error_us is None else clock.error_us for router, clock in told.clocks.items()
    }
    spans = {
        (life.router, life.epoch): RestlessSpan(life.first_us, life.last_us).later(offsets_us[life.router])
        for life in lives
    }
    whole = RestlessSpan(min(span.from_us for span in spans.values()), max(span.to_us for span in spans.values()))
    dark: dict[str, list[RestlessSpan]] = defaultdict(list)
    for hole in (each for each in told.holes if each.family == "events"):
        moved = RestlessSpan(hole.from_us, hole.to_us).later(offsets_us.get(hole.router, 0))
        begun_us = spans[hole.router, hole.epoch].from_us
        dark[hole.router].append(RestlessSpan(max(moved.from_us, begun_us), moved.to_us))
    changes = [change for change in told.changes if change.what != "topology"]
    return Past(whole, _views(told.topology), changes, dark, errors_us)


def _is_known(life: RecordedLife) -> bool:
    """Return whether the router of `life` forwards messages by the routes of the law above."""
    strategy = None if life.strategy is None else recorded_as(life.strategy)
    return life.broadcast == TREES and strategy is not None and strategy.goes_where_wanted


def _views(topology: Sequence[Mapping[str, Any]]) -> dict[str, list[RouterPicture]]:
    views: dict[str, list[RouterPicture]] = defaultdict(list)
    for row in sorted(topology, key=lambda each: (each["epoch"], each["n"])):
        views[row["router"]].append(RouterPicture(row["at_us"], "\n".join(row["edges"] or ())))
    return views


def unsteady(told: Told, pairs: Iterable[tuple[str, str]], before_us: int, after_us: int) -> Unsteady:
    """Return when the route from one router to the other was unsteady, for each pair; nothing if that is unknown."""
    known = past(told, after_us)
    return {} if known is None else {pair: spans(known, *pair, before_us, after_us) for pair in pairs}


def spans(past: Past, source: str, home: str, before_us: int, after_us: int) -> list[RestlessSpan]:
    """Return the spans in which the route from `source` to `home` was unsteady. `before_us` is how long a dead link may
    go unnoticed, `after_us` how long routers may take to find new routes."""
    error_us = max(past.errors_us.values(), default=0) + past.errors_us.get(source, 0)
    found = []
    for lasting, way in _seen(past, source, source, home):
        if way is None:
            found.append(lasting)
        else:
            found.append(RestlessSpan(lasting.from_us, lasting.from_us))
            found += (span.within(lasting) for span in _disturbances(past, source, home, way))
    wider = (span.wider(before_us + error_us, after_us + error_us) for span in found if span.from_us <= span.to_us)
    return _joined(span.within(past.whole) for span in wider)


def _disturbances(past: Past, source: str, home: str, way: Way) -> Iterator[RestlessSpan]:
    """Yield the spans in which a router used another route than `way`, or a link or router of it came or went."""
    routers = {source, home}.union(*way)
    for router in routers:
        yield from past.dark.get(router, ())
        yield from (seen for seen, other in _seen(past, router, source, home) if other != way)
    for change in past.changes:
        is_of_way = change.router in routers if change.other is None else _link(change.router, change.other) in way
        if is_of_way:
            yield RestlessSpan(change.at_us, change.at_us)


def _seen(past: Past, router: str, source: str, home: str) -> Iterator[tuple[RestlessSpan, Way | None]]:
    """Yield, span by span, the route from source to home in the topology of `router`."""
    views = [RouterPicture(past.whole.from_us, ""), *past.views.get(router, ())]
    ends_us = [view.from_us for view in views[1:]] + [past.whole.to_us]
    each = zip(views, ends_us, strict=True)
    for way, same in groupby(each, key=lambda one: _way(one[0].edges, source, home)):
        parts = list(same)
        yield RestlessSpan(parts[0][0].from_us, parts[-1][1]), way


@lru_cache(REMEMBERED)
def _way(edges: str, source: str, home: str) -> Way | None:
    """Return all links on shortest paths from source to home; None if there is no path."""
    graph = _graph(edges)
    there, back = _costs_from(edges, source), _costs_from(edges, home)
    total = there.get(home)
    if total is None or source not in graph:
        return None
    return frozenset(_link(a, b) for a in there for b, cost in graph[a].items() if there[a] + cost + back[b] == total)


@lru_cache(REMEMBERED)
def _costs_from(edges: str, start: str) -> dict[str, int]:
    graph, done = _graph(edges), dict[str, int]()
    heap = [(0, start)]
    while heap:
        cost, router = heappop(heap)
        if router not in done:
            done[router] = cost
            for other, more in graph.get(router, {}).items():
                heappush(heap, (cost + more, other))
    return done


@lru_cache(REMEMBERED)
def _graph(edges: str) -> Graph:
    """Return the graph that lines `a b cost` describe."""
    graph: Graph = defaultdict(dict)
    for line in edges.splitlines():
        one, other, cost = line.split(" ")
        graph[one][other] = graph[other][one] = int(cost)
    return graph


def _link(one: str, other: str) -> Link:
    return (one, other) if one < other else (other, one)


def _joined(found: Iterable[RestlessSpan]) -> list[RestlessSpan]:
    joined: list[RestlessSpan] = []
    for span in sorted(found):
        if joined and span.from_us <= joined[-1].to_us:
            joined[-1] = RestlessSpan(joined[-1].from_us, max(joined[-1].to_us, span.to_us))
        else:
            joined.append(span)
    return joined
