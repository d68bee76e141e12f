"""Figures of the durable subscriptions of a switch, as Python values.

Law: the fields are those of `tm_durable_stats` and `tm_durables_stats` in tm_durables_api.h, and of `tm_custody_stats`
and `tm_custody_sent` in tm_custody_api.h.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

from tamis.native._tm import lib

COMMIT_BUCKETS: Final = int(lib.TM_COMMIT_BUCKETS)
COMMIT_BUCKET_LEAST: Final = int(lib.TM_COMMIT_BUCKET_LEAST)
COMMIT_BOUNDS_S: Final[tuple[float, ...]] = tuple(
    (1 << (at + COMMIT_BUCKET_LEAST)) / 1e6 for at in range(COMMIT_BUCKETS - 1)
)


@dataclass(frozen=True, slots=True)
class DurableFigures:
    """Figures of one durable subscription; the fields are those of `tm_durable_stats`."""

    appended: int
    open: int
    out: int
    paused: int
    ready: int
    past: int
    bytes: int
    charge: int
    oldest: int
    oldest_ms: int
    acked: int
    expired: int
    dropped: int
    replaced: int
    dead: int
    undeliverable: int
    damaged: int
    skipped: int
    unknowns: int
    unknown_first: int
    unknown_last: int
    refused: int
    delivered: int
    redelivered: int
    consumers: int
    credit: int
    held_back: int

    @classmethod
    def none(cls) -> Self:
        """Return zero for all figures."""
        return cls(*[0] * len(fields(cls)))


@dataclass(frozen=True, slots=True)
class DurablesFigures:
    """Figures of all durable subscriptions of a switch; the fields are those of `tm_durables_stats`."""

    appended: int
    committed: int
    stored: int
    acks: int
    confirmed: int
    refused: int
    waits: int
    cold_reads: int
    memory_bytes: int
    commit_us: int
    is_failed: int
    durables: int
    consumers: int
    held: int
    holds: int
    ended_ms: int

    @classmethod
    def none(cls) -> Self:
        """Return zero for all figures, for a switch without durable subscriptions."""
        return cls(*[0] * len(fields(cls)))


@dataclass(frozen=True, slots=True)
class ArrivalFigures:
    """Counts of messages that arrive at a home; the fields are those of `tm_custody_stats`."""

    chains: int
    arrived: int
    passed: int
    known: int
    repeated: int
    early: int
    strange: int
    not_taken: int
    from_trees: int


@dataclass(frozen=True, slots=True)
class DepartureFigures:
    """Counts of messages that leave an entry; the fields are those of `tm_custody_sent`."""

    homes: int
    entered: int
    sent: int
    left: int
    resent: int
    lost: int
    given_up: int
    given_up_old: int
    waiting: int
    held: int
    held_us: int
    not_held: int


@dataclass(frozen=True, slots=True)
class CommitTimes:
    """Times for which confirmed publishes waited for the disk. `counts`: number of publishes by bucket, whose upper
    bounds are COMMIT_BOUNDS_S; the last bucket has no bound. `sum_s`: sum of all times."""

    counts: tuple[int, ...]
    sum_s: float

    def quantile_s(self, part: float) -> float | None:
        """Return the time within which the fraction `part` of the publishes was confirmed, interpolated in its bucket
        and at most the greatest bound; None if there was no publish."""
        rank, below = part * sum(self.counts), 0
        for count, least, most in zip(self.counts, (0.0, *COMMIT_BOUNDS_S), (*COMMIT_BOUNDS_S, 0.0), strict=True):
            if count and below + count >= rank:
                return least + (max(most, least) - least) * (rank - below) / count
            below += count
        return None
