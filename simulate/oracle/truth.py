"""The true state and its history: working links, living routers, subscriptions of clients. Only the world updates it,
never a router.

Law: an edge is whole while both ends are in the same session and bytes pass both ways. A moment is *unsettled* if
anything happened that makes routers change their view of the topology. History reaches back to the last `forget`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from tamis.simulate.oracle.paths import Edge, component, graph_of

FOREVER: Final = 1 << 62


class Want:
    """A filter of a client that was in force for a while, at one router. `contents` are wanted; `stated` are all that
    the filter matches, which are more where a program decides."""

    __slots__ = ("client", "contents", "router", "session", "since_us", "stated", "until_us")

    def __init__(self, client: int, session: int, router: int, contents: int, stated: int, since_us: int) -> None:
        self.client = client
        self.session = session
        self.router = router
        self.contents = contents
        self.stated = stated
        self.since_us = since_us
        self.until_us = FOREVER


class WantedSpan(NamedTuple):
    since_us: int
    until_us: int


class Truth:
    def __init__(self, now_us: Callable[[], int]) -> None:
        self._clock = now_us
        self.costs: dict[Edge, int] = {}
        self.whole: dict[Edge, list[WantedSpan]] = {}
        """Maps an edge to the spans in which it was whole, the present one last."""
        self.lives: dict[int, list[WantedSpan]] = {}
        self.leaving: dict[int, list[WantedSpan]] = {}
        """Maps a router to the spans in which it had announced that it is about to stop."""
        self._renewed: list[tuple[int, int]] = []
        """The times at which a router continued in another epoch, and the router."""
        self.unsettled: list[int] = []
        self._changed: list[int] = []
        """The times at which edges were added or removed."""
        self.wants: list[Want] = []
        """Each subscription that was in force at some time since the last `forget`."""
        self.in_force: dict[int, dict[int, Want]] = {}
        """Maps a client to its subscriptions in force now, by filter."""
        self._looks_like_an_end: list[int] = []
        """The times at which disconnected routers were connected, which learnt only then what had ended meanwhile; and
        at which a stalled link worked again."""
        self.is_tainted = False
        """Whether a silent loss of control has not been repaired yet (R10); until then nothing is promised."""
        self.forged: set[int] = set()
        """Routers of which statements were forged since the last rest that may be accepted until these routers make new
        ones."""
        self.are_edges_forged = False
        """Whether such a statement was about an edge, and therefore about all routers behind it."""

    @property
    def now_us(self) -> int:
        return self._clock()

    # Events.

    def joined(self, edge: Edge, cost: int) -> None:
        edges = self.edges(self.now_us)
        if edge[1] not in component(
            graph_of(edges, sorted({*edge, *(end for each in edges for end in each)})), edge[0]
        ):
            self._looks_like_an_end.append(self.now_us)
        self.costs[edge] = cost
        self.whole.setdefault(edge, []).append(WantedSpan(self.now_us, FOREVER))
        self._changed.append(self.now_us)

    def broken(self, edge: Edge) -> None:
        _end(self.whole.get(edge), self.now_us)
        self._changed.append(self.now_us)

    def began(self, router: int) -> None:
        self.lives.setdefault(router, []).append(WantedSpan(self.now_us, FOREVER))
        self.unsettle()

    def ended(self, router: int) -> None:
        _end(self.lives.get(router), self.now_us)
        _end(self.leaving.get(router), self.now_us)
        self.unsettle()

    def renewed(self, router: int) -> None:
        """Record that `router` continues in another epoch, which counts as another life. A router that was about to
        stop still is."""
        self._renewed.append((self.now_us, router))
        _end(self.lives.get(router), self.now_us)
        self.began(router)

    def leaves(self, router: int) -> None:
        """Record that `router` is about to stop: its edges still work, but no path uses them once every router
        knows."""
        self.leaving.setdefault(router, []).append(WantedSpan(self.now_us, FOREVER))
        self.unsettle()

    def moves_again(self) -> None:
        """Record that a stalled link works again. R5c waits for the frames on it no longer than for those on any other
        path."""
        self._looks_like_an_end.append(self.now_us)

    def unsettle(self) -> None:
        if not self.unsettled or self.unsettled[-1] != self.now_us:
            self.unsettled.append(self.now_us)

    def wanted(
        self, client: int, session: int, router: int, filter_: int, contents: int, stated: int | None = None
    ) -> None:
        """Record a filter; `stated`: what it matches, where a program decides which of that is wanted."""
        want = Want(client, session, router, contents, contents if stated is None else stated, self.now_us)
        self.in_force.setdefault(client, {})[filter_] = want
        self.wants.append(want)

    def unwanted(self, client: int, filter_: int) -> None:
        want = self.in_force.get(client, {}).pop(filter_, None)
        if want is not None:
            want.until_us = self.now_us

    def forget(self, before_us: int) -> None:
        """Drop the history of everything that ended before `before_us`."""
        for spans in (*self.whole.values(), *self.lives.values(), *self.leaving.values()):
            spans[:] = [span for span in spans if span.until_us > before_us]
        self.wants = [want for want in self.wants if want.until_us > before_us]
        del self.unsettled[: bisect_right(self.unsettled, before_us)]
        del self._changed[: bisect_right(self._changed, before_us)]
        self._renewed = [(at_us, router) for at_us, router in self._renewed if at_us > before_us]

    # Queries.

    def contents_wanted(self, client: int) -> int:
        bits = 0
        for want in self.in_force.get(client, {}).values():
            bits |= want.contents
        return bits

    def contents_wanted_at(self, router: int) -> int:
        """Return the contents that the filters of the clients of `router` match."""
        bits = 0
        for wants in self.in_force.values():
            for want in wants.values():
                if want.router == router:
                    bits |= want.stated
        return bits

    def routers_wanting(self, content: int, since_us: int = FOREVER) -> set[int]:
        """Return the routers with a client whose filters match `content`, and have since `since_us` or earlier."""
        wants = (want for each in self.in_force.values() for want in each.values())
        return {want.router for want in wants if want.stated >> content & 1 and want.since_us <= since_us}

    def edges(self, at_us: int) -> dict[Edge, int]:
        """Return the edges that were whole at `at_us` and not about to end, with their costs."""
        left = {router for router, spans in self.leaving.items() if _at(spans, at_us)}
        return {
            edge: self.costs[edge] for edge, spans in self.whole.items() if _at(spans, at_us) and not left & {*edge}
        }

    def leaves_between(self, since_us: int, until_us: int) -> list[int]:
        """Return the times between the two at which routers began to leave."""
        return [
            span.since_us for spans in self.leaving.values() for span in spans if since_us < span.since_us <= until_us
        ]

    def stayed_whole(self, edge: Edge, since_us: int, until_us: int) -> bool:
        span = _at(self.whole.get(edge, []), since_us)
        return span is not None and span.until_us > until_us

    def lived(self, router: int, since_us: int, until_us: int) -> bool:
        span = _at(self.lives.get(router, []), since_us)
        return span is not None and span.until_us > until_us

    def has_renewed(self, router: int, since_us: int, until_us: int) -> bool:
        """Return whether `router` continued in another epoch between the two times."""
        return any(each == router and since_us < at_us <= until_us for at_us, each in self._renewed)

    def has_ended(self, since_us: int, until_us: int) -> bool:
        """Return whether a link or router ended between the two times, or an event occurred that routers cannot tell
        from that."""
        spans = (span for each in (*self.whole.values(), *self.lives.values()) for span in each)
        ends_us = (*(span.until_us for span in spans), *self._looks_like_an_end)
        return any(since_us < end_us <= until_us for end_us in ends_us)

    def living(self) -> list[int]:
        return sorted(router for router, spans in self.lives.items() if spans and spans[-1].until_us == FOREVER)

    def last_calm(self, length_us: int, before_us: int) -> int:
        """Return the last moment up to `before_us` at which nothing had been unsettled for `length_us`."""
        times = self.unsettled
        at = bisect_right(times, before_us) - 1
        if at < 0 or times[at] + length_us <= before_us:
            return before_us
        while at > 0 and times[at] - times[at - 1] <= length_us:
            at -= 1
        return times[at] - 1

    def epoch_of_graceful(self, at_us: int) -> int:
        """Return a number that is equal for two moments exactly if nothing was unsettled between them."""
        return bisect_right(self.unsettled, at_us)

    def last_change(self) -> int:
        """Return the time of the last change of an edge; 0 if that is long ago."""
        return self._changed[-1] if self._changed else 0

    def changes(self, since_us: int, until_us: int) -> int:
        """Return the number of changes of edges after `since_us` and up to `until_us`."""
        return bisect_right(self._changed, until_us) - bisect_right(self._changed, since_us)


def _end(spans: list[WantedSpan] | None, now_us: int) -> None:
    if spans and spans[-1].until_us == FOREVER:
        spans[-1] = WantedSpan(spans[-1].since_us, now_us)


def _at(spans: list[WantedSpan], at_us: int) -> WantedSpan | None:
    for span in reversed(spans):
        if span.since_us <= at_us:
            return span if at_us < span.until_us else None
    return None
