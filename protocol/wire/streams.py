"""Streams of control bodies: bodies of one kind and origin, whose order is preserved."""

from __future__ import annotations

from typing import Final

from tamis.protocol.wire.custody_bodies import CustodyBody
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport, Report, TraceRecord
from tamis.protocol.wire.routing_bodies import (
    Body,
    EpochRefused,
    Held,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)

Stream = tuple[FrameKind, int]
"""The kind and the origin of bodies whose order is preserved."""
REPORTS: Final[Stream] = (FrameKind.TRACE_RECORD, 0)
"""The single stream of all reports on messages, dry runs included."""
CUSTODY: Final[Stream] = (FrameKind.CUSTODY_ACK, 0)
"""The single stream of all frames of custody."""

_KINDS: Final[dict[type, FrameKind]] = {
    LinkState: FrameKind.LSA,
    ReceiverAdvertisement: FrameKind.RA,
    SenderRequest: FrameKind.SR,
    UpdateReply: FrameKind.UR,
    Held: FrameKind.HELD,
    EpochRefused: FrameKind.EPOCH_REFUSED,
    SpaceStatement: FrameKind.SPACE,
    DurablesStatement: FrameKind.DURABLES,
    DurablesHeld: FrameKind.DURABLES_HELD,
    EdgeStatement: FrameKind.EA,
    EdgeHeld: FrameKind.EH,
    EdgeRequest: FrameKind.ER,
}


def stream_of(body: Body | Report | CustodyBody) -> Stream:
    if isinstance(body, CustodyBody):
        return CUSTODY
    if isinstance(body, TraceRecord | DryRunReport):
        return REPORTS
    kind = _KINDS[type(body)]
    if isinstance(body, LinkState):
        return kind, stable_number(body.issuer)
    if isinstance(body, EdgeHeld | EdgeRequest):
        return kind, body.root
    return kind, body.issuer if isinstance(body, Held | EpochRefused | DurablesHeld) else body.ticket.origin
