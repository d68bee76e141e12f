"""A SUBSCRIBE frame that is processed in slices.

Law: C reads the frame in place, so this object keeps it alive. `filters` has its subscriptions as Python objects: each
id with its packed filters. `residuals`: the programs of those that have one. `group`: the name of their worker group;
"" if there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import msgpack

from tamis.native._tm import ffi, lib
from tamis.native.results import check, check_alive
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.client_bodies import Subscribe
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.prefix import PREFIX_BYTES

_Cdata = Any  # cffi's types exist only at run time

_CODES: Final = {lib.TM_MALFORMED: ErrorCode.MALFORMED, lib.TM_TOO_MANY: ErrorCode.OVER_LIMIT}


class RefusedFilter(NamedTuple):
    """A refused subscription. `filter`: the packed filter that caused it, `residual`: the program that did; b"" if none
    did."""

    id: int
    code: int
    filter: bytes
    residual: bytes = b""


class SubscribeFrame:
    """One SUBSCRIBE frame. Raise FrameError if it is malformed."""

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.c: _Cdata = ffi.new("tm_subscribe *")
        self._bytes = ffi.from_buffer(frame)
        result = lib.tm_subscribe_open(self._bytes, len(frame), self.c)
        if result in _CODES:
            raise FrameError(_CODES[result], "the body of SUBSCRIBE does not fit its table")
        check(result)
        self.group = bytes(ffi.buffer(self.c.group, size)).decode() if (size := self.c.group_size) else ""
        if self.group:
            self.c.group_number = group_number(self.group)
        self.filters: dict[int, tuple[bytes, ...]] = {}
        self.residuals: dict[int, bytes] = {}
        for id_, filters, residual in _subscriptions(frame):
            self.filters[id_] = filters
            if residual:
                self.residuals[id_] = residual
        self.ids = list(self.filters)
        if len(self.ids) != self.c.count:
            raise FrameError(ErrorCode.MALFORMED, "the ids of a batch differ")
        self._refusals = ffi.new("tm_refusal[]", len(self.ids))
        self._refused = ffi.new("uint32_t *")

    def without(self, ids: set[int]) -> SubscribeFrame:
        """Return a frame without the subscriptions `ids`, which are some of its own and not all."""
        body = decode(self.frame)
        assert isinstance(body, Subscribe)  # noqa: S101 - the kind of the frame implies it
        left = tuple(each for each in body.subscriptions if each.id not in ids)
        return SubscribeFrame(encode(replace(body, subscriptions=left)))

    @property
    def request(self) -> int:
        return int(self.c.request)

    @property
    def is_durable(self) -> bool:
        return bool(self.c.durable)

    @property
    def waits_for_network(self) -> bool:
        return bool(self.c.wait)

    @property
    def wants_own(self) -> bool:
        return bool(self.c.own_messages)

    @property
    def left(self) -> int:
        """The number of subscriptions that are not processed yet."""
        return int(self.c.left)

    def take(self, switch: _Cdata, subscriber: int, filters: int) -> list[RefusedFilter]:
        """Add subscriptions of the frame; see `Switch.subscribe`, which calls this."""
        check_alive(
            lib.tm_subscribe_some(switch, subscriber, self.c, filters, self._refusals, len(self.ids), self._refused)
        )
        return [self._refusal(self._refusals[index]) for index in range(self._refused[0])]

    def _refusal(self, c: _Cdata) -> RefusedFilter:
        id_, cause = int(c.id), self.frame[c.offset : c.offset + c.size]
        of_program = bool(cause) and cause == self.residuals.get(id_)
        return RefusedFilter(id_, int(c.code), b"" if of_program else cause, cause if of_program else b"")


def _subscriptions(frame: bytes) -> Iterator[tuple[int, tuple[bytes, ...], bytes]]:
    """Yield the subscriptions of a well-formed frame: each id with its packed filters and its program."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(frame))
    unpacker.feed(memoryview(frame)[PREFIX_BYTES:])
    unpacker.read_array_header()
    unpacker.skip()
    for _ in range(unpacker.read_array_header()):
        fields = unpacker.read_array_header()
        id_, filters = unpacker.unpack(), tuple(unpacker.unpack())
        yield id_, filters, unpacker.unpack() if fields > 2 else b""
        for _ in range(fields - 3):
            unpacker.skip()
