"""Judge gaps: which clients receive a gap, and whether messages are missing.

Law: the losses that need a gap follow from the truth alone: a message was accepted where it was published, the filter
of a client was known there, and the message never reached that client. A router that is disconnected from the client's
for as long as routers remember each other (R8) no longer knows the filter. Silent losses, losses by a full queue of a
line, and losses of a client that left before it could be notified are not judged. A gap is unfounded if no event
preceded it, or only the end of sessions, possibly restored, that lay on no shortest path to its router.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tamis.simulate.oracle.deliveries import NOT_JUDGED, Judged, Patience, Report, Trial
from tamis.simulate.oracle.paths import Graph, component, graph_of
from tamis.simulate.oracle.roots import Lanes
from tamis.simulate.oracle.truth import FOREVER, Truth, Want, WantedSpan

TOLD_AFTER_US = 15_000_000
"""The longest time from a cause to its gap."""
What = TypeVar("What")
Life = tuple[int, int]
"""A router, and when its life began."""
Stream = tuple[int, int]
"""A client, and the number of its connection."""


@dataclass(frozen=True, slots=True)
class ToldGap:
    """A gap as a client received it."""

    at_us: int
    span_us: int
    goes_on: bool


class Gaps:
    def __init__(
        self,
        truth: Truth,
        patience: Patience,
        report: Report,
        lanes: Lanes | None = None,
    ) -> None:
        self._truth, self._patience, self._report, self._lanes = truth, patience, report, lanes or Lanes()
        self._counts: Counter[str] = Counter()
        self._told: dict[Stream, list[ToldGap]] = {}
        self._lost: dict[Stream, list[int]] = {}
        """Maps a stream to the times at which its missing messages were published."""
        self._fresh: list[tuple[int, int]] = []
        """The router and the time of each gap sent since the last rest."""
        self._met: dict[Want, dict[Life, int]] = {}
        """Maps a filter to the lives of routers that knew it at some rest, each with the last such rest."""
        self._graphs: dict[int, Graph] = {}

    # Events.

    def told(self, router: int, span_us: int, ago_us: int, goes_on: bool) -> None:
        """Record that `router` sends a gap to those of its clients that had a subscription `ago_us` before."""
        now_us = self._truth.now_us
        self._fresh.append((router, now_us))
        for client, wants in self._truth.in_force.items():
            first = min(wants.values(), key=lambda want: want.since_us, default=None)
            if first is not None and first.router == router and first.since_us <= now_us - ago_us:
                self._told.setdefault((client, first.session), []).append(ToldGap(now_us, span_us, goes_on))

    # Judgement.

    def judge(self, message: Judged) -> None:
        if self._truth.is_tainted or message.lost.keys() & NOT_JUDGED:
            return
        for trial in message.tries:
            if trial.entered:
                self._one_try(message, trial)

    def _one_try(self, message: Judged, trial: Trial) -> None:
        calm_us = self._truth.last_calm(self._patience.known_us, trial.at_us)
        seen = set()
        for want in self._truth.wants:
            is_due = want.contents >> message.content & 1 and want.until_us > trial.at_us + TOLD_AFTER_US
            if is_due and want.client not in seen and self._was_known(want, trial, calm_us):
                seen.add(want.client)
                self._counts["due"] += 1
                if want.client not in message.received:
                    self._missing(message, trial, want)

    def _was_known(self, want: Want, trial: Trial, calm_us: int) -> bool:
        """Return whether the router at which the message entered knew of the filter in that life."""
        life = self._life(trial.router, trial.at_us)
        met_us = self._met.get(want, {}).get(life)
        if met_us is not None and trial.at_us - met_us <= self._patience.remembered_us:
            return True
        if want.since_us > calm_us - self._patience.asked_us or life[1] > calm_us - self._patience.known_us:
            return False
        return want.router in component(self._graph(calm_us), trial.router)

    def _missing(self, message: Judged, trial: Trial, want: Want) -> None:
        stream, at_us = (want.client, want.session), trial.at_us
        self._lost.setdefault(stream, []).append(at_us)
        gaps = self._told.get(stream, [])
        before = [gap for gap in gaps if gap.at_us < at_us]
        if any(gap.at_us - gap.span_us <= at_us <= gap.at_us for gap in gaps) or (before and before[-1].goes_on):
            return
        self._report(
            13, f"client {want.client} of {want.router:x} missed message {message.serial}, and was not notified"
        )

    def at_rest(self) -> None:
        """Judge the gaps without a missing message, once all messages are judged, and record which routers know which
        filter."""
        for router, at_us in self._fresh:
            self._look(router, at_us)
        self._fresh.clear()
        truth = self._truth
        graph = graph_of(truth.edges(truth.now_us), truth.living())
        lives = {router: self._life(router, truth.now_us) for router in graph}
        met: dict[Want, dict[Life, int]] = {}
        for want in (want for wants in truth.in_force.values() for want in wants.values() if want.router in graph):
            now = {lives[router]: truth.now_us for router in component(graph, want.router)}
            met[want] = self._met.get(want, {}) | now
        self._met = met
        self._graphs.clear()

    def _look(self, router: int, at_us: int) -> None:
        """Report a gap that no event preceded, or only cuts on no path to `router`."""
        truth, since_us = self._truth, at_us - TOLD_AFTER_US
        if truth.is_tainted:  # a silent loss may be noticed late
            return
        if not any(since_us <= moment <= at_us for moment in truth.unsettled):
            self._report(13, f"{router:x} reports a gap that no event preceded")
            return
        ended, joined = _changes(truth.whole, since_us, at_us)
        graph = self._graph(min(moment for moment in truth.unsettled if moment >= since_us) - 1)
        is_new = any(edge[1] not in graph[edge[0]] for edge in joined)
        is_leaving = any(
            span.since_us <= at_us and since_us <= span.until_us for spans in truth.leaving.values() for span in spans
        )  # routes avoid a leaving router before any session ends
        if not ended or is_new or is_leaving or any(_changes(truth.lives, since_us, at_us)):
            return
        ways = [
            self._lanes.ways(graph, source, router, lane) or set()
            for source in graph
            if source != router
            for lane in self._lanes.all
        ]
        if not any(ended & edges for edges in ways):
            self._report(13, f"{router:x} reports a gap, and no path to it was cut")

    @property
    def counts(self) -> Counter[str]:
        """Return the counts of judged gaps until now."""
        told = [(gap, gaps[at + 1 :], stream) for stream, gaps in self._told.items() for at, gap in enumerate(gaps)]
        counts = Counter(self._counts)
        counts["lost"] = sum(map(len, self._lost.values()))
        counts["gaps"] = len(told)
        counts["gaps over a loss"] = sum(_is_over_a_loss(*each, self._lost) for each in told)
        return counts

    # Queries.

    def _life(self, router: int, at_us: int) -> Life:
        return router, max((span.since_us for span in self._truth.lives[router] if span.since_us <= at_us), default=0)

    def _graph(self, at_us: int) -> Graph:
        peace = self._truth.epoch_of_graceful(at_us)
        if peace not in self._graphs:
            self._graphs[peace] = graph_of(self._truth.edges(at_us), list(self._truth.lives))
        return self._graphs[peace]


def _is_over_a_loss(gap: ToldGap, later: list[ToldGap], stream: Stream, lost: Mapping[Stream, list[int]]) -> bool:
    times = sorted(lost.get(stream, ()))
    until_us = gap.at_us if not gap.goes_on else later[0].at_us if later else FOREVER
    at = bisect_left(times, gap.at_us - gap.span_us)
    return at < len(times) and times[at] <= until_us


def _changes(history: Mapping[What, Iterable[WantedSpan]], since_us: int, until_us: int) -> tuple[set[What], set[What]]:
    """Return which spans ended and which began between the two times."""
    ended: set[What] = set()
    began: set[What] = set()
    for what, spans in history.items():
        for span in spans:
            if since_us <= span.until_us <= until_us and span.until_us != FOREVER:
                ended.add(what)
            if since_us <= span.since_us <= until_us:
                began.add(what)
    return ended, began
