"""When the ways between routers were unsteady, looked at moment by moment: which network each router saw then.

Law: that of `analysis/questions/ways.py`, said as plainly as can be and by the judge's own shortest paths.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

from tamis.analysis.study import SETTLE_US
from tamis.simulate.oracle.paths import edges_between, graph_of
from tests.analysis.accounts.told import reference_ahead_us
from tests.analysis.conftest import NOTICE_US, Simulated, Tables

Ends = tuple[str, str]
"""Source and home of a message."""
Span = tuple[int, int]
Seen = frozenset[tuple[str, str, int]]
"""Links and their costs."""
Way = frozenset[tuple[str, str]] | None
NOTHING: Seen = frozenset()


@cache
def way_between(seen: Seen, source: str, home: str) -> Way:
    """All links on shortest ways; None: there is none."""
    names = sorted({source, home}.union(*(edge[:2] for edge in seen)))
    if source not in {name for edge in seen for name in edge[:2]}:
        return None
    costs = {(names.index(one), names.index(other)): cost for one, other, cost in seen}
    edges = edges_between(graph_of(costs, list(range(len(names)))), names.index(source), names.index(home))
    return None if edges is None else frozenset((names[one], names[other]) for one, other in edges)


class Past:
    """What each router saw, and when a link or router changed, on the common clock."""

    def __init__(self, simulated: Simulated) -> None:
        told, ahead_us = simulated.truth["changes"], reference_ahead_us(simulated)
        self.begin_us = min(life["began_us"] for life in told["lives"]) + ahead_us
        self.end_us = max(life["wrote_us"] for life in told["lives"]) + ahead_us
        self._views: dict[str, list[tuple[int, Seen]]] = {}
        for each in told["topologies"]:
            seen = frozenset((*sorted(edge[:2]), edge[2]) for edge in each["edges"])
            self._views.setdefault(each["router"], []).append((each["at_us"] + ahead_us, seen))
        self.changes = [(at_us + ahead_us, router, other) for at_us, router, _, other in told["noticed"]]
        viewed = {at_us for views in self._views.values() for at_us, _ in views}
        self.moments = sorted(viewed | {self.begin_us, self.end_us} | {change[0] for change in self.changes})

    def saw(self, router: str, at_us: int) -> Seen:
        views = self._views.get(router, [])
        place = bisect_right(views, at_us, key=lambda view: view[0])
        return views[place - 1][1] if place else NOTHING

    def unsteady(self, source: str, home: str) -> Iterator[Span]:
        """Moments, and times between two of them, in which something was otherwise."""
        way_before: Way = None
        for at_us, next_us in pairwise([*self.moments, self.end_us]):
            way = way_between(self.saw(source, at_us), source, home)
            touched = {home, source}.union(*(way or ()), *(way_before or ()))
            links = (way or frozenset()) | (way_before or frozenset())
            if way != way_before or self._is_changed(at_us, touched, links):
                yield at_us, at_us
            others = {source, home}.union(*(way or ()))
            if way is None or any(way_between(self.saw(each, at_us), source, home) != way for each in others):
                yield at_us, next_us
            way_before = way

    def _is_changed(self, at_us: int, routers: Iterable[str], links: Iterable[tuple[str, str]]) -> bool:
        at = bisect_left(self.changes, at_us, key=lambda change: change[0])
        now = self.changes[at : bisect_right(self.changes, at_us, key=lambda change: change[0])]
        return any(
            router in routers if other is None else tuple(sorted((router, other))) in links for _, router, other in now
        )


def asked_for(simulated: Simulated) -> set[Ends]:
    """From where anybody published to where anybody asked."""
    sources = {router for _, _, router, *_ in simulated.truth["messages"]["published"]}
    homes = {asked["router"] for asked in simulated.truth["wants"]["asked"]}
    return {(source, home) for source in sources for home in homes}


@cache
def past_of(simulated: Simulated) -> Past:
    return Past(simulated)


@cache
def unsteady_between(simulated: Simulated, source: str, home: str) -> list[Span]:
    return list(past_of(simulated).unsteady(source, home))


def unsteady(tables: Tables, simulated: Simulated) -> dict[Ends, list[Span]]:
    """With the time that a dead link may go unnoticed, and that in which routers find their ways."""
    past = past_of(simulated)
    errors_us = {row["router"]: row["error_us"] for row in tables["logs/clocks"]}
    found = {}
    for source, home in asked_for(simulated):
        error_us = max(errors_us.values()) + errors_us[source]
        found[source, home] = [
            (max(from_us - NOTICE_US - error_us, past.begin_us), min(to_us + SETTLE_US + error_us, past.end_us))
            for from_us, to_us in unsteady_between(simulated, source, home)
        ]
    return found
