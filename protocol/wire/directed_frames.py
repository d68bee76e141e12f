"""A stored PUBLISH as a DIRECTED to a home, and back.

Law: a home gets the bytes that the entry router stored; kind, hop limit and the extension CUSTODY alone differ on the
way.
"""

from __future__ import annotations

from typing import Final, cast

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import EXTENSION_BYTES_MAX, FRAME_BYTES_MAX
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.extensions import Custody, ExtensionType, encode_extensions
from tamis.protocol.wire.header import FLAGS_OFFSET, HEADER_BYTES, LENGTHS_OFFSET, TRANSIT_OFFSET
from tamis.protocol.wire.kinds import FrameKind

CUSTODY_BYTES: Final = 52
"""Bytes of the extension with its head."""
_EXTENSIONS_END: Final = LENGTHS_OFFSET + 2


def may_be_directed(frame: bytes) -> bool:
    """Return whether a PUBLISH has room for its place in a chain."""
    extensions = int.from_bytes(frame[LENGTHS_OFFSET:_EXTENSIONS_END], "little")
    return len(frame) + CUSTODY_BYTES <= FRAME_BYTES_MAX and extensions + CUSTODY_BYTES <= EXTENSION_BYTES_MAX


def directed(frame: bytes, place: Custody, hop_limit: int) -> bytes:
    """Return the DIRECTED of a PUBLISH; Refused if it has no room for its place."""
    if not may_be_directed(frame):
        raise Refused(f"a message of {len(frame):,} bytes has no room for its place in a chain")
    area = encode_extensions({ExtensionType.CUSTODY: place}, FrameKind.DIRECTED)
    return _changed(frame, FrameKind.DIRECTED, hop_limit, area, 0)


def undirected(frame: bytes) -> tuple[Custody, int, bytes]:
    """Return the place of a DIRECTED, its entry router and the PUBLISH; FrameError if it is invalid."""
    view = DeliverView(frame)
    if view.kind is not FrameKind.DIRECTED:
        raise FrameError(ErrorCode.UNEXPECTED_KIND, f"expected a DIRECTED, not {view.kind.name}")
    place = cast("Custody", view.extensions[ExtensionType.CUSTODY])
    return place, view.transit.source, _changed(frame, FrameKind.PUBLISH, view.hop_limit, b"", CUSTODY_BYTES)


def _changed(frame: bytes, kind: FrameKind, hop_limit: int, added: bytes, cut: int) -> bytes:
    """Return a data frame with these extensions in front of its others, of which the first `cut` bytes are left out."""
    more = len(added) - cut
    extensions = int.from_bytes(frame[LENGTHS_OFFSET:_EXTENSIONS_END], "little") + more
    return b"".join(
        (
            (len(frame) + more).to_bytes(4, "little"),
            bytes((kind, frame[FLAGS_OFFSET], hop_limit, 0)),
            frame[TRANSIT_OFFSET:LENGTHS_OFFSET],
            extensions.to_bytes(2, "little"),
            frame[_EXTENSIONS_END:HEADER_BYTES],
            added,
            frame[HEADER_BYTES + cut :],
        )
    )
