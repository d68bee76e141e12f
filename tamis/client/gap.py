"""A Gap: a place in the messages of a subscription where messages are missing, or may be."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from tamis.protocol.old_names import warn
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason


class GapReason(enum.StrEnum):
    RECONNECTED = "the connection was cut and re-established"
    INBOX_FULL = "the inbox was full: the iterator was too slow"
    QUEUE_FULL = "a queue was full: the router's for this client, or one between routers"
    EXPIRED = "expired while queued"
    TOO_LARGE = "larger than this client accepts"
    LOG_FULL = "the event log was full"
    LINK_CUT = "a link between routers was cut"
    ROUTE_CHANGED = "the route between routers has changed; messages on the old one may be lost"
    WAY_CHANGED = ROUTE_CHANGED  # the name of the previous version
    TOO_COSTLY = "matching exceeded the step limit of one message"
    UNDELIVERABLE = "rejected or delivered too often, and no dead letter subscription is set"
    LOG_DAMAGED = "a part of the router's log is damaged and cannot be read"
    CUSTODY_FULL = "the router that the messages entered reached its limit of bytes stored for this router"
    ENTRY_LOST = "the router where they entered has lost what it stored for this router"
    SKIPPED = "skipped by the owner of the durable subscription, with `after`"
    UNKNOWN = "a reason unknown to this version"


_REASON_OF = {int(reason): GapReason[reason.name] for reason in LossReason}


@dataclass(slots=True)
class Gap:
    """A place in the stream where `count` messages of `bytes` bytes are missing; None where the number is unknown.

    `span_s`: the missing messages were published within this many seconds before the Gap arrived; None: they are
    missing exactly here. `goes_on`: routers that were within reach no longer are; messages published there are missing
    until the next Gap for ROUTE_CHANGED. `in_all`: of a durable subscription, how many messages it has lost for this
    reason since it was made. `positions`: for LOG_DAMAGED, the first and last position of a range that cannot be read
    and whose content is unknown, so `count` is None; for ROUTE_CHANGED, CUSTODY_FULL and ENTRY_LOST, of a durable
    subscription, the positions between which messages from other routers are or may be missing. `count` of
    CUSTODY_FULL: how many were given up for all durable subscriptions of the router together. `unknown_ranges`: how
    many such unreadable ranges there are since the durable subscription was made.
    """

    reason: GapReason
    count: int | None = None
    bytes: int | None = None
    span_s: float | None = None
    goes_on: bool = False
    in_all: int | None = None
    positions: tuple[int, int] | None = None
    unknown_ranges: int = 0
    frame_bytes: ClassVar[int] = 0  # a Gap counts nothing towards the bounds of an inbox

    @property
    def doubts(self) -> int:
        warn("Gap.doubts", "Gap.unknown_ranges")
        return self.unknown_ranges


def gap_of(lost: Lost) -> Gap:
    reason = _REASON_OF.get(lost.reason, GapReason.UNKNOWN)
    span_s = lost.span_ms / 1_000 if lost.span_ms else None
    in_all = lost.messages if lost.in_all else None
    positions = (lost.first, lost.last) if lost.unknowns else None
    return Gap(
        reason, lost.messages or None, lost.bytes_total or None, span_s, lost.goes_on, in_all, positions, lost.unknowns
    )
