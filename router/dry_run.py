"""Whom a message would reach, by the live table.

Law: this asks the table that the switch matches with, and holds the loop for a bounded time: of what matches, only the
first so many filters are looked at, and the rest is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.native import Subscribed, Switch, Table
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import REPORT_ITEMS_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import decode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import check_transit
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport, WouldDeliver

MATCHES_MAX: Final = 1_000
_REPORT_HEAD_BYTES: Final = 512
_DELIVERY_BYTES: Final = 16


class Reached(NamedTuple):
    """Some of the filters that match, and how many there are."""

    filters: list[Subscribed]
    total: int


def reached(table: Table, switch: Switch, attributes: Mapping[str, Value]) -> Reached:
    rows, count = table.match_some(attributes, MATCHES_MAX)
    found = [switch.subscribed(handle) for _, handle in sorted(rows)]
    return Reached([item for item in found if item is not None], count)


def report(router: str, frame: bytes, number: int, connection: int, table: Table, switch: Switch, room: int) -> bytes:
    """The answer to a DRY_RUN frame of the client `number`, of at most `room` bytes; FrameError if it may not ask."""
    data = decode_data(frame)
    check_transit(data.transit, from_client=True)
    if data.message.id.origin != number:
        raise FrameError(ErrorCode.WRONG_SENDER, "the origin is not this client's number")
    found = reached(table, switch, data.message.attributes)
    others = [item for item in found.filters if item.own_messages or item.connection != connection]
    deliveries = sorted({(switch.connection(item.connection).number, item.subscription) for item in others})
    # Several filters of a subscription count once where all were looked at; beyond, each counts.
    count = len(deliveries) if found.total <= MATCHES_MAX else found.total
    listed = min(REPORT_ITEMS_MAX, (room - _REPORT_HEAD_BYTES) // _DELIVERY_BYTES)
    trace = data.extensions[ExtensionType.TRACE]
    assert isinstance(trace, int)  # noqa: S101 - decode_data has checked it
    return encode(
        DryRunReport(
            *(trace, stable_number(router), router, number, count),
            tuple(WouldDeliver(*delivery) for delivery in deliveries[:listed]),
            *(0, ()),
        )
    )
