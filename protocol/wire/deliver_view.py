"""A data frame whose parts are read when they are asked for: what a client does with each DELIVER.

Law: making a view checks the header, and that every part lies inside the frame; asking for `extensions` or
`attributes` checks those. Each time anew: a view keeps nothing but the frame it borrows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, cast

from tamis.protocol.errors import FrameError
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire import header
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType, decode_extensions
from tamis.protocol.wire.kinds import Kind

_WITHOUT_TRANSIT: Final = struct.Struct("<IBBBB24xQQQHHI")
_TRANSIT: Final = struct.Struct("<QQQ")
_ONE_SATISFIED: Final = struct.Struct("<HHI")
_ONLY_ONE_END: Final = header.HEADER_BYTES + _ONE_SATISFIED.size
_ID_BYTES: Final = 4
_DELIVER: Final = int(Kind.DELIVER)
_SATISFIED: Final = int(ExtensionType.SATISFIED)
_DATA_KINDS: Final = frozenset(int(kind) for kind in Kind if kind.is_data)


class DeliverView:
    """Any data frame, whole, as bytes or a memoryview that outlives the view."""

    __slots__ = (
        "_attributes_at",
        "_counter",
        "_frame",
        "_origin",
        "_payload_at",
        "flags",
        "hop_limit",
        "publish_time_ns",
    )

    def __init__(self, frame: bytes | memoryview) -> None:
        if len(frame) < header.HEADER_BYTES:
            raise FrameError(
                ErrorCode.TOO_SHORT, f"a data frame has at least {header.HEADER_BYTES} bytes, not {len(frame)}"
            )
        unpacked = _WITHOUT_TRANSIT.unpack_from(frame)
        (
            length,
            kind,
            flags,
            self.hop_limit,
            zero,
            origin,
            counter,
            self.publish_time_ns,
            extensions,
            zeros,
            attributes,
        ) = unpacked
        self._frame = frame
        self._origin = origin
        self._counter = counter
        self.flags = flags
        self._attributes_at = attributes_at = header.HEADER_BYTES + extensions
        self._payload_at = payload_at = attributes_at + attributes
        if length != len(frame) or payload_at > length or kind not in _DATA_KINDS:
            raise FrameError(ErrorCode.MALFORMED, "the lengths or the kind in a data frame's header are wrong")
        if zero or zeros:
            raise FrameError(ErrorCode.RESERVED, "bytes 7, 58 and 59 are reserved and 0")
        if flags or not origin or not counter:
            header.check_header(kind, flags, origin, counter)

    @property
    def id(self) -> MessageId:
        return MessageId(self._origin, self._counter)

    @property
    def kind(self) -> Kind:
        return Kind(self._frame[header.KIND_OFFSET])

    @property
    def transit(self) -> header.Transit:
        return header.Transit._make(_TRANSIT.unpack_from(self._frame, header.TRANSIT_OFFSET))

    @property
    def extensions(self) -> Extensions:
        area = bytes(self._frame[header.HEADER_BYTES : self._attributes_at])
        extensions = decode_extensions(area, self.kind) if area else NO_EXTENSIONS
        header.check_trace(self.kind, self.flags, extensions)
        return extensions

    @property
    def satisfied(self) -> tuple[int, ...]:
        """The subscriptions of this connection that the message satisfies; empty where the frame does not say."""
        if self._attributes_at == _ONLY_ONE_END and not self.flags & header.TRACED:
            # One subscription and nothing else, as nearly always: read without the machinery for the rest.
            type_, length, number = _ONE_SATISFIED.unpack_from(self._frame, header.HEADER_BYTES)
            if type_ == _SATISFIED and length == _ID_BYTES and self._frame[header.KIND_OFFSET] == _DELIVER:
                return (number,)
        return cast("tuple[int, ...]", self.extensions.get(ExtensionType.SATISFIED, ()))

    @property
    def attributes(self) -> Mapping[str, Value]:
        return decode_attributes(self._frame[self._attributes_at : self._payload_at])

    @property
    def payload(self) -> bytes:
        return bytes(self._frame[self._payload_at :])
