"""Losses between routers, reported to the clients of this router and forwarded to the routers behind it.

    broken paths ───────────── core ─────────> clients
    dropped here ───────────── switch ──┬────> clients, if any may miss it
    a neighbour's LOST ─────── links ───┤
                                        └────> links in the trees of the sources

Law: a loss between routers is reported within TELL_EVERY_S at each of them, once for each link, reason and period, and
over as many links as the farthest router is away. The number of messages that a client misses by it is unknown, and
none are counted for the client. The switch reports losses by a client's own queue.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from tamis.native.switch_values import LinkDrops
from tamis.protocol.limits import REPORT_ITEMS_MAX
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tamis.router.core.commands import RoutesChanged
from tamis.router.core.routing.trees import Trees

TELL_EVERY_S: Final = 0.1
QUEUED_MS: Final = 1_000
"""The longest time for which a missing message was queued on its path before it was dropped, in milliseconds."""
SPAN_MS_MAX: Final = 2**32 - 1


class SheddingSwitch(Protocol):
    """A switch that reports messages for which it had no room."""

    def link_drops(self) -> list[LinkDrops]:
        """Return the messages dropped between routers since the last call."""


@dataclass(slots=True)
class _Waiting:
    """The pending report to one link, or to all clients of this router, for one reason."""

    since_ms: float
    messages: int = 0
    bytes: int = 0
    hops: int = 0
    sources: set[int] = field(default_factory=set)
    is_of_any: bool = False

    def add(self, lost: Lost, since_ms: float) -> None:
        self.since_ms = min(self.since_ms, since_ms)
        self.messages += lost.messages
        self.bytes += lost.bytes_total
        self.hops = max(self.hops, lost.hops)
        self.sources.update(lost.sources)
        self.is_of_any |= not lost.sources

    def told(self, reason: int, now_ms: float) -> Lost:
        span_ms = _span(now_ms - self.since_ms)
        is_listed = not self.is_of_any and len(self.sources) <= REPORT_ITEMS_MAX
        sources = tuple(sorted(self.sources)) if is_listed else ()
        return Lost(self.messages, self.bytes, reason, (), span_ms, sources=sources, hops=self.hops)


class LinkLosses:
    """The collection and report of losses. `trees` returns those that are in force; `tell_link` sends a loss to a
    neighbour, `tell_clients` to each client that had a subscription at a time (monotonic, in seconds)."""

    def __init__(
        self,
        switch: SheddingSwitch,
        trees: Callable[[], Trees],
        tell_link: Callable[[int, Lost], None],
        tell_clients: Callable[[Lost, float], None],
    ) -> None:
        self._switch, self._trees = switch, trees
        self._tell_link, self._tell_clients = tell_link, tell_clients
        self._links: dict[tuple[int, int], _Waiting] = {}  # (neighbour, reason)
        self._clients: dict[int, _Waiting] = {}  # by reason

    # --- events

    def routes_changed(self, change: RoutesChanged) -> None:
        """Report a loss to clients that had a subscription before the routes changed."""
        before_s = time.monotonic() - change.ago_us / 1e6
        span_ms = _span(change.span_us / 1_000)
        self._tell_clients(Lost(0, 0, LossReason.ROUTE_CHANGED, (), span_ms, change.goes_on), before_s)

    def heard(self, neighbour: int, lost: Lost) -> None:
        """Record a loss that a neighbour reports: messages that it dropped for this router, or a loss reported to
        it."""
        now_ms = _now_ms()
        since_ms = now_ms - lost.span_ms
        self._note_for_clients(lost, since_ms)
        if lost.hops == 0:
            return
        onward = Lost(0, 0, lost.reason, sources=lost.sources, hops=lost.hops - 1)
        for child, sources in self._children(lost.sources, neighbour).items():
            self._note(child, Lost(0, 0, onward.reason, sources=sources, hops=onward.hops), since_ms)

    def dropped(self) -> None:
        """Record the messages that the switch dropped since the last call."""
        hops = max(self._trees().hops.values(), default=0)
        now_ms = _now_ms()
        for link_drops in self._switch.link_drops():
            sources = (link_drops.source,) if link_drops.source else ()
            lost = Lost(link_drops.messages, link_drops.bytes, link_drops.reason, sources=sources, hops=hops)
            since_ms = now_ms - TELL_EVERY_S * 1_000
            if link_drops.neighbour:
                self._note(link_drops.neighbour, lost, since_ms)
                continue
            self._note_for_clients(lost, since_ms)
            for child, below in self._children(sources, None).items():
                self._note(child, Lost(0, 0, lost.reason, sources=below, hops=hops), since_ms)

    def tick(self) -> None:
        """Report the collected losses to links and clients."""
        self.dropped()
        links, self._links = self._links, {}
        clients, self._clients = self._clients, {}
        now_ms = _now_ms()
        for (neighbour, reason), waiting in links.items():
            self._tell_link(neighbour, waiting.told(reason, now_ms))
        for reason, waiting in clients.items():
            span_ms = _span(now_ms - waiting.since_ms + QUEUED_MS)
            self._tell_clients(Lost(0, 0, reason, (), span_ms), now_ms / 1_000)  # later clients may miss some, too

    # --- neighbours concerned

    def _children(self, sources: Iterable[int], came_from: int | None) -> dict[int, tuple[int, ...]]:
        """Return the neighbours to which messages of `sources` go on, each with its part of the sources; empty
        `sources` mean any."""
        trees = self._trees()
        onward: dict[int, list[int]] = {}
        for source in sources:
            for child in trees.children(source):
                onward.setdefault(child, []).append(source)
        if not sources:
            onward = {child: [] for child in trees.children(trees.me)}
        return {child: tuple(of) for child, of in onward.items() if child != came_from}

    def _note(self, neighbour: int, lost: Lost, since_ms: float) -> None:
        self._links.setdefault((neighbour, lost.reason), _Waiting(since_ms)).add(lost, since_ms)

    def _note_for_clients(self, lost: Lost, since_ms: float) -> None:
        self._clients.setdefault(lost.reason, _Waiting(since_ms)).add(lost, since_ms)


def _now_ms() -> float:
    return time.monotonic() * 1_000


def _span(ms: float) -> int:
    return max(1, min(int(ms), SPAN_MS_MAX))
