"""The demand of one subscription on one message, by the message's place and time and the records of both routers.

Law: MUST is the best; each of the others except OUTSIDE leaves open whether the message was due, and is a reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.health import RecordedLife, RecordHole
from tamis.analysis.questions.matches import Flags, Ints
from tamis.analysis.questions.unrest import UnrestSpan
from tamis.analysis.questions.ways import Unsteady

LOCAL_US: Final = 50_000
"""The time of one turn of a router's loop; events of one turn may be recorded in another order."""
MUST, UNREST, SUBSCRIPTION, LOG, UNREACHABLE, OUTSIDE = range(6)
REASONS: Final = {
    UNREST: "its route was changing, or is not recorded",
    SUBSCRIPTION: "the subscription had just begun, or was about to end",
    LOG: "the router's log has a hole there, ends earlier, or uses another sample",
    UNREACHABLE: "the router was unreachable",
}
OTHERWISE: Final = "a member with another matching subscription got it, and the records do not show for which"
"""Why the share of a worker group is unknown."""
_EVER_US: Final = 1 << 62
Life = tuple[str, int]


class TimeSpans:
    """Disjoint spans in order, searched for many moments at once. Both ends belong to a span."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        joined: list[tuple[int, int]] = []
        for from_us, to_us in sorted(spans):
            if joined and from_us <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], to_us)
            else:
                joined.append((from_us, to_us))
        self._from_us = np.array([from_us for from_us, _ in joined], np.int64)
        self._to_us = np.array([-1, *(to_us for _, to_us in joined)], np.int64)

    def hold(self, at_us: Ints) -> Flags:
        place = np.searchsorted(self._from_us, at_us, "right")
        return (place > 0) & (at_us <= self._to_us[place])


@dataclass(frozen=True)
class RecordedNetwork:
    """The state of the network at all times, from the records of all routers. Times are on one clock, except those of
    lives, holes and subscriptions, which are by the clock of their router."""

    clocks: Mapping[str, RouterClock]
    lives: Sequence[RecordedLife]
    holes: Sequence[RecordHole]
    topology: Sequence[Mapping[str, Any]]
    restless: Sequence[UnrestSpan]
    unsteady: Unsteady
    """For each source and router when the route between them changed, where that is known; then no other change
    counts."""
    settle_us: int

    @cached_property
    def routers(self) -> list[str]:
        return sorted(self.clocks)

    @cached_property
    def offsets_us(self) -> Ints:
        return np.array([self.clocks[router].offset_us for router in self.routers], np.int64)

    @cached_property
    def errors_us(self) -> Ints:
        errors_us = (self.clocks[router].error_us for router in self.routers)
        return np.array([self.settle_us if error is None else error for error in errors_us], np.int64)

    @cached_property
    def numbers(self) -> dict[tuple[str | None, int | None], int]:
        """The number of each life; an unknown one has the number behind the last."""
        return {(life.router, life.epoch): number for number, life in enumerate(self.lives)}

    def lives_of(self, router: pa.Array, epoch: pa.Array) -> Ints:
        """Return the number of the life of each row."""
        routers, epochs = router.dictionary_encode(), epoch.dictionary_encode()
        width = len(epochs.dictionary) + 1
        codes = (pc.fill_null(each.indices, -1).to_numpy() + 1 for each in (routers, epochs))
        one, other = (each.astype(np.int64) for each in codes)
        found, inverse = np.unique(one * width + other, return_inverse=True)
        names, numbers = [None, *routers.dictionary.to_pylist()], [None, *epochs.dictionary.to_pylist()]
        lives = ((names[code // width], numbers[code % width]) for code in found.tolist())
        return np.array([self.numbers.get(life, len(self.lives)) for life in lives], np.int64)[inverse]

    def is_restless(self, at_us: Ints) -> Flags:
        return self._restless.hold(at_us)

    @cached_property
    def _restless(self) -> TimeSpans:
        return TimeSpans((span.from_us, span.to_us - 1) for span in self.restless)

    @cached_property
    def ways(self) -> dict[tuple[str, str], TimeSpans]:
        return {pair: TimeSpans(spans) for pair, spans in self.unsteady.items()}

    @cached_property
    def reach(self) -> dict[Life, RouteReach]:
        """The routers in reach of each life of a router, by its own topology."""
        views: dict[Life, list[Mapping[str, Any]]] = defaultdict(list)
        for row in self.topology:
            views[row["router"], row["epoch"]].append(row)
        return {life: RouteReach.of(sorted(mine, key=lambda row: row["n"])) for life, mine in views.items()}

    @cached_property
    def samples(self) -> tuple[Flags, Flags]:
        """By the life of the subscriber and that of the source: whether the records of the one sample what the other's
        do; the last of either is for an unknown life, which does not."""
        kinds = sorted({life.sampling or "" for life in self.lives} | {""})
        code = [kinds.index(life.sampling or "") for life in self.lives] + [kinds.index("")]
        covers = np.array([[_covers(mine, source) for source in kinds] for mine in kinds], np.bool_)
        return np.array(code), covers

    @cached_property
    def dark_messages(self) -> dict[int, TimeSpans]:
        """When records of messages may be missing, by life."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for hole in self.holes:
            if hole.family == "messages" and (hole.router, hole.epoch) in self.numbers:
                span = hole.from_us - self.settle_us + 1, hole.to_us + self.settle_us - 1
                found[self.numbers[hole.router, hole.epoch]].append(span)
        return {life: TimeSpans(spans) for life, spans in found.items()}

    @cached_property
    def dark_events(self) -> dict[int, tuple[Ints, Ints]]:
        """By life, the holes of events in order of their begin, and the latest end up to each."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for hole in self.holes:
            if hole.family == "events" and (hole.router, hole.epoch) in self.numbers:
                found[self.numbers[hole.router, hole.epoch]].append((hole.from_us, hole.to_us))
        columns = {life: np.array(sorted(spans), np.int64).T for life, spans in found.items()}
        return {life: (from_us, np.maximum.accumulate(to_us)) for life, (from_us, to_us) in columns.items()}


class RouteReach:
    """The routers in reach of a router, from one change to the next: of topologies that overlap, as a clock may go
    back, those of any."""

    def __init__(self, from_us: Ints, routers: list[frozenset[str]]) -> None:
        self.from_us = from_us
        self.routers = [frozenset[str](), *routers]

    @classmethod
    def of(cls, views: Sequence[Mapping[str, Any]]) -> RouteReach:
        at_us = [row["at_us"] for row in views]
        known = [frozenset(row["routers"] or ()) for row in views]
        if all(one <= next_ for one, next_ in pairwise(at_us)):
            return cls(np.array(at_us, np.int64), known)
        edges = sorted({*at_us, _EVER_US})
        lasting = list(zip(at_us, [*at_us[1:], _EVER_US], known, strict=True))
        then = (
            frozenset().union(*(routers for begun, ended, routers in lasting if begun <= edge < ended))
            for edge in edges
        )
        return cls(np.array(edges, np.int64), list(then))

    def then(self, at_us: Ints) -> Ints:
        """Return the places in `routers` of what was in reach."""
        return np.searchsorted(self.from_us, at_us, "right")


def _covers(mine: str, source: str) -> bool:
    if mine == "all" or (mine and mine == source):
        return True
    try:
        return float(mine) >= float(source)
    except ValueError:
        return False


@dataclass(frozen=True)
class Pairs:
    """Messages and subscriptions that have to do with each other: a row for each pair. Lives and routers are numbers of
    those in the network; `since_us` is by the clock of the subscription's router, other times on one clock."""

    at_us: Ints
    source: Ints
    """The router where the message entered, and its life."""
    source_life: Ints
    router: Ints
    life: Ints
    since_us: Ints
    since_at_us: Ints
    until_at_us: Ints

    def standing(self, network: RecordedNetwork) -> Ints:
        """Return the demand of each."""
        at_us, settle_us = self.at_us, network.settle_us
        is_home = (self.source_life == self.life) & (self.life < len(network.lives))
        error_us = np.where(is_home, 0, network.errors_us[self.source] + network.errors_us[self.router])
        margin_us = error_us + np.where(is_home, LOCAL_US, settle_us)
        found = np.where(self._is_dark(network), LOG, MUST)
        found[(at_us < self.since_at_us + margin_us) | (at_us > self.until_at_us - margin_us)] = SUBSCRIPTION
        away = np.flatnonzero(~is_home)
        found[away[self._is_moving(network, away)]] = UNREST
        found[away[~self._is_in_reach(network, away)]] = UNREACHABLE
        found[(at_us < self.since_at_us - error_us) | (at_us > self.until_at_us + error_us)] = OUTSIDE
        return found

    def _is_moving(self, network: RecordedNetwork, rows: Ints) -> Flags:
        """Return whether the route between the two routers was changing."""
        moving = network.is_restless(self.at_us[rows])
        for (source, router), mine in _grouped(self.source[rows], self.router[rows]):
            way = network.ways.get((network.routers[source], network.routers[router]))
            if way is not None:
                moving[mine] = way.hold(self.at_us[rows[mine]])
        return moving

    def _is_in_reach(self, network: RecordedNetwork, rows: Ints) -> Flags:
        found = np.zeros(len(rows), np.bool_)
        for (life, _), mine in _grouped(self.source_life[rows], np.zeros_like(rows)):
            reach = None if life == len(network.lives) else network.reach.get(network.lives[life][:2])
            if reach is None:
                continue
            then = reach.then(self.at_us[rows[mine]])
            for (place, router), those in _grouped(then, self.router[rows[mine]]):
                found[mine[those]] = network.routers[router] in reach.routers[place]
        return found

    def _is_dark(self, network: RecordedNetwork) -> Flags:
        """Return whether the log of the subscription's router may lack the events."""
        code, covers = network.samples
        found = ~covers[code[self.life], code[self.source_life]]
        here_us = self.at_us - network.offsets_us[self.router]
        for life, spans in network.dark_messages.items():
            mine = np.flatnonzero(self.life == life)
            found[mine] |= spans.hold(here_us[mine])
        for life, (from_us, ends_us) in network.dark_events.items():
            mine = np.flatnonzero(self.life == life)
            before = np.searchsorted(from_us, here_us[mine], "left")
            found[mine] |= (before > 0) & (ends_us[before - 1] > self.since_us[mine])
        return found


def _grouped(one: Ints, other: Ints) -> Iterable[tuple[tuple[int, int], Ints]]:
    """Yield each pair of values with the places at which it stands."""
    if not len(one):
        return
    order = np.lexsort([other, one])
    changes = np.flatnonzero((np.diff(one[order]) != 0) | (np.diff(other[order]) != 0)) + 1
    for mine in np.split(order, changes):
        yield (int(one[mine[0]]), int(other[mine[0]])), mine
