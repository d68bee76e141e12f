"""Estimate the size of a control frame in bytes, since links have a bandwidth.

Law: the estimate is made field by field and is within a few percent of the encoded frame; only time depends on it.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.wire.edge_bodies import EdgeFilter, EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.routing_bodies import (
    AdvertisedFilter,
    Body,
    EpochRefused,
    Held,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)

_HEAD = 48
_NUMBER = 9
_ENTRY = 4 * _NUMBER + 18
_EDGE = 3 * _NUMBER + 18


def size(body: Body) -> int:
    if isinstance(body, LinkState):
        return _HEAD + len(body.issuer) + 2 * _NUMBER + (2 * _NUMBER + 5) * len(body.links)
    if isinstance(body, ReceiverAdvertisement):
        return _HEAD + _ENTRY + 20 + _filters(body.added) + _NUMBER * len(body.removed)
    if isinstance(body, SenderRequest):
        vectors = _ENTRY * (len(body.known) + len(body.topology) + len(body.durables_known))
        edges = (_EDGE + 18) * len(body.edges)
        return _HEAD + 2 * _NUMBER + len(body.digest) + len(body.spaces) + len(body.durables) + vectors + edges
    if isinstance(body, UpdateReply):
        entries = sum(_ENTRY + _filters(entry.filters) for entry in body.entries)
        return _HEAD + 3 * _NUMBER + entries + _NUMBER * len(body.differing)
    if isinstance(body, EpochRefused):
        return _HEAD + 3 * _NUMBER
    if isinstance(body, SpaceStatement):
        return _HEAD + 3 * _NUMBER + len(body.name) + len(body.packed)
    if isinstance(body, DurablesStatement):
        added = sum(_NUMBER + 3 + len(packed) for _, packed in body.added)
        return _HEAD + _ENTRY + 30 + len(body.name) + added + _NUMBER * len(body.removed)
    if isinstance(body, DurablesHeld):
        return _HEAD + 2 * _NUMBER + 2 * _NUMBER * len(body.holders)
    if isinstance(body, Held):
        return _HEAD + 2 * _NUMBER + _NUMBER * len(body.holders)
    return _of_edges(body)


def _of_edges(body: EdgeStatement | EdgeHeld | EdgeRequest) -> int:
    if isinstance(body, EdgeStatement):
        return _HEAD + _EDGE + 40 + _filters(body.added) + _NUMBER * len(body.removed)
    return _HEAD + _EDGE


def _filters(filters: tuple[AdvertisedFilter, ...] | tuple[EdgeFilter, ...]) -> int:
    return sum(_NUMBER + 3 + len(each.filter) for each in filters)


def mark(body: Body) -> tuple[int, int]:
    """Return the transcript's mark of `body`: its kind, and a number that distinguishes it from others of that kind."""
    if isinstance(
        body, LinkState | ReceiverAdvertisement | Held | EdgeStatement | EdgeHeld | DurablesStatement | DurablesHeld
    ):
        return _MARKS[type(body)], body.seq
    if isinstance(body, EpochRefused):
        return 6, body.acceptable
    if isinstance(body, SpaceStatement):
        return 7, body.version
    if isinstance(body, EdgeRequest):
        return 10, int.from_bytes(body.behind[:7], "little")
    return (4 if isinstance(body, SenderRequest) else 5), body.request


_MARKS: Final[dict[type, int]] = {
    LinkState: 1,
    ReceiverAdvertisement: 2,
    Held: 3,
    EdgeStatement: 8,
    EdgeHeld: 9,
    DurablesStatement: 11,
    DurablesHeld: 12,
}
