"""The answer to a LIST_DURABLES of those elsewhere: the durable subscriptions that other routers state, by name.

Law: an answer looks at NAMES_MAX names, so that it takes no longer where there are many; `upto` is the last of them.
Those of one name are in one answer; where they are longer than the client's largest frame, they are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from tamis.protocol.limits import DURABLES_PER_FRAME_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import DurableElsewhere, DurablesListed, ListDurables
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.home_bodies import StatedDurable
from tamis.protocol.wire.kinds import FrameKind
from tamis.router.clients.acks import refusal
from tamis.router.durable.copies import StatedAt

NAMES_MAX: Final = 100
ROOM_BYTES: Final = 512
"""Bytes of a frame besides its subscriptions: `upto` among them."""


class KnownNames(Protocol):
    """What other routers state of their durable subscriptions."""

    def behind(self, name: str, most: int) -> list[str]: ...

    def at(self, name: str) -> list[StatedAt]: ...


def listed(
    homes: KnownNames,
    is_shown: Callable[[str, StatedDurable], bool],
    reaches: Callable[[str], bool],
    asked: ListDurables,
    frame_bytes_max: int,
) -> tuple[FrameKind, bytes]:
    """Return the frame that answers `asked`. `is_shown`: whether the client is shown what a router states."""
    names = homes.behind(asked.after, NAMES_MAX + 1)
    rows: list[DurableElsewhere] = []
    room, upto = frame_bytes_max - ROOM_BYTES, ""
    for name in names[:NAMES_MAX]:
        found = [
            DurableElsewhere(name, router, stated.owner, stated.filters, reaches(router))
            for router, stated in homes.at(name)
            if is_shown(router, stated)
        ]
        room -= sum(map(_bytes_of, found))
        if room < 0 or len(rows) + len(found) > DURABLES_PER_FRAME_MAX:
            if rows:
                break
            reason = f"durable subscriptions {name!r} of other routers are longer than this client's largest frame"
            ack = Ack(AckOf.LIST_DURABLES, asked.request, (), (refusal(0, RefusalCode.TOO_LARGE, reason),))
            return FrameKind.ACK, encode(ack)
        rows += found
        upto = name
    more = bool(names) and upto != names[-1]
    answer = DurablesListed(asked.request, (), more, tuple(rows), upto)
    return FrameKind.DURABLES_LISTED, encode(answer)


def _bytes_of(row: DurableElsewhere) -> int:
    """Return the most bytes that a durable subscription takes in a frame."""
    names = sum(len(each.encode()) + 3 for each in (row.name, row.router, row.owner))
    return names + sum(len(each) + 5 for each in row.filters) + 8
