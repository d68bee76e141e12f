"""Invariant 14: messages of one source come to a client in the order in which they entered there.

Law: what is promised follows from the truth alone. It holds where links and routers come, and where routers leave in
good order, once routers had known the topology and the filter, and where no link or router had ended within the hold.
What got through before something ended may be overtaken, and so may what a link held back for longer than R5c waits.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tamis.simulate.oracle.deliveries import Patience, Report
from tamis.simulate.oracle.truth import Truth


class EnteredAt(NamedTuple):
    """Where a message entered, in which life of that router, and with which counter."""

    source: int
    epoch: int
    counter: int


Stream = tuple[int, int, int, int]
"""A client, which connection of it, and the source and epoch of the messages that it gets."""


class Order:
    def __init__(self, truth: Truth, patience: Patience, report: Report) -> None:
        self.counts: Counter[str] = Counter()
        self._truth, self._patience, self._report = truth, patience, report
        self._latest: dict[Stream, int] = {}

    def delivered(self, client: int, session: int, content: int, entry: EnteredAt) -> None:
        stream = client, session, entry.source, entry.epoch
        latest = self._latest.get(stream, 0)
        self._latest[stream] = max(latest, entry.counter)
        if entry.counter > latest:
            return
        if self._is_promised(client, content):
            what = f"message {entry.counter} of {entry.source:x} came to client {client} behind {latest}"
            self._report(14, what)
        else:
            self.counts["overtaken where something ended"] += 1

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
