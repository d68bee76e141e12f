"""The counters of each link, over all of its sessions.

Law: sums never decrease, whatever sessions come and go; queue lengths and the state are those of the present session.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from tamis.router.links.link import Link


@dataclass(frozen=True, slots=True)
class Carried:
    """The counters of links to one neighbour. `dropped` are messages for which the queue for the neighbour had no room,
    `lost` those for which the neighbour reports that it had no room. `refused` and `withheld` are messages that the
    border of the link did not let come or leave."""

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
    refused: int = 0
    withheld: int = 0

    def __add__(self, other: Carried) -> Carried:
        return Carried(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def carried(link: Link) -> Carried:
    """Return the counters of one session until now."""
    kept_back = link.connections.switch.kept_back(link.connection)
    counted, out = link.connections.switch.connection(link.connection), link.outgoing
    return Carried(
        *(counted.messages_in, counted.deliveries, counted.bytes_in, counted.bytes_out, counted.dropped, link.lost),
        *(link.frames_in, out.frames, link.bytes_in, out.bytes),
        *kept_back,
    )
