"""Records of durable subscriptions: made, found, removed, consumed, counted. C writes the records of their messages.

Law: a record identifies a durable subscription by its number, which this router never uses again; records of its begin
and end and of its consumers also have its name.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tamis.native.durable_figures import DurableFigures
from tamis.protocol.wire.durable_bodies import DurablePolicy, Overflow
from tamis.router.daemon.durable_events import DurableChanged, DurableConsumed, DurableCounted
from tamis.router.daemon.events import EventBus

Fields = dict[str, object]
Note = Callable[[str, Fields | Callable[[], Fields]], None]
"""Adds a record of a kind; the writing thread calls a function that returns its fields."""
WithFilters = Callable[[Fields, tuple[bytes, ...]], Callable[[], Fields]]
POLICY: Final = ("for_ms", "bytes", "count", "idle_ms", "ack_wait_ms", "deliveries_max", "unacked_max")
LOSSES: Final = ("expired", "dropped", "replaced", "dead", "undeliverable", "damaged", "skipped")
_MOST: Final = 2**63 - 1
"""Largest integer of a record, 64 bits with sign."""


class DurableRecords:
    """Adds records of durable subscriptions by `note`. `with_filters`: returns a function that adds filters to
    fields."""

    def __init__(self, note: Note, with_filters: WithFilters) -> None:
        self._note, self._with_filters = note, with_filters

    def listen(self, events: EventBus) -> None:
        events.listen(DurableChanged, self._changed)
        events.listen(DurableConsumed, self._attended)
        events.listen(DurableCounted, self._counted)

    def _changed(self, event: DurableChanged) -> None:
        head: Fields = {"keep": event.number, "what": event.what, "name": event.name}
        if event.what == "forgotten":
            self._note("keep", head | {"cause": event.cause})
        else:
            said = head | {"client": event.owner, "doubts": event.unknowns or None} | policy_said(event.policy)
            self._note("keep", self._with_filters(said, event.policy.filters))

    def _attended(self, event: DurableConsumed) -> None:
        said: Fields = {"keep": event.number, "what": event.what, "name": event.name, "client": event.client}
        self._note("keep", said | {"connection": event.connection, "attachment": event.consumer})

    def _counted(self, event: DurableCounted) -> None:
        self._note("depth", depth_said(event.number, event.figures, time.time()))


def policy_said(policy: DurablePolicy) -> Fields:
    """Return the fields of a record `keep` with its policy."""
    return {
        "terms": {name: min(getattr(policy, name), _MOST) for name in POLICY},
        "overflow": "refuse" if policy.overflow is Overflow.REFUSE else "drop-oldest",
        "order_by": policy.order_by or None,
        "latest_by": policy.latest_by or None,
        "dead_letter": policy.dead_letter or None,
        "residual": policy.residual.hex() or None,
    }


def depth_said(number: int, figures: DurableFigures, now_s: float) -> Fields:
    """Return the fields of a record `depth`."""
    age_us = max(0, int(now_s * 1e6) - figures.oldest_ms * 1_000)
    return {
        "keep": number,
        **{name: getattr(figures, name) for name in ("open", "out", "past", "bytes", "acked", "refused")},
        **{name: getattr(figures, name) for name in ("delivered", "redelivered")},
        "doubts": figures.unknowns,
        "members": figures.consumers,
        "oldest_us": age_us if figures.open else None,
        "lost": {name: getattr(figures, name) for name in LOSSES if getattr(figures, name)},
    }
