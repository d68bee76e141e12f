"""Who is told that messages are missing, and whether it is so.

Law: what must lie under a gap follows from the truth alone: a message that was taken where it was published, for a
client whose filter was known there, and which never came to it. What was lost in silence, or for want of room on a
line, is not judged here; nor is what a client missed that left before it could be told. Of gaps, those are too many
that come where nothing has happened, and those after sessions that ended and were perhaps made anew, on no shortest
way to that router.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tamis.simulate.oracle.deliveries import Judged, Patience, Report, Trial
from tamis.simulate.oracle.paths import Edge, Graph, edges_between, graph_of
from tamis.simulate.oracle.truth import FOREVER, Span, Truth, Want

TOLD_AFTER_US = 15_000_000
"""A gap comes at the latest so long after what it tells of."""
What = TypeVar("What")
NOT_JUDGED = frozenset({"silently lost", "queue full"})


@dataclass(slots=True)
class Gap:
    """As a client was told it. `losses`: of the messages that are judged, how many lie under it."""

    client: int
    session: int
    router: int
    at_us: int
    span_us: int
    goes_on: bool
    losses: int = 0


class Gaps:
    def __init__(
        self,
        truth: Truth,
        patience: Patience,
        report: Report,
        ways: Callable[[Graph, int, int], set[Edge] | None] = edges_between,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._truth, self._patience, self._report, self._ways = truth, patience, report, ways
        self._told: dict[int, list[Gap]] = {}
        self._told_at: list[tuple[int, int]] = []  # router and time, each once
        self._graphs: dict[int, Graph] = {}
        self._reached: dict[tuple[int, int, int], bool] = {}

    # As it happens.

    def told(self, router: int, span_us: int, ago_us: int, goes_on: bool) -> None:
        """A router tells its clients, those that wanted something `ago_us` before."""
        now_us = self._truth.now_us
        self._told_at.append((router, now_us))
        for client, wants in self._truth.in_force.items():
            first = min(wants.values(), key=lambda want: want.since_us, default=None)
            if first is not None and first.router == router and first.since_us <= now_us - ago_us:
                self.counts["gaps"] += 1
                gap = Gap(client, first.session, router, now_us, span_us, goes_on)
                self._told.setdefault(client, []).append(gap)

    # Afterwards.

    def judge(self, message: Judged) -> None:
        if self._truth.is_tainted or message.lost.keys() & NOT_JUDGED:
            return
        for trial in message.tries:
            if trial.entered:
                self._one_try(message, trial)

    def _one_try(self, message: Judged, trial: Trial) -> None:
        calm_us = self._truth.last_calm(self._patience.known_us, trial.at_us)
        if not self._truth.lived(trial.router, calm_us - self._patience.known_us, trial.at_us):
            return
        for want in self._due(message, trial, calm_us):
            self.counts["due"] += 1
            if want.client not in message.received:
                self._missing(message, trial, want)

    def _due(self, message: Judged, trial: Trial, calm_us: int) -> Iterator[Want]:
        """Each client once: its filter was known where the message entered, by a way that there was."""
        seen = set()
        for want in self._truth.wants:
            if (
                want.client not in seen
                and want.contents >> message.content & 1
                and want.since_us <= calm_us - self._patience.asked_us
                and want.until_us > trial.at_us + TOLD_AFTER_US
                and self._is_reached(trial.router, want.router, calm_us)
            ):
                seen.add(want.client)
                yield want

    def _missing(self, message: Judged, trial: Trial, want: Want) -> None:
        self.counts["lost"] += 1
        covering = [gap for gap in self._of(want) if gap.at_us - gap.span_us <= trial.at_us <= gap.at_us]
        before = [gap for gap in self._of(want) if gap.at_us < trial.at_us]
        if before and before[-1].goes_on:
            covering.append(before[-1])
        for gap in covering:
            gap.losses += 1
        if not covering:
            self._report(
                13, f"message {message.serial} is lost to client {want.client} of {want.router:x}, which is not told"
            )

    def _of(self, want: Want) -> list[Gap]:
        return [gap for gap in self._told.get(want.client, []) if gap.session == want.session]

    def at_rest(self) -> None:
        """All messages are judged: what was told besides?"""
        for router, at_us in self._told_at:
            self._look(router, at_us)
        self.counts["gaps over a loss"] += sum(gap.losses > 0 for gaps in self._told.values() for gap in gaps)
        self._told = {client: gaps[-1:] for client, gaps in self._told.items()}  # it may go on
        for gaps in self._told.values():
            gaps[0].losses = 0
        self._told_at.clear()
        self._graphs.clear()
        self._reached.clear()

    def _look(self, router: int, at_us: int) -> None:
        """What happened before a gap: something, and on a way to that router if all of it was cuts."""
        truth, since_us = self._truth, at_us - TOLD_AFTER_US
        if not any(since_us <= moment <= at_us for moment in truth.unsettled):
            self._report(13, f"{router:x} tells of a gap, and nothing has happened")
            return
        ended, joined = _changes(truth.whole, since_us, at_us)
        graph = self._graph(min(moment for moment in truth.unsettled if moment >= since_us) - 1)
        is_new = any(edge[1] not in graph[edge[0]] for edge in joined)
        if not ended or is_new or any(_changes(truth.lives, since_us, at_us)) or truth.is_tainted:
            return
        ways = [self._ways(graph, source, router) or set() for source in graph if source != router]
        if not any(ended & edges for edges in ways):
            self._report(13, f"{router:x} tells of a gap, and no way to it was cut")

    def _is_reached(self, source: int, end: int, at_us: int) -> bool:
        key = (self._truth.epoch_of_peace(at_us), source, end)
        if key not in self._reached:
            self._reached[key] = self._ways(self._graph(at_us), source, end) is not None
        return self._reached[key]

    def _graph(self, at_us: int) -> Graph:
        peace = self._truth.epoch_of_peace(at_us)
        if peace not in self._graphs:
            self._graphs[peace] = graph_of(self._truth.edges(at_us), list(self._truth.lives))
        return self._graphs[peace]


def _changes(history: Mapping[What, Iterable[Span]], since_us: int, until_us: int) -> tuple[set[What], set[What]]:
    """What ended and what began in between."""
    ended: set[What] = set()
    began: set[What] = set()
    for what, spans in history.items():
        for span in spans:
            if since_us <= span.until_us <= until_us and span.until_us != FOREVER:
                ended.add(what)
            if since_us <= span.since_us <= until_us:
                began.add(what)
    return ended, began
