"""Records of durable subscriptions: made, found, forgotten, attached, counted. C writes the records of their messages.

Law: a record identifies a durable subscription by its number, which this router never uses again; records of its begin
and end and of its consumers also have its name.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tamis.native.keep_figures import KeepFigures
from tamis.protocol.wire.keep_bodies import KeepTerms, Overflow
from tamis.router.daemon.events import EventBus
from tamis.router.daemon.keep_events import KeepAttended, KeepChanged, KeepCounted

Fields = dict[str, object]
Note = Callable[[str, Fields | Callable[[], Fields]], None]
"""Adds a record of a kind; the writing thread calls a function that returns its fields."""
WithFilters = Callable[[Fields, tuple[bytes, ...]], Callable[[], Fields]]
TERMS: Final = ("for_ms", "bytes", "count", "idle_ms", "ack_wait_ms", "deliveries_max", "unacked_max")
LOSSES: Final = ("expired", "dropped", "replaced", "dead", "undeliverable", "damaged", "skipped")
_MOST: Final = 2**63 - 1
"""Largest integer of a record, 64 bits with sign."""


class KeepRecords:
    """Adds records of durable subscriptions by `note`. `with_filters`: returns a function that adds filters to
    fields."""

    def __init__(self, note: Note, with_filters: WithFilters) -> None:
        self._note, self._with_filters = note, with_filters

    def listen(self, events: EventBus) -> None:
        events.listen(KeepChanged, self._changed)
        events.listen(KeepAttended, self._attended)
        events.listen(KeepCounted, self._counted)

    def _changed(self, event: KeepChanged) -> None:
        head: Fields = {"keep": event.number, "what": event.what, "name": event.name}
        if event.what == "forgotten":
            self._note("keep", head | {"cause": event.cause})
        else:
            said = head | {"client": event.owner, "doubts": event.doubts or None} | terms_said(event.terms)
            self._note("keep", self._with_filters(said, event.terms.filters))

    def _attended(self, event: KeepAttended) -> None:
        said: Fields = {"keep": event.number, "what": event.what, "name": event.name, "client": event.client}
        self._note("keep", said | {"connection": event.connection, "attachment": event.attachment})

    def _counted(self, event: KeepCounted) -> None:
        self._note("depth", depth_said(event.number, event.figures, time.time()))


def terms_said(terms: KeepTerms) -> Fields:
    """Return the fields of a record `keep` with its policy."""
    return {
        "terms": {name: min(getattr(terms, name), _MOST) for name in TERMS},
        "overflow": "refuse" if terms.overflow is Overflow.REFUSE else "drop-oldest",
        "order_by": terms.order_by or None,
        "latest_by": terms.latest_by or None,
        "dead_letter": terms.dead_letter or None,
    }


def depth_said(number: int, figures: KeepFigures, now_s: float) -> Fields:
    """Return the fields of a record `depth`."""
    age_us = max(0, int(now_s * 1e6) - figures.oldest_ms * 1_000)
    return {
        "keep": number,
        **{name: getattr(figures, name) for name in ("open", "out", "past", "bytes", "acked", "doubts", "refused")},
        **{name: getattr(figures, name) for name in ("delivered", "redelivered", "members")},
        "oldest_us": age_us if figures.open else None,
        "lost": {name: getattr(figures, name) for name in LOSSES if getattr(figures, name)},
    }
