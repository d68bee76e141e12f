"""The fixed header of a data frame: 64 bytes, equal in every version.

     0  length u32 | kind u8 | flags u8 | hop limit u8 | 0 u8
     8  transit: source u64, epoch u64, counter u64
    32  message: origin u64, counter u64
    48  publish time u64, Unix nanoseconds
    56  extensions length u16 | 0 u16 | attributes length u32
    64  extensions | attributes | payload: the rest

Law: a switch finds every part by these offsets and rewrites kind, flags, hop limit and transit in place. Transit is all
zero from a client and has a source between routers. A message always has an identity: neither half of it is 0.
"""

from __future__ import annotations

import enum
import struct
from typing import Final, NamedTuple

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.extensions import Extensions, ExtensionType, root_of
from tamis.protocol.wire.kinds import FrameKind

HEADER: Final = struct.Struct("<IBBBBQQQQQQHHI")
HEADER_BYTES: Final = 64

KIND_OFFSET: Final = 4
FLAGS_OFFSET: Final = 5
HOP_LIMIT_OFFSET: Final = 6
TRANSIT_OFFSET: Final = 8
ID_OFFSET: Final = 32
TIME_OFFSET: Final = 48
LENGTHS_OFFSET: Final = 56


class Flags(enum.IntFlag):
    """Requests and properties of a data frame. A bit without a name is 0."""

    CONFIRM = 0x01
    RETRY = 0x02
    DURABLE = 0x04
    OWN = 0x08
    TRACED = 0x10
    EVERY_HOME = 0x20


# Plain integers: arithmetic on IntFlag costs more than the whole of the rest of a publish.
CONFIRM: Final = int(Flags.CONFIRM)
RETRY: Final = int(Flags.RETRY)
DURABLE: Final = int(Flags.DURABLE)
OWN: Final = int(Flags.OWN)
TRACED: Final = int(Flags.TRACED)
EVERY_HOME: Final = int(Flags.EVERY_HOME)
_UNNAMED: Final = ~(CONFIRM | RETRY | DURABLE | OWN | TRACED | EVERY_HOME)
_DELIVER: Final = int(FrameKind.DELIVER)
_DRY_RUN: Final = int(FrameKind.DRY_RUN)
_PUBLISH: Final = int(FrameKind.PUBLISH)


class Transit(NamedTuple):
    """Where a message entered the network: the entry router's number, its epoch, its counter. All 0: not yet."""

    source: int = 0
    epoch: int = 0
    counter: int = 0


NOT_ENTERED: Final = Transit()


def check_header(kind: int, flags: int, origin: int, counter: int) -> None:
    """Check the header alone; FrameError if it is invalid."""
    if flags & _UNNAMED:
        raise FrameError(ErrorCode.RESERVED, f"flags 0x{flags:02x}: a bit without a name is set")
    if flags & EVERY_HOME and (kind != _PUBLISH or not flags & CONFIRM or not flags & DURABLE):
        raise FrameError(ErrorCode.RESERVED, "flag EVERY_HOME belongs to PUBLISH frames with CONFIRM and DURABLE")
    if flags & OWN and kind != _DELIVER:
        raise FrameError(ErrorCode.MALFORMED, "flag OWN belongs to DELIVER frames")
    if not origin or not counter:
        raise FrameError(ErrorCode.MALFORMED, f"a message has an identity, not ({origin}, {counter})")


def check_trace(kind: int, flags: int, extensions: Extensions) -> None:
    """Check that flag TRACED is set exactly if there is a TRACE extension, which saves a switch the search; a dry run
    is always traced."""
    traced = ExtensionType.TRACE in extensions
    if traced is not bool(flags & TRACED):
        raise FrameError(ErrorCode.MALFORMED, "flag TRACED and extension TRACE go together")
    if kind == _DRY_RUN and not traced:
        raise FrameError(ErrorCode.MALFORMED, "a DRY_RUN frame has a TRACE extension")


def check_transit(transit: Transit, from_client: bool) -> None:
    """Check that the transit fields fit the sender: all 0 from a client, with a source from a router."""
    if from_client and transit != NOT_ENTERED:
        raise FrameError(ErrorCode.WRONG_SENDER, "a client leaves the transit fields 0")
    if not from_client and not transit.source:
        raise FrameError(ErrorCode.WRONG_SENDER, "between routers a message has a transit source")


def root_named(frame: bytes) -> int | None:
    """Return the number of the root along whose tree a data frame is sent (ROUTE, mode TREE); None if it names none.
    The frame has a header; the rest may be anything."""
    size = int.from_bytes(frame[LENGTHS_OFFSET : LENGTHS_OFFSET + 2], "little")
    return root_of(frame[HEADER_BYTES : HEADER_BYTES + size])
