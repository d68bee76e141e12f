"""Fields of the record of a control body.

Law: a statement has an issuer and a number; for a request these are the requester's, for an edge the issuer is the root
of its tree. The cause follows from the body: a router's own statement means that its interest (RA) or its links (LSA)
changed; another router's statement is flooded; a request by digest is the periodic one.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.numbers import stable_number
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
from tamis.protocol.wire.streams import stream_of


def said_of(body: Body, sender: int, name_of: Callable[[int], str]) -> dict[str, object]:
    """Return the fields of a record of `body`. `sender`: number of the router that sent it."""
    issuer, epoch, seq = _version(body, name_of)
    return {
        "what": stream_of(body)[0].name,
        "issuer": issuer,
        "issuer_epoch": epoch,
        "seq": seq,
        "cause": _cause(body, stable_number(issuer) == sender),
    } | _filters(body)


def _version(body: Body, name_of: Callable[[int], str]) -> tuple[str, int, int]:
    if isinstance(body, LinkState):
        return body.issuer, body.epoch, body.seq
    if isinstance(body, EpochRefused):
        return name_of(body.issuer), body.epoch, 0
    if isinstance(body, Held | DurablesHeld):
        return name_of(body.issuer), body.epoch, body.seq
    if isinstance(body, EdgeHeld):
        return name_of(body.root), body.epoch, body.seq
    if isinstance(body, EdgeRequest):
        return name_of(body.root), 0, 0
    if isinstance(body, SpaceStatement):
        return body.name, body.version, 0
    return name_of(body.ticket.origin), body.ticket.epoch, body.ticket.seq


def _cause(body: Body, is_own: bool) -> str:
    if isinstance(body, SenderRequest) and body.digest:
        return "age"
    if isinstance(body, SenderRequest | UpdateReply | EpochRefused | EdgeRequest):
        return "repair"
    if isinstance(body, EdgeStatement | EdgeHeld):
        return "change"
    if not is_own:
        return "flood"
    return "link" if isinstance(body, LinkState) else "change"


def _filters(body: Body) -> dict[str, object]:
    if isinstance(body, ReceiverAdvertisement | EdgeStatement | DurablesStatement):
        return {"added": len(body.added), "removed": len(body.removed), "full": body.full}
    if isinstance(body, UpdateReply):
        is_whole = not any(entry.total for entry in body.entries)
        return {"added": sum(len(entry.filters) for entry in body.entries), "removed": 0, "full": is_whole}
    return {}
