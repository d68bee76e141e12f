"""What each link has carried, over all of its sessions.

Law: sums never go back, whatever sessions come and go; what waits now, and the state, are those of the present
session.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from tamis.router.links.link import Link


@dataclass(frozen=True, slots=True)
class Carried:
    """What links to one neighbour have carried. `dropped` are messages that the queue for the neighbour had no room
    for, `lost` those that the neighbour says it had no room for."""

    messages_in: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    dropped: int = 0
    lost: int = 0
    control_frames_in: int = 0
    control_frames_out: int = 0
    control_bytes_in: int = 0
    control_bytes_out: int = 0

    def __add__(self, other: Carried) -> Carried:
        return Carried(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def carried(link: Link) -> Carried:
    """Return what one session has carried until now."""
    counted, out = link.connections.switch.connection(link.connection), link.outgoing
    return Carried(
        *(counted.messages_in, counted.deliveries, counted.bytes_in, counted.bytes_out, counted.dropped, link.lost),
        *(link.frames_in, out.frames, link.bytes_in, out.bytes),
    )
