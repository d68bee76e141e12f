"""The answer to LIST_DURABLES: the durable subscriptions of a client in order of name, with their figures.

Law: an answer is one frame, made from figures in memory, of at most DURABLES_PER_FRAME_MAX subscriptions; the client
requests the next frame from the last name on. A subscription that is longer than the client's largest frame is refused
by name and never left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from heapq import nsmallest
from operator import attrgetter

from tamis.protocol.limits import DURABLES_PER_FRAME_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import DurablesListed, DurableStatus, ListDurables
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.registry import DurableRegistry

ROOM_BYTES = 128
"""Bytes of a frame besides its subscriptions, and of a subscription besides its names and filters."""


def listed(
    registry: DurableRegistry, owned: Iterable[HostedDurable], asked: ListDurables, frame_bytes_max: int
) -> tuple[FrameKind, bytes]:
    """Return the frame that answers `asked` of a client whose subscriptions are `owned`."""
    behind = (held for held in owned if held.name > asked.after)
    found = nsmallest(DURABLES_PER_FRAME_MAX + 1, behind, key=attrgetter("name"))
    rows: list[DurableStatus] = []
    room = frame_bytes_max - ROOM_BYTES
    for held in found[:DURABLES_PER_FRAME_MAX]:
        room -= _bytes_of(held)
        if room < 0:
            break
        rows.append(_standing(registry, held))
    if found and not rows:
        reason = f"durable subscription {found[0].name!r} is longer than this client's largest frame"
        ack = Ack(AckOf.LIST_DURABLES, asked.request, (), (refusal(0, RefusalCode.TOO_LARGE, reason),))
        return FrameKind.ACK, encode(ack)
    return FrameKind.DURABLES_LISTED, encode(DurablesListed(asked.request, tuple(rows), more=len(rows) < len(found)))


def _bytes_of(held: HostedDurable) -> int:
    """Return the most bytes that a durable subscription takes in a frame."""
    rest = held.rest
    names = (held.name, held.owner, *held.homes, rest.dead_letter, rest.order_by, rest.latest_by)
    return ROOM_BYTES + sum(len(name.encode()) + 3 for name in names) + sum(len(each) + 5 for each in held.filters)


def _standing(registry: DurableRegistry, held: HostedDurable) -> DurableStatus:
    figures = registry.figures(held)
    return DurableStatus(
        held.name,
        held.owner,
        held.policy,
        open=figures.open,
        out=figures.out,
        paused=figures.paused,
        bytes=figures.bytes,
        consumers=figures.consumers,
        lag_ms=max(0, round(time.time() * 1e3) - figures.oldest_ms) if figures.open else 0,
        homes=held.homes,
    )
