"""Figures of a switch, as Python values.

Law: the fields are those of `tm_switch_stats`, `tm_connection_stats` and `tm_subscriber_stats` in tm_figures_api.h; a
test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, Self

from tamis.native._tm import ffi, lib

_Cdata = Any  # cffi's types exist only at run time

DROP_REASONS: Final = tuple(
    name.removeprefix("TM_DROP_").lower()
    for name in sorted(
        (name for name in dir(lib) if name.startswith("TM_DROP_") and name != "TM_DROP_REASONS"),
        key=lambda name: int(getattr(lib, name)),
    )
)
"""The reasons of `dropped` and `drop_bytes`, in order."""

LOSSES: Final = frozenset(DROP_REASONS) - {
    *("unmatched", "no_member", "duplicate", "transit", "parent", "epoch"),
    *("expired", "draining", "not_in_step", "space", "not_allowed", "directed"),
}
"""Reasons by which a client misses a message. The others concern second copies, messages without a matching
subscription, losses that are reported to the publisher, what rules keep from receivers, and what is sent again."""

MATCH_BUCKET_LEAST: Final = 6
"""Bucket i of `match_ns` counts matches of less than 2**(i + MATCH_BUCKET_LEAST) ns, the last bucket all others."""


class _Figures:
    C_TYPE: ClassVar[str]

    @classmethod
    def read(cls, c: _Cdata) -> Self:
        return cls(*(_plain(getattr(c, name)) for name in cls.__slots__))  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class SwitchFigures(_Figures):
    """The counters of a switch; see `tm_switch_stats`."""

    C_TYPE = "tm_switch_stats"

    messages_in: int
    bytes_in: int
    deliveries: int
    forwarded: int
    bytes_out: int
    dropped: tuple[int, ...]
    drop_bytes: tuple[int, ...]
    faults: int
    traces_refused: int
    match_ns: tuple[int, ...]
    match_ns_sum: int
    matches_timed: int
    steps: int
    sets_written: int
    sets_believed: int
    sets_stale: int
    keys_written: int
    keys_believed: int
    keys_stale: int
    in_vain: int
    residual_candidates: int
    residual_passed: int
    residual_over_budget: int
    memory_bytes: int
    queued_bytes: int
    connections: int
    subscriptions: int
    filters: int
    publishers: int
    routers: int
    remote_filters: int
    generations: int


@dataclass(frozen=True, slots=True)
class ConnectionFigures(_Figures):
    """The counters of one connection; see `tm_connection_stats`."""

    C_TYPE = "tm_connection_stats"

    number: int
    messages_in: int
    bytes_in: int
    deliveries: int
    bytes_out: int
    dropped: int
    queued_bytes: int
    queued_peak: int
    table_bytes: int
    subscriptions: int
    filters: int
    silent_ms: int
    state: int
    is_blocked: int


@dataclass(frozen=True, slots=True)
class SubscriberFigures(_Figures):
    """The counters of one subscriber; see `tm_subscriber_stats`."""

    C_TYPE = "tm_subscriber_stats"

    number: int
    queued_bytes: int
    table_bytes: int
    dropped: int
    subscriptions: int
    filters: int
    connection: int


class Increment(NamedTuple):
    """Increments of the counters of a connection; `dropped` and `refused` are by DROP_REASONS. `queued_bytes`: the
    present value."""

    connection: int
    messages_in: int
    messages_out: int
    bytes_in: int
    bytes_out: int
    queued_bytes: int
    dropped: dict[str, int]
    refused: dict[str, int]

    @classmethod
    def read(cls, c: _Cdata) -> Increment:
        return cls(
            *(c.connection, c.messages_in, c.messages_out, c.bytes_in, c.bytes_out, c.queued_bytes),
            *(_by_reason(c.dropped), _by_reason(c.refused)),
        )


def _by_reason(counts: _Cdata) -> dict[str, int]:
    return {reason: count for reason, count in zip(DROP_REASONS, ffi.unpack(counts, len(counts)), strict=True) if count}


def _plain(value: _Cdata) -> int | tuple[int, ...]:
    return int(value) if isinstance(value, int) else tuple(ffi.unpack(value, len(value)))


class RemoteFigures(NamedTuple):
    """The fields are those of `tm_remote_stats`."""

    near_ends: int
    far_ends: int
    sent: int
    resent: int
    passed: int
    dropped: int
    ended: int
