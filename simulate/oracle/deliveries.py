"""Invariants 1, 2, 3: which clients receive which message.

Law: required deliveries follow from the truth alone. At rest, a message must reach every client that subscribes to it
and whose router is reachable, once. In motion, it must reach such a client if: all routers knew one topology when the
message entered; all shortest paths of that topology from the entry to the client worked until the message arrived; that
topology is not older than the hold of R5b, and not too many changes followed it; and the client had subscribed well
before. A loss on a line that failed is no violation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tamis.simulate.oracle.paths import Edge, Graph, component, graph_of
from tamis.simulate.oracle.roots import Lanes
from tamis.simulate.oracle.truth import Truth, Want


class Entrance(Protocol):
    """The entry of a message into the network: its router and its time."""

    @property
    def router(self) -> int: ...

    @property
    def at_us(self) -> int: ...


class Trial(Entrance, Protocol):
    """One attempt of a publisher."""

    @property
    def entered(self) -> bool: ...


class Judged(Protocol):
    """The part of a message that the judge reads."""

    @property
    def serial(self) -> int: ...

    @property
    def content(self) -> int: ...

    @property
    def tries(self) -> Iterable[Trial]: ...

    @property
    def received(self) -> dict[int, int]: ...

    @property
    def lost(self) -> dict[str, int]: ...

    @property
    def last_us(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """The times after which the judge expects routers to know a change."""

    known_us: int
    """Time until every router knows of a change of the topology."""
    asked_us: int
    """Time until every router knows of a filter."""
    hold_us: int
    """Time for which a message may still use the path that was valid before a change."""
    changes_max: int
    """Number of changes of the topology after which it may still use that path."""
    wait_us: int
    """Time for which a message on a new path waits for those on the old one (R5c)."""
    gone_us: int = 10_000_000
    """Time until no router forwards messages by a filter that was removed."""
    remembered_us: int = 600_000_000
    """Time for which a router stores the filters of an unreachable router (R8)."""


Report = Callable[[int, str], None]
NOT_JUDGED = frozenset({"silently lost", "queue full"})
"""Reasons for losses that no rule prevents."""


class Deliveries:
    def __init__(
        self,
        truth: Truth,
        patience: Patience,
        report: Report,
        lanes: Lanes | None = None,
    ) -> None:
        """`lanes` returns the edges that a message may have to use."""
        self.counts: Counter[str] = Counter()
        self._truth = truth
        self._patience = patience
        self._report = report
        self._lanes = lanes or Lanes()
        self._graphs: dict[int, Graph] = {}
        self._known_ways: dict[tuple[int, int, int, int], set[Edge] | None] = {}

    # Events.

    def delivered(self, client: int, session: int, message: Judged) -> None:
        """Invariants 2 and 3: record a delivery, and report it if it is a duplicate or matches no subscription.
        `session` numbers the client's connections; a later one may receive the message again."""
        self.counts["delivered"] += 1
        if message.received.get(client) == session:
            self._report(2, f"client {client} received message {message.serial} twice")
        message.received[client] = session
        if not self._truth.contents_wanted(client) >> message.content & 1:
            self._report(3, f"client {client} received message {message.serial} without a matching subscription")

    # Judgement.

    def at_rest(self, message: Judged, source: int) -> None:
        """Invariant 1 at rest: judge a message that entered at `source`, with no change since."""
        truth = self._truth
        reachable = component(graph_of(truth.edges(truth.now_us), truth.living()), source)
        for client, wants in truth.in_force.items():
            for want in wants.values():
                if want.router in reachable and want.contents >> message.content & 1:
                    self.counts["required at rest"] += 1
                    if client not in message.received:
                        self._missing(message, want, "at rest")
                    break

    def in_motion(self, message: Judged) -> None:
        """Invariant 1 in motion, as far as delivery is promised: judge a message that was published while things
        changed."""
        truth = self._truth
        if truth.is_tainted or message.lost.keys() & NOT_JUDGED:
            self.counts["excused"] += 1
            return
        for trial in message.tries:
            if trial.entered:
                self._one_try(message, trial)

    def _one_try(self, message: Judged, trial: Trial) -> None:
        until_us = message.last_us
        calm_us = self.calm_before(trial, until_us)
        if calm_us is None:
            self.counts["excused"] += 1
            return
        known = {
            want.client: want
            for want in self._truth.wants
            if want.contents >> message.content & 1 and self._was_known(want, calm_us, until_us)
        }
        for want in known.values():
            self._one_client(message, trial.router, want, calm_us)

    def calm_before(self, entrance: Entrance, until_us: int) -> int | None:
        """Return the moment whose topology all routers knew when a message entered, which was in flight until
        `until_us`; None if no such moment is recent enough."""
        truth, patience = self._truth, self._patience
        calm_us = truth.last_calm(patience.known_us, entrance.at_us)
        if (
            until_us - calm_us >= patience.hold_us and calm_us < entrance.at_us
        ) or until_us - entrance.at_us >= patience.hold_us:
            return None
        if truth.changes(calm_us, until_us) > patience.changes_max or not truth.lived(
            entrance.router, calm_us - patience.known_us, until_us
        ):
            return None
        return calm_us

    def _one_client(self, message: Judged, source: int, want: Want, calm_us: int) -> None:
        # The clock of this router was set back. Until the router receives statements of its former life and uses a
        # higher epoch, routers that remember that life consider its new statements old.
        until_us = message.last_us + self._patience.known_us
        if any(self._truth.has_renewed(router, calm_us, until_us) for router in (source, want.router)):
            self.counts["excused"] += 1
            return
        if not self.ways_stayed(source, want.router, calm_us, message.last_us, message.content):
            return
        self.counts["required in motion"] += 1
        if want.client not in message.received:
            self._missing(message, want, f"although its paths worked since {calm_us / 1e6:.3f} s")

    def ways_stayed(self, source: int, end: int, calm_us: int, until_us: int, content: int) -> bool:
        """Return whether all routes of a content between two routers at `calm_us` worked until `until_us`."""
        truth = self._truth
        for moment_us in (
            calm_us,
            *truth.leaves_between(calm_us, until_us),
        ):  # routes avoid a router that leaves
            ways = self._ways_between(source, end, moment_us, self._lanes.of(content))
            if ways is None or not all(truth.stayed_whole(edge, calm_us, until_us) for edge in ways):
                return False
        return True

    def _ways_between(self, source: int, end: int, at_us: int, lane: int) -> set[Edge] | None:
        truth = self._truth
        peace = truth.epoch_of_graceful(at_us)
        key = (peace, source, end, lane)
        if key not in self._known_ways:
            if peace not in self._graphs:
                self._graphs[peace] = graph_of(truth.edges(at_us), list(truth.lives))
            self._known_ways[key] = self._lanes.ways(self._graphs[peace], source, end, lane)
        return self._known_ways[key]

    def forget(self) -> None:
        """Discard the results for earlier graphs."""
        self._known_ways.clear()
        self._graphs.clear()

    def _was_known(self, want: Want, calm_us: int, until_us: int) -> bool:
        return want.since_us <= calm_us - self._patience.asked_us and want.until_us > until_us

    def _missing(self, message: Judged, want: Want, why: str) -> None:
        self.counts["missing"] += 1
        self._report(1, f"message {message.serial} is missing at client {want.client} of {want.router:x}, {why}")
