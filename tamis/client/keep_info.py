"""The state of a durable subscription as its owner sees it: `await client.keeps()`."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.language import format_filter
from tamis.protocol.wire.keep_bodies import KeepStanding, KeepTerms
from tamis.protocol.wire.packed_filters import decode_filter


@dataclass(frozen=True, slots=True)
class KeepInfo:
    """The state of a durable subscription when the router answered.

    `depth`: messages that are not acknowledged; of these `unacked` are at consumers, `paused` wait for the time of
    their redelivery, and `ready` wait for a consumer with credit. `lag_s`: the age of the oldest of them, by the clock
    of the router; 0.0 if there is none. `consumers`: how many consumers are attached. `bytes`: of all stored messages.
    `terms`: the policy, as the arguments of `keep` that make an equal durable subscription.
    """

    name: str
    predicate: str
    owner: str
    depth: int
    unacked: int
    paused: int
    ready: int
    lag_s: float
    consumers: int
    bytes: int
    terms: dict[str, object]


def info_of(standing: KeepStanding) -> KeepInfo:
    return KeepInfo(
        name=standing.name,
        predicate=" or ".join([format_filter(decode_filter(packed)) for packed in standing.terms.filters]),
        owner=standing.owner,
        depth=standing.open,
        unacked=standing.out,
        paused=standing.paused,
        ready=standing.open - standing.out - standing.paused,
        lag_s=standing.lag_ms / 1e3,
        consumers=standing.members,
        bytes=standing.bytes,
        terms=_terms(standing.terms),
    )


def _terms(terms: KeepTerms) -> dict[str, object]:
    """Return the policy as arguments of `keep`."""
    return {
        "until": None if terms.for_ms else "acked",
        "for_": terms.for_ms / 1e3 if terms.for_ms else None,
        "bytes": terms.bytes,
        "count": terms.count or None,
        "overflow": terms.overflow.name.lower().replace("_", "-"),
        "idle": terms.idle_ms / 1e3 or None,
        "ack_wait_s": terms.ack_wait_ms / 1e3,
        "max_deliveries": terms.deliveries_max or None,
        "backoff_s": tuple([pause / 1e3 for pause in terms.backoff_ms]),
        "dead_letter": terms.dead_letter or None,
        "max_unacked": terms.unacked_max,
        "order_by": terms.order_by or None,
        "latest_by": terms.latest_by or None,
    }
