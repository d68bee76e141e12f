"""Invariants 4, 8 and 17: which routers know of which durable subscriptions.

Law: at rest each router knows exactly the durable subscriptions that are on the disks of the routers in its reach, each
with its name and home. What it knew of a router out of reach it still knows, or something newer, also after a restart
with its disk. A router that confirms has them on its own disk. At rest each router that has some knows that all in its
reach store them, and in which life of which log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from tamis.simulate.oracle.paths import Graph, component

Report = Callable[[int, str], None]
Version = tuple[int, int]
LogLife = tuple[int, int, int]
"""A log, its life, and the life before."""


class KnownByRouter(NamedTuple):
    """What one router knows: by home the version and the packed durable subscriptions, by name their homes, and the
    routers that store its own, with the lives of their logs."""

    homes: Mapping[int, tuple[Version, Collection[bytes]]]
    names: Mapping[str, Collection[int]]
    storing: Mapping[int, LogLife]


class DurablesTruth:
    def __init__(self, report: Report) -> None:
        self.counts: Counter[str] = Counter()
        self._report = report
        self._made: dict[int, set[bytes]] = {}
        """Maps a router to its durable subscriptions, packed."""
        self._names: dict[bytes, str] = {}
        """Maps each packed durable subscription that was ever made to its name; no two are equal."""
        self._newest: dict[tuple[int, int], dict[int, Version]] = {}
        """Maps a router and its log to the version of each home that it knew at a rest."""

    def made(self, router: int, name: str, packed: bytes) -> None:
        self.counts["durable subscriptions made"] += 1
        self._made.setdefault(router, set()).add(packed)
        self._names[packed] = name

    def removed(self, router: int, packed: bytes) -> None:
        self.counts["durable subscriptions removed"] += 1
        self._made[router].remove(packed)

    def disk_lost(self, router: int) -> None:
        self._made.pop(router, None)

    def put_back(self, router: int, log: int, durables: Collection[bytes]) -> None:
        """Record that the disk of a router was put back to a backup with these durable subscriptions of its own."""
        self._made[router] = set(durables)
        self._newest.pop((router, log), None)

    def has(self, router: int, packed: bytes) -> bool:
        return packed in self._made.get(router, ())

    def confirmed(self, home: int, packed: bytes, holder: int, on_disk: Collection[bytes]) -> None:
        """Record that `home` was told that `holder` has stored a durable subscription of it."""
        self.counts["durable subscriptions confirmed"] += 1
        if self.has(home, packed) and packed not in on_disk:
            self._report(17, f"{holder:x} is said to have stored a durable subscription of {home:x}, and has not")

    def said_to_store(self, home: int, router: int, told: LogLife, written: LogLife, *, is_there: bool) -> None:
        """Record that `home` was told that a router stores what it states. `written`: the present life of that router's
        log; `is_there`: whether a statement of `home` is on that disk, as far as it is the one that was named."""
        self.counts["lives of logs told"] += 1
        if not is_there or told > written:
            self._report(17, f"{home:x} is told of {told} of {router:x}, which has {written}")

    def missed(self, routers: int) -> None:
        self.counts["routers that did not confirm in time"] += routers

    def started(self, router: int, on_disk: Mapping[int, Collection[bytes]], view: KnownByRouter) -> None:
        """Judge that a router that starts knows what it has on its disk, by home."""
        for home, durables in on_disk.items():
            known = view.homes[home][1] if home in view.homes else ()
            if sorted(known) != sorted(durables):
                self._report(17, f"{router:x} starts with {len(known)} durable subscriptions of {home:x}")

    def at_rest(self, known: Mapping[int, KnownByRouter], written: Mapping[int, LogLife], graph: Graph) -> None:
        """Judge what living routers, with these lives of their logs, know."""
        for router, view in known.items():
            reach = component(graph, router)
            if self._made.get(router):
                self._compare_storing(router, view, {other: written[other] for other in reach if other != router})
            for home in reach:
                held = sorted(view.homes[home][1]) if home in view.homes else []
                if held != sorted(self._made.get(home, ())):
                    made = len(self._made.get(home, ()))
                    self._report(4, f"{router:x} knows {len(held)} durable subscriptions of {home:x}, which has {made}")
            self._compare_names(router, view)
            newest = self._newest.setdefault((router, written[router][0]), {})
            for home, version in newest.items():
                says_nothing = home == router and home not in view.homes  # it has none, and knows of none
                if not says_nothing and (home not in view.homes or view.homes[home][0] < version):
                    self._report(17, f"{router:x} has forgotten what {home:x} stated in version {version}")
            newest.update({home: version for home, (version, _) in view.homes.items()})

    def _compare_storing(self, home: int, view: KnownByRouter, written: Mapping[int, LogLife]) -> None:
        """Judge that `home` knows the lives of the logs of all in reach, which store what it states."""
        for router, life in written.items():
            if view.storing.get(router) != life:
                self._report(17, f"{home:x} knows {view.storing.get(router)} of {router:x}, which has {life}")

    def _compare_names(self, router: int, view: KnownByRouter) -> None:
        """Judge that each name leads to the homes of the durable subscriptions that the router knows by it."""
        names: dict[str, list[int]] = {}
        for home, (_, durables) in view.homes.items():
            for packed in durables:
                names.setdefault(self._names[packed], []).append(home)
        for name, homes in names.items():
            expected = sorted(home for home in homes if home != router)
            found = sorted(view.names.get(name, ()))
            if found != expected:
                self._report(4, f"{router:x} finds {name} at {len(found)} routers, not {len(expected)}")
