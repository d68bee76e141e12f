"""The latest messages that entered a router and were wanted by nobody, as its switch keeps them.

Law: the switch keeps bytes; a Python value is made of a message only when somebody asks for it.
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
    """`n` counts from 1; `attributes` are packed as on the wire. `connection` is that from which the message came: by
    now it may have ended and its number be that of another."""

    n: int
    t_ns: int
    origin: int
    number: int
    attributes: bytes
    payload_bytes: int
    connection: int


def keep_unmatched(switch: Switch, threshold: int, ring_bytes: int) -> None:
    """Let the switch keep, in `ring_bytes` bytes (0: none at all), the latest of those messages whose id is sampled
    below `threshold` (protocol/sampling.py). OutOfMemory: it goes on as before."""
    check(lib.tm_switch_keep_unmatched(switch.c, threshold, ring_bytes))


def unmatched(switch: Switch, after: int, limit: int) -> tuple[list[UnmatchedMessage], int]:
    """Return the first `limit` messages kept with a number above `after`, the oldest first, and the number of the
    latest that was sampled, which need not be kept any more."""
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
