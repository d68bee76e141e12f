"""The latest messages that entered a router and matched no subscription, stored in its switch.

Law: the switch stores bytes; a message becomes a Python value only on request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.native.switch import Switch

_Cdata = Any  # cffi's types exist only at run time

BYTES_MIN: Final = int(lib.TM_UNMATCHED_BYTES_MIN)


@dataclass(frozen=True, slots=True)
class UnmatchedMessage:
    """An unmatched message. `n`: its number, from 1; `attributes`: in wire form; `connection`: the one from which it
    was received, whose number may belong to another connection by now."""

    n: int
    t_ns: int
    origin: int
    number: int
    attributes: bytes
    payload_bytes: int
    connection: int


def keep_unmatched(switch: Switch, threshold: int, ring_bytes: int) -> None:
    """Store the latest unmatched messages whose id is sampled below `threshold` (protocol/sampling.py), in `ring_bytes`
    bytes (0: none). Raise OutOfMemory, with nothing changed."""
    check(lib.tm_switch_keep_unmatched(switch.c, threshold, ring_bytes))


def unmatched(switch: Switch, after: int, limit: int) -> tuple[list[UnmatchedMessage], int]:
    """Return the first `limit` stored messages with a number above `after`, oldest first, and the number of the latest
    sampled message, which may no longer be stored."""
    rows, count = ffi.new("tm_unmatched[]", limit), ffi.new("uint32_t *")
    latest = lib.tm_switch_unmatched(switch.c, after, rows, limit, count)
    return [_message(rows[index]) for index in range(count[0])], int(latest)


def _message(row: _Cdata) -> UnmatchedMessage:
    return UnmatchedMessage(
        n=int(row.n),
        t_ns=int(row.t_ns),
        origin=int(row.origin),
        number=int(row.number),
        attributes=bytes(ffi.buffer(row.attributes, row.attribute_bytes)),
        payload_bytes=int(row.payload_bytes),
        connection=int(row.connection),
    )
