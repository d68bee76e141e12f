"""Rates of publishing: buckets of a switch, from which it grants the credit of connections.

Law: a bucket fills as its rate says; credit is granted as it fills, and nothing is done per message.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from tamis.native._tm import ffi, lib
from tamis.native.results import check

NO_BUCKET = int(lib.TM_BUCKET_NONE)
_Cdata = Any  # cffi's types exist only at run time


class BucketRate(NamedTuple):
    """How fast a bucket fills, and how much it holds; a rate of 0 is no bound."""

    messages_s: int = 0
    burst: int = 0
    bytes_s: int = 0
    burst_bytes: int = 0


class PacingSwitch(Protocol):
    """The switch, as buckets use it."""

    @property
    def c(self) -> _Cdata: ...


def new_bucket(switch: PacingSwitch, rate: BucketRate) -> int:
    """Make a full bucket; return its number. Raise OutOfMemory, or Refused beyond a limit."""
    bucket = ffi.new("uint32_t *")
    check(lib.tm_switch_bucket_new(switch.c, ffi.new("tm_rate *", rate._asdict()), bucket))
    return int(bucket[0])


def set_bucket(switch: PacingSwitch, bucket: int, rate: BucketRate) -> None:
    """Change the rate of a bucket from now on."""
    check(lib.tm_switch_bucket_set(switch.c, bucket, ffi.new("tm_rate *", rate._asdict())))


def is_full(switch: PacingSwitch, bucket: int) -> bool:
    """Return whether no connection draws from a bucket, and a new one would not differ from it."""
    found = ffi.new("bool *")
    check(lib.tm_switch_bucket_is_full(switch.c, bucket, found))
    return bool(found[0])


def free_bucket(switch: PacingSwitch, bucket: int) -> bool:
    """Free a bucket; return False, with nothing done, if a connection draws from it."""
    return bool(lib.tm_switch_bucket_free(switch.c, bucket) == lib.TM_OK)


def pace(switch: PacingSwitch, connection: int, bucket: int) -> None:
    """Grant the credit of an open connection from another bucket, or at once (NO_BUCKET)."""
    check(lib.tm_switch_pace(switch.c, connection, bucket))
