"""The trace of a message, decoded from the bytes of an event TRACED.

Law: the layout is that of `tm_trace` in tm_figures_api.h; each list has its first rows, and the number of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tamis.native._tm import ffi, lib
from tamis.native.switch_figures import DROP_REASONS

Rows = tuple[tuple[int, int], ...]

UNTRACED: Final = "not dropped: forwarded untraced, because its client requests too many traces"


@dataclass(frozen=True, slots=True)
class Trace:
    """What a switch did with one message, or would do in a dry run. `dropped`: a drop reason, UNTRACED if nothing else
    is known, "" if the message was not dropped. Times are in nanoseconds."""

    trace: int
    source: int
    came_from: int
    arrived_ns: int
    match_ns: int
    queued_ns: int
    hop_limit: int
    is_dry: bool
    dropped: str
    satisfied: Rows
    """(client, subscription) pairs that the message satisfies."""
    matched: Rows
    """(router, filter id) pairs: one matching filter of each router that the message is forwarded to."""
    links: tuple[int, ...]
    """Neighbours for which the message was queued."""
    clients: tuple[int, ...]
    durables: tuple[int, ...]
    """Numbers of the durable subscriptions that the message satisfies."""
    satisfied_count: int
    matched_count: int
    links_count: int
    clients_count: int
    durables_count: int

    @staticmethod
    def read(data: bytes) -> Trace:
        buffer = ffi.from_buffer(data)
        head = ffi.cast("tm_trace *", buffer)
        rows = ffi.cast("tm_trace_row *", buffer + ffi.sizeof("tm_trace"))
        lists: list[Rows] = []
        for count in head.rows:
            lists.append(tuple((int(rows[index].number), int(rows[index].id)) for index in range(count)))
            rows += count
        satisfied, matched, links, clients, durables = lists
        counts = [int(count) for count in head.counts]
        return Trace(
            trace=int(head.trace),
            source=int(head.source),
            came_from=int(head.came_from),
            arrived_ns=int(head.arrived_ns),
            match_ns=int(head.match_ns),
            queued_ns=int(head.queued_ns),
            hop_limit=int(head.hop_limit),
            is_dry=bool(head.is_dry),
            dropped=_why(int(head.reason)),
            satisfied=satisfied,
            matched=matched,
            links=tuple(number for number, _ in links),
            clients=tuple(number for number, _ in clients),
            durables=tuple(number for number, _ in durables),
            satisfied_count=counts[lib.TM_TRACE_SATISFIED],
            matched_count=counts[lib.TM_TRACE_MATCHED],
            links_count=counts[lib.TM_TRACE_LINKS],
            clients_count=counts[lib.TM_TRACE_CLIENTS],
            durables_count=counts[lib.TM_TRACE_DURABLES],
        )


def _why(reason: int) -> str:
    if reason == lib.TM_TRACE_UNTRACED:
        return UNTRACED
    return "" if reason == lib.TM_TRACE_NOT_DROPPED else DROP_REASONS[reason]
