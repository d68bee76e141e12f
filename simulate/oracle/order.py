"""Invariant 14: messages of one source reach a client in the order in which they entered there.

Law: the promise follows from the truth alone. It holds while links and routers are added and routers shut down
gracefully, if routers knew the topology and the filter before, and no link or router ended within the hold. Three
messages may be overtaken: one that passed before a link or router ended, one that a link delayed for longer than R5c
waits, and one of which a copy was lost that would have been in time. While two generations of trees are in force, a
message for other routers takes other paths and may overtake: one for worker groups, or, after the time of R5c, one for
other subscribers. Such cases are counted. With roots, the promise is limited to messages of one class, while its root
stays unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from tamis.simulate.oracle.deliveries import NOT_JUDGED, Judged, Patience, Report
from tamis.simulate.oracle.roots import Lanes
from tamis.simulate.oracle.truth import Truth


class EnteredAt(NamedTuple):
    """The router where a message entered, the epoch of that router's life, and the counter of the message."""

    source: int
    epoch: int
    counter: int


Stream = tuple[int, int, int, int, int]
"""A client, the number of its connection, and the source, epoch and lane of the messages that it receives."""
Choices = Mapping[int, int]
"""Maps a worker group to the router that was chosen for a message."""


class Order:
    def __init__(self, truth: Truth, patience: Patience, report: Report, lanes: Lanes | None = None) -> None:
        self._lanes = lanes or Lanes()
        self.counts: Counter[str] = Counter()
        self._truth, self._patience, self._report = truth, patience, report
        self._latest: dict[Stream, tuple[int, Choices, int]] = {}
        """The last message of each stream: its counter, its choices, its content."""

    def delivered(self, client: int, session: int, message: Judged, entry: EnteredAt, choices: Choices) -> None:
        """Judge a message that a client received; it carried `choices`."""
        lane = self._lanes.of(message.content)
        stream = client, session, entry.source, entry.epoch, lane
        latest, its_choices, its_content = self._latest.get(stream, (0, choices, message.content))
        if entry.counter > latest:
            self._latest[stream] = entry.counter, choices, message.content
        elif message.lost.keys() & NOT_JUDGED or not self._is_promised(client, message.content):
            self.counts["overtaken where something ended"] += 1
        elif choices != its_choices:
            self.counts["overtaken by a message for other members"] += 1
        elif self._goes_other_ways(its_content, message, entry.source):
            self.counts["overtaken by a message for more routers"] += 1
        elif not self._lanes.stayed(self._truth, entry.source, lane, self._roots_since_us):
            self.counts["overtaken where a root changed"] += 1
        else:
            what = f"client {client} received message {entry.counter} of {entry.source:x} after {latest}"
            self._report(14, what)

    def _goes_other_ways(self, later: int, earlier: Judged, source: int) -> bool:
        """Return whether routers with filters for the later message only, or with too recent ones for the earlier
        message, may have forwarded it past that one, by trees that are still in force when no message waits for
        them."""
        truth = self._truth
        is_over = truth.now_us - truth.last_change() >= self._patience.wait_us
        entered_us = max((each.at_us for each in earlier.tries if each.router == source), default=truth.now_us)
        known_us = entered_us - self._patience.asked_us
        return is_over and bool(truth.routers_wanting(later) - truth.routers_wanting(earlier.content, known_us))

    @property
    def _roots_since_us(self) -> int:
        """The time since which the root of a class must be unchanged: messages name a root after the hold, when all
        routers know it."""
        return self._truth.now_us - 2 * self._patience.hold_us - self._patience.known_us

    def _is_promised(self, client: int, content: int) -> bool:
        truth, patience, now_us = self._truth, self._patience, self._truth.now_us
        calm_us = truth.last_calm(patience.known_us, now_us)
        asked_us = min(
            (want.since_us for want in truth.in_force[client].values() if want.contents >> content & 1), default=now_us
        )
        return (
            not truth.is_tainted
            and now_us - calm_us < patience.hold_us
            and truth.changes(calm_us, now_us) <= patience.changes_max
            and not truth.has_ended(min(calm_us, now_us - patience.hold_us) - patience.known_us, now_us)
            and asked_us <= calm_us - patience.asked_us
        )
